/** Public links: file extensions, unknown query parameters, and errors as pages or JSON. */

import assert from 'node:assert/strict';
import { it, test } from 'node:test';
import { prefersJson, type RequestContext, wantsPage } from '../../src/http/request-context.ts';
import { route } from '../../src/http/route.ts';
import { createPathRedactor } from '../../src/http/router.ts';
import { startRoutedService } from './routed.ts';

const said = (form: string) => (call: { params: Record<string, string>; headOnly: boolean }) =>
  new Response(`${form} ${call.params.name}`, {
    headers: { 'content-type': 'text/plain', 'x-head-only': String(call.headOnly) },
  });

const common = { method: 'GET', role: 'public', summary: 'A link', isPublicLink: true } as const;
const LINKS = [
  route({
    ...common,
    path: '/links/:name.svg',
    operation: 'a',
    produces: ['text/plain'],
    handle: said('svg'),
  }),
  route({
    ...common,
    path: '/links/:name',
    operation: 'b',
    produces: ['text/html', 'application/json'],
    handle: said('bare'),
  }),
];

it('Router matches a file extension and passes the rest as parameter', async (t) => {
  const { send } = await startRoutedService(t, LINKS);
  for (const [path, text] of [
    ['/links/a.svg', 'svg a'],
    ['/links/example.com.svg', 'svg example.com'],
    ['/links/a.svg.svg', 'svg a.svg'],
    ['/links/a%2Fb.svg', 'svg a/b'],
    ['/links/a.svg?v=1&v=2', 'svg a'],
    ['/links/a', 'bare a'],
    ['/links/a.png', 'bare a.png'],
    ['/links/asvg', 'bare asvg'],
    ['/links/a?utm=x', 'bare a'],
  ]) {
    const { status, text: got } = await send('GET', path!);
    assert.deepEqual([status, got], [200, text], path);
  }
  assert.equal((await send('GET', '/links/a/b.svg')).status, 404);
});

it('The router prefers a literal path to a parameter, in whichever order they are declared', async (t) => {
  const literal = route({
    ...common,
    path: '/links/new',
    operation: 'c',
    produces: ['text/plain'],
    handle: () => new Response('literal'),
  });
  for (const routes of [
    [...LINKS, literal],
    [literal, ...LINKS],
  ]) {
    const { send } = await startRoutedService(t, routes);
    const texts = await Promise.all(
      ['new', 'newer', 'new.svg'].map(async (name) => (await send('GET', `/links/${name}`)).text),
    );
    assert.deepEqual(texts, ['literal', 'bare newer', 'svg new']);
  }
});

it('Router tells handlers whether the request is HEAD', async (t) => {
  const { send } = await startRoutedService(t, LINKS);
  for (const [method, expected] of [
    ['GET', 'false'],
    ['HEAD', 'true'],
  ] as const)
    assert.equal((await send(method, '/links/a')).headers['x-head-only'], expected);
});

it('Errors are HTML for browsers and JSON for API clients', () => {
  for (const [path, route] of [
    ['/links/gone', LINKS[1]!],
    ['/links/gone.svg', LINKS[0]!],
    ['/nowhere', null],
  ] as const)
    for (const [accept, expected] of [
      ['text/html,*/*;q=0.8', true],
      ['application/json', false],
      ['text/html;q=0.2, application/json', false],
      ['text/html;q=0', false],
      ['*/*', false],
      ['image/avif,image/*', false],
    ] as const) {
      const request = new Request(`http://a.example${path}`, { headers: { accept } });
      const context = { route, pathname: path, request } as RequestContext;
      assert.equal(wantsPage(context), expected, `${path} ${accept}`);
    }
});

it('prefersJson compares the weights of the Accept header', () => {
  for (const [accept, expected] of [
    ['application/json', true],
    [' APPLICATION/JSON ; q=0.1', true],
    ['text/html;q=0.5,application/json;q=0.6', true],
    ['text/html,application/json', false],
    ['application/json;q=0', false],
    ['application/json;q=x', false],
    ['*/*', false],
    ['', false],
    ['application/jsonp', false],
  ] as const)
    assert.equal(prefersJson(accept), expected, accept);
});

// The log contains no secrets of paths.

const logged = createPathRedactor([
  { path: '/v1/tests/:id' },
  { path: '/password/:token', secretParams: ['token'] },
  { path: '/teams/:team/doors/:token', secretParams: ['token'] },
]);

test('createPathRedactor masks a secret path segment and everything after it', () => {
  for (const [path, expected] of [
    ['/password/kJ8v', '/password/:token'],
    ['/password/kJ8v/', '/password/:token'],
    ['/password/kJ8v/and/more', '/password/:token'],
    ['//password//kJ8v', '//password//:token'],
    ['/PASSWORD/kJ8v', '/PASSWORD/:token'],
    ['/password/%0A%2Fk', '/password/:token'],
    ['/teams/a/doors/kJ8v', '/teams/a/doors/:token'],
  ] as const)
    assert.equal(logged(path, true), expected);
});

test('createPathRedactor keeps paths without secrets', () => {
  for (const path of [
    '/',
    '/v1/tests/test_01',
    '/password',
    '/password/',
    '/passwords/of/the/world',
    '/teams/a/doors/',
    '/v1/password/x',
    '/v1/tests/test_01kajtb3kzg2v4n8q6r0s5w7xy',
  ])
    assert.equal(logged(path, true), path);
});

test('createPathRedactor handles very long paths of slashes quickly', () => {
  const path = `${'/'.repeat(10_000)}password${'/'.repeat(10_000)}`;
  assert.equal(logged(path, false), path);
});

const TOKEN = 'kJ8v-2_Zr0pQyXw5LtB7nMdGhCfEsA1uIoV3kR9jT4c';

test('createPathRedactor masks possible tokens in paths without a route', () => {
  for (const path of [
    `/invitations%2F${TOKEN}`,
    `/%70assword/${TOKEN}`,
    `/password;/${TOKEN}`,
    `/password%20/${TOKEN}`,
    `/x/password/${TOKEN}`,
    `/v1/team/invitations/accept/${TOKEN}`,
    `/x/${TOKEN.slice(0, 20)}`,
    `/x/${TOKEN.replaceAll('v', '%76')}`,
    `/x/dlv_live_${TOKEN}`,
    `/x/dlv%5Flive%5F${TOKEN}`,
    '/x/dlv_live_short',
  ]) {
    const line = logged(path, false);
    assert.doesNotMatch(line, /kJ8|%76|short/, line);
  }
  assert.equal(logged(`/x/password/${TOKEN}`, false), '/x/password/:masked');
  assert.equal(logged('/nowhere/at/all.php', false), '/nowhere/at/all.php');
});

test('createPathRedactor masks tokens sent in place of an ID', () => {
  assert.equal(logged(`/v1/tests/${TOKEN}`, true), '/v1/tests/:masked');
  assert.equal(logged(`/v1/api_keys/%64lv_live_${TOKEN}`, true), '/v1/api_keys/:masked');
});
