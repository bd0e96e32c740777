/** The unsubscribe link of a test, tried when a member asks. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer, type TLSSocket } from 'node:tls';
import { parseNetwork } from '../../src/lib/addresses.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Try } from '../../src/mailtests/unsubscribe.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { createWebClient } from '../../src/net/http/client.ts';
import { mainOf } from '../dashboard/pages.ts';
import { startTestService, type TestService, temporaryFolder } from '../helpers/app.ts';
import { makeTestAuthority } from '../helpers/authority.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { SETUPS } from '../store/races/nodes.ts';
import { ownerBrowser } from '../team/browser.ts';

const HOST = 'news.example.com';
const ONE_CLICK = 'List-Unsubscribe=One-Click';

interface Scene {
  service: TestService;
  /** The https address of the link. */
  url: string;
  port: number;
  /** The exact bytes of each request. */
  requests: string[];
  /** Answers a request; by default, with 200. */
  answer: (socket: TLSSocket) => void;
}

const respond =
  (head: string, body = '') =>
  (socket: TLSSocket) =>
    void socket.end(`HTTP/1.1 ${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);

async function startScene(
  t: TestContext,
  {
    names = [HOST],
    trusted = true,
    service: options = {},
  }: {
    names?: [string, ...string[]];
    trusted?: boolean;
    service?: Parameters<typeof startTestService>[1];
  } = {},
): Promise<Scene> {
  const authority = await makeTestAuthority();
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ ...(await authority.issue(names)) }, (socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n');
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      requests.push(text);
      text = '';
      scene.answer(socket);
    });
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const resolver = zoneResolver({
    [HOST]: { A: ['127.0.0.1'] },
    'intranet.example.com': { A: ['10.0.0.1'] },
  });
  const web = createWebClient({
    resolver,
    allowNetworks: [parseNetwork('127.0.0.1/32')],
    ca: trusted ? [authority.ca] : [],
  });
  const service = await startTestService(t, { web, ...options });
  const url = `https://${HOST}:${port}/u/t%20k?list=1&x=%2F`;
  const scene: Scene = { service, url, port, requests, answer: respond('200 OK') };
  return scene;
}

const fieldsFor = (list: string | string[] | null, post: string | string[] | null = ONE_CLICK) => ({
  'List-Unsubscribe': list,
  'List-Unsubscribe-Post': post,
});

async function analyzed(
  service: TestService,
  fields: Parameters<typeof goodMessage>[0],
  kind = 'auto',
) {
  const sent = await service.call<Test>(
    'POST',
    `/v1/tests/raw?client_ip=192.0.2.1&helo=a.example&kind=${kind}`,
    {
      body: goodMessage(fields),
      headers: { 'content-type': 'message/rfc822' },
    },
  );
  assert.equal(sent.status, 201, sent.text);
  const { body } = await service.call<Test>('GET', `/v1/tests/${sent.body.id}?wait=50`);
  assert.equal(body.status, 'completed');
  return body;
}

const pathOf = (id: string) => `/v1/tests/${id}/unsubscribe_tries`;

const tryLink = ({ call }: TestService, id: string, json: object = {}, key?: string) =>
  call<Try>('POST', pathOf(id), { json, ...(key && { key }) });
const triesOf = async ({ call }: TestService, id: string) =>
  (await call<{ data: Try[] }>('GET', pathOf(id))).body.data;

test('A try sends exactly one POST request, as RFC 8058 says, and stores the result', async (t) => {
  const scene = await startScene(t);
  const { service, url, port, requests } = scene;
  scene.answer = respond('202 Accepted\r\nSet-Cookie: a=b', 'Thanks');
  const made = await analyzed(service, fieldsFor(`<mailto:u@example.com>, <${url}>`));
  assert.deepEqual(requests, [], 'the analysis requests nothing');
  assert.deepEqual(await triesOf(service, made.id), []);
  const { status, body } = await tryLink(service, made.id);
  assert.equal(status, 200);
  assert.deepEqual(requests, [
    [
      'POST /u/t%20k?list=1&x=%2F HTTP/1.1',
      `Host: ${HOST}:${port}`,
      'User-Agent: deliverability/1 (+unsubscribe test)',
      'Accept: */*',
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 26',
      'Accept-Encoding: identity',
      'Connection: close',
      '',
      ONE_CLICK,
    ].join('\r\n'),
  ]);
  const { http_status, tls_version, certificate_expires_at, duration_ms } = body.response!;
  assert.deepEqual(
    [body.method, body.status, body.verdict, body.tries, http_status, tls_version],
    ['POST', 'finished', 'pass', 1, 202, 'TLSv1.3'],
  );
  assert.ok(Date.parse(certificate_expires_at!) > Date.now());
  assert.ok(duration_ms >= 0);
  assert.deepEqual(await triesOf(service, made.id), [body]);
  // Again without saying so: nothing is sent.
  assert.deepEqual((await tryLink(service, made.id)).body, body);
  assert.deepEqual((await tryLink(service, made.id, { after_tries: 7 })).body, body);
  assert.equal(requests.length, 1);
  const again = await tryLink(service, made.id, { after_tries: 1 });
  assert.equal(again.body.tries, 2);
  assert.equal(requests.length, 2);
  assert.doesNotMatch(requests[1]!, /cookie/i);
  const { score } = (await service.call<Test>('GET', `/v1/tests/${made.id}`)).body;
  assert.equal(score, made.score, 'the score stays');
  const { body: log } = await service.call<{ data: { action: string; details: object }[] }>(
    'GET',
    `/v1/audit_log?object_id=${made.id}`,
  );
  assert.deepEqual(
    log.data.map(({ action, details }) => [action, details]),
    Array.from({ length: 2 }, () => ['test.unsubscribe_tried', { method: 'POST' }]),
  );
});

