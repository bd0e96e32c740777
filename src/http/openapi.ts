/** The OpenAPI 3.1 document, made from the route declarations and nothing else. */

import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts';
import { ROLES } from './actor.ts';
import { isLimited } from './authorize.ts';
import { sessionCookieName } from './cookies.ts';
import { takesIdempotencyKey } from './idempotency.ts';
import { PROBLEM_TYPE } from './problem.ts';
import { isTagged, objectAt } from './response.ts';
import type { Route, Schema } from './route.ts';

type Json = Record<string, unknown>;

interface ApiInfo {
  title: string;
  version: string;
  description: string;
  serverUrl?: string;
}

/** The whole document for these routes. */
export function openApiDocument(routes: Route[], info: ApiInfo): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const method = route.method.toLowerCase();
    paths[path] ??= {};
    const present = paths[path][method];
    const operation = operationOf(route, routes);
    paths[path][method] = present ? merge(present, operation) : operation;
  }
  return {
    openapi: '3.1.0',
    info: { title: info.title, version: info.version, description: info.description },
    ...(info.serverUrl ? { servers: [{ url: info.serverUrl }] } : {}),
    paths,
    components: {
      securitySchemes: securitySchemes(info.serverUrl),
      headers: HEADERS,
      schemas: { Problem: PROBLEM_SCHEMA },
    },
  };
}

const PROBLEM_SCHEMA: Json = {
  type: 'object',
  required: ['object', 'type', 'title', 'status', 'detail', 'code'],
  properties: {
    object: { const: 'error' },
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { enum: Object.keys(ERROR_STATUS) },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['param', 'code', 'message'],
        properties: {
          param: { type: 'string' },
          code: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
  },
};

function operationOf(route: Route, routes: Route[]): Json {
  const requestBody = requestBodyOf(route);
  return {
    operationId: route.operation,
    summary: route.summary,
    ...securityOf(route),
    parameters: [
      ...pathParameters(route),
      ...queryParameters(route),
      ...headerParameters(routes, route),
    ],
    ...(requestBody ? { requestBody } : {}),
    responses: {
      [route.status ?? 200]: successOf(route),
      ...notModified(route),
      ...errorsOf(route, commonErrors(routes, route)),
      ...(route.statusOf ? { 503: { ...successOf(route), description: 'Not available.' } } : {}),
    },
  };
}

/** Two declarations of one path (JSON and another body) are one operation in the document. */
function merge(a: Json, b: Json): Json {
  const parameters = [...(a.parameters as Json[])];
  for (const parameter of b.parameters as Json[])
    if (
      !parameters.some(({ name, in: place }) => name === parameter.name && place === parameter.in)
    )
      parameters.push(parameter);
  const contentOf = (operation: Json) =>
    (operation.requestBody as { content?: Json } | undefined)?.content ?? {};
  return {
    ...a,
    parameters,
    requestBody: { content: { ...contentOf(a), ...contentOf(b) } },
    responses: { ...(b.responses as Json), ...(a.responses as Json) },
  };
}

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route): Json[] {
  return Object.entries(route.query?.entries ?? {}).map(([name, schema]) => {
    const optional = schema.type === 'optional';
    return { name, in: 'query', required: !optional, schema: jsonSchema(schema as Schema) };
  });
}

function requestBodyOf(route: Route): Json | null {
  if (route.consumes)
    return { required: true, content: { [route.consumes.type]: { schema: { type: 'string' } } } };
  if (!route.body) return null;
  const required = v.safeParse(route.body, {}).success === false;
  return { required, content: { 'application/json': { schema: jsonSchema(route.body) } } };
}

function successOf(route: Route): Json {
  const content: Json = {};
  if (route.response)
    content['application/json'] = { schema: jsonSchema(route.response, 'output') };
  for (const type of route.produces ?? [])
    content[type] = {
      schema:
        route.json && type === 'application/json'
          ? jsonSchema(route.json, 'output')
          : { type: 'string' },
    };
  return { description: 'Done.', headers: headersOf(route, 'success'), content };
}

/** Errors by status, the codes of one status in its description. */
function errorsOf(route: Route, common: ErrorCode[]): Json {
  const codes = new Set<ErrorCode>([
    'malformed_request',
    'internal_error',
    ...(route.errors ?? []),
    ...common,
  ]);
  if (route.path.includes(':')) codes.add('not_found');
  if (route.body)
    for (const code of ['malformed_json', 'unsupported_media_type'] as const) codes.add(code);
  if (route.body || route.consumes) codes.add('body_too_large');
  codes.add('validation_failed');
  const byStatus: Record<string, ErrorCode[]> = {};
  for (const code of codes) {
    const status = ERROR_STATUS[code];
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  const content = { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, names]) => [
      status,
      {
        description: names.map((name) => `\`${name}\``).join(', '),
        headers: headersOf(route, names),
        content,
      },
    ]),
  );
}

