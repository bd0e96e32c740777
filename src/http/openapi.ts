/** The OpenAPI 3.1 document, generated from the route declarations. */

import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts';
import { ROLES } from './actor.ts';
import { isRateLimited } from './authorize.ts';
import { sessionCookieName } from './cookies.ts';
import { supportsIdempotencyKey } from './idempotency.ts';
import { PROBLEM_TYPE } from './problem.ts';
import { hasEtag, resourceSchemaAt } from './response.ts';
import type { Route, Schema } from './route.ts';

type Json = Record<string, unknown>;

interface ApiInfo {
  title: string;
  version: string;
  description: string;
  serverUrl?: string;
}

/** The OpenAPI document of these routes. */
export function openApiDocument(routes: Route[], info: ApiInfo): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const method = route.method.toLowerCase();
    paths[path] ??= {};
    const declared = paths[path][method];
    const operation = operationOf(route, routes);
    paths[path][method] = declared ? merge(declared, operation) : operation;
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
    type: { type: 'string', description: 'A URI reference that identifies the type of error.' },
    title: { type: 'string', description: 'A short summary of the type of error.' },
    status: { type: 'integer', description: 'The HTTP status code.' },
    detail: {
      type: 'string',
      description: 'What happened and what to do, as a message for people. The wording may change.',
    },
    code: {
      enum: Object.keys(ERROR_STATUS),
      description: 'The error code, as a stable value for programs. Its meaning never changes.',
    },
    request_id: {
      type: 'string',
      description: 'The ID of the request, which is also in the server log.',
    },
    errors: {
      type: 'array',
      description: 'The invalid parameters of the request.',
      items: {
        type: 'object',
        required: ['param', 'code', 'message'],
        properties: {
          param: {
            type: 'string',
            description: 'The path of the parameter, such as `limit` or `metadata.key`.',
          },
          code: { type: 'string' },
          message: {
            type: 'string',
            description: "What's wrong with the parameter, such as `must be at most 100`.",
          },
        },
      },
    },
  },
};

function operationOf(route: Route, routes: Route[]): Json {
  const requestBody = requestBodyOf(route);
  const description = descriptionOf(route);
  return {
    operationId: route.operation,
    summary: route.summary,
    ...(description ? { description } : {}),
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
      ...(route.statusOf
        ? { 503: { ...successOf(route), description: 'The service is unavailable.' } }
        : {}),
    },
  };
}

/** Merges two routes with the same method and path, for JSON and for another body, into one operation. */
function merge(a: Json, b: Json): Json {
  const parameters = [...(a.parameters as Json[])];
  for (const parameter of b.parameters as Json[])
    if (
      !parameters.some(
        ({ name, in: location }) => name === parameter.name && location === parameter.in,
      )
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
    const { description, ...rest } = jsonSchema(schema as Schema);
    return {
      ...{ name, in: 'query', required: schema.type !== 'optional' },
      ...(description ? { description } : {}),
      schema: rest,
    };
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
  const description = SUCCESS_TEXTS[route.status ?? 200];
  return { description, headers: headersOf(route, 'success'), content };
}

const SUCCESS_TEXTS = {
  200: 'The request succeeded.',
  201: 'The object was created.',
  202: 'The request was accepted.',
};

/** Errors by status. The description of a status lists its error codes. */
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

/** `jsonSchema` metadata of a schema takes precedence: a query string may be documented as a number. */
function jsonSchema(schema: Schema, typeMode: 'input' | 'output' = 'input'): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
    overrideAction: ({ valibotAction, jsonSchema: converted }) => {
      const { metadata } = valibotAction as {
        metadata?: { jsonSchema?: Json; examples?: unknown[] };
      };
      if (metadata?.examples) return { ...converted, examples: metadata.examples } as never;
      return metadata?.jsonSchema as never;
    },
  }) as Json;
  if (rest.type === 'integer' && typeof rest.default === 'string')
    rest.default = Number(rest.default);
  return rest;
}

// Common to all operations: credentials, rate limits, conditional and idempotent requests.

/** The name of the session cookie depends on whether the service uses HTTPS. */
function securitySchemes(serverUrl: string | undefined): Json {
  return {
    bearer: { type: 'http', scheme: 'bearer', description: 'Your API key.' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookieName(serverUrl?.startsWith('https:') === true),
      description:
        'The session cookie of a signed-in browser. Requests that change data must come from pages of this service.',
    },
  };
}

