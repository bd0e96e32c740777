/** Fetching images: redirects, limits, and servers that do not send an image. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { fetchImages, IMAGE_LIMITS } from '../../src/mailtests/fetch-images.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { createWebClient } from '../../src/net/http/client.ts';
import type { ListedImage } from '../../src/report/image-list.ts';
import { type HttpExchange, startHttpScript } from '../helpers/http-script.ts';
import { gifOf, pngOf, REAL_PNG, SVG } from './image-files.ts';

/** The test’s server, and no other private address. */
const web = createWebClient({
  resolver: zoneResolver({ 'private.test': { A: ['10.0.0.7'] } }),
  allowNetworks: [parseNetwork('127.0.0.1/32')],
});

const imageAt = (url: string): ListedImage => ({ kind: 'content', url, isTrackingPixel: false });

type Answers = Record<string, (exchange: HttpExchange) => void>;

/** Responds by path; other paths get a PNG image. */
async function startImages(t: TestContext, answers: Answers = {}) {
  const script = await startHttpScript(t, (exchange) => {
    const answer = answers[exchange.path];
    if (answer) answer(exchange);
    else exchange.response.end(pngOf(60, 20));
  });
  const fetchAll = (paths: string[], limits = {}) =>
    fetchImages(
      paths.map((path) => imageAt(URL.parse(path, script.url)!.href)),
      web,
      { ...IMAGE_LIMITS, ...limits },
    );
  return { ...script, fetchAll };
}

const redirect =
  (location: string, code = 302) =>
  ({ response }: HttpExchange) => {
    response.writeHead(code, { location });
    response.end();
  };

const body =
  (bytes: string | Uint8Array, headers = {}, code = 200) =>
  ({ response }: HttpExchange) => {
    response.writeHead(code, headers);
    response.end(bytes);
  };

/** Writes until the client closes the connection. */
const endless =
  (start: Uint8Array) =>
  ({ response }: HttpExchange) => {
    response.write(start);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
    };
    response.on('drain', more);
    more();
  };

test('fetchImages loads images without cookies or a referrer, and says what they are', async (t) => {
  const { fetchAll, exchanges } = await startImages(t, {
    '/a.png': body(REAL_PNG, { 'content-type': 'text/html', 'set-cookie': 'id=1' }),
    '/b': body(SVG, { 'content-type': 'image/png' }),
  });
  const [png, svg] = await fetchAll(['/a.png', '/b']);
  assert.equal(png!.status, 'loaded');
  assert.equal(png!.file!.mediaType, 'image/png');
  assert.deepEqual(Buffer.from(png!.file!.bytes), REAL_PNG);
  assert.equal(svg!.file!.mediaType, 'image/svg+xml');
  for (const { headers, method } of exchanges) {
    assert.equal(method, 'GET');
    assert.equal(headers['user-agent'], 'deliverability/1 (+image preview)');
    const sent = ['host', 'user-agent', 'accept', 'accept-encoding', 'connection'];
    assert.deepEqual(Object.keys(headers).sort(), sent.sort());
  }
});

test('fetchImages follows redirects, but never to a private address or in a loop', async (t) => {
  const { fetchAll, exchanges } = await startImages(t, {
    '/moved': redirect('/there.png', 301),
    '/private': redirect('http://10.0.0.7/secret.png'),
    '/named': redirect('http://private.test/secret.png'),
    '/other': redirect('http://127.0.0.2/secret.png'),
    '/metadata': redirect('http://169.254.169.254/latest/meta-data/'),
    '/file': redirect('file:///etc/passwd'),
    '/loop': redirect('/loop'),
    '/nowhere': redirect('http://'),
  });
  const results = await fetchAll([
    '/moved',
    '/private',
    '/named',
    '/other',
    '/metadata',
    '/file',
    '/loop',
    '/nowhere',
  ]);
  assert.deepEqual(
    results.map(({ status, reason }) => [status, reason]),
    [
      ['loaded', null],
      ['failed', 'forbidden_address'],
      ['failed', 'forbidden_address'],
      ['failed', 'forbidden_address'],
      ['failed', 'forbidden_address'],
      ['failed', 'bad_url'],
      ['failed', 'redirects'],
      ['failed', 'redirects'],
    ],
  );
  assert.match(results[1]!.detail!, /^redirect target: /);
  assert.equal(exchanges.filter(({ path }) => path === '/loop').length, 6);
});

