/** The API reference: it has every operation, its commands work, and it loads no other resources. */

// @one-database: about the API reference; `docs-commands` runs all of its commands on each.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parseDocument } from 'htmlparser2';
import * as v from 'valibot';
import { execFile } from '../../scripts/programs.ts';
import { curlsOf, exampleOf } from '../../src/dashboard/docs/curl.ts';
import {
  describeType,
  fieldsOf,
  limitsOf,
  type Operation,
  readOperations,
} from '../../src/dashboard/docs/operations.ts';
import { DOCUMENTED_API, DOCUMENTED_ROUTES } from '../../src/features.ts';
import { describeApi } from '../../src/health/describe-api.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { getPage } from './pages.ts';

const BASE_URL = 'http://api.example';
const operations: Operation[] = readOperations(
  describeApi(DOCUMENTED_API, { SURFACE: 'full', BASE_URL, APP_URL: BASE_URL }, '1.0.0'),
).flatMap((group) => group.operations);
const run = promisify(execFile);

type Node = ReturnType<typeof parseDocument>['children'][number];
type Element = Extract<Node, { attribs: object }>;
interface Parent {
  children: Node[];
}

const elementsOf = (parent: Parent): Element[] =>
  parent.children.flatMap((child) => ('attribs' in child ? [child, ...elementsOf(child)] : []));
const textOf = (parent: Parent): string =>
  parent.children
    .map((child) => ('attribs' in child ? textOf(child) : 'data' in child ? child.data : ''))
    .join('');
const classesOf = ({ attribs }: Element): string[] => (attribs.class ?? '').split(' ');

/** The commands below an element, as the copy button copies them. */
const commandsOf = (parent: Parent): string[] =>
  elementsOf(parent)
    .filter((each) => classesOf(each).includes('command'))
    .map(textOf)
    .map((text) => text.replace(/Copy$/, ''));

/** Every page of the reference except the whole one, as a browser gets them. */
async function getGroupPages(service: TestService): Promise<Map<string, Element[]>> {
  const { html } = await getPage(service, '/docs');
  const paths = new Set([...html.matchAll(/ href="(\/docs\/[\w-]+)"/g)].map(([, path]) => path!));
  paths.delete('/docs/all');
  const pages = new Map([['/docs', elementsOf(parseDocument(html))]]);
  for (const path of paths) {
    const page = await getPage(service, path);
    assert.equal(page.status, 200, path);
    pages.set(path, elementsOf(parseDocument(page.html)));
  }
  return pages;
}

const idsOf = (elements: Element[]): string[] =>
  elements.flatMap(({ attribs }) => attribs.id ?? []);
function assertDescribes(card: Element, operation: Operation): void {
  const { operationId, method, path, parameters, responses } = operation;
  const text = textOf(card);
  assert.ok(text.includes(`${method} ${path}`), operationId);
  for (const { name } of parameters) assert.ok(text.includes(name), `${operationId}: ${name}`);
  for (const { description } of Object.values(responses))
    assert.ok(text.includes(description.replaceAll('`', '')), `${operationId}: ${description}`);
  const commands = commandsOf(card);
  assert.ok(commands.length > 0, operationId);
  assert.deepEqual(commands, curlsOf(operation, BASE_URL), operationId);
}

