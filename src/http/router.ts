/** From a request to an answer: match, credential, role, parse, handle, filter. */

import { IttyRouter } from 'itty-router';
import * as v from 'valibot';
import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import { type Actor, allows, type Identify } from './actor.ts';
import { contentType, decodeParams, queryObject, readBody, readJson, validate } from './parse.ts';
import { problemResponse } from './problem.ts';
import { responseFilter } from './response-filter.ts';
import type { Route } from './route.ts';
import { toJson } from './stored-json.ts';

export type Fetch = (request: Request) => Promise<Response>;

export interface RouterOptions {
  app: App;
  routes: Route[];
  identify: Identify;
}

/** A request on its way through the router; `params` is what itty-router found in the path. */
interface Visit {
  method: string;
  url: string;
  request: Request;
  requestId: string;
  params: Record<string, string>;
}

type Serve = (visit: Visit) => Promise<Response>;

/** Answers every request, whatever it is; only a bug becomes `internal_error`, logged with its id. */
export function createRouter({ app, routes, identify }: RouterOptions): Fetch {
  const router = IttyRouter();
  const shown = app.config.SURFACE === 'preview' ? routes.filter((r) => r.preview) : routes;
  for (const [key, alternatives] of groupByPath(shown)) {
    const [method, path] = key.split(' ') as [string, string];
    const serves = alternatives.map((route) => ({
      route,
      serve: serveRoute(app, route, identify),
    }));
    const add = router[method.toLowerCase() as 'get'];
    add(path, (visit: unknown) => chooseByType(serves, visit as Visit)(visit as Visit));
  }

  return async (request) => {
    const started = app.clock.now();
    const requestId = app.newId('req');
    // HEAD is answered like GET; node:http leaves the body out.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const visit = { method, url: request.url, request, requestId };
    let response: Response;
    try {
      response = (await router.fetch(visit as never)) ?? refuse(router.routes, request);
    } catch (error) {
      response = problemResponse(toAppError(error, app, requestId), requestId);
    }
    app.log.info('request', {
      request_id: requestId,
      method: request.method,
      path: new URL(request.url).pathname,
      status: response.status,
      ms: app.clock.now() - started,
    });
    return response;
  };
}

/** Routes of one method and path differ by the type of body that they take. */
function groupByPath(routes: Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const key = `${route.method} ${route.path}`;
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  return groups;
}

function chooseByType(serves: { route: Route; serve: Serve }[], { request }: Visit): Serve {
  if (serves.length === 1) return serves[0]!.serve;
  const type = contentType(request);
  const chosen =
    serves.find(({ route }) => route.consumes?.type === type) ??
    serves.find(({ route }) => !route.consumes);
  return chosen!.serve;
}

/** 405 where the path is known by another method, else 404. */
function refuse(known: [string, RegExp, ...unknown[]][], request: Request): Response {
  const { pathname } = new URL(request.url);
  const methods = [
    ...new Set(known.filter(([, pattern]) => pattern.test(pathname)).map(([m]) => m)),
  ];
  if (methods.length === 0) throw new AppError('not_found', 'There is nothing at this address.');
  const allow = methods.flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : [m])).join(', ');
  throw new AppError('method_not_allowed', `This address takes ${allow}.`, [], { allow });
}

function toAppError(error: unknown, app: App, requestId: string): AppError {
  if (error instanceof AppError) return error;
  if ((error as { code?: string }).code === 'SQLITE_FULL')
    return new AppError('unavailable', 'The disk is full.');
  app.log.error('request failed', {
    request_id: requestId,
    fault: error instanceof Error ? error.stack : String(error),
  });
  return new AppError('internal_error', 'Something went wrong here. It has been logged.');
}

function serveRoute(app: App, route: Route, identify: Identify): Serve {
  const query = route.query ?? v.strictObject({});
  const filter = route.response && responseFilter(route.response);
  return async ({ request, requestId, params, url }) => {
    const actor = await authorize(route, request, identify);
    const { search } = new URL(url);
    const answer = await route.handle({
      app,
      actor: actor as Actor,
      params: decodeParams(params),
      query: validate(query, search ? queryObject(new URLSearchParams(search)) : {}) as never,
      ...(await readBodyOf(app, route, request)),
      headers: request.headers,
      caller: { ip: null, userAgent: request.headers.get('user-agent'), secure: false },
      keep: async () => {},
      ifMatch: () => {},
      requestId,
      get signal() {
        return request.signal;
      },
    });
    if (!filter) return withRequestId(answer as Response, requestId);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'x-request-id': requestId,
      'cache-control': 'no-store',
    };
    if (route.location) headers.location = route.location(answer);
    const status = route.statusOf?.(answer) ?? route.status ?? 200;
    return new Response(toJson(filter(answer)), { status, headers });
  };
}

function withRequestId(response: Response, requestId: string): Response {
  response.headers.set('x-request-id', requestId);
  response.headers.set('x-content-type-options', 'nosniff');
  return response;
}

async function authorize(
  route: Route,
  request: Request,
  identify: Identify,
): Promise<Actor | null> {
  if (route.role === 'public') return null;
  const bearer = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(
    request.headers.get('authorization') ?? '',
  )?.[1];
  const actor = bearer ? await identify({ kind: 'key', token: bearer }) : null;
  if (!actor)
    throw new AppError(
      'unauthenticated',
      bearer ? 'The API key is not valid.' : 'This needs an API key: Authorization: Bearer <key>.',
      [],
      { 'www-authenticate': 'Bearer' },
    );
  if (!allows(actor.role, route.role))
    throw new AppError('forbidden', `This needs the role ${route.role}; yours is ${actor.role}.`);
  return actor;
}

const EMPTY = new Uint8Array();

async function readBodyOf(app: App, route: Route, request: Request) {
  if ((route.body || route.consumes) && request.headers.get('content-encoding'))
    throw new AppError('unsupported_media_type', 'The body must not be compressed.');
  if (route.consumes) {
    if (contentType(request) !== route.consumes.type)
      throw new AppError('unsupported_media_type', `This takes ${route.consumes.type}.`);
    return { body: undefined as never, raw: await readBody(request, route.consumes.maxBytes(app)) };
  }
  if (!route.body) return { body: undefined as never, raw: EMPTY };
  const type = contentType(request);
  if (type !== '' && type !== 'application/json')
    throw new AppError('unsupported_media_type', 'This takes application/json.');
  return { body: validate(route.body, await readJson(request)) as never, raw: EMPTY };
}
