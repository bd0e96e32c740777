/** The images of a test: loaded once, by members, and kept with the test. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { deleteOldTests } from '../../src/mailtests/expire.ts';
import { loadedImagesOf } from '../../src/mailtests/images.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { TestImages } from '../../src/mailtests/schemas/image.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { createWebClient } from '../../src/net/http/client.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { type HttpExchange, startHttpScript } from '../helpers/http-script.ts';
import { SETUPS } from '../store/races/nodes.ts';
import { pngOf, SVG } from './image-files.ts';

const web = createWebClient({
  resolver: zoneResolver({}),
  allowNetworks: [parseNetwork('127.0.0.1/32')],
});

const start = (t: TestContext, options: ServiceOptions = {}) =>
  startTestService(t, { web, ...options });

const messageWith = (html: string): string =>
  `From: News <news@example.com>\r\nTo: a@inbox.test\r\nSubject: Images\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@example.com>\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}\r\n`;

async function submitted({ call }: TestService, message: string, key?: string): Promise<Test> {
  const sent = await call<Test>('POST', '/v1/tests/raw?client_ip=192.0.2.1&helo=a.example', {
    body: message,
    headers: { 'content-type': 'message/rfc822' },
    key,
  });
  assert.equal(sent.status, 201, sent.text);
  return sent.body;
}

/** Waits for the result. */
async function analyzed(service: TestService, message: string, key?: string): Promise<Test> {
  const { id } = await submitted(service, message, key);
  const { body } = await service.call<Test>('GET', `/v1/tests/${id}?wait=50`, { key });
  assert.equal(body.status, 'completed');
  return body;
}

const pathOf = ({ id }: Pick<Test, 'id'>): string => `/v1/tests/${id}/images`;

/** A server of images, and a message that shows five of them. */
async function startScene(t: TestContext, answer?: (exchange: HttpExchange) => void) {
  const server = await startHttpScript(t, (exchange) => {
    if (exchange.path === '/gone.png') exchange.json(404, {});
    else if (answer) answer(exchange);
    else exchange.response.end(exchange.path === '/logo.svg' ? SVG : pngOf(600, 200));
  });
  const html = `<p>Hello</p><img src="${server.url}/hero.png" alt="Hero"><img src="${server.url}/hero.png#again" alt="">
    <img src="${server.url}/gone.png" alt=""><div style="background:url(${server.url}/logo.svg)">x</div>
    <img src="${server.url}/open.gif" width="1" height="1" alt="">`;
  return { server, message: messageWith(html) };
}

test('POST /v1/tests/{id}/images loads each image once, and GET lists them', async (t) => {
  const { server, message } = await startScene(t);
  const service = await start(t);
  const made = await analyzed(service, message);
  const requestsOfAnalysis = server.exchanges.length;
  const before = await service.call<TestImages>('GET', pathOf(made));
  assert.deepEqual(
    [before.status, before.body.status, before.body.images],
    [200, 'not_loaded', []],
  );
  const { status, body } = await service.call<TestImages>('POST', pathOf(made));
  assert.equal(status, 200);
  assert.equal(body.status, 'loaded');
  assert.deepEqual(
    body.images.map(({ url, status, reason, width }) => [
      url.slice(server.url.length),
      status,
      reason,
      width,
    ]),
    [
      ['/hero.png', 'loaded', null, 600],
      ['/gone.png', 'failed', 'http_status', null],
      ['/open.gif', 'tracking_pixel', 'tracking_pixel', null],
      ['/logo.svg', 'loaded', null, null],
    ],
  );
  assert.deepEqual((await service.call('POST', pathOf(made))).body, body);
  assert.deepEqual((await service.call('GET', pathOf(made))).body, body);
  const paths = server.exchanges.slice(requestsOfAnalysis).map(({ path }) => path);
  assert.deepEqual(paths.sort(), ['/gone.png', '/hero.png', '/logo.svg']);
  const stored = (await loadedImagesOf(service.app.db, made.id))!;
  assert.deepEqual(Buffer.from(stored[0]!.bytes!), pngOf(600, 200));
  assert.deepEqual(
    stored.map(({ bytes, mediaType, reason }) => [bytes === null, mediaType, reason]),
    [
      [false, 'image/png', null],
      [true, null, 'the server responded with 404'],
      [true, null, 'it is a tracking pixel, which is never loaded'],
      [false, 'image/svg+xml', null],
    ],
  );
});

