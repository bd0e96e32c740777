/** Documents that are the same for everyone: hashed and compressed once, whoever asks for them. */

// @one-database: about documents in memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createDocumentEncoder } from '../../src/http/encode-document.ts';
import { staticResponse } from '../../src/http/static-document.ts';
import { startTestService } from '../helpers/app.ts';

const TEXT = `<p><a href="/docs">${'Text '.repeat(1000)}</a></p>`;
const HEADERS = { 'content-type': 'text/html', 'cache-control': 'no-cache' };
const prefixed = {
  strip: (path: string) => path,
  apply: async (response: Response) =>
    new Response((await response.text()).replace('href="/', 'href="/mail/'), {
      headers: response.headers,
    }),
};

const requestWith = (headers: Record<string, string> = {}) => ({
  method: 'GET',
  request: new Request('http://a.example/docs', { headers }),
});

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

test('A static document is compressed once in each encoding, and its stored bytes are sent again', async () => {
  const encode = createDocumentEncoder(null);
  const document = { text: TEXT, headers: HEADERS };
  for (const [encoding, decode] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    const get = () =>
      encode({}, staticResponse(document), requestWith({ 'accept-encoding': encoding }));
    const [first, second] = await Promise.all([get(), get()]);
    assert.deepEqual(
      [first.headers.get('content-encoding'), first.headers.get('vary')],
      [encoding, 'Accept-Encoding'],
    );
    const bytes = await bytesOf(first);
    assert.equal(decode(bytes).toString(), TEXT);
    assert.ok((await bytesOf(second)).equals(bytes));
    assert.equal(first.headers.get('etag'), second.headers.get('etag'));
    assert.equal(first.headers.get('content-length'), String(bytes.byteLength));
  }
});

test('A static document is located below the base path once, and its ETag follows what is sent', async () => {
  let applied = 0;
  const counting = {
    ...prefixed,
    apply(response: Response) {
      applied += 1;
      return prefixed.apply(response);
    },
  };
  const document = { text: TEXT, headers: HEADERS };
  const encode = createDocumentEncoder(counting);
  const located = await encode({}, staticResponse(document), requestWith());
  const etag = located.headers.get('etag')!;
  assert.match(await located.text(), /href="\/mail\/docs"/);
  const same = await encode({}, staticResponse(document), requestWith({ 'if-none-match': etag }));
  assert.deepEqual([same.status, (await bytesOf(same)).byteLength], [304, 0]);
  assert.equal(applied, 1);
  const elsewhere = await createDocumentEncoder(null)({}, staticResponse(document), requestWith());
  assert.notEqual(elsewhere.headers.get('etag'), etag);
});

test('GET of the API reference, its document and the assets returns an ETag, and 304 to whoever has it', async (t) => {
  const { call } = await startTestService(t);
  const get = (path: string, headers = {}) => call('GET', path, { key: null, headers });
  const start = await get('/sign-in');
  const assets = start.text.match(/\/assets\/[\w.-]+/g)!;
  assert.ok(assets.length >= 2);
  for (const path of ['/openapi.json', '/docs', '/docs/createTest', ...assets]) {
    const first = await get(path);
    assert.equal(first.status, 200, path);
    const etag = first.headers.get('etag')!;
    assert.match(etag, /^W\/"[\w-]{22}"$/, path);
    const known = await get(path, { 'if-none-match': etag });
    assert.deepEqual([known.status, known.text], [304, ''], path);
    // Node leaves out the body of a HEAD request.
    const head = await call('HEAD', path, { key: null });
    assert.deepEqual([head.status, head.headers.get('etag')], [200, etag], path);
  }
});
