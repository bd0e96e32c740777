/** Addresses that people pass on: with an ending for the form, with whatever queries, and errors as their reader wants them. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { prefersJson, wantsPage } from '../../src/http/page.ts';
import { route } from '../../src/http/route.ts';
import type { Visit } from '../../src/http/visit.ts';
import { startRouted } from './routed.ts';

const said = (form: string) => (call: { params: Record<string, string>; headOnly: boolean }) =>
  new Response(`${form} ${call.params.name}`, {
    headers: { 'content-type': 'text/plain', 'x-head-only': String(call.headOnly) },
  });

const common = { method: 'GET', role: 'public', summary: 'A link', byLink: true } as const;
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

it('an ending tells the form, and the rest of the name is the parameter', async (t) => {
  const { send } = await startRouted(t, LINKS);
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

it('a handler knows whether anybody sees its answer', async (t) => {
  const { send } = await startRouted(t, LINKS);
  for (const [method, expected] of [
    ['GET', 'false'],
    ['HEAD', 'true'],
  ] as const)
    assert.equal((await send(method, '/links/a')).headers['x-head-only'], expected);
});

it('an error is a page for browsers, a document for programs', () => {
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
      const visit = { route, pathname: path, request } as Visit;
      assert.equal(wantsPage(visit), expected, `${path} ${accept}`);
    }
});

it('JSON is preferred by whoever names it with more weight', () => {
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
