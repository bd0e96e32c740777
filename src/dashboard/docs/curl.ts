/** The curl commands of the API reference. Each one works as shown. */

import { sessionCookieName } from '../../http/cookies.ts';
import { type JsonSchema, type Operation, withoutNull } from './operations.ts';

/**
 * One command for each content type of the request body. Shell variables hold the API key
 * (`$API_KEY`), the session cookie (`$SESSION`), and the ids in the path (`$TEST_ID`).
 */
export function curlsOf(operation: Operation, baseUrl: string): string[] {
  const { method, path, requestBody } = operation;
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    bodyOptions(type, schema),
  );
  return (bodies.length > 0 ? bodies : [[]]).map((body) => {
    const isMethodImplied = method === 'GET' || (method === 'POST' && body.length > 0);
    const url = `${baseUrl.replace(/\/$/, '')}${shellPath(path)}${requiredQuery(operation)}`;
    return [
      `curl ${isMethodImplied ? '' : `-X ${method} `}"${url}"`,
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
  // Changes made with a session require the origin that a browser would send.
  return [
    `--cookie "${sessionCookieName(protocol === 'https:')}=$SESSION"`,
    `-H "Origin: ${origin}"`,
  ];
}

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/(?<=x)es$|s$/, '');

/** `/v1/tests/{id}` → `/v1/tests/$TEST_ID`. */
const shellPath = (path: string): string =>
  path.replace(/([^/]+)\/\{(\w+)\}/g, (_, collection: string, name: string) => {
    const variable = name === 'id' ? `${singular(collection)}_id` : name;
    return `${collection}/$${variable.toUpperCase()}`;
  });

function requiredQuery({ parameters }: Operation): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema)))}`);
  return query.length > 0 ? `?${query.join('&')}` : '';
}

/** A file with a body of this type. */
const FILES: Record<string, string> = {
  'message/rfc822': 'message.eml',
  'application/octet-stream': 'report.xml.gz',
  'application/gzip': 'report.xml.gz',
  'application/zip': 'report.zip',
  'application/xml': 'report.xml',
  'text/xml': 'report.xml',
  'application/tlsrpt+gzip': 'report.json.gz',
};

function bodyOptions(type: string, schema: JsonSchema): string[] {
  // A form may have the field several times.
  if (type === 'multipart/form-data') return ['-F "file=@report.xml.gz"'];
  const header = `-H "Content-Type: ${type}"`;
  const file = FILES[type];
  if (file !== undefined) return [header, `--data-binary @${file}`];
  const text = JSON.stringify(exampleOf(schema), null, 2).replaceAll('\n', '\n  ');
  return [header, `-d '${text.replaceAll("'", "'\\''")}'`];
}

const EXTENSIONS: Record<string, string> = {
  'text/csv': 'csv',
  'text/html': 'html',
  'application/pdf': 'pdf',
  'message/rfc822': 'eml',
};

/** Saves a response that isn't JSON to a file. If there are several content types, requests the first. */
function downloadOptions({ path, responses }: Operation): string[] {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const types = Object.keys(success?.content ?? {});
  const type = types[0];
  if (!type || type === 'application/json') return [];
  const name = path.split('/').at(-1)!.replace(/[{}]/g, '');
  const file = name.includes('.') ? name : `${name}.${EXTENSIONS[type] ?? 'txt'}`;
  return [...(types.length > 1 ? [`-H "Accept: ${type}"`] : []), `-o ${file}`];
}

/** A value that the schema accepts: its example or, without one, its default or its first value. */
export function exampleOf(fieldSchema: JsonSchema): unknown {
  const { schema } = withoutNull(fieldSchema);
  const { examples, const: constant, default: initial, enum: values, type } = schema;
  if (examples) return examples[0];
  if (constant !== undefined) return constant;
  if (initial !== undefined) return initial;
  if (values) return values[0];
  if (type === 'object') return exampleObject(schema);
  if (type === 'array') return [exampleOf(schema.items ?? {})];
  if (type === 'boolean') return true;
  return type === 'integer' || type === 'number' ? (schema.minimum ?? 1) : 'text';
}

/** With the required fields only. */
function exampleObject({ properties = {}, required = [] }: JsonSchema): Record<string, unknown> {
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]));
}
