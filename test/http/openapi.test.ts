/** The OpenAPI document matches the declared routes. */

// @one-database: about the document.

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as v from 'valibot';
import { ROUTES } from '../../src/features.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { type Route, route } from '../../src/http/route.ts';
import {
  Count,
  described,
  idOf,
  listSchema,
  Name,
  named,
  queryInteger,
  Text,
  Time,
  typeField,
} from '../../src/http/schemas.ts';
import { ERROR_STATUS } from '../../src/lib/errors.ts';
import { startTestService } from '../helpers/app.ts';
import { documentValidator } from './document-validator.ts';

interface Operation {
  operationId: string;
  security: object[];
  'x-role'?: string;
  'x-roles'?: string[];
  description?: string;
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
  components: {
    securitySchemes: { session: { in: string; name: string } };
    headers: Record<string, object>;
    schemas: { Problem: { properties: { code: { enum: string[] } } } };
  };
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

const changeable = {
  path: '/things/:id',
  etag: ({ id }: { id: string }) => id,
  response: Thing,
  handle: () => ({ id: 'a', count: null }),
} as const;
const get = route({
  ...changeable,
  method: 'GET',
  role: 'viewer',
  operation: 'getThing',
  summary: 'Get one',
});
const change = route({
  ...changeable,
  method: 'PATCH',
  role: 'admin',
  operation: 'changeThing',
  summary: 'Change one',
  body: v.strictObject({ name: Name }),
});
const remove = route({
  method: 'DELETE',
  path: '/things/:id',
  role: 'owner',
  operation: 'removeThing',
  summary: 'Remove one',
  response: v.object({ id: v.string() }),
  handle: () => ({ id: 'a' }),
});

const DOCUMENT = documentOf([create, upload, show, ready, get, change, remove], {
  serverUrl: 'https://api.example.com',
});
/** The operation, with its shared parameters and responses in place of the references. */
function operation(method: string, path: string, document = DOCUMENT): Operation {
  const { parameters, responses, ...rest } = document.paths[path]![method]!;
  const target = <T>(value: T): T => {
    const { $ref } = value as { $ref?: string };
    if ($ref === undefined) return value;
    const keys = $ref.split('/').slice(1);
    return keys.reduce<unknown>(
      (part, key) => (part as Record<string, unknown>)[key],
      document,
    ) as T;
  };
  return {
    ...rest,
    parameters: parameters.map(target),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, target(response)]),
    ),
  };
}