test('The API reference', async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_BASE_URL: BASE_URL } });
  const whole = await getPage(service, '/docs/all');
  assert.equal(whole.status, 200);
  assert.match(whole.headers.get('content-type')!, /^text\/html/);
  const pages = await getGroupPages(service);
  const all = new Map([...pages, ['/docs/all', elementsOf(parseDocument(whole.html))]]);
  const ids = new Map([...all].map(([path, elements]) => [path, new Set(idsOf(elements))]));

  await t.test('describes every operation on the page of its group and on the whole page', () => {
    const groups = [...pages].flatMap(([path, elements]) => (path === '/docs' ? [] : elements));
    const paths = new Set(DOCUMENTED_ROUTES.map(({ method, path }) => `${method} ${path}`));
    assert.equal(operations.length, paths.size);
    for (const elements of [all.get('/docs/all')!, groups]) {
      const cards = Map.groupBy(elements, ({ attribs }) => attribs.id);
      for (const operation of operations) {
        const found = cards.get(operation.operationId) ?? [];
        assert.equal(found.length, 1, operation.operationId);
        assertDescribes(found[0]!, operation);
      }
    }
  });

  await t.test('has every anchor of the whole page on its start page, leading to one place', () => {
    // Titles and other parts of the layout are no places that people link to.
    const anchors = [...ids.get('/docs/all')!].filter(
      (id) => !/-title$|^icon-|^chevron$|^main$/.test(id),
    );
    assert.ok(anchors.length > operations.length + 100);
    const places = Map.groupBy(pages.get('/docs')!, ({ attribs }) => attribs.id);
    for (const anchor of anchors) {
      const [place, second] = places.get(anchor) ?? [];
      assert.ok(place && !second, anchor);
      if (!('data-moved' in place.attribs)) continue;
      const [path, hash] = place.attribs.href!.split('#');
      assert.equal(hash, anchor);
      assert.ok(ids.get(path!)!.has(anchor), anchor);
    }
  });

  await t.test('has exactly one matching anchor for every link within it', () => {
    let count = 0;
    for (const [path, elements] of all) {
      assert.equal(ids.get(path)!.size, idsOf(elements).length, path);
      for (const { attribs } of elements) {
        const [, page, anchor] = /^(\/docs[\w/-]*)?#(.+)/.exec(attribs.href ?? '') ?? [];
        if (!anchor || anchor.startsWith('icon-')) continue;
        assert.ok(ids.get(page ?? path)!.has(anchor), `${path}: ${attribs.href}`);
        count++;
      }
    }
    assert.ok(count > 3 * operations.length);
  });

  await t.test('has light pages, except the whole one', async () => {
    for (const path of pages.keys()) {
      const { html } = await getPage(service, path);
      assert.ok(html.length < 300_000, `${path}: ${html.length}`);
    }
  });

  await t.test('is revalidated, and unknown pages are 404', async () => {
    for (const path of ['/docs', '/docs/tests', '/docs/all']) {
      const { headers } = await getPage(service, path);
      assert.equal(headers.get('cache-control'), 'no-cache');
      const again = await getPage(service, path, { 'if-none-match': headers.get('etag')! });
      assert.equal(again.status, 304, path);
    }
    for (const path of ['/docs/none', '/docs/constructor', '/docs/tests/all'])
      assert.equal((await getPage(service, path)).status, 404, path);
  });

  await t.test('loads no other resources and sets a strict CSP', async () => {
    for (const path of ['/docs', '/docs/tests', '/docs/all']) {
      const { html, headers } = await getPage(service, path);
      assert.match(headers.get('content-security-policy')!, /^default-src 'none'.*frame-ancestors/);
      for (const { name, attribs } of all.get(path)!) {
        assert.ok(!attribs.src && !attribs.srcset && !attribs.action, name);
        const { href } = attribs;
        if (href === undefined) continue;
        assert.match(href, /^#|^\/docs(\/|$)|^\/openapi\.json$|^data:image\/svg\+xml,/);
      }
      assert.doesNotMatch(html, /@import|url\(/);
    }
  });

  await t.test(
    'has curl commands of GET operations without an ID that run successfully',
    {
      skip: skipUnlessInstalled('curl'),
    },
    async () => {
      const { folder, http, key } = service;
      const articles = all.get('/docs/all')!.filter(({ name }) => name === 'article');
      const rc = `fail\nsilent\nshow-error\nconnect-to = "api.example:80:127.0.0.1:${http.port}"\n`;
      writeFileSync(join(folder, '.curlrc'), rc);
      const env = { PATH: process.env.PATH, CURL_HOME: folder, API_KEY: key };
      const gets = operations.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
      assert.ok(gets.length > 5);
      const commands = gets.flatMap(({ operationId }) =>
        commandsOf(articles.find(({ attribs }) => attribs.id === operationId)!),
      );
      const script = commands.filter((text) => !/=dom_/.test(text)).join('\n');
      // With `--fail`, an error response causes a non-zero exit status. `-e` ends there, and `-x` prints the command.
      await run('bash', ['-exc', script], { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
    },
  );
});

test('GET /docs is 404 in the preview surface and not in the OpenAPI document', async (t) => {
  const preview = await startTestService(t, { env: { DELIVERABILITY_SURFACE: 'preview' } });
  for (const path of ['/docs', '/docs/tests', '/docs/all'])
    assert.equal((await getPage(preview, path)).status, 404);
  assert.ok(!operations.some(({ path }) => path.startsWith('/docs')));
});

test('Every request body example in the docs passes its operation’s validation', () => {
  let bodies = 0;
  for (const route of DOCUMENTED_ROUTES) {
    if (!route.body) continue;
    const operation = operations.find(({ operationId }) => operationId === route.operation)!;
    const example = exampleOf(operation.requestBody!.content['application/json']!.schema);
    const { issues } = v.safeParse(route.body, example);
    assert.equal(issues, undefined, `${route.operation}: ${JSON.stringify(example)}`);
    bodies++;
  }
  assert.ok(bodies > 5);
});

test('curlsOf quotes shell characters and names ID variables after their resource', () => {
  const operation: Operation = {
    method: 'PATCH',
    path: '/v1/api_keys/{id}/entries/{entry}',
    operationId: 'x',
    summary: '',
    'x-roles': ['owner'],
    parameters: [],
    requestBody: {
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: { kind: { type: 'string', const: "it's" } },
            required: ['kind'],
          },
        },
      },
    },
    responses: {},
  };
  const [command] = curlsOf(operation, 'https://x.example/');
  assert.equal(
    command,
    [
      'curl -X PATCH "https://x.example/v1/api_keys/$API_KEY_ID/entries/$ENTRY"',
      '-H "Authorization: Bearer $API_KEY"',
      '-H "Content-Type: application/json"',
      `-d '{\n    "kind": "it'\\''s"\n  }'`,
    ].join(' \\\n  '),
  );
});

