/** Query, path and body out of a request, validated, every fault named at once. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { AppError, type ParamError } from '../lib/errors.ts';
import { isPage } from './request-context.ts';
import type { Route, Schema } from './route.ts';

const JSON_BODY_MAX = 1024 * 1024;
const JSON_DEPTH_MAX = 64;

/** Throws `validation_failed` that names every wrong field; an unknown one is wrong too. */
export function validate<S extends Schema>(schema: S, value: unknown): v.InferOutput<S> {
  if (Array.isArray(value))
    throw new AppError('validation_failed', 'The body must be an object.', [
      { param: '', code: 'invalid', message: 'must be an object' },
    ]);
  const result = v.safeParse(schema, value);
  // The schemas name the first unknown field of an object alone.
  const unknown = unknownFields(schema, value);
  if (result.success && unknown.length === 0) return result.output;
  const params = (result.issues ?? []).map(toParamError);
  const named = new Set(params.map(({ param }) => param));
  params.push(...unknown.filter((param) => !named.has(param)).map(unknownField));
  const names = [...new Set(params.map(({ param }) => param || 'body'))];
  throw new AppError(
    'validation_failed',
    `Wrong: ${names.slice(0, 10).join(', ')}.`,
    params.slice(0, 50),
  );
}

const unknownField = (param: string): ParamError => ({
  param,
  code: 'unknown_field',
  message: 'is not a field of this request',
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

/** The query of a route, validated; that of a page or a link has room for whatever others add to it. */
export function readQuery<S extends Schema>(
  schema: S,
  route: Pick<Route, 'path' | 'produces' | 'byLink'>,
  search: string,
): v.InferOutput<S> {
  if (search === '') return validate(schema, {});
  const given = new URLSearchParams(search);
  const loose = route.byLink || isPage(route);
  return validate(schema, loose ? firstOfKnown(schema, given) : queryObject(given));
}

/** Of each name that a schema knows the first value; of every name where it does not list them. */
function firstOfKnown(schema: Schema, search: URLSearchParams): Record<string, string> {
  const { entries } = schema as { entries?: object };
  const known = [...search].filter(([name]) => !entries || Object.hasOwn(entries, name));
  // The last of a name counts here.
  return Object.fromEntries(known.reverse());
}

/** The query as an object of strings; a name that is given twice is wrong. */
function queryObject(search: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of search) {
    if (name in query)
      throw new AppError('validation_failed', `${name} is given twice.`, [
        { param: name, code: 'invalid', message: 'is given twice' },
      ]);
    query[name] = value;
  }
  return { ...query };
}

/** The parts of the path, decoded; what cannot be decoded names nothing that exists. */
export function decodeParams(params: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    throw new AppError('not_found', 'There is nothing at this address.');
  }
}

/** The type of the body without its parameters, lower case; empty where none is said. */
export function contentType(request: Request): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}

const EMPTY = new Uint8Array();

/** The body that a route declares, validated; `raw` has the bytes of one that is not JSON. */
export async function readBodyOf(app: App, route: Route, request: Request) {
  if ((route.body || route.consumes) && request.headers.get('content-encoding'))
    throw new AppError('unsupported_media_type', 'The body must not be compressed.');
  if (route.consumes) {
    if (contentType(request) !== route.consumes.type)
      throw new AppError('unsupported_media_type', `This takes ${route.consumes.type}.`);
    return { body: undefined as never, raw: await readBody(request, route.consumes.maxBytes(app)) };
  }
  if (!route.body) return { body: undefined as never, raw: EMPTY };
  const type = contentType(request);
  if (type !== '' && type !== 'application/json')
    throw new AppError('unsupported_media_type', 'This takes application/json.');
  return { body: validate(route.body, await readJson(request)) as never, raw: EMPTY };
}

/**
 * Reads at most `max` bytes; throws `body_too_large` as soon as there are more, and
 * `malformed_request` for a body that breaks off or whose chunks cannot be read.
 */
async function readBody(request: Request, max: number): Promise<Uint8Array> {
  const tooLarge = () => new AppError('body_too_large', `The body has more than ${max} bytes.`);
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
    throw new AppError('malformed_request', 'The body did not arrive whole.');
  }
  if (size > max) throw tooLarge();
  return Buffer.concat(chunks, size);
}

/** A JSON body; an empty one is `{}`. Throws `malformed_json` for what is none or nests too deep. */
async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBody(request, JSON_BODY_MAX);
  if (bytes.byteLength === 0) return {};
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new AppError('malformed_json', 'The body is not UTF-8.');
  }
  if (nestsDeeper(text, JSON_DEPTH_MAX))
    throw new AppError('malformed_json', `The body nests deeper than ${JSON_DEPTH_MAX} levels.`);
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('malformed_json', 'The body cannot be read as JSON.');
  }
}

/** Counts brackets outside of strings, before the parser meets them. */
function nestsDeeper(text: string, max: number): boolean {
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

// The fields of a request that its schema does not know, at every depth.

/** The parts of valibot's schemas that are looked at; one with a pipe has those of its first. */
interface ObjectSchema {
  type: string;
  entries?: Record<string, ObjectSchema>;
  item?: ObjectSchema;
  wrapped?: ObjectSchema;
}

/**
 * Their paths, such as `metadata.key` or `steps.0.kind`. Only objects that take no other field are
 * looked at: what is in a record or a union is for the schema to judge.
 */
function unknownFields(schema: Schema, value: unknown): string[] {
  const found: string[] = [];
  collectUnknownFields(schema as unknown as ObjectSchema, value, '', found);
  return found;
}

function collectUnknownFields(
  { type, entries, item, wrapped }: ObjectSchema,
  value: unknown,
  at: string,
  found: string[],
) {
  if (typeof value !== 'object' || value === null) return;
  if (wrapped) collectUnknownFields(wrapped, value, at, found);
  else if (item && Array.isArray(value))
    value.forEach((one, i) => {
      collectUnknownFields(item, one, `${at}${i}.`, found);
    });
  else if (entries && !Array.isArray(value))
    for (const [name, field] of Object.entries(value)) {
      if (Object.hasOwn(entries, name))
        collectUnknownFields(entries[name]!, field, `${at}${name}.`, found);
      else if (type === 'strict_object') found.push(`${at}${name}`);
    }
}
