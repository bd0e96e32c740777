/** Which routes match a method and a path. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createPathRouter } from '../../src/http/path-router.ts';

const PATHS = [
  'GET /',
  'GET /tests/export',
  'GET /tests/:id',
  'PATCH /tests/:id',
  'POST /tests/raw',
  'GET /tests/:test/parts/:part',
  'GET /badges/:name.svg',
  'GET /badges/:name.json',
  'GET /public/:token.pdf',
  'GET /public/:token',
  'GET /first/:any',
  'GET /first/fixed',
  'GET /v1/domains',
  'GET /v1/domains/:id',
  'DELETE /v1/domains/:id',
];

interface Handled {
  route: string;
  params: Record<string, string>;
}

const router = createPathRouter<{ handled?: Handled }>();
for (const route of PATHS) {
  const [method, path] = route.split(' ') as [string, string];
  router.add(method, path, async (params, context) => {
    context.handled = { route, params: { ...params } };
    return new Response();
  });
}

/** The route that handles the request, with its parameters; undefined if none does. */
async function handled(method: string, pathname: string): Promise<Handled | undefined> {
  const context: { handled?: Handled } = {};
  const response = await router.fetch(method, pathname, context);
  assert.equal(response !== undefined, context.handled !== undefined);
  return context.handled;
}

it('The first route that matches the method and the path handles a request', async () => {
  const cases: [method: string, pathname: string, route: string, params: object][] = [
    ['GET', '/', 'GET /', {}],
    ['GET', '//', 'GET /', {}],
    ['GET', '/tests/a%2Fb', 'GET /tests/:id', { id: 'a%2Fb' }],
    ['GET', '/tests/a/', 'GET /tests/:id', { id: 'a' }],
    ['PATCH', '/tests/a', 'PATCH /tests/:id', { id: 'a' }],
    ['GET', '/tests/raw', 'GET /tests/:id', { id: 'raw' }],
    ['POST', '/tests/raw', 'POST /tests/raw', {}],
    ['GET', '/tests/export', 'GET /tests/export', {}],
    ['GET', '/tests/a/parts/b', 'GET /tests/:test/parts/:part', { test: 'a', part: 'b' }],
    ['GET', '/badges/a.b.svg/', 'GET /badges/:name.svg', { name: 'a.b' }],
    ['GET', '/public/x.pdf', 'GET /public/:token.pdf', { token: 'x' }],
    ['GET', '/public/x.txt', 'GET /public/:token', { token: 'x.txt' }],
    ['GET', '/first/fixed', 'GET /first/:any', { any: 'fixed' }],
    ['GET', '/v1/domains', 'GET /v1/domains', {}],
    ['GET', '/v1/domains/d', 'GET /v1/domains/:id', { id: 'd' }],
    ['DELETE', '/v1/domains/d', 'DELETE /v1/domains/:id', { id: 'd' }],
  ];
  for (const [method, pathname, route, params] of cases)
    assert.deepEqual(await handled(method, pathname), { route, params }, `${method} ${pathname}`);
});

it('methodsAt lists the methods of a path in the order in which they were added', () => {
  assert.deepEqual(router.methodsAt('/tests/raw'), ['GET', 'PATCH', 'POST']);
  assert.deepEqual(router.methodsAt('/v1/domains/d/'), ['GET', 'DELETE']);
  assert.deepEqual(router.methodsAt('/first/fixed'), ['GET']);
  assert.deepEqual(router.methodsAt('/v1'), []);
});

it('A route does not handle another method', async () => {
  assert.equal(await handled('POST', '/tests/a'), undefined);
  assert.equal(await handled('ALL', '/tests/a'), undefined);
});

async function assertNoMatch(pathname: string): Promise<void> {
  assert.equal(await handled('GET', pathname), undefined, pathname);
  assert.deepEqual(router.methodsAt(pathname), [], pathname);
}

it('No route matches another path, an empty parameter or slashes in the middle', async () => {
  for (const pathname of [
    '/test',
    '/tests',
    '/tests/a/parts',
    '/tests/a/parts/b/c',
    '/Tests/a',
    '/v1',
    '/v1/tests',
  ])
    await assertNoMatch(pathname);
  for (const pathname of ['/tests//parts/b', '//tests/a', '/tests//a', '/badges/.svg'])
    await assertNoMatch(pathname);
});