describe('OpenAPI operation', () => {
  it('lists its path parameters as required', () => {
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

  it('lists query parameters with types, defaults and required flags', () => {
    const { parameters } = operation('get', '/things/{id}/parts/{part}');
    assert.deepEqual(
      parameters.filter((parameter) => parameter.in === 'query'),
      [
        {
          name: 'limit',
          in: 'query',
          required: false,
          schema: { type: 'integer', minimum: 1, maximum: 9, default: 3, format: 'int32' },
        },
        { name: 'kind', in: 'query', required: true, schema: { enum: ['a', 'b'], type: 'string' } },
      ],
    );
  });

  it('states the required role or that it is public', () => {
    const { security, 'x-role': role, 'x-roles': roles } = operation('post', '/things');
    assert.deepEqual(security, [{ bearer: [] }, { session: [] }]);
    assert.deepEqual([role, roles], ['member', ['member', 'admin', 'owner']]);
    assert.deepEqual(operation('delete', '/things/{id}')['x-roles'], ['owner']);
    assert.match(
      operation('delete', '/things/{id}').description!,
      /^Test-mode keys can't use this endpoint/,
    );
    assert.equal(operation('get', '/things/{id}').description, undefined);
    const open = operation('get', '/ready');
    assert.deepEqual([open.security, open['x-role'], open['x-roles']], [[], undefined, undefined]);
  });

  it('lists Idempotency-Key and If-Match headers', () => {
    const takes = (method: string, path: string) =>
      operation(method, path)
        .parameters.filter((parameter) => parameter.in === 'header')
        .map(({ name, required }) => [name, required]);
    assert.deepEqual(takes('post', '/things'), [['Idempotency-Key', false]]);
    // The ETag covers only what users can edit, so it can't tell whether the object has changed.
    assert.deepEqual(takes('get', '/things/{id}'), []);
    assert.deepEqual(takes('patch', '/things/{id}'), [['If-Match', false]]);
    assert.deepEqual(takes('delete', '/things/{id}'), [['If-Match', false]]);
    assert.deepEqual(takes('get', '/ready'), []);
  });

  it('has a request schema that rejects unknown fields', () => {
    const { requestBody } = operation('post', '/things');
    const { schema } = requestBody!.content['application/json'] as {
      schema: Record<string, unknown>;
    };
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(schema.required, ['name']);
    assert.deepEqual(operation('get', '/ready').requestBody, undefined);
  });

  it('declared twice for two body types is merged into one', () => {
    const { requestBody, parameters, operationId, responses } = operation('post', '/things');
    assert.deepEqual(Object.keys(requestBody!.content), ['application/json', 'text/csv']);
    assert.deepEqual(
      parameters.map(({ name }) => name),
      ['Idempotency-Key', 'name'],
    );
    assert.equal(operationId, 'createThing');
    assert.match(responses['409']!.description, /`conflict`/);
  });

  it('lists its response with status and headers', () => {
    const made = operation('post', '/things').responses['201']!;
    const limited = ['RateLimit-Policy', 'RateLimit'];
    assert.deepEqual(Object.keys(made.headers!), [
      'X-Request-Id',
      'Location',
      'Idempotent-Replayed',
      ...limited,
    ]);
    const changed = operation('patch', '/things/{id}').responses['200']!;
    assert.deepEqual(Object.keys(changed.headers!), ['X-Request-Id', 'ETag', ...limited]);
    const removed = operation('delete', '/things/{id}').responses['200']!;
    assert.deepEqual(Object.keys(removed.headers!), ['X-Request-Id', ...limited]);
    const refused = operation('get', '/ready').responses['429']!;
    assert.deepEqual(Object.keys(refused.headers!), ['X-Request-Id', 'Retry-After', ...limited]);
    const { schema } = made.content['application/json'] as { schema: { required: string[] } };
    assert.deepEqual(schema.required, ['id', 'count']);
    const { content } = operation('get', '/things/{id}/parts/{part}').responses['200']!;
    assert.deepEqual(Object.keys(content), ['text/plain', 'image/png']);
  });

  it('repeats the response under 503 when statusOf can return it', () => {
    const { responses } = operation('get', '/ready');
    assert.deepEqual(responses['503']!.content, responses['200']!.content);
    assert.ok(!operation('post', '/things').responses['503']);
  });

  it('lists exactly the errors it can return', () => {
    const codesOf = (method: string, path: string) =>
      Object.entries(operation(method, path).responses)
        .filter(([, { content }]) => content && 'application/problem+json' in content)
        .flatMap(([status, { description }]) =>
          [...description.matchAll(/`(\w+)`:/g)].map(([, code]) => {
            assert.equal(ERROR_STATUS[code as keyof typeof ERROR_STATUS], Number(status), code);
            return code;
          }),
        )
        .sort();
    const everywhere = [
      'internal_error',
      'malformed_request',
      'validation_failed',
      'rate_limited',
    ].sort();
    const withoutBody = [...everywhere, 'unexpected_body'].sort();
    assert.deepEqual(codesOf('get', '/ready'), withoutBody);
    assert.deepEqual(
      codesOf('get', '/things/{id}/parts/{part}'),
      [...withoutBody, 'not_found'].sort(),
    );
    const ofCreation = [
      'body_too_large',
      'conflict',
      'forbidden',
      'idempotency_in_progress',
      'idempotency_mismatch',
      'live_mode_required',
      'malformed_json',
      'unauthenticated',
    ];
    assert.deepEqual(
      codesOf('post', '/things'),
      [...everywhere, ...ofCreation, 'unsupported_media_type'].sort(),
    );
    assert.deepEqual(
      codesOf('delete', '/things/{id}'),
      [
        ...withoutBody,
        'forbidden',
        'live_mode_required',
        'not_found',
        'precondition_failed',
        'unauthenticated',
      ].sort(),
    );
  });
});

it('OpenAPI list responses document their items', () => {
  const listed = { ...ready, response: listSchema(Thing), statusOf: undefined } as Route;
  const { content } = documentOf([listed]).paths['/ready']!.get!.responses['200']!;
  const { schema } = content['application/json'] as {
    schema: { properties: Record<string, object> };
  };
  assert.deepEqual(Object.keys(schema.properties), ['object', 'data', 'has_more']);
});

describe('OpenAPI property without a description or an example', () => {
  const Part = named(
    'Part',
    v.object({ domain: v.string(), opened_at: v.nullable(Time), passed: Count }),
    'A part.',
    { opened_at: null, passed: 3 },
  );
  const Whole = named(
    'Whole',
    v.object({
      id: idOf('whe'),
      object: typeField('whole'),
      domain_id: Text,
      run_id: described(v.string(), 'The run that made it.'),
      created_at: Time,
      part: described(v.nullable(Part), 'Its part. Null without one.'),
      parts: described(v.array(Part), 'Its parts.'),
      note: v.string(),
      hint: described(v.optional(v.string()), 'A hint.', 'none'),
    }),
    'A whole.',
    { note: 'new' },
  );
  const { schemas } = documentOf([
    route({ ...ready, statusOf: undefined, response: Whole, handle: () => ({}) as never }),
  ]).components as unknown as {
    schemas: Record<string, { properties: Record<string, object>; examples: object[] }>;
  };

  it('gets those that its name and type say', () => {
    const { id, domain_id, created_at, note } = schemas.Whole!.properties;
    const suffix = '_01kag5z7m8q4x2c9n6t3r1w5y0';
    assert.deepEqual(id, {
      type: 'string',
      description: 'The ID of the webhook endpoint.',
      examples: [`whe${suffix}`],
    });
    assert.deepEqual(domain_id, {
      type: ['string', 'null'],
      description: 'The ID of the domain.',
      examples: [`dom${suffix}`],
    });
    assert.deepEqual(created_at, {
      type: 'string',
      format: 'date-time',
      description: 'When it was created.',
      examples: ['2026-11-21T10:00:00.000Z'],
    });
    assert.deepEqual(note, { type: 'string', examples: ['new'] });
    const { opened_at } = schemas.Part!.properties as Record<string, { description: string }>;
    assert.equal(opened_at!.description, 'When it was opened. Null before that.');
  });

  it('keeps its own', () => {
    const { run_id } = schemas.Whole!.properties as Record<string, { description: string }>;
    assert.equal(run_id!.description, 'The run that made it.');
  });

  it('is part of the example of its object, with the example of the object that it contains', () => {
    const part = { domain: 'example.com', opened_at: null, passed: 3 };
    assert.deepEqual(schemas.Part!.examples, [part]);
    const { id, domain_id, run_id, ...others } = schemas.Whole!.examples[0] as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      [id, domain_id, run_id].map((value) => String(value).slice(0, 4)),
      ['whe_', 'dom_', 'run_'],
    );
    // An optional field is not in it.
    assert.deepEqual(others, {
      object: 'whole',
      created_at: '2026-11-21T10:00:00.000Z',
      part,
      parts: [part],
      note: 'new',
    });
  });
});

describe('OpenAPI document', () => {
  it('states version, title and server', () => {
    assert.deepEqual([DOCUMENT.openapi, DOCUMENT.info], ['3.1.0', INFO]);
    assert.deepEqual(DOCUMENT.servers, [
      { url: 'https://api.example.com', description: 'This service.' },
    ]);
    assert.ok(!('servers' in documentOf([ready])));
  });

  it('lists every error code', () => {
    const { code } = DOCUMENT.components.schemas.Problem.properties;
    assert.deepEqual(code.enum, Object.keys(ERROR_STATUS));
  });

  it('names the session cookie according to the server URL', () => {
    const named = (serverUrl?: string) => documentOf([get], { serverUrl }).components;
    assert.equal(DOCUMENT.components.securitySchemes.session.name, '__Host-deliverability');
    assert.equal(named('http://a.example').securitySchemes.session.name, 'deliverability');
    assert.equal(named().securitySchemes.session.name, 'deliverability');
  });

  it('omits rate limits for health endpoints', () => {
    const free = documentOf([{ ...ready, path: '/healthz' }]).paths['/healthz']!.get!;
    assert.ok(!('429' in free.responses) && !('RateLimit' in free.responses['200']!.headers!));
  });

  it('contains every route of the program once with unique operation IDs', () => {
    const document = documentOf(ROUTES);
    for (const { method, path } of ROUTES)
      assert.ok(document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()], path);
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => operation(method, path, document)),
    );
    const names = operations.map(({ operationId }) => operationId);
    assert.equal(new Set(names).size, names.length);
    for (const { operationId, responses } of operations)
      for (const [status, { content, headers }] of Object.entries(responses)) {
        assert.ok(
          Object.keys(content).length > 0,
          `${operationId} answers ${status} with something`,
        );
        for (const name of Object.keys(headers!)) assert.ok(name in document.components.headers);
      }
    assert.deepEqual(JSON.parse(JSON.stringify(document)), document);
  });
});

// The served document is valid OpenAPI 3.1 in both surfaces, and its schemas compile.

for (const surface of ['full', 'preview'])
  test(`OpenAPI document of the ${surface} surface is valid OpenAPI 3.1`, async (t) => {
    const { call } = await startTestService(t, { env: { DELIVERABILITY_SURFACE: surface } });
    const { status, body } = await call('GET', '/openapi.json', { key: null });
    assert.equal(status, 200);
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(body));
    assert.ok(valid, JSON.stringify(errors, null, 1));
    assert.equal(validator.version, '3.1');
    const { schemas, unresolved } = documentValidator(body);
    assert.deepEqual(unresolved, []);
    assert.ok(schemas > (surface === 'full' ? 200 : 20), `${schemas} schemas compiled`);
  });

test('The OpenAPI validator detects an invalid document', async (t) => {
  const { call } = await startTestService(t);
  const { body } = await call<Record<string, never>>('GET', '/openapi.json', { key: null });
  const faulty = { ...body, paths: { 'no-slash': { get: { responses: {} } } } };
  assert.equal((await new Validator().validate(faulty)).valid, false);
});
