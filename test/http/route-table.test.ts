/** Which entries of the route table match a path. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRouteTable } from '../../src/http/route-table.ts';

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
];

const table = createRouteTable<string>();
for (const route of PATHS) {
  const [method, path] = route.split(' ') as [string, string];
  table.add(method, path, path);
}
const matched = (pathname: string) =>
  table.match(pathname).map(({ method, value, params }) => [`${method} ${value}`, params]);

it('match returns all methods of a path with its parameters, in the order in which they were added', () => {
  const cases: [pathname: string, expected: unknown[]][] = [
    ['/', [['GET /', {}]]],
    ['//', [['GET /', {}]]],
    [
      '/tests/a%2Fb',
      [
        ['GET /tests/:id', { id: 'a%2Fb' }],
        ['PATCH /tests/:id', { id: 'a%2Fb' }],
      ],
    ],
    [
      '/tests/raw',
      [
        ['GET /tests/:id', { id: 'raw' }],
        ['PATCH /tests/:id', { id: 'raw' }],
        ['POST /tests/raw', {}],
      ],
    ],
    ['/tests/a/parts/b', [['GET /tests/:test/parts/:part', { test: 'a', part: 'b' }]]],
    ['/badges/a.b.svg/', [['GET /badges/:name.svg', { name: 'a.b' }]]],
    [
      '/public/x.pdf',
      [
        ['GET /public/:token.pdf', { token: 'x' }],
        ['GET /public/:token', { token: 'x.pdf' }],
      ],
    ],
    [
      '/first/fixed',
      [
        ['GET /first/:any', { any: 'fixed' }],
        ['GET /first/fixed', {}],
      ],
    ],
  ];
  for (const [pathname, expected] of cases) assert.deepEqual(matched(pathname), expected, pathname);
});

it('match returns nothing for another path, an empty parameter or slashes in the middle', () => {
  for (const pathname of ['/test', '/tests', '/tests/a/parts', '/tests/a/parts/b/c', '/Tests/a'])
    assert.deepEqual(matched(pathname), [], pathname);
  for (const pathname of ['/tests//parts/b', '//tests/a', '/tests//a', '/badges/.svg'])
    assert.deepEqual(matched(pathname), [], pathname);
});
