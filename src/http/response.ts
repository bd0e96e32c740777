/** From what a handler returns to the answer: cut to what is declared, tagged, with its header fields. */

import { hash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { AppError } from '../lib/errors.ts';
import type { KeptAnswer } from './idempotency.ts';
import type { RequestContext } from './request-context.ts';
import type { Route, Schema } from './route.ts';

/** The JSON answer of a route; `fields` are those that its handler has set. */
type Present = (answer: unknown, fields: HeaderFields) => KeptAnswer;

/** null for a route whose handler makes the Response itself. */
export function presenterOf(route: Route): Present | null {
  if (!route.response) return null;
  const filter = responseFilter(route.response);
  const tagged = isTagged(route);
  return (answer, fields) => {
    const body = toJson(filter(answer));
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    };
    if (route.location) headers.location = route.location(answer);
    if (tagged) headers.etag = etagOf(body);
    const status = route.statusOf?.(answer) ?? route.status ?? 200;
    return { status, headers: { ...headers, ...fields }, body };
  };
}

/** 304 where a GET names the tag of what would be answered (RFC 9110 §15.4.5). */
export function jsonResponse(
  context: RequestContext,
  answer: KeptAnswer,
  security: HeaderFields,
): Response {
  const { status, headers, body } = answer;
  const fields = { ...security, ...context.fields, ...headers, 'x-request-id': context.requestId };
  if (
    headers.etag !== undefined &&
    context.method === 'GET' &&
    alreadyHas(context.request.headers.get('if-none-match'), headers.etag)
  ) {
    const { 'content-type': _, ...rest } = fields as Record<string, string>;
    return new Response(null, { status: 304, headers: rest });
  }
  return new Response(body, { status, headers: fields });
}

/** Completes what a handler has made; what it has set itself stays. */
export function complete(
  response: Response,
  context: RequestContext,
  fields: HeaderFields,
  security: HeaderFields,
): Response {
  const { headers } = response;
  for (const [name, value] of Object.entries({ ...context.fields, ...fields }))
    headers.set(name, value);
  headers.set('x-request-id', context.requestId);
  // Nearly all of it is somebody's mail.
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  addSecurityHeaders(response, security);
  return response;
}

/** Fields of which an answer may have several, and none of which is ever kept for a repeat. */
export function withCookies(response: Response, cookies: string[]): Response {
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}

// What leaves is what is declared: a filter made once from each response schema.

type Filter = (value: unknown) => unknown;

/** The parts of valibot's schemas that the filter looks at. */
interface DeclaredSchema {
  type: string;
  entries?: Record<string, DeclaredSchema>;
  item?: DeclaredSchema;
  wrapped?: DeclaredSchema;
  options?: DeclaredSchema[];
  pipe?: DeclaredSchema[];
}

const asIs: Filter = (value) => value;

/**
 * A function that copies only declared fields, at every depth. It trusts the types, which the
 * compiler has checked; validating each answer would cost more than making it (tests do validate).
 * Records and unions pass whole: declare objects where something must stay behind.
 */
export function responseFilter(schema: Schema): Filter {
  return filterOf(schema as unknown as DeclaredSchema);
}

function filterOf(schema: DeclaredSchema): Filter {
  switch (schema.type) {
    case 'object':
    case 'strict_object':
      return objectFilter(schema.entries!);
    case 'array': {
      const item = filterOf(schema.item!);
      // What is no array is stored JSON, cut when it was stored.
      return item === asIs ? asIs : (value) => (Array.isArray(value) ? value.map(item) : value);
    }
    case 'nullable':
    case 'optional':
    case 'nullish': {
      const inner = filterOf(schema.wrapped!);
      return inner === asIs ? asIs : (value) => (value == null ? value : inner(value));
    }
    default:
      return asIs;
  }
}

function objectFilter(entries: Record<string, DeclaredSchema>): Filter {
  const fields = Object.entries(entries).map(([key, entry]) => [key, filterOf(entry)] as const);
  return (value) => {
    const source = value as Record<string, unknown>;
    const copy: Record<string, unknown> = {};
    for (const [key, filter] of fields) {
      const field = source[key];
      if (field !== undefined) copy[key] = filter(field);
    }
    return copy;
  };
}

// JSON that is stored in the form in which it is answered, passed on without being read.

