/** Parses and validates the path, query, and body of a request, and reports all invalid parameters at once. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { AppError, invalidParams, type ParamError } from '../lib/errors.ts';
import { isPage } from './request-context.ts';
import type { Route, Schema } from './route.ts';

const MAX_JSON_BYTES = 1024 * 1024;
const MAX_JSON_DEPTH = 64;

/** Throws `validation_failed`, which lists all invalid and unknown fields. */
export function validate<S extends Schema>(schema: S, value: unknown): v.InferOutput<S> {
  if (Array.isArray(value))
    throw invalidParams([{ param: '', code: 'invalid', message: 'must be an object' }]);
  const result = v.safeParse(schema, value);
  // Valibot reports only the first unknown field of an object.
  const unknown = unknownFields(schema, value);
  if (result.success && unknown.length === 0) return result.output;
  const params = (result.issues ?? []).map(toParamError);
  const named = new Set(params.map(({ param }) => param));
  params.push(...unknown.filter((param) => !named.has(param)).map(unknownField));
  throw invalidParams(params);
}

const unknownField = (param: string): ParamError => ({
  param,
  code: 'unknown_field',
  message: 'is not a known parameter',
});

function toParamError(issue: v.BaseIssue<unknown>): ParamError {
  const path = (issue.path ?? []).map(({ key }) => String(key)).join('.');
  const missing =
    issue.received === 'undefined' || (issue.kind === 'schema' && issue.input === undefined);
  if (issue.type === 'strict_object' && issue.expected === 'never') return unknownField(path);
  if (missing) return { param: path, code: 'required', message: 'is required' };
  const message = /^Invalid (\w+): Expected (.+) but received/s.exec(issue.message);
  return {
    param: path,
    code: 'invalid',
    message: message ? `must be ${message[2]}` : issue.message,
  };
}

/** Validates the query of a route. Pages and shared links ignore unknown parameters, such as tracking parameters. */
export function readQuery<S extends Schema>(
  schema: S,
  route: Pick<Route, 'path' | 'produces' | 'isPublicLink'>,
  search: string,
): v.InferOutput<S> {
  if (search === '') return validate(schema, {});
  const params = new URLSearchParams(search);
  const lenient = route.isPublicLink || isPage(route);
  return validate(schema, lenient ? knownParams(schema, params) : queryObject(params));
}

/** The first value of each parameter that the schema lists, or of all if it lists none. */
function knownParams(schema: Schema, search: URLSearchParams): Record<string, string> {
  const { entries } = schema as { entries?: object };
  const known = [...search].filter(([name]) => !entries || Object.hasOwn(entries, name));
  // Reversed, because `fromEntries` keeps the last value of a name.
  return Object.fromEntries(known.reverse());
}

/** The query as an object of strings. Throws `validation_failed` for a repeated parameter. */
function queryObject(search: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of search) {
    if (name in query)
      throw invalidParams([{ param: name, code: 'invalid', message: 'must not be repeated' }]);
    query[name] = value;
  }
  return { ...query };
}

/** Decodes path parameters. Throws `not_found` if one can't be decoded. */
export function decodeParams(params: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    throw pathNotFound();
  }
}

/** For a path without a route. Browsers show it on a page, API clients get a problem document. */
export const pathNotFound = () => new AppError('not_found', 'Page not found. Check the URL.');

/** The media type in lower case without parameters; empty without `Content-Type`. */
export function contentType(request: Request): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}

const EMPTY = new Uint8Array();

/** Reads and validates the body that a route declares. `raw` has the bytes of a body that isn't JSON. */
export async function readRouteBody(app: App, route: Route, request: Request) {
  if ((route.body || route.consumes) && request.headers.get('content-encoding'))
    throw new AppError(
      'unsupported_media_type',
      "Compressed request bodies aren't supported. Send the body without Content-Encoding.",
    );
  if (route.consumes) {
    if (contentType(request) !== route.consumes.type) throw unsupportedType(route.consumes.type);
    return { body: undefined as never, raw: await readBody(request, route.consumes.maxBytes(app)) };
  }
  if (!route.body) return { body: undefined as never, raw: EMPTY };
  const type = contentType(request);
  if (type !== '' && type !== 'application/json') throw unsupportedType('application/json');
  return { body: validate(route.body, await readJson(request)) as never, raw: EMPTY };
}

const unsupportedType = (supported: string) =>
  new AppError('unsupported_media_type', `Unsupported content type. Send ${supported}.`);

/**
 * Reads up to `max` bytes. Throws `body_too_large` as soon as there are more, and
 * `malformed_request` if the body is incomplete or its chunks are malformed.
 */
async function readBody(request: Request, max: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new AppError('body_too_large', `The request body is larger than ${max} bytes.`);
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > max) throw tooLarge();
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > max) break;
      chunks.push(chunk);
    }
  } catch {
    throw new AppError('malformed_request', 'The request body is incomplete. Send it again.');
  }
  if (size > max) throw tooLarge();
  return Buffer.concat(chunks, size);
}

/** An empty body is `{}`. Throws `malformed_json` for JSON that is invalid or nested too deeply. */
async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBody(request, MAX_JSON_BYTES);
  if (bytes.byteLength === 0) return {};
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new AppError('malformed_json', "The request body isn't valid UTF-8.");
  }
  if (isNestedDeeperThan(text, MAX_JSON_DEPTH))
    throw new AppError(
      'malformed_json',
      `The request body is nested more than ${MAX_JSON_DEPTH} levels deep.`,
    );
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('malformed_json', "The request body isn't valid JSON.");
  }
}

/** Counts brackets outside strings, before the recursive parser sees them. */
function isNestedDeeperThan(text: string, max: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (quoted) {
      if (char === '\\') i++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') {
      depth += 1;
      if (depth > max) return true;
    } else if (char === '}' || char === ']') depth -= 1;
  }
  return false;
}

// Unknown fields of a request, at every depth.

/** The properties of Valibot schemas that are used here. A pipe has the properties of its first item. */
interface ObjectSchema {
  type: string;
  entries?: Record<string, ObjectSchema>;
  item?: ObjectSchema;
  wrapped?: ObjectSchema;
}

/**
 * Paths of unknown fields, such as `metadata.key` or `steps.0.kind`. Only strict objects are inspected; records
 * and unions are left to their schemas.
 */
function unknownFields(schema: Schema, value: unknown): string[] {
  const found: string[] = [];
  collectUnknownFields(schema as unknown as ObjectSchema, value, '', found);
  return found;
}

function collectUnknownFields(
  { type, entries, item, wrapped }: ObjectSchema,
  value: unknown,
  path: string,
  found: string[],
) {
  if (typeof value !== 'object' || value === null) return;
  if (wrapped) collectUnknownFields(wrapped, value, path, found);
  else if (item && Array.isArray(value))
    value.forEach((element, i) => {
      collectUnknownFields(item, element, `${path}${i}.`, found);
    });
  else if (entries && !Array.isArray(value))
    for (const [name, field] of Object.entries(value)) {
      if (Object.hasOwn(entries, name))
        collectUnknownFields(entries[name]!, field, `${path}${name}.`, found);
      else if (type === 'strict_object') found.push(`${path}${name}`);
    }
}
