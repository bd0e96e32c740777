/** Turns the result of a handler into a response with declared fields only, an ETag, and header fields. */

import { hash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import type { RequestContext } from './request-context.ts';
import type { Route, Schema } from './route.ts';

/** A response as it can be stored, to be sent again. */
export interface StoredResponse {
  status: number;
  headers: Record<string, string>;
  /** Text, or its bytes in UTF-8. */
  body: string | Uint8Array;
}

/** Creates the JSON response of a route. `fields` are the header fields set by its handler. */
type Presenter = (result: unknown, fields: HeaderFields) => StoredResponse;

/** null for a route whose handler creates the Response itself. */
export function presenterOf(route: Route): Presenter | null {
  if (!route.response) return null;
  const filter = responseFilter(route.response);
  const editable = hasEtag(route) ? route.etag : undefined;
  return (result, fields) => {
    const body = jsonBody(filter(result));
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    };
    if (route.location) headers.location = route.location(result);
    if (editable) headers.etag = etagOf(editable(result));
    const status = route.statusOf?.(result) ?? route.status ?? 200;
    return { status, headers: { ...headers, ...fields }, body };
  };
}

/**
 * Ignores `If-None-Match`: the ETag covers only what users can edit, so the rest of the object may have
 * changed although the ETag hasn't.
 */
export function jsonResponse(
  context: RequestContext,
  stored: StoredResponse,
  security: HeaderFields,
): Response {
  const { status, headers, body } = stored;
  const fields = {
    ...security,
    ...context.responseHeaders,
    ...headers,
    'x-request-id': context.requestId,
  };
  return new Response(body as BodyInit, { status, headers: fields });
}

/** Adds the common header fields to a handler's Response, without overwriting its caching policy. */
export function completeResponse(
  response: Response,
  context: RequestContext,
  fields: HeaderFields,
  security: HeaderFields,
): Response {
  const { headers } = response;
  for (const [name, value] of Object.entries({ ...context.responseHeaders, ...fields }))
    headers.set(name, value);
  headers.set('x-request-id', context.requestId);
  // Most responses contain private mail.
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  addSecurityHeaders(response, security);
  return response;
}

/** Adds cookies to a single response; a response stored for replay never contains them. */
export function withCookies(response: Response, cookies: string[]): Response {
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}

// Removes undeclared fields from responses, with one filter per response schema.

type Filter = (value: unknown) => unknown;

/** The properties of Valibot schemas that the filter uses. */
interface DeclaredSchema {
  type: string;
  entries?: Record<string, DeclaredSchema>;
  item?: DeclaredSchema;
  wrapped?: DeclaredSchema;
  options?: DeclaredSchema[];
  pipe?: DeclaredSchema[];
}

const identity: Filter = (value) => value;

/**
 * Returns a function that copies declared fields only, at every depth. It trusts the compiler-checked
 * types, because validation costs more than creating the response (tests do validate). It copies
 * records and unions as a whole, so declare objects where fields must be removed.
 */
export const responseFilter = memoizePerObject(
  (schema: Schema): Filter => filterOf(schema as unknown as DeclaredSchema),
);

