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
import { startTestService } from '../helpers/app.ts';
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

test('GET /docs lists every operation with anchor, parameters, errors and curl commands', async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_BASE_URL: BASE_URL } });
  const { status, html, headers } = await getPage(service, '/docs');
  assert.equal(status, 200);
  assert.match(headers.get('content-type')!, /^text\/html/);
  const elements = elementsOf(parseDocument(html));
  const paths = new Set(DOCUMENTED_ROUTES.map(({ method, path }) => `${method} ${path}`));
  assert.equal(operations.length, paths.size);
  for (const operation of operations) {
    const { operationId, method, path, parameters, responses } = operation;
    const found = elements.filter(({ attribs }) => attribs.id === operationId);
    assert.equal(found.length, 1, operationId);
    const text = textOf(found[0]!);
    assert.ok(text.includes(`${method} ${path}`), operationId);
    for (const { name } of parameters) assert.ok(text.includes(name), `${operationId}: ${name}`);
    for (const { description } of Object.values(responses))
      assert.ok(text.includes(description.replaceAll('`', '')), `${operationId}: ${description}`);
    const commands = commandsOf(found[0]!);
    assert.ok(commands.length > 0, operationId);
    assert.deepEqual(commands, curlsOf(operation, BASE_URL), operationId);
    assert.ok(elements.some(({ attribs }) => attribs.href === `#${operationId}`));
  }
});

test('GET /docs: every internal link has exactly one matching anchor', async (t) => {
  const { html } = await getPage(await startTestService(t), '/docs');
  const elements = elementsOf(parseDocument(html));
  const ids = elements.flatMap(({ attribs }) => attribs.id ?? []);
  assert.equal(new Set(ids).size, ids.length);
  const links = elements.flatMap(({ attribs }) => attribs.href?.match(/^#(.+)/)?.[1] ?? []);
  assert.ok(links.length > operations.length);
  for (const link of links) assert.ok(ids.includes(link), link);
});

test('GET /docs loads no external resources and sets a strict CSP', async (t) => {
  const { html, headers } = await getPage(await startTestService(t), '/docs');
  assert.match(headers.get('content-security-policy')!, /^default-src 'none'.*frame-ancestors/);
  for (const { name, attribs } of elementsOf(parseDocument(html))) {
    assert.ok(!attribs.src && !attribs.srcset && !attribs.action, name);
    const { href } = attribs;
    if (href === undefined) continue;
    assert.ok(
      href.startsWith('#') || href === '/openapi.json' || href.startsWith('data:image/svg+xml,'),
      href,
    );
  }
  assert.doesNotMatch(html, /@import|url\(/);
});

test('GET /docs is 404 in the preview surface and not in the OpenAPI document', async (t) => {
  const preview = await startTestService(t, { env: { DELIVERABILITY_SURFACE: 'preview' } });
  assert.equal((await getPage(preview, '/docs')).status, 404);
  assert.ok(!operations.some(({ path }) => path === '/docs'));
});

test('GET /docs: curl commands of GET operations without an ID run successfully', {
  skip: skipUnlessInstalled('curl'),
}, async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_BASE_URL: BASE_URL } });
  const { folder, http, key } = service;
  const { html } = await getPage(service, '/docs');
  const articles = elementsOf(parseDocument(html)).filter(({ name }) => name === 'article');
  const rc = `fail\nsilent\nshow-error\nconnect-to = "api.example:80:127.0.0.1:${http.port}"\n`;
  writeFileSync(join(folder, '.curlrc'), rc);
  const env = { PATH: process.env.PATH, CURL_HOME: folder, API_KEY: key };
  const gets = operations.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
  assert.ok(gets.length > 5);
  for (const { operationId } of gets) {
    const article = articles.find(({ attribs }) => attribs.id === operationId)!;
    // With `--fail`, an error response causes a non-zero exit status.
    for (const command of commandsOf(article).filter((text) => !/=dom_/.test(text)))
      await assert.doesNotReject(run('bash', ['-c', command], { cwd: folder, env }), command);
  }
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
