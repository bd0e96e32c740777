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
  type JsonSchema,
  limitsOf,
  type Operation,
  type OperationResponse,
  readReference,
} from '../../src/dashboard/docs/operations.ts';
import { DOCUMENTED_API, DOCUMENTED_ROUTES } from '../../src/features.ts';
import { describeApi } from '../../src/health/describe-api.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { getPage, type PageAnswer } from './pages.ts';

const BASE_URL = 'http://api.example';
const operations: Operation[] = readReference(
  describeApi(DOCUMENTED_API, { SURFACE: 'full', BASE_URL, APP_URL: BASE_URL }, '1.0.0'),
).groups.flatMap((group) => group.operations);
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

/** Every page of the reference by its path, as a browser gets it. */
async function getAllPages(service: TestService): Promise<Map<string, PageAnswer>> {
  const start = await getPage(service, '/docs');
  const pages = new Map([['/docs', start]]);
  for (const [, path] of start.html.matchAll(/ href="(\/docs\/[\w.-]+)"/g)) {
    const page = await getPage(service, path!);
    assert.equal(page.status, 200, path);
    pages.set(path!, page);
  }
  return pages;
}

const idsOf = (elements: Element[]): string[] =>
  elements.flatMap(({ attribs }) => attribs.id ?? []);
/** Of an object and all within it, without those of its alternatives. */
const fieldNamesIn = (schema: JsonSchema): string[] =>
  fieldsOf(schema).flatMap(({ name, schema: field }) => [name, ...fieldNamesIn(field)]);

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
  const pages = await getAllPages(service);
  const elements = new Map(
    [...pages].map(([path, { html }]) => [path, elementsOf(parseDocument(html))]),
  );
  const articleOf = ({ operationId }: Operation): Element =>
    elements.get(`/docs/${operationId}`)!.find(({ name }) => name === 'article')!;

  await t.test('lists every operation and event type, and describes each on its page', () => {
    const paths = new Set(DOCUMENTED_ROUTES.map(({ method, path }) => `${method} ${path}`));
    assert.equal(operations.length, paths.size);
    assert.equal(pages.size, 1 + operations.length + DOCUMENTED_API.events.length);
    const rows = Map.groupBy(elements.get('/docs')!, ({ attribs }) => attribs.id);
    for (const operation of operations) {
      const [row, second] = rows.get(operation.operationId) ?? [];
      assert.ok(row && !second, operation.operationId);
      const text = textOf(row);
      for (const part of [operation.method, operation.path, operation.summary.replaceAll('`', '')])
        assert.ok(text.includes(part), `${operation.operationId}: ${part}`);
      assertDescribes(articleOf(operation), operation);
    }
  });

  await t.test('names every field of every object that an operation takes or returns', () => {
    for (const operation of operations) {
      const names = elementsOf(articleOf(operation)).filter(
        ({ attribs }) => attribs.class === 'name',
      );
      const shown = new Set(names.map(textOf));
      const contents = [operation.requestBody ?? {}, ...Object.values(operation.responses)].flatMap(
        ({ content }: { content?: OperationResponse['content'] }) => Object.entries(content ?? {}),
      );
      for (const [type, { schema }] of contents)
        if (type === 'application/json')
          for (const name of fieldNamesIn(schema))
            assert.ok(shown.has(name), `${operation.operationId}: ${name}`);
    }
  });

  await t.test('describes each event type, and what its requests have in common', () => {
    const start = elements.get('/docs')!.find(({ attribs }) => attribs.id === 'events')!;
    assert.match(textOf(start), /webhook-signature.*Your response/s);
    for (const { type, summary } of DOCUMENTED_API.events) {
      const text = textOf(elements.get(`/docs/${type}`)!.find(({ name }) => name === 'article')!);
      for (const part of [type, summary, 'livemode', 'webhook-signature'])
        assert.ok(text.includes(part), `${type}: ${part}`);
      assert.ok(idsOf(elements.get('/docs')!).includes(type), type);
    }
  });

  await t.test('has exactly one matching anchor or page for every link within it', () => {
    let count = 0;
    const idsByPath = new Map([...elements].map(([path, all]) => [path, idsOf(all)]));
    for (const [path, all] of elements) {
      const ids = idsByPath.get(path)!;
      assert.equal(new Set(ids).size, ids.length, path);
      for (const { attribs } of all) {
        const [, page, anchor] = /^(\/docs[\w./-]*)?(?:#(.+))?$/.exec(attribs.href ?? '') ?? [];
        const target = idsByPath.get(page ?? path);
        assert.ok(target, `${path}: ${attribs.href}`);
        if (anchor) assert.ok(target.includes(anchor), `${path}: ${attribs.href}`);
        count += page ? 1 : 0;
      }
    }
    assert.ok(count >= 2 * operations.length);
  });

  await t.test('has light pages, and folds all that is long on the first one', () => {
    for (const [path, { html }] of pages)
      assert.ok(html.length < 75_000, `${path}: ${html.length}`);
    const folds = elements.get('/docs')!.filter(({ name }) => name === 'details');
    const folded = new Set(folds.flatMap(elementsOf));
    for (const each of elements.get('/docs')!)
      if (['li', 'pre', 'dl'].includes(each.name)) assert.ok(folded.has(each), textOf(each));
    assert.ok(folds.every(({ attribs }) => attribs.open === undefined));
  });

  await t.test('is revalidated, and unknown pages are 404', async () => {
    for (const path of ['/docs', '/docs/createTest', '/docs/test.completed']) {
      const { headers } = pages.get(path)!;
      assert.match(headers.get('content-type')!, /^text\/html/);
      assert.equal(headers.get('cache-control'), 'no-cache');
      const again = await getPage(service, path, { 'if-none-match': headers.get('etag')! });
      assert.equal(again.status, 304, path);
    }
    for (const path of ['/docs/none', '/docs/constructor', '/docs/createTest/all'])
      assert.equal((await getPage(service, path)).status, 404, path);
  });

  await t.test('loads no other resources and sets a strict CSP', () => {
    for (const [path, { html, headers }] of pages) {
      assert.match(headers.get('content-security-policy')!, /^default-src 'none'.*frame-ancestors/);
      for (const { name, attribs } of elements.get(path)!) {
        assert.ok(!attribs.src && !attribs.srcset && !attribs.action, name);
        const { href } = attribs;
        if (href === undefined) continue;
        assert.match(href, /^#|^\/docs([/#]|$)|^\/openapi\.json$|^data:image\/svg\+xml,/);
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
      const rc = `fail\nsilent\nshow-error\nconnect-to = "api.example:80:127.0.0.1:${http.port}"\n`;
      writeFileSync(join(folder, '.curlrc'), rc);
      const env = { PATH: process.env.PATH, CURL_HOME: folder, API_KEY: key };
      const gets = operations.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
      assert.ok(gets.length > 5);
      const commands = gets.flatMap((operation) => commandsOf(articleOf(operation)));
      // Domains and hosts that the service does not have.
      const script = commands.filter((text) => !/=dom_|=mta-sts/.test(text)).join('\n');
      // With `--fail`, an error response causes a non-zero exit status. `-e` ends there, and `-x` prints the command.
      await run('bash', ['-exc', script], { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
    },
  );
});

test('GET /docs is 404 in the preview surface and not in the OpenAPI document', async (t) => {
  const preview = await startTestService(t, { env: { DELIVERABILITY_SURFACE: 'preview' } });
  for (const path of ['/docs', '/docs/createTest'])
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
