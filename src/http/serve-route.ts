/** One declared route at work: authorize, parse, handle, answer; once for each Idempotency-Key. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Actor, Identify } from './actor.ts';
import { complete, jsonResponse, presenterOf, withCookies } from './answer.ts';
import { createAuthorize, type Take } from './authorize.ts';
import { checkIfMatch, etagOf, objectAt } from './etag.ts';
import { decodeParams, readBodyOf, readQuery } from './parse.ts';
import { addressGroup, type RateLimit, takeOne } from './rate-limit.ts';
import { answerAgain, answerOf } from './repeats.ts';
import { responseFilter } from './response-filter.ts';
import type { AnyCall, Route } from './route.ts';
import type { HeaderFields } from './security-headers.ts';
import { toJson } from './stored-json.ts';
import type { Visit } from './visit.ts';

export type Serve = (visit: Visit) => Promise<Response>;

/** What all routes of a router share. */
export interface Shared {
  app: App;
  routes: Route[];
  identify: Identify;
  take: Take;
  /** The limit of a route's own. */
  limitOf(route: Route): RateLimit | undefined;
  security: HeaderFields;
}

const NO_QUERY = v.strictObject({});

export function serveRoute(route: Route, shared: Shared): Serve {
  const { app, security } = shared;
  const authorize = createAuthorize(shared, route);
  const query = route.query ?? NO_QUERY;
  const present = presenterOf(route);
  const object = objectAt(shared.routes, route) ?? route.response;
  const checkMatch = ifMatchOf(object && responseFilter(object));
  return async (visit) => {
    const { request, search } = visit;
    const asker = await authorize(visit);
    if (asker.refusal)
      return jsonResponse(visit, await answerAgain(app, route, visit, asker), security);
    const fields: Record<string, string> = {};
    const cookies: string[] = [];
    const call: AnyCall = {
      app,
      actor: asker.actor as Actor,
      params: decodeParams(visit.params),
      query: readQuery(query, route, search) as never,
      ...(await readBodyOf(app, route, request)),
      headers: request.headers,
      get caller() {
        return visit.caller;
      },
      take: (limit) => takeOne(limit, addressGroup(visit.caller.ip), visit.fields),
      keep: keepNothing,
      headOnly: request.method === 'HEAD',
      ifMatch: (value) => checkMatch(request.headers.get('if-match'), value),
      setHeader(name, value) {
        if (name.toLowerCase() === 'set-cookie') cookies.push(value);
        else fields[name.toLowerCase()] = value;
      },
      requestId: visit.requestId,
      get signal() {
        return request.signal;
      },
    };
    if (present) {
      const toAnswer = (value: unknown) => present(value, fields);
      const answer = await answerOf(route, visit, call, toAnswer);
      return withCookies(jsonResponse(visit, answer, security), cookies);
    }
    const response = (await route.handle(call)) as Response;
    return withCookies(complete(response, visit, fields, security), cookies);
  };
}

const keepNothing = async () => {};

/** The check of `If-Match`; what it does not need it does not make. */
function ifMatchOf(filter: ((value: unknown) => unknown) | undefined) {
  return (header: string | null, value: unknown) => {
    if (header !== null) checkIfMatch(header, etagOf(toJson(filter ? filter(value) : value)));
  };
}
