/** The OpenAPI 3.1 document, made from the route declarations and nothing else. */

import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts';
import {
  HEADERS,
  headerParameters,
  headersOf,
  mannerErrors,
  notModified,
  securityOf,
  securitySchemes,
} from './openapi-manners.ts';
import { PROBLEM_TYPE } from './problem.ts';
import type { Route, Schema } from './route.ts';

type Json = Record<string, unknown>;

export interface ApiInfo {
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
      ...errorsOf(route, mannerErrors(routes, route)),
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
function errorsOf(route: Route, ofManners: ErrorCode[]): Json {
  const codes = new Set<ErrorCode>([
    'malformed_request',
    'internal_error',
    ...(route.errors ?? []),
    ...ofManners,
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