test('fetchImages refuses what is not an image, whatever the server says', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const { fetchAll } = await startImages(t, {
    '/gone': body('not here', { 'content-type': 'image/png' }, 404),
    '/error': body(pngOf(10, 10), {}, 500),
    '/html': body('<!doctype html><img src=x>', { 'content-type': 'image/png' }),
    '/bomb': body(bomb, { 'content-type': 'image/svg+xml', 'content-encoding': 'gzip' }),
    '/empty': body(''),
    '/huge': body(pngOf(30_000, 30_000)),
    '/entities': body(`<!DOCTYPE svg [<!ENTITY a "aaaa">]>${SVG}`),
  });
  const results = await fetchAll([
    '/gone',
    '/error',
    '/html',
    '/bomb',
    '/empty',
    '/huge',
    '/entities',
    '/ok',
  ]);
  assert.deepEqual(
    results.map(({ reason }) => reason),
    ['http_status', 'http_status', ...Array(5).fill('not_an_image'), null],
  );
  assert.equal(results[0]!.detail, 'the server responded with 404');
  assert.ok(results.every(({ file, status }) => (file === null) === (status === 'failed')));
});

/** Longer than any machine needs, under any load. */
const PATIENT = { timeoutMs: 60_000, totalTimeoutMs: 60_000 };

test('fetchImages ends endless responses', async (t) => {
  const { fetchAll } = await startImages(t, {
    '/endless': endless(pngOf(10, 10)),
    '/declared': body(Buffer.alloc(3_000_000)),
  });
  const results = await fetchAll(['/endless', '/declared', '/ok'], PATIENT);
  assert.deepEqual(
    results.map(({ reason }) => reason),
    ['too_large', 'too_large', null],
  );
  assert.equal(results[0]!.detail, 'the image has more than 2 MB');
});

test('fetchImages ends slow responses at the time limit', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { fetchAll } = await startImages(t, {
    '/drip': ({ response }) => {
      response.write('x', () => begun[0]!.resolve());
      const timer = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(timer));
    },
    '/silent': () => begun[1]!.resolve(),
  });
  let isOver = false;
  const fetching = fetchAll(['/drip', '/silent']).finally(() => {
    isOver = true;
  });
  await Promise.all(begun.map(({ promise }) => promise));
  t.mock.timers.tick(IMAGE_LIMITS.timeoutMs - 1);
  const [other] = await fetchAll(['/ok']);
  assert.deepEqual([other!.reason, isOver], [null, false]);
  t.mock.timers.tick(1);
  assert.deepEqual(
    (await fetching).map(({ reason }) => reason),
    ['timeout', 'timeout'],
  );
});

test('fetchImages has a time limit for all images together', async (t) => {
  const { fetchAll } = await startImages(t, { '/silent': () => {} });
  const paths = [...Array(20)].map((_, i) => `/silent?${i}`);
  const startedAt = process.hrtime.bigint();
  const results = await fetchAll(paths, { totalTimeoutMs: 500 });
  assert.deepEqual(new Set(results.map(({ reason }) => reason)), new Set(['timeout']));
  // Less than the 32 seconds that six at a time would take without it.
  assert.ok(process.hrtime.bigint() - startedAt < 20_000_000_000n);
});

test('fetchImages requests at most 60 images, 6 at once, and 10 MB together', async (t) => {
  let open = 0;
  let mostOpen = 0;
  const { url, exchanges } = await startHttpScript(t, ({ response, path }) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.on('close', () => {
      open -= 1;
    });
    const size = path.startsWith('/large') ? 1_900_000 : 0;
    response.end(Buffer.concat([gifOf(10, 10), Buffer.alloc(size)]));
  });
  const fetchAll = (paths: string[]) =>
    fetchImages(
      paths.map((path) => imageAt(url + path)),
      web,
    );
  const many = await fetchAll([...Array(100)].map((_, i) => `/small${i}`));
  assert.equal(many.filter(({ status }) => status === 'loaded').length, 60);
  assert.ok(many.slice(60).every(({ reason }) => reason === 'limit'));
  assert.equal(exchanges.length, 60);
  assert.ok(mostOpen <= 6, `${mostOpen} at once`);
  const large = await fetchAll([...Array(12)].map((_, i) => `/large${i}`));
  const loaded = large.flatMap(({ file }) => file?.bytes.byteLength ?? []);
  assert.ok(loaded.length >= 4, `${loaded.length} loaded`);
  assert.ok(loaded.reduce((sum, size) => sum + size, 0) <= IMAGE_LIMITS.totalBytes);
  assert.deepEqual(new Set(large.map(({ reason }) => reason)), new Set([null, 'limit']));
});

test('fetchImages never requests tracking pixels', async (t) => {
  const { url, exchanges } = await startImages(t);
  const pixel = { ...imageAt(`${url}/open.gif`), isTrackingPixel: true };
  const [result] = await fetchImages([pixel], web);
  assert.equal(result!.status, 'tracking_pixel');
  assert.deepEqual(exchanges, []);
});

test('fetchImages unpacks only BIMI logos', async (t) => {
  const { url } = await startImages(t, { '/logo.svgz': body(gzipSync(SVG)) });
  const logo = { ...imageAt(`${url}/logo.svgz`), kind: 'bimi_logo' as const };
  const [unpacked, other] = await fetchImages([logo, imageAt(`${url}/logo.svgz`)], web);
  assert.equal(Buffer.from(unpacked!.file!.bytes).toString(), SVG);
  assert.equal(other!.reason, 'not_an_image');
});
