/** The OpenAPI document says what the routes do, and nothing of its own. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as v from 'valibot';
import { openApiDocument } from '../../src/http/openapi.ts';
import { type Route, route } from '../../src/http/route.ts';
import { listOf, Name, queryInteger } from '../../src/http/schemas.ts';
import { ERROR_STATUS } from '../../src/lib/errors.ts';
import { ROUTES } from '../../src/routes.ts';

interface Operation {
  operationId: string;
  security: object[];
  'x-role'?: string;
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: object }> };
  responses: Record<
    string,
    { description: string; headers?: object; content: Record<string, { schema: object }> }
  >;
}

interface Document {
  openapi: string;
  info: object;
  servers?: object[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: { Problem: { properties: { code: { enum: string[] } } } } };
}

const INFO = { title: 'T', version: '1', description: 'D' };
const documentOf = (routes: Route[], info: object = {}) =>
  openApiDocument(routes, { ...INFO, ...info }) as unknown as Document;

const Thing = v.object({ id: v.string(), count: v.nullable(v.pipe(v.number(), v.integer())) });

const create = route({
  method: 'POST',
  path: '/things',
  role: 'member',
  operation: 'createThing',
  summary: 'Make one',
  body: v.strictObject({ name: Name }),
  status: 201,
  location: ({ id }) => `/things/${id}`,
  response: Thing,
  errors: ['conflict'],
  handle: () => ({ id: 'a', count: null }),
});
const upload = route({
  method: 'POST',
  path: '/things',
  role: 'member',
  operation: 'uploadThing',
  summary: 'Send one',
  query: v.strictObject({ name: v.optional(Name) }),
  consumes: { type: 'text/csv', maxBytes: () => 10 },
  response: Thing,
  status: 201,
  location: ({ id }) => `/things/${id}`,
  handle: () => ({ id: 'a', count: null }),
});
const show = route({
  method: 'GET',
  path: '/things/:id/parts/:part',
  role: 'public',
  operation: 'showPart',
  summary: 'See one',
  query: v.strictObject({
    limit: v.optional(queryInteger(1, 9), '3'),
    kind: v.picklist(['a', 'b']),
  }),
  produces: ['text/plain', 'image/png'],
  handle: () => new Response(''),
});
const ready = route({
  method: 'GET',
  path: '/ready',
  role: 'public',
  operation: 'ready',
  summary: 'Whether it is',
  response: v.object({ ok: v.boolean() }),
  statusOf: ({ ok }) => (ok ? 200 : 503),
  handle: () => ({ ok: true }),
});

const DOCUMENT = documentOf([create, upload, show, ready], {
  serverUrl: 'https://api.example.com',
});
const operation = (method: string, path: string): Operation => DOCUMENT.paths[path]![method]!;

describe('an operation', () => {
  it('has its path with its parameters, all of them required', () => {
    const { parameters, operationId } = operation('get', '/things/{id}/parts/{part}');
    assert.equal(operationId, 'showPart');
    const path = parameters.filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      path.map(({ name, required }) => [name, required]),
      [
        ['id', true],
        ['part', true],
      ],
    );
  });

  it('has its query: numbers as numbers, defaults, what is required', () => {
    const { parameters } = operation('get', '/things/{id}/parts/{part}');
    assert.deepEqual(
      parameters.filter((parameter) => parameter.in === 'query'),
      [
        {
          name: 'limit',
          in: 'query',
          required: false,
          schema: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
        },
        { name: 'kind', in: 'query', required: true, schema: { enum: ['a', 'b'], type: 'string' } },
      ],
    );
  });

  it('says who may, or that anyone may', () => {
    const { security, 'x-role': role } = operation('post', '/things');
    assert.deepEqual([security, role], [[{ bearer: [] }], 'member']);
    const open = operation('get', '/ready');
    assert.deepEqual([open.security, open['x-role']], [[], undefined]);
  });

  it('has the body as it is checked: unknown fields are refused', () => {
    const { requestBody } = operation('post', '/things');
    const { schema } = requestBody!.content['application/json'] as {
      schema: Record<string, unknown>;
    };
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(schema.required, ['name']);
    assert.deepEqual(operation('get', '/ready').requestBody, undefined);
  });

  it('declared twice, for two kinds of body, is one with both', () => {
    const { requestBody, parameters, operationId, responses } = operation('post', '/things');
    assert.deepEqual(Object.keys(requestBody!.content), ['application/json', 'text/csv']);
    assert.deepEqual(
      parameters.map(({ name }) => name),
      ['name'],
    );
    assert.equal(operationId, 'createThing');
    assert.match(responses['409']!.description, /`conflict`/);
  });

  it('has its answer with its status and headers', () => {
    const made = operation('post', '/things').responses['201']!;
    assert.deepEqual(Object.keys(made.headers!), ['X-Request-Id', 'Location']);
    const { schema } = made.content['application/json'] as { schema: { required: string[] } };
    assert.deepEqual(schema.required, ['id', 'count']);
    const { content } = operation('get', '/things/{id}/parts/{part}').responses['200']!;
    assert.deepEqual(Object.keys(content), ['text/plain', 'image/png']);
  });

  it('has the same answer under 503 where that follows from it', () => {
    const { responses } = operation('get', '/ready');
    assert.deepEqual(responses['503']!.content, responses['200']!.content);
    assert.ok(!operation('post', '/things').responses['503']);
  });

  it('has the errors that it can end in, and no other', () => {
    const codesOf = (method: string, path: string) =>
      Object.entries(operation(method, path).responses)
        .filter(([, { content }]) => 'application/problem+json' in content)
        .flatMap(([status, { description }]) =>
          [...description.matchAll(/`(\w+)`/g)].map(([, code]) => {
            assert.equal(ERROR_STATUS[code as keyof typeof ERROR_STATUS], Number(status), code);
            return code;
          }),
        )
        .sort();
    const everywhere = ['internal_error', 'malformed_request', 'validation_failed'];
    assert.deepEqual(codesOf('get', '/ready'), everywhere);
    assert.deepEqual(
      codesOf('get', '/things/{id}/parts/{part}'),
      [...everywhere, 'not_found'].sort(),
    );
    const ofCreation = [
      'body_too_large',
      'conflict',
      'forbidden',
      'malformed_json',
      'unauthenticated',
    ];
    assert.deepEqual(
      codesOf('post', '/things'),
      [...everywhere, ...ofCreation, 'unsupported_media_type'].sort(),
    );
  });
});

it('a list is documented with its items', () => {
  const listed = { ...ready, response: listOf(Thing), statusOf: undefined } as Route;
  const { content } = documentOf([listed]).paths['/ready']!.get!.responses['200']!;
  const { schema } = content['application/json'] as {
    schema: { properties: Record<string, object> };
  };
  assert.deepEqual(Object.keys(schema.properties), ['object', 'data', 'has_more']);
});

describe('the document', () => {
  it('says its version, name and server, which is left out where none is known', () => {
    assert.deepEqual([DOCUMENT.openapi, DOCUMENT.info], ['3.1.0', INFO]);
    assert.deepEqual(DOCUMENT.servers, [{ url: 'https://api.example.com' }]);
    assert.ok(!('servers' in documentOf([ready])));
  });

  it('knows every error code', () => {
    const { code } = DOCUMENT.components.schemas.Problem.properties;
    assert.deepEqual(code.enum, Object.keys(ERROR_STATUS));
  });

  it('of the program has every route once, its names unique, and can be written', () => {
    const document = documentOf(ROUTES);
    for (const { method, path } of ROUTES)
      assert.ok(document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()], path);
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const names = operations.map(({ operationId }) => operationId);
    assert.equal(new Set(names).size, names.length);
    for (const { operationId, responses } of operations)
      for (const { content } of Object.values(responses))
        assert.ok(Object.keys(content).length > 0, `${operationId} answers with something`);
    assert.deepEqual(JSON.parse(JSON.stringify(document)), document);
  });
});