/** The credentials, the lowest role, and all roles that may call the operation. */
function securityOf({ role, sessionOnly }: Route): Json {
  if (role === 'public') return { security: [] };
  return {
    security: sessionOnly ? [{ session: [] }] : [{ bearer: [] }, { session: [] }],
    'x-role': role,
    'x-roles': ROLES.slice(ROLES.indexOf(role)),
  };
}

/** The description of the route itself, and which credentials and headers it doesn't support. */
function descriptionOf(route: Route): string {
  const sentences: string[] = [];
  if (route.description) sentences.push(route.description);
  if (route.sessionOnly) sentences.push('Requires a browser session.');
  else if (route.liveOnly) sentences.push("Test-mode keys can't use this endpoint.");
  // For clients that send the header with every POST request.
  if (route.role === 'public' && route.method === 'POST' && !supportsIdempotencyKey(route))
    sentences.push('Ignores `Idempotency-Key`.');
  return sentences.join(' ');
}

const header = (description: string): Json => ({ description, schema: { type: 'string' } });

/** Header fields of responses, by name. Operations refer to them. */
const HEADERS: Record<string, Json> = {
  'X-Request-Id': header('The ID of the request, which is also in the server log.'),
  Location: header('The path of the new object.'),
  ETag: header('The version of the object, for `If-Match` and `If-None-Match`.'),
  'Idempotent-Replayed': header('`true` if this repeats the response to an earlier request.'),
  'Retry-After': header('The number of seconds to wait before you retry.'),
  'RateLimit-Policy': header(
    'The limits that apply. `"default";q=600;w=60` allows 600 requests in 60 seconds.',
  ),
  RateLimit: header(
    'The remaining requests of each limit. `"default";r=599;t=60` means that 599 requests remain, with more available in 60 seconds.',
  ),
};

const headerRefs = (names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Header fields of a route's success response, or of an error response with one of these codes. */
function headersOf(route: Route, outcome: 'success' | ErrorCode[]): Json {
  const names = ['X-Request-Id'];
  if (outcome === 'success') {
    if (route.status === 201) names.push('Location');
    if (hasEtag(route)) names.push('ETag');
    if (supportsIdempotencyKey(route)) names.push('Idempotent-Replayed');
  } else if (outcome.some((code) => WITH_RETRY_AFTER.includes(code))) names.push('Retry-After');
  if (isRateLimited(route)) names.push('RateLimit-Policy', 'RateLimit');
  return headerRefs(names);
}

const WITH_RETRY_AFTER: ErrorCode[] = ['rate_limited', 'idempotency_in_progress'];

/** The request headers that a route supports. */
function headerParameters(routes: Route[], route: Route): Json[] {
  const parameter = (name: string, description: string, schema: Json = {}): Json => ({
    ...{ name, in: 'header', required: false, description },
    schema: { type: 'string', ...schema },
  });
  return [
    ...(supportsIdempotencyKey(route)
      ? [
          parameter(
            'Idempotency-Key',
            'A unique key that makes retries safe. For 24 hours, requests with the same key take effect once and return the same response.',
            { minLength: 1, maxLength: 255 },
          ),
        ]
      : []),
    ...(route.method === 'GET' && hasEtag(route)
      ? [
          parameter(
            'If-None-Match',
            'One or more ETags. If one of them is current, the response is 304 without a body.',
          ),
        ]
      : []),
    ...(isConditional(routes, route)
      ? [
          parameter(
            'If-Match',
            'The ETag of the version that you read. If the object has changed since, the request fails with 412.',
          ),
        ]
      : []),
  ];
}

const isConditional = (routes: Route[], route: Route): boolean =>
  ['PATCH', 'DELETE'].includes(route.method) && resourceSchemaAt(routes, route) !== undefined;

/** Errors that result from the common behavior of operations. */
function commonErrors(routes: Route[], route: Route): ErrorCode[] {
  const { role, method } = route;
  return [
    ...(isRateLimited(route) ? (['rate_limited'] as const) : []),
    ...(role === 'public' ? [] : (['unauthenticated'] as const)),
    // On a public route, for cross-origin requests of browsers.
    ...(role === 'public' && method === 'GET' ? [] : (['forbidden'] as const)),
    ...(supportsIdempotencyKey(route)
      ? (['idempotency_in_progress', 'idempotency_mismatch'] as const)
      : []),
    ...(isConditional(routes, route) ? (['precondition_failed'] as const) : []),
  ];
}

/** The 304 response of a GET route with an ETag. */
function notModified(route: Route): Json {
  if (route.method !== 'GET' || !hasEtag(route)) return {};
  return {
    304: { description: "The object hasn't changed.", headers: headersOf(route, 'success') },
  };
}
