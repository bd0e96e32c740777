/** The OpenAPI 3.1 document, generated from the route declarations. */

import * as v from 'valibot';
import { ROLES } from '../actor.ts';
import { sessionCookieName } from '../cookies.ts';
import { supportsIdempotencyKey } from '../idempotency.ts';
import { type Route, requiresLiveMode, type Schema } from '../route.ts';
import { commonMeaning } from './common-properties.ts';
import { headerParameters, headerRefs, RESPONSE_HEADERS, successHeaders } from './headers.ts';
import { type Components, type Json, schemaOf } from './json-schema.ts';
import { errorsOf } from './problems.ts';
import { shareParameters } from './shared-parameters.ts';
import { tagOf, tagsOf } from './tags.ts';
import {
  addEventSchemas,
  type EventDeclaration,
  type WebhookInfo,
  webhookParameters,
  webhooksOf,
} from './webhooks.ts';

export interface ApiInfo {
  title: string;
  summary?: string;
  version: string;
  description: string;
  contact?: { name: string; url: string };
  serverUrl?: string;
  /** The URL of the API reference as a page. */
  docsUrl?: string;
  /** The event types, and the requests that deliver them. */
  events?: EventDeclaration[];
  webhooks?: WebhookInfo;
}

/** The OpenAPI document of these routes. */
export function openApiDocument(routes: Route[], info: ApiInfo): Json {
  const { serverUrl, docsUrl, events = [], webhooks, ...about } = info;
  const components: Components = { schemas: {}, responses: {} };
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const method = route.method.toLowerCase();
    paths[path] ??= {};
    const existing = paths[path][method];
    const operation = operationOf(route, routes, components);
    paths[path][method] = existing ? merge(existing, operation) : operation;
  }
  addEventSchemas(events, components);
  const sendsEvents = webhooks !== undefined && events.length > 0;
  const parameters = {
    ...shareParameters(paths),
    ...(sendsEvents ? webhookParameters(webhooks) : {}),
  };
  return {
    openapi: '3.1.0',
    info: about,
    ...(serverUrl ? { servers: [{ url: serverUrl, description: 'This service.' }] } : {}),
    ...(docsUrl ? { externalDocs: { url: docsUrl, description: 'The API reference.' } } : {}),
    tags: tagsOf(new Set(routes.flatMap(({ path }) => tagOf(path) ?? []))),
    paths,
    ...(sendsEvents ? { webhooks: webhooksOf(events, webhooks) } : {}),
    components: {
      ...(routes.some(({ role }) => role !== 'public')
        ? { securitySchemes: securitySchemes(serverUrl) }
        : {}),
      headers: usedHeaders([paths, components]),
      ...(Object.keys(parameters).length > 0 ? { parameters } : {}),
      responses: sorted(components.responses),
      schemas: sorted(components.schemas),
    },
  };
}

const sorted = (record: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));

function usedHeaders(parts: unknown): Json {
  const json = JSON.stringify(parts);
  return Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).filter(([name]) =>
      json.includes(`"#/components/headers/${name}"`),
    ),
  );
}

function operationOf(route: Route, routes: Route[], components: Components): Json {
  const requestBody = requestBodyOf(route, components);
  const description = descriptionOf(route);
  const tag = tagOf(route.path);
  const success = successOf(route, components);
  return {
    operationId: route.operation,
    ...(tag === undefined ? {} : { tags: [tag] }),
    summary: route.summary,
    ...(description ? { description } : {}),
    ...(routes.some(({ role }) => role !== 'public') ? securityOf(route) : {}),
    parameters: [
      ...pathParameters(route, components),
      ...queryParameters(route, components),
      ...headerParameters(routes, route),
    ],
    ...(requestBody ? { requestBody } : {}),
    responses: {
      [route.status ?? 200]: success,
      ...errorsOf(routes, route, components),
      ...(route.statusOf
        ? { 503: { ...success, description: 'The service is unavailable.' } }
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
    requestBody: { required: true, content: { ...contentOf(a), ...contentOf(b) } },
    responses: { ...(b.responses as Json), ...(a.responses as Json) },
  };
}

function parameterOf(name: string, location: 'path' | 'query', required: boolean, schema: Json) {
  const meaning = commonMeaning(name, schema);
  const { description = meaning.description, ...rest } = schema;
  const isExample = meaning.example !== undefined && !('examples' in schema);
  return {
    name,
    in: location,
    required,
    ...(description === undefined ? {} : { description }),
    schema: isExample ? { ...rest, examples: [meaning.example] } : rest,
  };
}

function pathParameters(route: Route, components: Components): Json[] {
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => {
    const schema = route.params?.[name!];
    return parameterOf(
      name!,
      'path',
      true,
      schema ? schemaOf(schema, 'input', components) : { type: 'string' },
    );
  });
}

function queryParameters(route: Route, components: Components): Json[] {
  return Object.entries(route.query?.entries ?? {}).map(([name, schema]) =>
    parameterOf(
      name,
      'query',
      schema.type !== 'optional',
      schemaOf(schema as Schema, 'input', components),
    ),
  );
}

const BINARY = { type: 'string', format: 'binary' };
/** The schema of a body that isn't JSON. Text is documented as a string. */
const bytesOf = (type: string): Json =>
  /^text\/|json$|svg/.test(type) ? { type: 'string' } : BINARY;

function requestBodyOf(route: Route, components: Components): Json | null {
  if (route.consumes) {
    const types = [route.consumes.type, ...(route.consumes.also ?? [])];
    const content = Object.fromEntries(types.map((type) => [type, { schema: bytesOf(type) }]));
    return { required: true, content };
  }
  if (!route.body) return null;
  const required = v.safeParse(route.body, {}).success === false;
  const schema = schemaOf(route.body, 'input', components);
  return { required, content: { 'application/json': { schema } } };
}

function successOf(route: Route, components: Components): Json {
  const content: Json = {};
  if (route.response)
    content['application/json'] = { schema: schemaOf(route.response, 'output', components) };
  for (const type of route.produces ?? [])
    content[type] = {
      schema:
        route.json && type === 'application/json'
          ? schemaOf(route.json, 'output', components)
          : bytesOf(type),
    };
  const description = SUCCESS_TEXTS[route.status ?? 200];
  return { description, headers: headerRefs(successHeaders(route)), content };
}

const SUCCESS_TEXTS = {
  200: 'The request succeeded.',
  201: 'The object was created.',
  202: 'The request was accepted.',
};

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
  else if (requiresLiveMode(route)) sentences.push("Test-mode keys can't use this endpoint.");
  // For clients that send the header with every POST request.
  if (route.role === 'public' && route.method === 'POST' && !supportsIdempotencyKey(route))
    sentences.push('Ignores `Idempotency-Key`.');
  return sentences.join(' ');
}