test('GET is sent only if asked for, and has no body', async (t) => {
  const scene = await startScene(t);
  const { service, requests } = scene;
  const made = await analyzed(service, fieldsFor(`<${scene.url}>`));
  await tryLink(service, made.id);
  assert.equal(requests.length, 1);
  scene.answer = respond('302 Found\r\nLocation: /login?next=u');
  await tryLink(service, made.id, { method: 'GET' });
  assert.match(requests[1]!, /^GET \/u\/t%20k\?list=1&x=%2F HTTP\/1\.1\r\n/);
  assert.doesNotMatch(requests[1]!, /content-|One-Click/i);
  assert.deepEqual(
    (await triesOf(service, made.id)).map(({ method, verdict, response }) => [
      method,
      verdict,
      response!.http_status,
      response!.redirect,
    ]),
    [
      ['POST', 'pass', 200, null],
      ['GET', 'info', 302, `https://${HOST}:${scene.port}/login?next=u`],
    ],
  );
});

const hugeBody = (socket: TLSSocket) => {
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const send = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', send);
  send();
};

const RESPONSES: [string, Scene['answer'], verdict: string, code: number | null, RegExp][] = [
  ['204', respond('204 No Content'), 'pass', 204, /responded with status 204\. Check/],
  [
    '301',
    respond('301 Moved\r\nLocation: https://other.example/x'),
    'fail',
    301,
    /status 301, a redirect to https:\/\/other\.example\/x\. .*RFC 8058 §3\.1/,
  ],
  ['303 without a target', respond('303 See Other'), 'fail', 303, /a redirect to no address/],
  ['403', respond('403 Forbidden'), 'fail', 403, /status 403\.$/],
  ['404', respond('404 Not Found'), 'fail', 404, /status 404\.$/],
  ['405', respond('405 Method Not Allowed'), 'fail', 405, /It must accept POST/],
  ['500', respond('500 Oops'), 'fail', 500, /status 500\.$/],
  ['a huge body', hugeBody, 'pass', 200, /status 200/],
  [
    'slow, but in time',
    (socket) => void setTimeout(() => respond('200 OK')(socket), 300),
    'pass',
    200,
    /status 200/,
  ],
  ['no HTTP', (socket) => void socket.end('hello\r\n\r\n'), 'fail', null, /not valid HTTP/],
  ['a closed connection', (socket) => void socket.destroy(), 'fail', null, /closed the connection/],
];

for (const [name, answer, verdict, code, detail] of RESPONSES)
  test(`A try reports the response: ${name}`, async (t) => {
    const scene = await startScene(t);
    scene.answer = answer;
    const made = await analyzed(scene.service, fieldsFor(`<${scene.url}>`));
    const { body: one } = await tryLink(scene.service, made.id);
    assert.deepEqual([one.verdict, one.response!.http_status], [verdict, code]);
    assert.match(one.detail, detail);
    assert.equal(one.response!.tls_version, 'TLSv1.3');
    assert.equal(scene.requests.length, 1);
  });