test('DELETE forgets the images, so that they can be loaded again', async (t) => {
  const { server, message } = await startScene(t);
  const service = await start(t);
  const made = await analyzed(service, message);
  await service.call('POST', pathOf(made));
  const requests = server.exchanges.length;
  const deleted = await service.call('DELETE', pathOf(made));
  assert.deepEqual(deleted.body, { id: made.id, object: 'test_images', deleted: true });
  assert.deepEqual(await loadedImagesOf(service.app.db, made.id), null);
  const again = await service.call<TestImages>('POST', pathOf(made));
  assert.equal(again.body.images.length, 4);
  assert.equal(server.exchanges.length, requests + 3);
  const { body } = await service.call<{ data: { action: string }[] }>(
    'GET',
    `/v1/audit_log?object_id=${made.id}`,
  );
  assert.deepEqual(
    body.data.map(({ action }) => action),
    ['test.images_loaded', 'test.images_deleted', 'test.images_loaded'],
  );
});

test('The images of a test go with it: when it is deleted, and when it is too old', async (t) => {
  const clock = testClock();
  const { message } = await startScene(t);
  const service = await start(t, { clock, env: { DELIVERABILITY_TEST_RETENTION: '30d' } });
  const rows = () =>
    service.app.db
      .selectFrom('test_images')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
  const first = await analyzed(service, message);
  const second = await analyzed(service, message);
  for (const made of [first, second]) await service.call('POST', pathOf(made));
  assert.equal((await rows()).count, 8);
  await service.call('DELETE', `/v1/tests/${first.id}`);
  assert.equal((await rows()).count, 4);
  clock.advance(31 * 86_400_000);
  await deleteOldTests(service.app);
  assert.equal((await rows()).count, 0);
  const loads = await service.app.db.selectFrom('image_loads').selectAll().execute();
  assert.deepEqual(loads, []);
});

test('Only members load images, viewers see them, and nobody those of the other mode', async (t) => {
  const { server, message } = await startScene(t);
  const service = await start(t);
  const made = await analyzed(service, message);
  const requests = server.exchanges.length;
  const viewer = await service.makeKey('viewer');
  const sandbox = await service.makeKey('owner', false);
  assert.equal((await service.call('POST', pathOf(made), { key: viewer })).status, 403);
  assert.equal((await service.call('DELETE', pathOf(made), { key: viewer })).status, 403);
  for (const method of ['GET', 'POST', 'DELETE'])
    assert.equal((await service.call(method, pathOf(made), { key: sandbox })).status, 404);
  assert.equal(server.exchanges.length, requests);
  await service.call('POST', pathOf(made));
  const seen = await service.call<TestImages>('GET', pathOf(made), { key: viewer });
  assert.equal(seen.body.images.length, 4);
  const inSandbox = await analyzed(service, message, sandbox);
  const loaded = await service.call<TestImages>('POST', pathOf(inSandbox), { key: sandbox });
  assert.equal(loaded.body.status, 'loaded');
});

test('Images are not loaded before there is a message, or if the server may not request addresses in messages', async (t) => {
  const { server, message } = await startScene(t);
  const service = await start(t, { env: { DELIVERABILITY_CHECK_LINKS: 'false' } });
  const made = await analyzed(service, message);
  const refused = await service.call<{ detail: string }>('POST', pathOf(made));
  assert.equal(refused.status, 409);
  assert.match(refused.body.detail, /DELIVERABILITY_CHECK_LINKS is false/);
  assert.deepEqual(server.exchanges, []);
  const other = await start(t);
  const waiting = await other.createTest();
  assert.equal((await other.call('POST', pathOf(waiting))).status, 409);
  const plain = await analyzed(other, goodMessage());
  const { body } = await other.call<TestImages>('POST', pathOf(plain));
  assert.equal(body.status, 'loaded');
});

