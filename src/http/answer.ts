/** From what a handler returns to the answer: cut to what is declared, tagged, with its header fields. */

import { alreadyHas, etagOf, isTagged } from './etag.ts';
import type { KeptAnswer } from './idempotency.ts';
import { responseFilter } from './response-filter.ts';
import type { Route } from './route.ts';
import { addSecurityHeaders, type HeaderFields } from './security-headers.ts';
import { toJson } from './stored-json.ts';
import type { Visit } from './visit.ts';

/** The JSON answer of a route; `fields` are those that its handler has set. */
type Present = (answer: unknown, fields: HeaderFields) => KeptAnswer;

/** null for a route whose handler makes the Response itself. */
export function presenterOf(route: Route): Present | null {
  if (!route.response) return null;
  const filter = responseFilter(route.response);
  const tagged = isTagged(route);
  return (answer, fields) => {
    const body = toJson(filter(answer));
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    };
    if (route.location) headers.location = route.location(answer);
    if (tagged) headers.etag = etagOf(body);
    const status = route.statusOf?.(answer) ?? route.status ?? 200;
    return { status, headers: { ...headers, ...fields }, body };
  };
}

/** 304 where a GET names the tag of what would be answered (RFC 9110 §15.4.5). */
export function jsonResponse(visit: Visit, answer: KeptAnswer, security: HeaderFields): Response {
  const { status, headers, body } = answer;
  const fields = { ...security, ...visit.fields, ...headers, 'x-request-id': visit.requestId };
  if (
    headers.etag !== undefined &&
    visit.method === 'GET' &&
    alreadyHas(visit.request.headers.get('if-none-match'), headers.etag)
  ) {
    const { 'content-type': _, ...rest } = fields as Record<string, string>;
    return new Response(null, { status: 304, headers: rest });
  }
  return new Response(body, { status, headers: fields });
}

/** Completes what a handler has made; what it has set itself stays. */
export function complete(
  response: Response,
  visit: Visit,
  fields: HeaderFields,
  security: HeaderFields,
): Response {
  const { headers } = response;
  for (const [name, value] of Object.entries({ ...visit.fields, ...fields }))
    headers.set(name, value);
  headers.set('x-request-id', visit.requestId);
  // Nearly all of it is somebody's mail.
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  addSecurityHeaders(response, security);
  return response;
}

/** Fields of which an answer may have several, and none of which is ever kept for a repeat. */
export function withCookies(response: Response, cookies: string[]): Response {
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}