/** A schema's own `jsonSchema` metadata wins: what comes as text may be documented as a number. */
function jsonSchema(schema: Schema, typeMode: 'input' | 'output' = 'input'): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
    overrideAction: ({ valibotAction, jsonSchema: made }) => {
      const { metadata } = valibotAction as {
        metadata?: { jsonSchema?: Json; examples?: unknown[] };
      };
      if (metadata?.examples) return { ...made, examples: metadata.examples } as never;
      return metadata?.jsonSchema as never;
    },
  }) as Json;
  if (rest.type === 'integer' && typeof rest.default === 'string')
    rest.default = Number(rest.default);
  return rest;
}

// What operations have in common: credentials, rate limits, conditional requests, retries.

/** The ways to say who asks; the name of the cookie follows from whether the service is at https. */
function securitySchemes(serverUrl: string | undefined): Json {
  return {
    bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookieName(serverUrl?.startsWith('https:') === true),
      description:
        'The session of a signed-in browser. It may ask for changes from pages of this service alone.',
    },
  };
}

/** Who may: the credentials, the least role, every role that may, and which keys may not. */
function securityOf(route: Route): Json {
  const { role, live, sessionOnly } = route;
  if (role === 'public') return { ...withoutKey(route), security: [] };
  return {
    ...(sessionOnly
      ? { description: 'By the cookie of a session alone: a key has none.' }
      : live
        ? { description: 'A test-mode key may not, whatever its role.' }
        : {}),
    security: sessionOnly ? [{ session: [] }] : [{ bearer: [] }, { session: [] }],
    'x-role': role,
    'x-roles': ROLES.slice(ROLES.indexOf(role)),
  };
}

/** Clients that send the header with every POST are told where it changes nothing. */
function withoutKey(route: Route): Json {
  if (route.method !== 'POST' || takesIdempotencyKey(route)) return {};
  return { description: 'An `Idempotency-Key` is accepted here and means nothing.' };
}

const text = (description: string): Json => ({ description, schema: { type: 'string' } });

/** The header fields of answers, by name; operations refer to them. */
const HEADERS: Record<string, Json> = {
  'X-Request-Id': text('Names this request, as its line in the log does.'),
  Location: text('Where the new object is.'),
  ETag: text('Changes whenever the object does; for `If-Match` and `If-None-Match`.'),
  'Idempotent-Replayed': text('`true` where this is the answer to an earlier request.'),
  'Retry-After': text('Seconds to wait before asking again.'),
  'RateLimit-Policy': text('The limits that apply: `"default";q=600;w=60` is 600 in 60 seconds.'),
  RateLimit: text('What is left of each: `"default";r=599;t=60`, more of it in 60 seconds.'),
};

const refer = (names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Those of every answer of a route, of its success, and of an error with one of these codes. */
function headersOf(route: Route, outcome: 'success' | ErrorCode[]): Json {
  const names = ['X-Request-Id'];
  if (outcome === 'success') {
    if (route.status === 201) names.push('Location');
    if (isTagged(route)) names.push('ETag');
    if (takesIdempotencyKey(route)) names.push('Idempotent-Replayed');
  } else if (outcome.some((code) => WITH_RETRY_AFTER.includes(code))) names.push('Retry-After');
  if (isLimited(route)) names.push('RateLimit-Policy', 'RateLimit');
  return refer(names);
}

const WITH_RETRY_AFTER: ErrorCode[] = ['rate_limited', 'idempotency_in_progress'];

/** The header parameters that a route takes. */
function headerParameters(routes: Route[], route: Route): Json[] {
  const parameter = (name: string, description: string, schema: Json = {}): Json => ({
    ...{ name, in: 'header', required: false, description },
    schema: { type: 'string', ...schema },
  });
  return [
    ...(takesIdempotencyKey(route)
      ? [
          parameter(
            'Idempotency-Key',
            'Makes a retry safe: for 24 hours the same request with the same key has one effect and one answer.',
            { minLength: 1, maxLength: 255 },
          ),
        ]
      : []),
    ...(route.method === 'GET' && isTagged(route)
      ? [
          parameter(
            'If-None-Match',
            'ETags that you have; where one still holds, the answer is 304.',
          ),
        ]
      : []),
    ...(isConditional(routes, route)
      ? [
          parameter(
            'If-Match',
            'The ETag on which you decided; where it holds no more, nothing changes.',
          ),
        ]
      : []),
  ];
}

const isConditional = (routes: Route[], route: Route): boolean =>
  ['PATCH', 'DELETE'].includes(route.method) && objectAt(routes, route) !== undefined;

/** The errors that follow from what operations have in common. */
function commonErrors(routes: Route[], route: Route): ErrorCode[] {
  const { role, method } = route;
  return [
    ...(isLimited(route) ? (['rate_limited'] as const) : []),
    ...(role === 'public' ? [] : (['unauthenticated'] as const)),
    // On a public route, for a browser on the page of another site.
    ...(role === 'public' && method === 'GET' ? [] : (['forbidden'] as const)),
    ...(takesIdempotencyKey(route)
      ? (['idempotency_in_progress', 'idempotency_mismatch'] as const)
      : []),
    ...(isConditional(routes, route) ? (['precondition_failed'] as const) : []),
  ];
}

/** 304, where a GET may be answered so. */
function notModified(route: Route): Json {
  if (route.method !== 'GET' || !isTagged(route)) return {};
  return {
    304: { description: 'You have it already.', headers: headersOf(route, 'success') },
  };
}
