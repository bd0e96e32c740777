/** One declared route at work: authorize, parse, handle, answer; once for each Idempotency-Key. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Actor, Identify } from './actor.ts';
import { complete, jsonResponse, presenterOf } from './answer.ts';
import { createAuthorize, type Take } from './authorize.ts';
import { checkIfMatch, etagOf, objectAt } from './etag.ts';
import {
  answerOnce,
  idempotencyKey,
  type KeptAnswer,
  requestHash,
  takesIdempotencyKey,
} from './idempotency.ts';
import { decodeParams, queryObject, readBodyOf, validate } from './parse.ts';
import { responseFilter } from './response-filter.ts';
import type { Route } from './route.ts';
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
  security: HeaderFields;
}

const NO_QUERY = v.strictObject({});

export function serveRoute(route: Route, shared: Shared): Serve {
  const { app, security } = shared;
  const authorize = createAuthorize(app, route, shared.identify, shared.take);
  const query = route.query ?? NO_QUERY;
  const present = presenterOf(route);
  const object = objectAt(shared.routes, route) ?? route.response;
  const checkMatch = ifMatchOf(object && responseFilter(object));
  return async (visit) => {
    const { request, search } = visit;
    const actor = await authorize(visit);
    const fields: Record<string, string> = {};
    const call: AnyCall = {
      app,
      actor: actor as Actor,
      params: decodeParams(visit.params),
      query: validate(query, search ? queryObject(new URLSearchParams(search)) : {}) as never,
      ...(await readBodyOf(app, route, request)),
      headers: request.headers,
      get caller() {
        return visit.caller;
      },
      keep: keepNothing,
      ifMatch: (value) => checkMatch(request.headers.get('if-match'), value),
      setHeader(name, value) {
        fields[name.toLowerCase()] = value;
      },
      requestId: visit.requestId,
      get signal() {
        return request.signal;
      },
    };
    if (present) {
      const toAnswer = (value: unknown) => present(value, fields);
      return jsonResponse(visit, await answerOf(route, visit, call, toAnswer), security);
    }
    const response = (await route.handle(call)) as Response;
    return complete(response, visit, fields, security);
  };
}

type AnyCall = Parameters<Route['handle']>[0];

const keepNothing = async () => {};

/** The check of `If-Match`; what it does not need it does not make. */
function ifMatchOf(filter: ((value: unknown) => unknown) | undefined) {
  return (header: string | null, value: unknown) => {
    if (header !== null) checkIfMatch(header, etagOf(toJson(filter ? filter(value) : value)));
  };
}

/** What the handler answers, or what it answered when the same `Idempotency-Key` came before. */
async function answerOf(
  route: Route,
  visit: Visit,
  call: AnyCall,
  present: (value: unknown) => KeptAnswer,
): Promise<KeptAnswer> {
  const key = takesIdempotencyKey(route) ? idempotencyKey(call.headers) : null;
  if (key === null) return present(await route.handle(call));
  const { answer, replayed } = await answerOnce(
    call.app,
    await onceOf(route, visit, call, key),
    async (store) => {
      let kept: KeptAnswer | undefined;
      call.keep = async (tx, early) => {
        kept = present(early);
        await store(tx, kept);
      };
      const late = await route.handle(call);
      return kept ?? present(late);
    },
  );
  if (replayed) visit.fields['idempotent-replayed'] = 'true';
  return answer;
}

async function onceOf(route: Route, { pathname, search }: Visit, call: AnyCall, key: string) {
  const { actor, body, raw } = call;
  const parts = [route.operation, pathname, search, actor.livemode, body ?? null];
  return {
    caller: (actor.keyId ?? actor.sessionId)!,
    key,
    hash: await requestHash(parts, raw),
  };
}