test('A link that never answers is reported, and a response without its body counts', async (t) => {
  const scene = await startScene(t);
  const { app } = scene.service;
  const { web } = app;
  // In place of 15 seconds.
  app.web = (request) => web({ ...request, timeoutMs: 1000 });
  const { id } = await analyzed(scene.service, fieldsFor(`<${scene.url}>`));
  scene.answer = () => {};
  const { body: never } = await tryLink(scene.service, id);
  assert.deepEqual([never.verdict, never.response!.http_status], ['fail', null]);
  assert.match(never.detail, /no response in time/);
  scene.answer = (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
  const { body: half } = await tryLink(scene.service, id, { after_tries: 1 });
  assert.deepEqual([half.verdict, half.response!.http_status], ['pass', 200]);
});

test('A certificate that cannot be verified is reported, and nothing is sent', async (t) => {
  for (const [options, detail] of [
    [{ trusted: false }, /the server does not send its full certificate chain/],
    [{ names: ['other.example.com'] as [string] }, /the certificate is for a different name/],
  ] as const) {
    const scene = await startScene(t, options);
    const made = await analyzed(scene.service, fieldsFor(`<${scene.url}>`));
    const { body: one } = await tryLink(scene.service, made.id);
    const { http_status, tls_version } = one.response!;
    assert.deepEqual([one.verdict, http_status, tls_version], ['fail', null, null]);
    assert.match(one.detail, detail);
    assert.deepEqual(scene.requests, []);
  }
});

test('If the name cannot be looked up now, whether the link works is unknown', async (t) => {
  const { service, url } = await startScene(t);
  const made = await analyzed(service, fieldsFor(`<${url}>`));
  service.app.web = async () => ({
    status: 'failed',
    reason: 'dns',
    detail: 'the DNS lookup failed',
  });
  const { body: one } = await tryLink(service, made.id);
  assert.deepEqual([one.verdict, one.status], ['unknown', 'finished']);
});

test('The address guard refuses a link to a private network', async (t) => {
  const { service } = await startScene(t);
  const made = await analyzed(service, fieldsFor('<https://intranet.example.com/u>'));
  const { body: one } = await tryLink(service, made.id);
  assert.deepEqual([one.verdict, one.response!.http_status], ['fail', null]);
  assert.match(one.detail, /the IP address is not public/);
});

test('Only the link of a message that follows RFC 8058 is tried', async (t) => {
  const { service, url, requests } = await startScene(t);
  for (const [fields, detail] of [
    [fieldsFor(null), /List-Unsubscribe field is missing/],
    [fieldsFor([`<${url}>`, `<${url}>`]), /more than one List-Unsubscribe field/],
    [fieldsFor('<mailto:u@example.com>'), /no https address/],
    [fieldsFor('<http://news.example.com/u>'), /no https address/],
    [fieldsFor(`<${url}>, <https://other.example.com/u>`), /more than one web address/],
    [fieldsFor(`<${url}>, <http://news.example.com/u>`), /more than one web address/],
    [fieldsFor('<https://news.example.com/{{token}}>'), /merge tag/],
    [fieldsFor(`<${url}>`, null), /no List-Unsubscribe-Post field/],
    [fieldsFor(`<${url}>`, 'List-Unsubscribe=one-click'), /wrong value/],
    [fieldsFor(`<${url}>`, [ONE_CLICK, ONE_CLICK]), /2 List-Unsubscribe-Post fields/],
  ] as const) {
    const { id } = await analyzed(service, fields);
    const refused = await tryLink(service, id);
    assert.equal(refused.status, 409, String(detail));
    assert.match(refused.body.detail, detail);
    assert.deepEqual(await triesOf(service, id), []);
  }
  assert.deepEqual(requests, []);
});

test('Viewers, keys of the other mode and a service that checks no links cannot try the link', async (t) => {
  const scene = await startScene(t);
  const { service } = scene;
  const { id } = await analyzed(service, fieldsFor(`<${scene.url}>`));
  assert.equal((await tryLink(service, id, {}, await service.makeKey('viewer'))).status, 403);
  assert.equal((await tryLink(service, id, {}, await service.makeKey('owner', false))).status, 404);
  const waiting = await service.createTest();
  assert.match((await tryLink(service, waiting.id)).body.detail, /no analyzed message/);
  const quiet = await startScene(t, { service: { env: { DELIVERABILITY_CHECK_LINKS: 'false' } } });
  const other = await analyzed(quiet.service, fieldsFor(`<${quiet.url}>`));
  assert.match(
    (await tryLink(quiet.service, other.id)).body.detail,
    /DELIVERABILITY_CHECK_LINKS is false/,
  );
  assert.deepEqual([...scene.requests, ...quiet.requests], []);
});

test('A try that was interrupted before its result was stored is never repeated automatically', async (t) => {
  const clock = testClock();
  const scene = await startScene(t);
  const folder = temporaryFolder(t);
  const options = { clock, folder };
  // Stands for a kill: nothing runs in the process after the response.
  const killed = await startTestService(t, {
    ...options,
    web: async (request) => {
      const response = await scene.service.app.web(request);
      if (request.method === 'POST') throw new Error('killed (test)');
      return response;
    },
  });
  const { id } = await analyzed(killed, fieldsFor(`<${scene.url}>`));
  assert.equal((await tryLink(killed, id)).status, 500);
  assert.equal(scene.requests.length, 1);
  assert.equal((await triesOf(killed, id))[0]!.status, 'running');
  await killed.stop();
  clock.advance(60_000);
  const service = await startTestService(t, { ...options, web: scene.service.app.web });
  const [one] = await triesOf(service, id);
  assert.deepEqual([one!.status, one!.verdict, one!.tries], ['interrupted', 'unknown', 1]);
  assert.match(one!.detail, /may have been sent, and is not repeated/);
  // A client that repeats its request, and time for every job.
  await tryLink(service, id);
  clock.advance(3_600_000);
  await service.createTest();
  assert.equal(scene.requests.length, 1);
  const { body: again } = await tryLink(service, id, { after_tries: 1 });
  assert.deepEqual([again.status, again.tries], ['finished', 2]);
  assert.equal(scene.requests.length, 2);
});

for (const { on, skip, start } of SETUPS)
  test(`People who try the link at the same time send one request (${on})`, { skip }, async (t) => {
    const scene = await startScene(t);
    scene.answer = (socket) => void setTimeout(() => respond('200 OK')(socket), 100);
    const [first, second] = await start(t, { web: scene.service.app.web });
    const sent = await first.call<Test>(
      'POST',
      '/v1/tests/raw?client_ip=192.0.2.1&helo=a.example',
      {
        body: goodMessage(fieldsFor(`<${scene.url}>`)),
        headers: { 'content-type': 'message/rfc822' },
      },
    );
    const { id } = sent.body;
    // The nodes run no jobs, so the test gets its result from here.
    await first.app.db
      .updateTable('tests')
      .set({ status: 'completed', checks: '[]' })
      .where('id', '=', id)
      .execute();
    const results = await Promise.all(
      [first, second, first, second].map((node) => tryLink(node, id, {}, node.key)),
    );
    // The others see that it is being sent.
    const finished = results.filter(({ body }) => body.status === 'finished');
    assert.deepEqual(
      [results.map(({ status }) => status), finished.length],
      [[200, 200, 200, 200], 1],
    );
    assert.equal(scene.requests.length, 1);
  });

test('The report has the button and then the result; its page tries again; shared reports show nothing', async (t) => {
  const scene = await startScene(t);
  const { service } = scene;
  scene.answer = respond('405 Method Not Allowed');
  const { id } = await analyzed(service, fieldsFor(`<${scene.url}>`), 'marketing');
  const { cookie } = await ownerBrowser(service);
  const pageOf = async (path: string, headers: Record<string, string> = { cookie }) =>
    (await fetch(service.url + path, { headers })).text();
  const post = (fields: Record<string, string>) =>
    fetch(`${service.url}/tests/${id}/unsubscribe`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    });
  const before = await pageOf(`/tests/${id}`);
  assert.match(before, /Both can really unsubscribe the address/);
  assert.match(before, new RegExp(`action="/tests/${id}/unsubscribe"[^]*value="POST 0"`));
  assert.match(before, /Try the unsubscribe link \(may unsubscribe\)<\/button>/);
  const withoutPost = await analyzed(service, fieldsFor(`<${scene.url}>`, null));
  assert.doesNotMatch(await pageOf(`/tests/${withoutPost.id}`), /Try the unsubscribe link/);
  const answer = await post({ try: 'POST 0' });
  assert.deepEqual(
    [answer.status, answer.headers.get('location')],
    [303, `/tests/${id}#unsubscribe`],
  );
  assert.equal(scene.requests.length, 1);
  const report = mainOf(await pageOf(`/tests/${id}`));
  assert.match(report, /responded with status 405\. It must accept POST/);
  assert.match(report, /TLS 1\.3, certificate valid until/);
  assert.match(report, /Try it again \(may unsubscribe\)/);
  assert.match(report, /DKIM signature · .*unsubscribe/i);
  assert.match(report, /must cover List-Unsubscribe and List-Unsubscribe-Post \(RFC 8058 §4\)/);
  // The button of a page that was opened before.
  await post({ try: 'POST 0' });
  assert.equal(scene.requests.length, 1);
  await post({ try: 'POST 1' });
  await post({ try: 'GET 0' });
  assert.deepEqual(
    scene.requests.map((text) => text.split(' ')[0]),
    ['POST', 'POST', 'GET'],
  );
  // With an API key, the report has the results without buttons.
  const alone = (await service.call('GET', `/v1/tests/${id}/report.html`)).text;
  assert.match(alone, /responded with status 405/);
  assert.doesNotMatch(alone, /may unsubscribe/);
  const share = await service.call<{ url: string }>('POST', '/v1/reports/share', {
    json: { test_ids: [id] },
  });
  assert.equal(share.status, 201, share.text);
  const shared = await pageOf(new URL(share.body.url).pathname, {});
  assert.match(shared, /One-click unsubscribe/);
  assert.doesNotMatch(shared, /status 405|One-click request|may unsubscribe/);
});
