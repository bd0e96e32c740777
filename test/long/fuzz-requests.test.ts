/** Mutated HTTP requests on the wire: no crash, no 500, and no stall of the service. */

// @alone: measures stalls of the service.
// @one-database: about requests; every operation runs on both in another test.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { ROUTES } from '../../src/features.ts';
import type { Route } from '../../src/http/route.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { mutate } from '../helpers/mutate.ts';
import { seededRandom } from '../helpers/random.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';
import {
  BROKEN_JSON,
  FORMS,
  HEADERS,
  PLAUSIBLE,
  RAW_JSON,
  TEXTS,
  TYPES,
} from '../http/hostile-requests.ts';

/** Before a release, a hundred thousand. */
const CASES = Number(process.env.FUZZ_CASES ?? 3_000);
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_123);
/** With the number of a case, only this one is sent. */
const ONLY = process.env.FUZZ_CASE;
const CONNECTIONS = 16;
/** For the main thread of the service, in CPU time: other work of the machine delays it too. */
const MAX_STALL_MS = 200;
/** A request that waits for a result, or for the rest of a body, is left. */
const MAX_WAIT_MS = 3_000;
const MAX_BYTES = 40_000;

const TOKENS = [
  ...TEXTS.filter((text) => text.length < 300),
  ...RAW_JSON,
  ...BROKEN_JSON.filter((text) => text.length < 300),
  ...TYPES,
  ...HEADERS.flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`)),
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 5\r\nContent-Length: 6\r\n',
  '\r\n\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: h2c\r\nConnection: Upgrade\r\n',
  'HTTP/0.9',
  'HTTP/2.0',
  '5\r\nhello\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n',
  '?limit=',
  '&starting_after=',
  '/../',
  '//',
  '%2f',
  'GET ',
  'POST ',
  'DELETE ',
  'TRACE ',
  'CONNECT ',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
];

interface Template {
  head: string;
  path: string;
  fields: string[];
  body: string;
}

/** Well-formed requests to each operation; the test of one exists. */
function requestsTo(service: ServeProcess, testId: string): Template[] {
  const valid = Object.fromEntries(
    Object.entries(PLAUSIBLE).map(([name, values]) => [name, values[0]]),
  );
  const bodyOf = (route: Route): string => {
    if (route.method === 'GET' || route.method === 'DELETE') return '';
    if (route.consumes) return route.consumes.type === 'message/rfc822' ? goodMessage() : FORMS[3]!;
    const names = Object.keys((route.body as { entries?: object })?.entries ?? {});
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, valid[name] ?? 'x'])));
  };
  // The IDs of other objects are wrong: without the caller or its key, all other requests would fail early.
  return ROUTES.flatMap((route) =>
    [testId, 'test_01'].map((id) => ({
      head: route.method,
      path: route.path.replace(/:\w+/g, id),
      fields: [
        'Host: 127.0.0.1',
        `Authorization: Bearer ${service.key}`,
        'Sec-Fetch-Site: same-origin',
        `Content-Type: ${route.consumes?.type ?? 'application/json'}`,
        'Connection: close',
      ],
      body: bodyOf(route),
    })),
  );
}

/** Half of the requests reach an operation: the body or the path is mutated. Of others, everything is. */
function mutatedRequest(templates: Template[], number: number): Buffer {
  const random = seededRandom(SEED + number * 7919);
  const { head, path, fields, body } = templates[random.below(templates.length)]!;
  const others = templates.map((each) => Buffer.from(each.body));
  const change = (text: string) =>
    mutate([Buffer.from(text), others[random.below(others.length)]!], TOKENS, MAX_BYTES, random);
  const part = random.below(4);
  const target = part === 1 ? escaped(mutate([Buffer.from(path)], TOKENS, 2_000, random)) : path;
  const content = part === 0 && body ? change(body) : Buffer.from(body);
  const length = content.length > 0 ? [`Content-Length: ${content.length}`] : [];
  const lines = [`${head} ${target} HTTP/1.1`, ...fields, ...length, '', ''];
  const request = Buffer.concat([Buffer.from(lines.join('\r\n')), content]);
  return part < 2 ? request : mutate([request], TOKENS, MAX_BYTES, random);
}

/** A path or a query that Node accepts. */
function escaped(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  const encoded = text.replace(/[^!-~]/g, (character) => encodeURIComponent(character));
  return encoded.startsWith('/') ? encoded : `/${encoded}`;
}

/** The status of the first response, `none`, or `waiting`. */
function send(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const finish = (outcome: string) => {
      socket.destroy();
      resolve(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? outcome);
    };
    socket.setTimeout(MAX_WAIT_MS, () => finish('waiting'));
    socket.on('data', (chunk) => {
      text ||= chunk.toString('latin1', 0, 15);
    });
    socket.on('end', () => finish('none'));
    socket.on('close', () => finish('none'));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? reject(error) : finish('none'),
    );
    // The service gets the end of the request, but may still respond.
    socket.end(bytes);
  });
}

test(`${CASES} mutated requests cause no crash, no 500 and no stall over ${MAX_STALL_MS} ms`, {
  timeout: 7_200_000,
}, async (t) => {
  t.diagnostic(`FUZZ_SEED=${SEED}`);
  const service = await startServe(t, {
    folder: temporaryFolder(t),
    env: {
      DELIVERABILITY_BLOCKLISTS: '-all',
      DELIVERABILITY_WORKERS: '1',
      DELIVERABILITY_HTTP_MAX_CONNECTIONS_PER_CLIENT: '1000',
    },
    monitored: true,
  });
  const { id } = await service.createTest();
  const templates = requestsTo(service, id);
  // The first page, the API reference and its document are made once, at their first request.
  for (const path of ['/', '/docs', '/openapi.json', '/none', '/tests'])
    await fetch(service.url + path, { headers: { accept: 'text/html' } }).then((r) => r.text());
  const warmUp = await service.stall();
  t.diagnostic(`longest stall of the first requests: ${warmUp.cpu} ms of work`);
  const port = Number(new URL(service.url).port);
  const statuses: Record<string, number> = {};
  const faults: string[] = [];
  let next = ONLY === undefined ? 0 : Number(ONLY);
  const end = ONLY === undefined ? CASES : next + 1;
  const sendNext = async () => {
    for (let number = next++; number < end; number = next++) {
      const bytes = mutatedRequest(templates, number);
      const status = await send(port, bytes);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (/^5/.test(status) && !/^50[135]$/.test(status))
        faults.push(
          `FUZZ_SEED=${SEED} FUZZ_CASE=${number}: ${status} ${bytes.toString('latin1', 0, 300)}`,
        );
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendNext));
  const stall = await service.stall();
  t.diagnostic(`statuses: ${JSON.stringify(statuses)}`);
  t.diagnostic(`longest stall: ${stall.cpu} ms of work, ${stall.wall} ms elapsed`);
  const errors = service.log.filter(({ level }) => level === 'error');
  assert.deepEqual(errors.slice(0, 5), []);
  assert.deepEqual(faults.slice(0, 5), []);
  assert.ok(stall.cpu < MAX_STALL_MS, `${stall.cpu} ms`);
  if (ONLY === undefined)
    for (const status of ['200', '400', '401', '404', '422'])
      assert.ok(statuses[status]! > 0, `no response has the status ${status}`);
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
  t.diagnostic(
    JSON.stringify({
      cases: end,
      ok: statuses['200'] ?? 0,
      max_stall_ms: stall.cpu,
      max_elapsed_ms: stall.wall,
    }),
  );
  service.signal('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
});
