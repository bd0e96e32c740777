/** Error responses of the documentation: which codes an operation can return, with which status. */

import * as v from 'valibot';
import { ERROR_STATUS, type ErrorCode } from '../../lib/errors.ts';
import { isRateLimited } from '../authorize.ts';
import { ERROR_TYPES } from '../error-types.ts';
import { supportsIdempotencyKey } from '../idempotency.ts';
import { PROBLEM_TYPE } from '../problem.ts';
import { type Route, requiresLiveMode } from '../route.ts';
import { described, exampleId, named, typeField } from '../schemas.ts';
import { errorHeaders, headerRefs, isConditional } from './headers.ts';
import { type Components, type Json, schemaOf } from './json-schema.ts';

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

const ParamProblem = named(
  'ParamError',
  v.object({
    param: described(v.string(), 'The path of the parameter, such as `limit` or `metadata.key`.'),
    code: described(
      v.string(),
      'The kind of error: `required`, `unknown_field`, or the rule that the value breaks.',
    ),
    message: described(
      v.string(),
      "What's wrong with the parameter, such as `must be at most 100`.",
    ),
  }),
  'One invalid parameter of a request.',
  { param: 'limit', code: 'max_value', message: 'must be at most 100' },
);

/** The form of `Problem` in `http/problem`. */
const ProblemSchema = named(
  'Problem',
  v.object({
    object: typeField('error'),
    type: described(
      v.pipe(v.string(), v.metadata({ format: 'uri-reference' })),
      'A URI reference that identifies the type of error.',
    ),
    title: described(v.string(), 'A short summary of the type of error.'),
    status: described(v.pipe(v.number(), v.integer()), 'The HTTP status code.'),
    detail: described(
      v.string(),
      'What happened and what to do, as a message for people. The wording may change.',
    ),
    code: described(
      v.picklist(CODES),
      'The error code, as a stable value for programs. Its meaning never changes.',
    ),
    request_id: described(
      v.string(),
      'The ID of the request, which is also in the server log.',
      exampleId('req'),
    ),
    errors: described(
      v.optional(v.array(ParamProblem)),
      'The invalid parameters of the request. Only present for `validation_failed` and `invalid_cursor`.',
    ),
  }),
  'An error, as problem details (RFC 9457).',
  {
    object: 'error',
    type: '/errors/validation_failed',
    title: ERROR_TYPES.validation_failed.title,
    status: 422,
    detail: 'Invalid limit: must be at most 100.',
    code: 'validation_failed',
    request_id: exampleId('req'),
    errors: [{ param: 'limit', code: 'max_value', message: 'must be at most 100' }],
  },
);

/** The error responses of an operation, by status. */
export function errorsOf(routes: Route[], route: Route, components: Components): Json {
  const byStatus = Map.groupBy(codesOf(routes, route), (code) => ERROR_STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, errorResponse(route, codes, components)]),
  );
}

/** The codes that an operation can return, in the order of `ERROR_STATUS`. */
function codesOf(routes: Route[], route: Route): ErrorCode[] {
  const { role, method, body, consumes, path } = route;
  const codes = new Set<ErrorCode>([
    'malformed_request',
    'validation_failed',
    'internal_error',
    ...(route.errors ?? []),
    ...(isRateLimited(route) ? (['rate_limited'] as const) : []),
    ...(role === 'public' ? [] : (['unauthenticated'] as const)),
    // On a public route, for cross-origin requests of browsers.
    ...(role === 'public' && method === 'GET' ? [] : (['forbidden'] as const)),
    ...(path.includes(':') ? (['not_found'] as const) : []),
    ...(body ? (['malformed_json', 'unsupported_media_type'] as const) : []),
    ...(consumes ? (['unsupported_media_type'] as const) : []),
    ...(body || consumes ? (['body_too_large'] as const) : []),
    ...(supportsIdempotencyKey(route)
      ? (['idempotency_in_progress', 'idempotency_mismatch'] as const)
      : []),
    ...(isConditional(routes, route) ? (['precondition_failed'] as const) : []),
    ...(requiresLiveMode(route) ? (['live_mode_required'] as const) : []),
    ...(body || consumes ? [] : (['unexpected_body'] as const)),
    ...('starting_after' in (route.query?.entries ?? {}) ? (['invalid_cursor'] as const) : []),
  ] as const);
  return CODES.filter((code) => codes.has(code));
}

/** A reference to the response with these codes. Without rate limits, its headers differ. */
function errorResponse(route: Route, codes: ErrorCode[], components: Components): Json {
  const problem = schemaOf(ProblemSchema, 'output', components);
  const response = {
    description: codes.map((code) => `\`${code}\`: ${ERROR_TYPES[code].meaning}`).join(' '),
    headers: headerRefs(errorHeaders(route, codes)),
    content: {
      [PROBLEM_TYPE]: {
        schema: {
          allOf: [
            problem,
            {
              type: 'object',
              required: ['code'],
              properties: {
                code: { type: 'string', enum: codes, description: 'The code of the error.' },
              },
            },
          ],
        },
        example: exampleProblem(codes[0]!),
      },
    },
  };
  if (!isRateLimited(route)) return response;
  const name = codes.map(pascalCase).join('Or');
  components.responses[name] = response;
  return { $ref: `#/components/responses/${name}` };
}

const pascalCase = (code: string): string =>
  code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

function exampleProblem(code: ErrorCode): Json {
  return {
    object: 'error',
    type: `/errors/${code}`,
    title: ERROR_TYPES[code].title,
    status: ERROR_STATUS[code],
    detail: ERROR_TYPES[code].meaning.replaceAll('`', ''),
    code,
    request_id: exampleId('req'),
  };
}
