/** What the OpenAPI document says of the manners that operations share: credentials, limits, conditions, retries. */

import type { ErrorCode } from '../lib/errors.ts';
import { ROLES } from './actor.ts';
import { isLimited } from './authorize.ts';
import { isTagged, objectAt } from './etag.ts';
import { takesIdempotencyKey } from './idempotency.ts';
import type { Route } from './route.ts';
import { sessionCookieName } from './session-cookie.ts';

type Json = Record<string, unknown>;

/** The ways to say who asks; the name of the cookie follows from whether the service is at https. */
export function securitySchemes(serverUrl: string | undefined): Json {
  return {
    bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookieName(serverUrl?.startsWith('https:') === true),
      description:
        'The session of a signed-in browser. It may ask for changes from pages of this service alone.',
    },
  };
}

/** Who may: the credentials, the least role, every role that may, and which keys may not. */
export function securityOf(route: Route): Json {
  const { role, live, sessionOnly } = route;
  if (role === 'public') return { ...withoutKey(route), security: [] };
  return {
    ...(sessionOnly
      ? { description: 'By the cookie of a session alone: a key has none.' }
      : live
        ? { description: 'A test-mode key may not, whatever its role.' }
        : {}),
    security: sessionOnly ? [{ session: [] }] : [{ bearer: [] }, { session: [] }],
    'x-role': role,
    'x-roles': ROLES.slice(ROLES.indexOf(role)),
  };
}

/** Clients that send the header with every POST are told where it changes nothing. */
function withoutKey(route: Route): Json {
  if (route.method !== 'POST' || takesIdempotencyKey(route)) return {};
  return { description: 'An `Idempotency-Key` is accepted here and means nothing.' };
}

const text = (description: string): Json => ({ description, schema: { type: 'string' } });

/** The header fields of answers, by name; operations refer to them. */
export const HEADERS: Record<string, Json> = {
  'X-Request-Id': text('Names this request, as its line in the log does.'),
  Location: text('Where the new object is.'),
  ETag: text('Changes whenever the object does; for `If-Match` and `If-None-Match`.'),
  'Idempotent-Replayed': text('`true` where this is the answer to an earlier request.'),
  'Retry-After': text('Seconds to wait before asking again.'),
  'RateLimit-Policy': text('The limits that apply: `"default";q=600;w=60` is 600 in 60 seconds.'),
  RateLimit: text('What is left of each: `"default";r=599;t=60`, more of it in 60 seconds.'),
};

const refer = (names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Those of every answer of a route, of its success, and of an error with one of these codes. */
export function headersOf(route: Route, outcome: 'success' | ErrorCode[]): Json {
  const names = ['X-Request-Id'];
  if (outcome === 'success') {
    if (route.status === 201) names.push('Location');
    if (isTagged(route)) names.push('ETag');
    if (takesIdempotencyKey(route)) names.push('Idempotent-Replayed');
  } else if (outcome.some((code) => WITH_RETRY_AFTER.includes(code))) names.push('Retry-After');
  if (isLimited(route)) names.push('RateLimit-Policy', 'RateLimit');
  return refer(names);
}

const WITH_RETRY_AFTER: ErrorCode[] = ['rate_limited', 'idempotency_in_progress'];

/** The header parameters that a route takes. */
export function headerParameters(routes: Route[], route: Route): Json[] {
  const parameter = (name: string, description: string, schema: Json = {}): Json => ({
    ...{ name, in: 'header', required: false, description },
    schema: { type: 'string', ...schema },
  });
  return [
    ...(takesIdempotencyKey(route)
      ? [
          parameter(
            'Idempotency-Key',
            'Makes a retry safe: for 24 hours the same request with the same key has one effect and one answer.',
            { minLength: 1, maxLength: 255 },
          ),
        ]
      : []),
    ...(route.method === 'GET' && isTagged(route)
      ? [
          parameter(
            'If-None-Match',
            'ETags that you have; where one still holds, the answer is 304.',
          ),
        ]
      : []),
    ...(isConditional(routes, route)
      ? [
          parameter(
            'If-Match',
            'The ETag on which you decided; where it holds no more, nothing changes.',
          ),
        ]
      : []),
  ];
}

const isConditional = (routes: Route[], route: Route): boolean =>
  ['PATCH', 'DELETE'].includes(route.method) && objectAt(routes, route) !== undefined;

/** The errors that follow from these manners. */
export function mannerErrors(routes: Route[], route: Route): ErrorCode[] {
  const { role, method } = route;
  return [
    ...(isLimited(route) ? (['rate_limited'] as const) : []),
    ...(role === 'public' ? [] : (['unauthenticated'] as const)),
    // On a public route, for a browser on the page of another site.
    ...(role === 'public' && method === 'GET' ? [] : (['forbidden'] as const)),
    ...(takesIdempotencyKey(route)
      ? (['idempotency_in_progress', 'idempotency_mismatch'] as const)
      : []),
    ...(isConditional(routes, route) ? (['precondition_failed'] as const) : []),
  ];
}

/** 304, where a GET may be answered so. */
export function notModified(route: Route): Json {
  if (route.method !== 'GET' || !isTagged(route)) return {};
  return {
    304: { description: 'You have it already.', headers: headersOf(route, 'success') },
  };
}