const STORED_TEXT = Symbol('stored JSON');

/**
 * Stands for the value whose JSON this is, as a field of an answer (not deeper). Only for text that
 * has the declared form already: it is not cut again (tests hold the two against each other).
 */
export function storedJson<T>(text: string): T {
  return { [STORED_TEXT]: text } as T;
}

/** `JSON.stringify` of an answer, the text of its stored fields put in as it is, after the others. */
export function toJson(answer: unknown): string {
  const fields = Object.entries(answer as object).filter(
    ([, value]) => textOf(value) !== undefined,
  );
  if (fields.length === 0) return JSON.stringify(answer);
  const others = { ...(answer as Record<string, unknown>) };
  for (const [name] of fields) delete others[name];
  const rest = JSON.stringify(others).slice(0, -1);
  const stored = fields
    .map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`)
    .join(',');
  return `${rest}${rest === '{' ? '' : ','}${stored}}`;
}

function textOf(value: unknown): string | undefined {
  return (value as { [STORED_TEXT]?: string } | null)?.[STORED_TEXT];
}

// ETags, strong ones, and the conditions of requests that name them (RFC 9110 §8.8.3, §13.1).

/** Of the JSON of an answer: 128 bits of its hash. */
export function etagOf(json: string): string {
  return `"${hash('sha256', json, 'base64url').slice(0, 22)}"`;
}

/** Whether the answers of a route carry one; what is deleted has none any more. */
export function isTagged({ etag, method }: Route): boolean {
  return etag === true && method !== 'DELETE';
}

/**
 * What the object at the path of a route is answered as: by its GET. Undefined where that has no
 * ETag.
 */
export function objectAt(routes: Route[], { path }: Route): Schema | undefined {
  return routes.find((route) => route.method === 'GET' && route.path === path && route.etag)
    ?.response;
}

/** `If-None-Match`: whether the client has this already. */
function alreadyHas(header: string | null, etag: string): boolean {
  // Weak comparison (§13.1.2): a cache in between may have weakened it.
  return header !== null && (header.trim() === '*' || tagsIn(header, /"[^"]*"/g).includes(etag));
}

/** `If-Match`; throws `precondition_failed` where none of its tags is this one. */
export function checkIfMatch(header: string, etag: string): void {
  // Strong comparison (§13.1.1): a weak tag, its W/ before the quotes, equals none.
  if (header.trim() === '*' || tagsIn(header, /(?:W\/)?"[^"]*"/g).includes(etag)) return;
  throw new AppError(
    'precondition_failed',
    'The object has changed since you read it. Get it again, and decide with what it is now.',
  );
}

const tagsIn = (header: string, pattern: RegExp): string[] => header.match(pattern) ?? [];

// What every answer tells browsers: to guess no type, to frame nothing, to run nothing, to send no referrer.

export type HeaderFields = Readonly<Record<string, string>>;

const CSP = 'content-security-policy';
const NO_FRAME = "frame-ancestors 'none'";

/** The same wherever the service is reached. */
export const COMMON_HEADERS: HeaderFields = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  [CSP]: `default-src 'none'; ${NO_FRAME}`,
};

/** Where clients come by https, they are told to come by nothing else for a year (RFC 6797). */
export function securityHeaders({
  BASE_URL,
  APP_URL,
}: Pick<Config, 'BASE_URL' | 'APP_URL'>): HeaderFields {
  const https = [BASE_URL, APP_URL].every((url) => url.startsWith('https:'));
  return https
    ? { ...COMMON_HEADERS, 'strict-transport-security': 'max-age=31536000' }
    : COMMON_HEADERS;
}

/** Adds them to an answer that a route has made itself; what the route set stays. */
function addSecurityHeaders({ headers }: Response, fields: HeaderFields): void {
  for (const [name, value] of Object.entries(fields))
    if (!headers.has(name)) headers.set(name, name === CSP ? policyFor(headers) : value);
}

/** A browser's own viewer of PDFs needs what the strict policy forbids. */
function policyFor(headers: Headers): string {
  return headers.get('content-type') === 'application/pdf' ? NO_FRAME : COMMON_HEADERS[CSP]!;
}

// Header fields of an answer that is for whoever asked alone.

/** No search engine, no cache and no other site is to learn of it. */
export const PRIVATE_FIELDS = {
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
};
