/** The header fields of requests and responses. Operations refer to them by name. */

import type { ErrorCode } from '../../lib/errors.ts';
import { isRateLimited } from '../authorize.ts';
import { supportsIdempotencyKey } from '../idempotency.ts';
import { editablePartAt, hasEtag } from '../response.ts';
import type { Route } from '../route.ts';
import { exampleId } from '../schemas.ts';
import type { Json } from './json-schema.ts';

const header = (description: string, example: string | number, schema: Json = {}): Json => ({
  description,
  schema: { type: 'string', ...schema, examples: [example] },
});

/** Header fields of responses, by name. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': header(
    'The ID of the request, which is also in the server log.',
    exampleId('req'),
  ),
  Location: header('The path of the new object.', `/v1/tests/${exampleId('test')}`, {
    format: 'uri-reference',
  }),
  ETag: header(
    'The version of what you can edit, for `If-Match`. Changes by the service, such as a new status, keep it.',
    '"8l3Xc0vTqk2mYw5nRzB1dA"',
  ),
  'Content-Disposition': header(
    'The suggested file name.',
    `attachment; filename="${exampleId('test')}.eml"`,
  ),
  'Set-Cookie': header(
    'Sets or clears the session cookie.',
    '__Host-deliverability=…; Path=/; HttpOnly; Secure; SameSite=Lax',
  ),
  'Idempotent-Replayed': header(
    '`true` if this repeats the response to an earlier request.',
    'true',
    {
      enum: ['true'],
    },
  ),
  'WWW-Authenticate': header('The authentication scheme to use.', 'Bearer'),
  'Retry-After': header('The number of seconds to wait before you retry.', 12, {
    type: 'integer',
    format: 'int32',
    minimum: 1,
  }),
  'RateLimit-Policy': header(
    'The limits that apply. `"default";q=600;w=60` allows 600 requests in 60 seconds.',
    '"default";q=600;w=60',
  ),
  RateLimit: header(
    'The remaining requests of each limit. `"default";r=599;t=60` means that 599 requests remain, with more available in 60 seconds.',
    '"default";r=599;t=60',
  ),
};

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

export const headerRefs = (names: ResponseHeader[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const rateLimitHeaders = (route: Pick<Route, 'path'>): ResponseHeader[] =>
  isRateLimited(route) ? ['RateLimit-Policy', 'RateLimit'] : [];

export function successHeaders(route: Route): ResponseHeader[] {
  return [
    'X-Request-Id',
    ...(route.location ? (['Location'] as const) : []),
    ...(hasEtag(route) ? (['ETag'] as const) : []),
    ...(supportsIdempotencyKey(route) ? (['Idempotent-Replayed'] as const) : []),
    ...(route.responseHeaders ?? []),
    ...rateLimitHeaders(route),
  ];
}

const WITH_RETRY_AFTER: ErrorCode[] = ['rate_limited', 'idempotency_in_progress'];

/** The header fields of an error response with one of these codes. */
export function errorHeaders(route: Pick<Route, 'path'>, codes: ErrorCode[]): ResponseHeader[] {
  return [
    'X-Request-Id',
    ...(codes.includes('unauthenticated') ? (['WWW-Authenticate'] as const) : []),
    ...(codes.some((code) => WITH_RETRY_AFTER.includes(code)) ? (['Retry-After'] as const) : []),
    ...rateLimitHeaders(route),
  ];
}

/** The request headers that a route supports. */
export function headerParameters(routes: Route[], route: Route): Json[] {
  const parameter = (name: string, description: string, schema: Json): Json => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', ...schema },
  });
  const etags = { examples: ['"8l3Xc0vTqk2mYw5nRzB1dA"'] };
  return [
    ...(supportsIdempotencyKey(route)
      ? [
          parameter(
            'Idempotency-Key',
            'A unique key that makes retries safe. For 24 hours, requests with the same key take effect once and return the same response.',
            { minLength: 1, maxLength: 255, examples: ['order-1042-test'] },
          ),
        ]
      : []),
    ...(isConditional(routes, route)
      ? [
          parameter(
            'If-Match',
            'The ETag of the version that you read. If the object has changed since, the request fails with 412.',
            etags,
          ),
        ]
      : []),
  ];
}

/** Whether a route supports `If-Match`. */
export const isConditional = (routes: Route[], route: Route): boolean =>
  ['PATCH', 'DELETE'].includes(route.method) && editablePartAt(routes, route) !== undefined;
