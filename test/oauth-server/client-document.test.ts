/** Metadata documents of clients: fetched from public addresses, within limits, and only if they describe the client. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WebClient } from '../../src/net/http/web.ts';
import { webOf } from '../helpers/web.ts';
import { ownerBrowser } from '../team/browser.ts';
import { authorizePath, consent, REDIRECT, redeem, startOAuthService } from './oauth-client.ts';

const URL_OF_CLIENT = 'https://client.example/oauth/client.json';
const HTML = { accept: 'text/html' };

const documentOf = (more: object = {}): string =>
  JSON.stringify({
    client_id: URL_OF_CLIENT,
    client_name: 'Documented',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    ...more,
  });

test('The page shows the host that describes the assistant, and its code becomes a token', async (t) => {
  const web = webOf({ [URL_OF_CLIENT]: { type: 'application/json', body: documentOf() } });
  const service = await startOAuthService(t, { web });
  const browser = await ownerBrowser(service);
  const path = authorizePath(URL_OF_CLIENT);
  const page = await browser.call<string>('GET', path, { headers: HTML });
  assert.match(page.text, /client\.example describes the assistant\./);
  const code = (await consent(service, browser, path)).searchParams.get('code')!;
  const other = 'https://client.example/other.json';
  assert.equal((await redeem(service, other, code)).body.error, 'invalid_grant');
  assert.equal((await redeem(service, URL_OF_CLIENT, code)).status, 200);
});

test('A document that does not describe the client is refused', async (t) => {
  const pages = {
    'https://client.example/mismatch.json': { body: documentOf() },
    'https://client.example/html': { type: 'text/html', body: documentOf() },
    'https://client.example/broken.json': { body: '{' },
    'https://client.example/list.json': { body: '[]' },
    'https://client.example/null.json': { body: 'null' },
    'https://client.example/deep.json': { body: '['.repeat(1000) },
    'https://client.example/huge.json': { body: documentOf({ logo: 'x'.repeat(20_000) }) },
    'https://client.example/gone.json': { code: 404 },
    'https://client.example/moved.json': { code: 302, body: documentOf() },
    'https://client.example/script.json': {
      body: documentOf({
        client_id: 'https://client.example/script.json',
        redirect_uris: ['javascript:alert(1)'],
      }),
    },
    'https://client.example/timeout.json': 'timeout' as const,
  };
  const web = webOf(
    Object.fromEntries(
      Object.entries(pages).map(([url, page]) => [
        url,
        typeof page === 'string' ? page : { type: 'application/json', ...page },
      ]),
    ),
  );
  const service = await startOAuthService(t, { web });
  const browser = await ownerBrowser(service);
  for (const url of [
    ...Object.keys(pages),
    'https://client.example/',
    'https://client.example',
    'https://user@client.example/client.json',
    'https://client.example/client.json#x',
    'https://client.example/a/../client.json',
    'HTTPS://client.example/client.json',
    'http://client.example/client.json',
    `https://client.example/${'x'.repeat(300)}`,
  ]) {
    const page = await browser.call<string>('GET', authorizePath(url), { headers: HTML });
    assert.equal(page.status, 400, url);
    assert.ok(!page.text.includes('name="decision"'), url);
  }
});

test('A document at a private address is not fetched', async (t) => {
  const zone = { 'client.example': { A: ['127.0.0.1'] } } as never;
  const service = await startOAuthService(t, { zone });
  const browser = await ownerBrowser(service);
  for (const url of [
    URL_OF_CLIENT,
    'https://127.0.0.1/client.json',
    'https://[::1]/client.json',
    'https://169.254.169.254/latest/meta-data',
  ]) {
    const page = await browser.call<string>('GET', authorizePath(url), { headers: HTML });
    assert.equal(page.status, 400, url);
    assert.match(page.text, /can(’|'|&#39;)t be used/);
  }
});

test('Nobody but a member who is asked causes a fetch', async (t) => {
  let fetches = 0;
  const web: WebClient = async () => {
    fetches += 1;
    return {
      status: 'answered',
      code: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(documentOf()),
    };
  };
  const service = await startOAuthService(t, { web });
  const visitor = await fetch(service.url + authorizePath(URL_OF_CLIENT), {
    headers: HTML,
    redirect: 'manual',
  });
  assert.equal(visitor.status, 303);
  await redeem(service, URL_OF_CLIENT, 'code');
  assert.equal(fetches, 0);
  const browser = await ownerBrowser(service);
  await browser.call('GET', authorizePath(URL_OF_CLIENT), { headers: HTML });
  assert.equal(fetches, 1);
});
