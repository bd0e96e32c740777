/** One operation calls another in this process: pages use the API as their clients do. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import { allows, type Reauthorize } from './actor.ts';
import { requireLive, roleError } from './authorize.ts';
import { limitError } from './limited.ts';
import { validate } from './parse.ts';
import { addressGroup, consumeRateLimit, type RateLimit } from './rate-limit.ts';
import type { RequestContext } from './request-context.ts';
import { checkIfMatch, editablePartAt, etagOf, responseFilter, toJson } from './response.ts';
import {
  type AnyCall,
  type Invocation,
  type ResultOf,
  type Route,
  requiresLiveMode,
} from './route.ts';
import { createRequestTransaction } from './transact.ts';

interface Dependencies {
  app: App;
  routes: Route[];
  reauthorize: Reauthorize;
  limitOf(route: Route): RateLimit | undefined;
}

const EMPTY = new Uint8Array();

/**
 * Implements `call.invoke`. The general rate limit counts the outer request only. An `Idempotency-Key` has
 * no effect. The outer route must not declare that it writes, unless it calls `transact` itself.
 */
export async function invoke<T extends Route>(
  dependencies: Dependencies,
  context: RequestContext,
  outer: AnyCall,
  route: T,
  { params = {}, query = {}, body, raw = EMPTY, headers = {} }: Invocation<T> = {},
): Promise<ResultOf<T>> {
  const { reauthorize, routes, limitOf } = dependencies;
  const { app, actor, caller } = outer;
  if (route.role !== 'public') {
    if (!actor) throw new AppError('unauthenticated', 'Sign in first.');
    if (!allows(actor.role, route.role)) throw roleError(actor.role, route.role);
    const refusal = limitError(route, actor);
    if (refusal) throw refusal;
    if (requiresLiveMode(route)) requireLive(actor);
  }
  const limit = limitOf(route);
  if (limit) await consumeRateLimit(limit, addressGroup(caller.ip), context.responseHeaders);
  const transaction = createRequestTransaction(route, { app, reauthorize }, actor);
  const call: AnyCall = {
    app,
    actor,
    params,
    query: validate(route.query ?? NO_QUERY, givenOnly(query)) as never,
    body: (route.body ? validate(route.body, body ?? {}) : undefined) as never,
    raw,
    headers: new Headers(headers),
    caller,
    requestId: outer.requestId,
    consume: outer.consume,
    transact: transaction.transact,
    invoke: outer.invoke,
    headOnly: false,
    ifMatch: (current) => {
      const expected = headers['if-match'];
      const editable = editablePartAt(routes, route) ?? route.etag;
      if (expected !== undefined && editable) checkIfMatch(expected, etagOf(editable(current)));
    },
    setHeader: outer.setHeader,
    signal: outer.signal,
  };
  const result = await route.handle(call);
  transaction.requireCompleted();
  if (!route.response) return result as ResultOf<T>;
  // As a client reads it: some fields are stored JSON that only the text of the response contains.
  return JSON.parse(toJson(responseFilter(route.response)(result))) as ResultOf<T>;
}

const NO_QUERY = v.strictObject({});

/** Without the parameters that are undefined: a form or a URL may leave them out. */
const givenOnly = (query: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