test('The BIMI logo of the sender is loaded if the check found it valid', async (t) => {
  const requested: string[] = [];
  const service = await start(t, {
    web: async ({ url }) => {
      requested.push(url);
      return { status: 'answered', code: 200, headers: {}, body: Buffer.from(SVG) };
    },
  });
  const made = await analyzed(service, goodMessage());
  const bimi = (problems: string[]) =>
    JSON.stringify([
      {
        id: 'bimi',
        evidence: { logo: 'https://example.com/logo.svg', logo_file: { bytes: 99 }, problems },
      },
    ]);
  const set = (checks: string) =>
    service.app.db.updateTable('tests').set({ checks }).where('id', '=', made.id).execute();
  await set(bimi(['The logo is too large.']));
  const without = await service.call<TestImages>('POST', pathOf(made));
  assert.ok(without.body.images.every(({ kind }) => kind === 'content'));
  await service.call('DELETE', pathOf(made));
  await set(bimi([]));
  const { body } = await service.call<TestImages>('POST', pathOf(made));
  const { kind, url, media_type } = body.images[0]!;
  assert.deepEqual(
    [kind, url, media_type],
    ['bimi_logo', 'https://example.com/logo.svg', 'image/svg+xml'],
  );
});

test('A load that fails can be repeated, and one that is deleted meanwhile stores nothing', async (t) => {
  const { server, message } = await startScene(t);
  const answers: (() => void)[] = [];
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  const held = await startScene(t, ({ response }) => {
    answers.push(() => response.end(pngOf(1, 1)));
    asked();
  });
  const service = await start(t);
  const made = await analyzed(service, message);
  const { render } = service.app.reportRenderer;
  service.app.reportRenderer.render = async () => {
    throw new Error('the thread ended (test)');
  };
  assert.equal((await service.call('POST', pathOf(made))).status, 500);
  service.app.reportRenderer.render = render;
  const { body } = await service.call<TestImages>('POST', pathOf(made));
  assert.equal(body.status, 'loaded');
  assert.ok(server.exchanges.length > 0);
  const slow = await analyzed(service, held.message);
  const loading = service.call<TestImages>('POST', pathOf(slow));
  await isAsked;
  assert.equal((await service.call<TestImages>('GET', pathOf(slow))).body.status, 'loading');
  await service.call('DELETE', pathOf(slow));
  const timer = setInterval(() => {
    for (const answer of answers.splice(0)) answer();
  }, 5);
  t.after(() => clearInterval(timer));
  assert.equal((await loading).body.status, 'not_loaded');
  const rows = await service.app.db
    .selectFrom('test_images')
    .select('position')
    .where('test_id', '=', slow.id)
    .execute();
  assert.deepEqual(rows, []);
});

for (const { on, skip, start: startNodes } of SETUPS)
  test(`People who ask for images at the same time load them once (${on})`, { skip }, async (t) => {
    const { server, message } = await startScene(t);
    const [first, second] = await startNodes(t, { web });
    const { id } = await submitted(first, message);
    // The nodes run no jobs, so the test gets its result from here.
    await first.app.db
      .updateTable('tests')
      .set({ status: 'completed', checks: '[]' })
      .where('id', '=', id)
      .execute();
    const results = await Promise.all(
      [first, second, first, second].map(({ call, key }) =>
        call<TestImages>('POST', pathOf({ id }), { key }),
      ),
    );
    for (const { status, body } of results)
      assert.deepEqual([status, body.status, body.images.length], [200, 'loaded', 4]);
    assert.deepEqual(server.exchanges.map(({ path }) => path).sort(), [
      '/gone.png',
      '/hero.png',
      '/logo.svg',
    ]);
  });
