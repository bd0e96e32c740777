/** Clients that hardly read large responses: the service needs little memory, and serves others meanwhile. */

// @alone: measures the memory of a service, and how long others wait.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryOf } from '../../scripts/bench/memory.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { isFullSize } from '../helpers/full-size.ts';
import { type ServeOptions, type ServeProcess, startServe } from '../helpers/serve-process.ts';
import { onPostgres } from '../helpers/store.ts';

const READERS = 100;
const MAX_RESIDENT_MB = 350;
/** Of the event loop, as CPU time, so that other work on the machine does not count. */
const MAX_STALL_MS = 50;
const MAX_WAIT_MS = 50;
/** Without readers, requests take about 3 ms. On a machine that is busy with other work, they take longer. */
const MAX_SLOWDOWN = 15;
const READ_MS = isFullSize ? 6_000 : 2_000;

/** More than the buffers of both systems hold. */
const MESSAGE = largeMessage(20_000_000, 'application/octet-stream');
/** The page of its report contains the image. */
const PICTURE = largeMessage(1_900_000, 'image/png');
/** Each has some kilobytes in an export. */
const EXPORTED_TESTS = isFullSize ? 1500 : 0;
const CONCURRENT = 25;

function largeMessage(bytes: number, type: string): string {
  const lines = Buffer.alloc((bytes * 57) / 78, 'deliver')
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n');
  return [
    'From: a@example.com\r\nTo: b@example.com\r\nSubject: Large\r\nMIME-Version: 1.0',
    'Content-Type: multipart/related; boundary=x\r\n\r\n--x',
    'Content-Type: text/html\r\n\r\n<p>See</p><img src="cid:i">\r\n--x',
    `Content-Type: ${type}\r\nContent-ID: <i>\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}`,
    '--x--\r\n',
  ].join('\r\n');
}

interface Kind {
  name: string;
  path(stored: Stored): string;
  accept?: string;
  /** Requests on each connection, all sent at once. */
  pipelined?: number;
  /** Whether the response is made in memory, from one row. Then another database changes nothing. */
  isRendered?: boolean;
  /** Measured in each run, not only at full size. */
  isTypical?: boolean;
}

const KINDS: Kind[] = [
  { name: 'the source of a message of 20 MB', path: ({ large }) => `/v1/tests/${large}/source` },
  {
    name: 'the source of a message of 20 MB, six times at once',
    path: ({ large }) => `/v1/tests/${large}/source`,
    pipelined: 6,
    isTypical: true,
  },
  {
    name: 'an export of thousands of tests',
    path: () => '/v1/tests/export',
    accept: 'application/x-ndjson',
  },
  {
    name: 'the page of a report with large images',
    path: ({ picture }) => `/v1/tests/${picture}/report.html`,
    isRendered: true,
  },
  {
    name: 'the PDF of a report',
    path: ({ picture }) => `/v1/tests/${picture}/report.pdf`,
    isRendered: true,
  },
  { name: 'results as JSON', path: ({ large }) => `/v1/tests/${large}`, pipelined: 6 },
];

interface Stored {
  large: string;
  picture: string;
}

