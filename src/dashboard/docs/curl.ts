/** Commands for a shell that ask for an operation as they stand. */

import { sessionCookieName } from '../../http/cookies.ts';
import { type JsonSchema, type Operation, withoutNull } from './operations.ts';

/**
 * One command for each type of body that the operation takes. The key is `$API_KEY`, or the value of
 * the cookie `$SESSION` where only a session may; ids of the path are variables of the shell too
 * (`$TEST_ID`).
 */
export function curlsOf(operation: Operation, baseUrl: string): string[] {
  const subject = operation.path
    .replace(/\/\{\w+\}$/, '')
    .split('/')
    .at(-1)!;
  const content = Object.entries(operation.requestBody?.content ?? {});
  if (content.length === 0) return [curl(operation, baseUrl, [])];
  return content.map(([type, { schema }]) =>
    curl(operation, baseUrl, bodyOptions(type, schema, subject)),
  );
}

function curl(operation: Operation, baseUrl: string, body: string[]): string {
  const { method } = operation;
  const isImplied = method === 'GET' || (method === 'POST' && body.length > 0);
  const command = [
    'curl',
    ...(isImplied ? [] : ['-X', method]),
    `"${baseUrl.replace(/\/$/, '')}${shellPath(operation)}${requiredQuery(operation)}"`,
  ].join(' ');
  return [
    command,
    ...credentialOptions(operation, baseUrl),
    ...body,
    ...downloadOptions(operation),
  ].join(' \\\n  ');
}

function credentialOptions({ 'x-roles': roles, security }: Operation, baseUrl: string): string[] {
  if (!roles) return [];
  if (!security || security.some((way) => way.bearer))
    return ['-H "Authorization: Bearer $API_KEY"'];
  const { origin, protocol } = new URL(baseUrl);
  // A browser says of which page it asks; without it no session changes anything.
  return [
    `--cookie "${sessionCookieName(protocol === 'https:')}=$SESSION"`,
    `-H "Origin: ${origin}"`,
  ];
}

/** `/v1/tests/{id}` → `/v1/tests/$TEST_ID`. */
function shellPath({ path }: Operation): string {
  return path.replace(/\/([^/]+)\/\{(\w+)\}/g, (_, collection: string, name: string) => {
    const thing = collection.replace(/ies$/, 'y').replace(/s$/, '');
    const variable = name === 'id' ? `${thing}_id` : name;
    return `/${collection}/\${${variable.toUpperCase()}}`.replace(/\$\{(\w+)\}$/, '$$$1');
  });
}

function requiredQuery({ parameters }: Operation): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, name)))}`);
  return query.length > 0 ? `?${query.join('&')}` : '';
}

function bodyOptions(type: string, schema: JsonSchema, subject: string): string[] {
  const header = `-H "Content-Type: ${type}"`;
  if (type !== 'application/json') return [header, `--data-binary @${FILES[type] ?? 'body'}`];
  const text = JSON.stringify(exampleOf(schema, subject), null, 2).replaceAll('\n', '\n  ');
  return [header, `-d '${text.replaceAll("'", "'\\''")}'`];
}

const FILES: Record<string, string> = { 'message/rfc822': 'message.eml' };

const EXTENSIONS: Record<string, string> = {
  'text/csv': 'csv',
  'text/html': 'html',
  'application/pdf': 'pdf',
  'message/rfc822': 'eml',
};

/** What is no JSON goes to a file; of several types the first is asked for. */
function downloadOptions({ path, responses }: Operation): string[] {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const types = Object.keys(success?.content ?? {});
  const type = types[0];
  if (!type || type === 'application/json') return [];
  const name = path.split('/').at(-1)!.replace(/[{}]/g, '');
  const file = name.includes('.') ? name : `${name}.${EXTENSIONS[type] ?? 'txt'}`;
  return [...(types.length > 1 ? [`-H "Accept: ${type}"`] : []), `-o ${file}`];
}

// A body that an operation takes, made from its schema: what must be there, and what shows best what may be.

/** Names tell more than types: what a value of this name could be. */
const BY_NAME: [name: RegExp, example: unknown][] = [
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
];
const ID_PART = '01jd3v9mzq4x8c2n7t5r6w1y0b';
const ID_PREFIXES: Record<string, string> = {
  new_owner: 'mem',
  member: 'mem',
  test: 'test',
  monitor: 'mon',
  domain: 'dom',
};

/** A value that the schema takes. `name` is what it is called, behind what it belongs to: `tests.name`. */
export function exampleOf(given: JsonSchema, name = ''): unknown {
  const { schema } = withoutNull(given);
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (given.default !== undefined && !isEmpty(given.default)) return given.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!, name);
  if (schema.type === 'object') return exampleObject(schema, name);
  if (schema.type === 'array')
    return [exampleOf(schema.items ?? {}, name.replace(/ies$/, 'y').replace(/s$/, ''))];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  return exampleText(schema, name);
}

function exampleObject(schema: JsonSchema, name: string): Record<string, unknown> {
  if (!schema.properties && typeof schema.additionalProperties === 'object')
    return { campaign: exampleOf(schema.additionalProperties, 'campaign') };
  const shown = Object.entries(schema.properties ?? {}).filter(
    ([key, field]) => schema.required?.includes(key) || isTelling(key, field),
  );
  return Object.fromEntries(shown.map(([key, field]) => [key, exampleOf(field, `${name}.${key}`)]));
}

/** Of what may be left out: what has a value to choose, a name, a switch or pairs. Secrets and references stay out. */
function isTelling(name: string, given: JsonSchema): boolean {
  if (/password|token|_ids?$/.test(name)) return false;
  const { schema } = withoutNull(given);
  return (
    given.default !== undefined ||
    schema.enum !== undefined ||
    /name$|^enabled$/.test(name) ||
    typeof schema.additionalProperties === 'object'
  );
}

function exampleText(schema: JsonSchema, name: string): string {
  if (schema.format === 'email') return 'alex@example.com';
  if (schema.format === 'idn-hostname') return 'example.com';
  if (schema.format === 'date-time') return '2026-11-21T10:00:00.000Z';
  const id = /(?:^|\.)(\w+)_id$/.exec(name);
  if (id) return `${ID_PREFIXES[id[1]!] ?? id[1]!.slice(0, 3)}_${ID_PART}`;
  const known = BY_NAME.find(([pattern]) => pattern.test(name));
  return known ? String(known[1]) : 'spring';
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
