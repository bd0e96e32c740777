/** Parses and validates the path, query, and body of a request, and reports all invalid parameters at once. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { AppError, invalidParams, type ParamError } from '../lib/errors.ts';
import { isPage, type RequestContext } from './request-context.ts';
import type { Route, Schema } from './route.ts';
import { bodyTooLarge, incompleteBody, readUpload } from './upload.ts';

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
  const reportedParams = new Set(params.map(({ param }) => param));
  params.push(...unknown.filter((param) => !reportedParams.has(param)).map(unknownField));
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
    message: message ? `must be ${alternativesOf(message[2]!)}` : issue.message,
  };
}

/** Valibot writes the strings that it accepts as `("a" | "b")`. */
function alternativesOf(expected: string): string {
  if (!/^\("[^"]*"(?: \| "[^"]*")*\)$/.test(expected)) return expected;
  return `one of ${expected.slice(2, -2).split('" | "').join(', ')}`;
}

/**
 * Validates the query of a route. Public pages and documents ignore unknown parameters: people share their
 * URLs, trackers add parameters, and monitoring adds one to get past caches.
 */
export function readQuery<S extends Schema>(
  schema: S,
  route: Pick<Route, 'role' | 'method' | 'path' | 'produces'>,
  search: string,
): v.InferOutput<S> {
  if (search === '') return validate(schema, {});
  const params = new URLSearchParams(search);
  const lenient = (route.role === 'public' && route.method === 'GET') || isPage(route);
  return validate(schema, lenient ? knownParams(schema, params) : queryObject(params));
}

/** The first value of each parameter that the schema lists, or of all if it lists none. */
function knownParams(schema: Schema, search: URLSearchParams): Record<string, string> {
  const { entries } = schema as { entries?: object };
  const pairs = [...search].filter(([name]) => !entries || Object.hasOwn(entries, name));
  // Reversed, because `fromEntries` keeps the last value of a name.
  return Object.fromEntries(pairs.reverse());
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

/** For a path without a route. Browsers get a page, API clients a problem document. */
export const pathNotFound = () => new AppError('not_found', 'Page not found. Check the URL.');

/** The media type in lower case without parameters; empty without `Content-Type`. */
export function contentType(request: Pick<Request, 'headers'>): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}

const EMPTY = new Uint8Array();

/** The parts of a request from which its body is read. */
type BodyContext = Pick<RequestContext, 'request' | 'incoming' | 'afterResponse'>;

/** Reads and validates the body that a route declares. `raw` has the bytes of a body that isn't JSON. */
export async function readRouteBody(app: App, route: Route, context: BodyContext) {
  const { request } = context;
  if ((route.body || route.consumes) && request.headers.get('content-encoding'))
    throw new AppError(
      'unsupported_media_type',
      "Compressed request bodies aren't supported. Send the body without Content-Encoding.",
    );
  if (route.consumes) {
    const types = [route.consumes.type, ...(route.consumes.also ?? [])];
    if (!types.includes(contentType(request))) throw unsupportedType(...types);
    const raw = await readUpload(app, context, route.consumes.maxBytes(app));
    return { body: undefined as never, raw };
  }
  if (route.body)
    return { body: validate(route.body, await readJson(request, route)) as never, raw: EMPTY };
  await requireNoBody(context);
  return { body: undefined as never, raw: EMPTY };
}

const unsupportedType = (...supported: string[]) =>
  new AppError(
    'unsupported_media_type',
    `Unsupported content type. Send ${supported.join(', or ')}.`,
  );

const MAX_IGNORED_BYTES = 256;

/**
 * Throws `unexpected_body`, so that no field is ignored silently. Accepts an empty JSON object, which
 * some client libraries always send.
 */
async function requireNoBody({
  request,
  incoming,
}: Pick<BodyContext, 'request' | 'incoming'>): Promise<void> {
  const { headers, method } = request;
  const unexpected = (fields = {}) =>
    new AppError('unexpected_body', 'This operation takes no request body. Remove it.', [], fields);
  if (Number(headers.get('content-length') ?? 0) > MAX_IGNORED_BYTES) throw unexpected();
  let bytes: Uint8Array;
  // A Request has no body if its method is GET or HEAD, although HTTP allows one.
  if (method === 'GET' || method === 'HEAD') {
    if (!hasBody(headers) || !incoming) return;
    bytes = await readUpTo(incoming(), MAX_IGNORED_BYTES);
    // The rest of the body would be taken for the next request on the connection.
    if (bytes.byteLength > MAX_IGNORED_BYTES) throw unexpected({ connection: 'close' });
  } else bytes = request.body ? await readUpTo(chunksOf(request), MAX_IGNORED_BYTES) : EMPTY;
  if (bytes.byteLength === 0) return;
  const isJson = ['', 'application/json', 'text/plain'].includes(contentType(request));
  if (!isJson || !/^\s*\{\s*\}\s*$/.test(Buffer.from(bytes).toString('latin1'))) throw unexpected();
}

const hasBody = (headers: Headers): boolean =>
  headers.has('transfer-encoding') || !['0', null].includes(headers.get('content-length'));

/**
 * Reads up to `max` bytes. Throws `body_too_large` as soon as there are more, and
 * `malformed_request` if the body is incomplete or its chunks are malformed.
 */
async function readBody(request: Request, max: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > max) throw bodyTooLarge(max);
  const bytes = request.body ? await readUpTo(chunksOf(request), max) : EMPTY;
  if (bytes.byteLength > max) throw bodyTooLarge(max);
  return bytes;
}

const chunksOf = ({ body }: Request) => body as unknown as AsyncIterable<Uint8Array>;

/** Stops as soon as there are more than `max` bytes. Throws `malformed_request` for an incomplete body. */
async function readUpTo(body: AsyncIterable<Uint8Array>, max: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size > max) break;
    }
  } catch {
    throw incompleteBody();
  }
  return Buffer.concat(chunks, size);
}

/**
 * An empty body is `{}`, whatever its content type. Without a content type, `fetch` sends `text/plain`,
 * so a JSON object is accepted with that type too. Cross-site requests are rejected by their origin, not by
 * their type. Throws `malformed_json` for JSON that is invalid or nested too deeply.
 */
async function readJson(
  request: Request,
  { otherBody }: Pick<Route, 'otherBody'>,
): Promise<unknown> {
  const type = contentType(request);
  const isDeclared = type === '' || type === 'application/json';
  const notJson = unsupportedType('application/json', ...(otherBody ? [otherBody] : []));
  if (!isDeclared && type !== 'text/plain') {
    const bytes = await readUpTo(request.body ? chunksOf(request) : noChunks(), 0);
    if (bytes.byteLength > 0) throw notJson;
    return {};
  }
  const bytes = await readBody(request, MAX_JSON_BYTES);
  if (bytes.byteLength === 0) return {};
  if (!isDeclared && bytes.find((byte) => !JSON_SPACE.includes(byte)) !== 0x7b) throw notJson;
  return parseJson(bytes);
}

/** Space, tab, line feed, and carriage return (RFC 8259 §2). */
const JSON_SPACE = [0x20, 0x09, 0x0a, 0x0d];

async function* noChunks(): AsyncGenerator<Uint8Array> {}

/** Throws `malformed_json` for JSON that is invalid or nested too deeply. */
export function parseJson(bytes: Uint8Array): unknown {
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
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
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
