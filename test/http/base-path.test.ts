/** The service below a path of its host, behind proxies that strip the prefix and proxies that pass it on. */

// @one-database: about paths.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basePathOf } from '../../src/http/base-path.ts';
import { startTestService } from '../helpers/app.ts';
import { givePassword, PASSWORD } from '../team/browser.ts';

const PREFIX = '/tools/deliverability';
const ENV = { DELIVERABILITY_APP_URL: `https://example.com${PREFIX}` };

const basePath = (APP_URL: string) => basePathOf({ APP_URL });

test('A URL without a path needs no prefix', () => {
  assert.equal(basePath('https://example.com'), null);
  assert.equal(basePath('https://example.com/'), null);
});

test('The prefix is stripped from paths that have it as whole segments', () => {
  const { strip } = basePath('https://example.com/a/b/')!;
  assert.deepEqual(['/a/b', '/a/b/', '/a/b/tests', '/a/bc', '/tests', '/a'].map(strip), [
    '/',
    '/',
    '/tests',
    '/a/bc',
    '/tests',
    '/a',
  ]);
});

test('The prefix is stripped from the end of the URLs of OAuth metadata (RFC 8414 §3.1)', () => {
  const { strip } = basePath('https://example.com/a/b/')!;
  for (const [path, stripped] of [
    ['oauth-authorization-server/a/b', 'oauth-authorization-server'],
    ['oauth-protected-resource/a/b/mcp', 'oauth-protected-resource/mcp'],
    ['oauth-authorization-server', 'oauth-authorization-server'],
    ['oauth-authorization-server/a/bc', 'oauth-authorization-server/a/bc'],
    ['other/a/b', 'other/a/b'],
  ])
    assert.equal(strip(`/.well-known/${path}`), `/.well-known/${stripped}`);
  assert.equal(
    strip('/a/b/.well-known/oauth-protected-resource/mcp'),
    '/.well-known/oauth-protected-resource/mcp',
  );
});

test('The prefix is added to local URLs of pages, and to nothing that a message could contain', async () => {
  const { apply } = basePath('https://example.com/a')!;
  const html =
    '<a href="/tests">x</a> <a href="//evil.example">x</a> <a href="#main">x</a> ' +
    '<iframe srcdoc="&lt;a href=&quot;/tests&quot;>"></iframe> <p>href="/ in text</p>' +
    '<form action="/tests"></form><script src="/assets/x.js"></script><p data-watch="/v1"></p>';
  const response = await apply(
    new Response(html, { headers: { 'content-type': 'text/html', location: '/tests' } }),
  );
  assert.equal(response.headers.get('location'), '/a/tests');
  assert.equal(
    await response.text(),
    '<a href="/a/tests">x</a> <a href="//evil.example">x</a> <a href="#main">x</a> ' +
      '<iframe srcdoc="&lt;a href=&quot;/tests&quot;>"></iframe> <p>href="/ in text</p>' +
      '<form action="/a/tests"></form><script src="/a/assets/x.js"></script><p data-watch="/a/v1"></p>',
  );
});

for (const [proxy, prefix] of [
  ['strips', ''],
  ['passes on', PREFIX],
] as const)
  test(`Pages work behind a proxy that ${proxy} the prefix`, async (t) => {
    const service = await startTestService(t, { env: ENV });
    await givePassword(service, 'owner@example.com');
    const base = service.url + prefix;
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(base + path, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });

    const visited = await get('/api-keys?done=revoked');
    assert.equal(visited.status, 303);
    const next = encodeURIComponent('/api-keys?done=revoked');
    assert.equal(visited.headers.get('location'), `${PREFIX}/sign-in?next=${next}`);

    const signedIn = await fetch(`${base}/sign-in?next=${next}`, {
      method: 'POST',
      headers: { origin: 'https://example.com' },
      body: new URLSearchParams({ email: 'owner@example.com', password: PASSWORD }),
      redirect: 'manual',
    });
    assert.equal(signedIn.headers.get('location'), `${PREFIX}/api-keys?done=revoked`);
    const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!;

    const page = await (await get('/api-keys', { cookie })).text();
    const urls = [...page.matchAll(/ (?:href|action|src|data-watch)="(\/[^"]*)"/g)].map(
      ([, url]) => url!,
    );
    assert.ok(urls.length > 10);
    assert.deepEqual(
      urls.filter((url) => !url.startsWith(`${PREFIX}/`)),
      [],
    );
    const script = urls.find((url) => url.endsWith('.js'))!;
    assert.equal((await get(script.slice(PREFIX.length))).status, 200);
    const missing = await get('/nothing');
    assert.equal(missing.status, 404);
    assert.match(await missing.text(), new RegExp(`href="${PREFIX}/"`));
  });
