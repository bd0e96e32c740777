/** Commands for a shell that ask for an operation as they stand. */

import { sessionCookieName } from '../../http/session-cookie.ts';
import { exampleOf } from './example.ts';
import type { JsonSchema, Operation } from './operations.ts';

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
