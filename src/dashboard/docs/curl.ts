/** The curl commands of the API reference. Each one works as shown. */

import { sessionCookieName } from '../../http/cookies.ts';
import { type JsonSchema, type Operation, withoutNull } from './operations.ts';

/**
 * One command for each content type of the request body. Shell variables hold the API key
 * (`$API_KEY`), the session cookie (`$SESSION`), and the ids in the path (`$TEST_ID`).
 */
export function curlsOf(operation: Operation, baseUrl: string): string[] {
  const { method, path, requestBody } = operation;
  const collection = path
    .replace(/\/\{\w+\}$/, '')
    .split('/')
    .at(-1)!;
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    bodyOptions(type, schema, collection),
  );
  return (bodies.length > 0 ? bodies : [[]]).map((body) => {
    const isImplied = method === 'GET' || (method === 'POST' && body.length > 0);
    const url = `${baseUrl.replace(/\/$/, '')}${shellPath(path)}${requiredQuery(operation)}`;
    return [
      `curl ${isImplied ? '' : `-X ${method} `}"${url}"`,
      ...credentialOptions(operation, baseUrl),
      ...body,
      ...downloadOptions(operation),
    ].join(' \\\n  ');
  });
}

function credentialOptions({ 'x-roles': roles, security }: Operation, baseUrl: string): string[] {
  if (!roles) return [];
  if (!security || security.some((scheme) => scheme.bearer))
    return ['-H "Authorization: Bearer $API_KEY"'];
  const { origin, protocol } = new URL(baseUrl);
  // Changes by a session require the origin that a browser would send.
  return [
    `--cookie "${sessionCookieName(protocol === 'https:')}=$SESSION"`,
    `-H "Origin: ${origin}"`,
  ];
}

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/s$/, '');

/** `/v1/tests/{id}` → `/v1/tests/$TEST_ID`. */
const shellPath = (path: string): string =>
  path.replace(/([^/]+)\/\{(\w+)\}/g, (_, collection: string, name: string) => {
    const variable = name === 'id' ? `${singular(collection)}_id` : name;
    return `${collection}/$${variable.toUpperCase()}`;
  });

function requiredQuery({ parameters }: Operation): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, name)))}`);
  return query.length > 0 ? `?${query.join('&')}` : '';
}

function bodyOptions(type: string, schema: JsonSchema, collection: string): string[] {
  const header = `-H "Content-Type: ${type}"`;
  if (type === 'message/rfc822') return [header, '--data-binary @message.eml'];
  const text = JSON.stringify(exampleOf(schema, collection), null, 2).replaceAll('\n', '\n  ');
  return [header, `-d '${text.replaceAll("'", "'\\''")}'`];
}

const EXTENSIONS: Record<string, string> = {
  'text/csv': 'csv',
  'text/html': 'html',
  'application/pdf': 'pdf',
  'message/rfc822': 'eml',
};

/** Saves a response that isn't JSON to a file. Of several content types, it requests the first. */
function downloadOptions({ path, responses }: Operation): string[] {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const types = Object.keys(success?.content ?? {});
  const type = types[0];
  if (!type || type === 'application/json') return [];
  const name = path.split('/').at(-1)!.replace(/[{}]/g, '');
  const file = name.includes('.') ? name : `${name}.${EXTENSIONS[type] ?? 'txt'}`;
  return [...(types.length > 1 ? [`-H "Accept: ${type}"`] : []), `-o ${file}`];
}

/** Example values by field name, which is more specific than the type. */
const BY_NAME: [name: RegExp, example: string][] = [
  [/e?mail$|recipients?$/, 'alex@example.com'],
  [/password$/, 'four words make one'],
  [/token$/, 'the-token-of-the-link'],
  [/url$/, 'https://example.com/hook'],
  [/domain$|hostname$/, 'example.com'],
  [/ip$/, '192.0.2.1'],
  [/timezone$/, 'Europe/Berlin'],
  [/\b(?:me|members|accept)\.name$/, 'Alex Morgan'],
  [/\bapi_keys\.name$/, 'Build pipeline'],
  [/selector$/, 's1'],
  [/name$/, 'Spring newsletter'],
  [/(?:owner|member)_id$/, 'mem_01jd3v9mzq4x8c2n7t5r6w1y0b'],
];
const BY_FORMAT: Record<string, string> = {
  email: 'alex@example.com',
  'idn-hostname': 'example.com',
  'date-time': '2026-11-21T10:00:00.000Z',
};

/** A value that the schema accepts. `name` is the path of the field, such as `tests.name`. */
export function exampleOf(given: JsonSchema, name = ''): unknown {
  const { schema } = withoutNull(given);
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (given.default !== undefined && !isEmpty(given.default)) return given.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!, name);
  if (schema.type === 'object') return exampleObject(schema, name);
  if (schema.type === 'array') return [exampleOf(schema.items ?? {}, singular(name))];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  const byName = BY_NAME.find(([pattern]) => pattern.test(name));
  return BY_FORMAT[schema.format ?? ''] ?? byName?.[1] ?? 'spring';
}

function exampleObject(schema: JsonSchema, name: string): Record<string, unknown> {
  const { properties, additionalProperties, required } = schema;
  if (!properties && typeof additionalProperties === 'object')
    return { campaign: exampleOf(additionalProperties, 'campaign') };
  const shown = Object.entries(properties ?? {}).filter(
    ([key, field]) => required?.includes(key) || isInstructive(key, field),
  );
  return Object.fromEntries(shown.map(([key, field]) => [key, exampleOf(field, `${name}.${key}`)]));
}

/** Optional fields worth showing: enums, names, flags, and maps, but no secrets or references. */
function isInstructive(name: string, given: JsonSchema): boolean {
  if (/password|token|_ids?$/.test(name)) return false;
  const { schema } = withoutNull(given);
  return (
    given.default !== undefined ||
    schema.enum !== undefined ||
    /name$|^enabled$/.test(name) ||
    typeof schema.additionalProperties === 'object'
  );
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