describe(`${READERS} clients that hardly read`, {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, () => {
  let options: ServeOptions;
  let stored: Stored;
  const cleanups: (() => unknown)[] = [];
  const context = {
    after: (work: () => unknown) => cleanups.unshift(work),
  } as unknown as TestContext;

  before(async () => {
    const dns = await startDnsServer(SENDER_ZONE);
    cleanups.push(() => dns.close());
    options = {
      folder: temporaryFolder(context),
      env: {
        DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
        DELIVERABILITY_WORKERS: '1',
        DELIVERABILITY_CHECK_LINKS: 'false',
        DELIVERABILITY_BLOCKLISTS: '-all',
        DELIVERABILITY_RATE_LIMIT: '0',
        DELIVERABILITY_HTTP_MAX_CONNECTIONS_PER_CLIENT: String(2 * READERS),
      },
    };
    const first = await startServe(context, options);
    stored = { large: await submit(first, MESSAGE), picture: await submit(first, PICTURE) };
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`key${i}`, 'x'.repeat(400)]),
    );
    const body = JSON.stringify({ metadata });
    for (let i = 0; i < EXPORTED_TESTS; i += CONCURRENT)
      await Promise.all(
        Array.from({ length: CONCURRENT }, () =>
          first.call('POST', '/v1/tests', { body, status: 201 }),
        ),
      );
    first.signal('SIGTERM');
    await first.ended;
  });

  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  const kinds = KINDS.filter(
    ({ isRendered, isTypical }) => (isFullSize || isTypical) && !(onPostgres && isRendered),
  );
  for (const { name, path, accept = '*/*', pipelined = 1 } of kinds)
    test(`${name}: less than ${MAX_RESIDENT_MB} MB, and others wait less than ${MAX_WAIT_MS} ms`, async (t) => {
      // Without the memory that the analyses needed.
      const service = await startServe(t, { ...options, monitored: true });
      await others(service, stored, 500);
      const quietMs = percentile95(await others(service, stored, 1000));
      const request = [
        `GET ${path(stored)} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${service.key}`,
        `Accept: ${accept}\r\n\r\n`,
      ].join('\r\n');
      await service.stall();
      let peak = 0;
      const watch = setInterval(() => {
        peak = Math.max(peak, memoryOf(service.pid).resident);
      }, 20);
      const readers: Socket[] = [];
      const waited = others(service, stored, READ_MS);
      for (let i = 0; i < READERS; i++) {
        readers.push(await openReader(service, request.repeat(pipelined)));
        await pause(5);
      }
      const waitMs = percentile95(await waited);
      const { cpu } = await service.stall();
      clearInterval(watch);
      // They are not all gone, so the memory was that of slow readers.
      const open = readers.filter(({ destroyed }) => !destroyed).length;
      const source = await download(service, `/v1/tests/${stored.large}/source`);
      for (const reader of readers) reader.destroy();
      service.signal('SIGTERM');
      await service.ended;
      t.diagnostic(
        JSON.stringify({
          peak_mb: peak,
          open,
          wait_ms: round(waitMs),
          quiet_ms: round(quietMs),
          stall_cpu_ms: cpu,
        }),
      );
      assert.ok(open >= READERS / 5, `${open} readers are still connected`);
      assert.ok(peak < MAX_RESIDENT_MB, `${peak} MB`);
      assert.ok(cpu < MAX_STALL_MS, `${cpu} ms without a turn of the event loop`);
      assert.ok(waitMs < Math.max(MAX_WAIT_MS, MAX_SLOWDOWN * quietMs), `${waitMs} ms`);
      assert.equal(source, hashOf(MESSAGE));
    });
});

const round = (ms: number) => Math.round(ms * 10) / 10;

async function submit(service: ServeProcess, body: string): Promise<string> {
  const { id } = await service.call<{ id: string }>('POST', '/v1/tests/raw', {
    body,
    type: 'message/rfc822',
    status: 201,
  });
  assert.equal((await service.testEnded(id)).status, 'completed');
  return id;
}

/** A client that reads some kilobytes per second, enough not to be disconnected. */
async function openReader({ url }: ServeProcess, request: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {}).pause();
  const reading = setInterval(() => socket.read(4096), 500);
  socket.once('close', () => clearInterval(reading));
  await once(socket, 'connect');
  socket.write(request);
  return socket;
}

/** What others do meanwhile, for `ms` milliseconds. Returns how long each response took. */
async function others(service: ServeProcess, { large }: Stored, ms: number): Promise<number[]> {
  const waits: number[] = [];
  for (const started = performance.now(); performance.now() - started < ms; await pause(10))
    for (const path of ['/healthz', `/v1/tests/${large}`, '/v1/tests?limit=10']) {
      const sent = performance.now();
      await service.call('GET', path);
      waits.push(performance.now() - sent);
    }
  return waits;
}

const percentile95 = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)]!;

const hashOf = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');

async function download({ url, key }: ServeProcess, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  return hashOf(new Uint8Array(await response.arrayBuffer()));
}