test('curlsOf shows session-only operations with cookie and Origin header', () => {
  const signOut = operations.find(({ operationId }) => operationId === 'deleteCurrentSession')!;
  assert.deepEqual(signOut.security, [{ session: [] }]);
  const commandAt = (url: string) => curlsOf(signOut, url)[0]!.replaceAll(' \\\n ', '');
  assert.equal(
    commandAt('http://x.example/api/'),
    'curl -X DELETE "http://x.example/api/v1/sessions/current" --cookie "deliverability=$SESSION" -H "Origin: http://x.example"',
  );
  assert.match(commandAt('https://x.example'), /--cookie "__Host-deliverability=\$SESSION"/);
});

test('Docs examples derive values from field names and operations', () => {
  const commandOf = (id: string) =>
    curlsOf(operations.find(({ operationId }) => operationId === id)!, BASE_URL)[0]!;
  assert.match(commandOf('updateMe'), /-d '\{\n {4}"name": "Alex Morgan"\n {2}\}'$/);
  assert.match(commandOf('createInvitation'), /"email": "alex@example\.com"/);
  assert.match(commandOf('transferOwnership'), /"new_owner_id": "mem_/);
});

test('describeType and limitsOf describe schema types and limits in words', () => {
  const name = { anyOf: [{ type: 'string', minLength: 1, maxLength: 200 }, { type: 'null' }] };
  assert.equal(describeType(name), 'string or null');
  assert.deepEqual(limitsOf(name), ['1 to 200 characters']);
  const list = { type: 'array', minItems: 1, items: { type: 'string', enum: ['a', 'b'] } };
  assert.equal(describeType(list), 'array of strings');
  assert.deepEqual(limitsOf(list), ['at least 1 item', 'items: one of `a`, `b`']);
  const nested = {
    type: 'array',
    items: { type: 'object', properties: { id: {} }, required: ['id'] },
  };
  assert.deepEqual(fieldsOf(nested), [{ name: 'id', schema: {}, required: true }]);
});