function filterOf(schema: DeclaredSchema): Filter {
  switch (schema.type) {
    case 'object':
    case 'strict_object':
      return objectFilter(schema.entries!);
    case 'array': {
      const item = filterOf(schema.item!);
      // A value that isn't an array is stored JSON, which was filtered when it was stored.
      return item === identity
        ? identity
        : (value) => (Array.isArray(value) ? value.map(item) : value);
    }
    case 'nullable':
    case 'optional':
    case 'nullish': {
      const inner = filterOf(schema.wrapped!);
      return inner === identity ? identity : (value) => (value == null ? value : inner(value));
    }
    default:
      return identity;
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

// JSON that is stored in the format of the response and passed on without parsing.

const STORED_TEXT = Symbol('stored JSON');

/**
 * A placeholder for the parsed `text`, as a top-level field of a response. The text must have the
 * declared form, because the filter doesn't see it (tests compare the two).
 */
export function storedJson<T>(text: string | Uint8Array): T {
  return { [STORED_TEXT]: text } as T;
}

/** `JSON.stringify` that inserts the text of stored fields unchanged, after the other fields. */
export function toJson(value: unknown): string {
  return bodyText(jsonBody(value));
}

/** As `toJson`. The body of a response is in UTF-8 already if a stored field is. */
export function jsonBody(value: unknown): string | Uint8Array {
  const others: Record<string, unknown> = {};
  const stored: [name: string, text: string | Uint8Array][] = [];
  for (const [name, field] of Object.entries(value as object)) {
    const text = textOf(field);
    if (text === undefined) others[name] = field;
    else stored.push([name, text]);
  }
  if (stored.length === 0) return JSON.stringify(value);
  const parts: (string | Uint8Array)[] = [JSON.stringify(others).slice(0, -1)];
  for (const [name, text] of stored)
    parts.push(
      `${parts.length === 1 && parts[0] === '{' ? '' : ','}${JSON.stringify(name)}:`,
      text,
    );
  parts.push('}');
  if (stored.every(([, text]) => typeof text === 'string')) return parts.join('');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function textOf(value: unknown): string | Uint8Array | undefined {
  return (value as { [STORED_TEXT]?: string | Uint8Array } | null)?.[STORED_TEXT];
}

/** The body of a response as text. */
export function bodyText(body: StoredResponse['body']): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

// Strong ETags and conditional requests (RFC 9110 §8.8.3, §13.1).

/** An ETag with 132 bits of the hash of the part of an object that users can edit. */
export function etagOf(editable: unknown): string {
  return `"${hash('sha256', JSON.stringify(editable), 'base64url').slice(0, 22)}"`;
}

/** A function that returns the part of an object that a PATCH request with this body can change. */
export function editableBy({ entries }: { entries: object }, ...otherFields: string[]) {
  const fields = ['id', ...Object.keys(entries), ...otherFields];
  return (object: object): unknown[] => fields.map((name) => (object as Json)[name]);
}
type Json = Record<string, unknown>;

/** Whether the responses of a route have an ETag. A deleted object has none. */
export function hasEtag({ etag, method }: Route): boolean {
  return etag !== undefined && method !== 'DELETE';
}

/** What users can edit, by the GET route with the same path; undefined if that route has no ETag. */
export function editablePartAt(routes: Route[], { path }: Route): Route['etag'] {
  return routes.find((route) => route.method === 'GET' && route.path === path && route.etag)?.etag;
}

/** Whether an `If-None-Match` header matches the ETag. */
export function matchesAny(header: string | null, etag: string): boolean {
  // Weak comparison (§13.1.2), because a cache may have weakened the tag.
  return header !== null && (header.trim() === '*' || tagsIn(header, /"[^"]*"/g).includes(etag));
}

/** Throws `precondition_failed` if an `If-Match` header doesn't match the ETag. */
export function checkIfMatch(header: string, etag: string): void {
  // Strong comparison (§13.1.1): a weak tag (W/) matches nothing.
  if (header.trim() === '*' || tagsIn(header, /(?:W\/)?"[^"]*"/g).includes(etag)) return;
  throw new AppError(
    'precondition_failed',
    'The object has changed since you read it. Get the current version, then try again.',
  );
}

const tagsIn = (header: string, pattern: RegExp): string[] => header.match(pattern) ?? [];

// Security headers of every response.

export type HeaderFields = Readonly<Record<string, string>>;

const CSP = 'content-security-policy';
const NO_FRAME = "frame-ancestors 'none'";

/** For HTTP and HTTPS. */
export const COMMON_HEADERS: HeaderFields = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  [CSP]: `default-src 'none'; ${NO_FRAME}`,
};

/** Adds HSTS for a year (RFC 6797) if both URLs of the service use HTTPS. */
export function securityHeaders({
  BASE_URL,
  APP_URL,
}: Pick<Config, 'BASE_URL' | 'APP_URL'>): HeaderFields {
  const https = [BASE_URL, APP_URL].every((url) => url.startsWith('https:'));
  return https
    ? { ...COMMON_HEADERS, 'strict-transport-security': 'max-age=31536000' }
    : COMMON_HEADERS;
}

/** Adds the headers that the route hasn't set itself. */
function addSecurityHeaders({ headers }: Response, fields: HeaderFields): void {
  for (const [name, value] of Object.entries(fields))
    if (!headers.has(name)) headers.set(name, name === CSP ? policyFor(headers) : value);
}

/** The strict policy breaks the PDF viewers of browsers. */
function policyFor(headers: Headers): string {
  return headers.get('content-type') === 'application/pdf' ? NO_FRAME : COMMON_HEADERS[CSP]!;
}

/** For private responses: keeps them from caches, search engines, and other sites. */
export const PRIVATE_HEADERS = {
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
};
