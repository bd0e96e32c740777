/** Validates responses against the served OpenAPI document: status, type, header fields, and body. */

import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { ApiResponse } from '../helpers/app.ts';

interface Response {
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, { schema: object }>;
}

interface Operation {
  operationId: string;
  responses: Record<string, Response | Reference>;
}

interface Reference {
  $ref: string;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/** Header fields that only some responses with a status have. */
const OPTIONAL =
  /^(ratelimit|idempotent-replayed|retry-after|allow|www-authenticate|content-disposition|set-cookie)/i;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const INT32_MAX = 2 ** 31 - 1;
export const FORMATS = {
  'date-time': TIME,
  email: /@/,
  'idn-hostname': true,
  uri: (text: string) => URL.canParse(text),
  'uri-reference': (text: string) => URL.canParse(text, 'https://x.example'),
  binary: true,
  int32: {
    type: 'number',
    validate: (value: number) => Number.isInteger(value) && Math.abs(value) <= INT32_MAX,
  },
} as const;

/**
 * Compiles every schema of the document. `check` throws for an answer that the document does not
 * allow, and gives the operation that answered.
 */
export function documentValidator(served: object) {
  const document = served as Document;
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: FORMATS,
  });
  ajv.addSchema({ ...document, $id: 'https://document.example/' });
  const unresolved: string[] = [];
  const compiled = new Map<string, ValidateFunction>();
  walk(document, [], (schema, path) => {
    const pointer = path.map((part) => part.replace(/~/g, '~0').replace(/\//g, '~1')).join('/');
    try {
      // By its path in the document, so that references resolve.
      const at = pointer.split('/').map(encodeURIComponent).join('/');
      compiled.set(path.join(' '), ajv.compile({ $ref: `https://document.example/#/${at}` }));
    } catch (error) {
      unresolved.push(`${pointer} ${JSON.stringify(schema)}: ${String(error)}`);
    }
  });

  const check = (method: string, path: string, answer: ApiResponse): string => {
    const { pathname } = new URL(path, 'http://x');
    const [template, operation] = operationAt(document, method, pathname);
    const said = `${operation.operationId} ${answer.status} ${answer.text.slice(0, 300)}`;
    const declared = operation.responses[answer.status];
    assert.ok(declared, `not documented: ${said}`);
    const own = ['paths', template, method.toLowerCase(), 'responses', `${answer.status}`];
    // A response that several operations share.
    const place = '$ref' in declared ? declared.$ref.split('/').slice(1) : own;
    const response = place.reduce<never>((part, key) => part[key] as never, document as never);
    const { headers = {}, content = {} } = response as Response;
    for (const name of Object.keys(headers))
      if (!OPTIONAL.test(name)) assert.ok(answer.headers.has(name), `${name} is missing: ${said}`);
    if (answer.status === 304) return operation.operationId;
    const type = (answer.headers.get('content-type') ?? '').split(';')[0]!;
    assert.ok(content[type], `the type ${type} is not documented: ${said}`);
    const validate = compiled.get([...place, 'content', type, 'schema'].join(' '));
    assert.ok(validate, said);
    assert.ok(validate(answer.body), `${said}: ${JSON.stringify(validate.errors)}`);
    return operation.operationId;
  };
  return { schemas: compiled.size, unresolved, check };
}

/** The matching template with the fewest parameters. */
function operationAt(document: Document, method: string, pathname: string): [string, Operation] {
  const matching = Object.keys(document.paths)
    .filter((template) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname))
    .sort((a, b) => a.split('{').length - b.split('{').length);
  for (const template of matching) {
    const operation = document.paths[template]![method.toLowerCase()];
    if (operation) return [template, operation];
  }
  throw new Error(`${method} ${pathname} is not in the document`);
}

/** Calls back for every `schema`, and for the named schemas. */
function walk(value: unknown, path: string[], found: (schema: unknown, path: string[]) => void) {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const at = [...path, name];
    const isSchema =
      name === 'schema' || (path.join(' ') === 'components schemas' && part !== null);
    if (isSchema) found(part, at);
    else walk(part, at, found);
  }
}
