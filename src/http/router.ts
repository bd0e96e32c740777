/** Routes requests to their handlers and adds the common header fields to responses. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import type { Metrics } from '../lib/metrics.ts';
import { inTrace, readTraceContext } from '../lib/trace-context.ts';
import type { Actor, Identify, Reauthorize } from './actor.ts';
import {
  type ConsumeGeneralLimit,
  createAuthorize,
  createConsumeGeneralLimit,
} from './authorize.ts';
import { basePathOf } from './base-path.ts';
import { createDocumentEncoder, type EncodeDocument } from './encode-document.ts';
import { replayAfterDemotion, respondIdempotently, type StoreResponse } from './idempotency.ts';
import { invoke } from './invoke.ts';
import { appFor } from './limited.ts';
import { contentType, decodeParams, pathNotFound, readQuery, readRouteBody } from './parse.ts';
import { createPathRouter } from './path-router.ts';
import { internalError, type Problem, problemOf, problemResponse } from './problem.ts';
import { addressGroup, consumeRateLimit, createLimits, type RateLimit } from './rate-limit.ts';
import {
  canSignIn,
  createRequestContext,
  type Env,
  isApiPath,
  isPage,
  type RequestContext,
  wantsPage,
} from './request-context.ts';
import {
  checkIfMatch,
  completeResponse,
  editablePartAt,
  etagOf,
  type HeaderFields,
  jsonResponse,
  presenterOf,
  securityHeaders,
  withCookies,
} from './response.ts';
import type { AnyCall, Route } from './route.ts';
import { rateLimitFor } from './shared-rate-limit.ts';
import { createRequestTransaction } from './transact.ts';
import { unavailableDatabase } from './unavailable-database.ts';

/** `env` describes the connection. */
export type Fetch = (request: Request, env?: Env) => Promise<Response>;

interface RouterOptions {
  app: App;
  routes: Route[];
  identify: Identify;
  reauthorize: Reauthorize;
  /** Renders an error page. Without it, browsers get the problem document too. */
  problemPage?(problem: Problem, context: RequestContext): Response | Promise<Response>;
  /** Where a browser signs in before it gets the page at `next`, a path with its query. */
  signInPath?(next: string): string;
  /** Responds in place of all routes, at hosts that have none. */
  respond?(context: RequestContext): Promise<Response>;
}

/** Handles every request. Unexpected errors become `internal_error` and are logged with the request id. */
export function createRouter(options: RouterOptions): Fetch {
  const { app, routes, identify, reauthorize } = options;
  const paths = createPathRouter<RequestContext>();
  const served = app.config.SURFACE === 'preview' ? routes.filter((r) => r.preview) : routes;
  const security = securityHeaders(app.config);
  const consumeGeneral = createConsumeGeneralLimit(app);
  const redactPath = createPathRedactor(routes);
  const basePath = basePathOf(app.config);
  const limitOf = createLimits(routes, (operation, limit) => rateLimitFor(app, operation, limit));
  const shared: Shared = {
    app,
    routes: served,
    identify,
    reauthorize,
    consumeGeneral,
    limitOf,
    security,
    encodeDocument: createDocumentEncoder(basePath),
  };
  const respondToError = createErrorResponder(options, shared);
  for (const [key, alternatives] of groupByPath(served.toSorted(literalsFirst))) {
    const [method, path] = key.split(' ') as [string, string];
    const candidates = alternatives.map((route) => ({ route, serve: serveRoute(route, shared) }));
    if (candidates[0]!.route.anyOrigin)
      paths.add('OPTIONS', path, async (_, context) => {
        await consumeGeneral(context, null);
        return completeResponse(new Response(null, { status: 204 }), context, PREFLIGHT, security);
      });
    paths.add(method, path, (params, context) => {
      const { route, serve } = chooseByContentType(candidates, context);
      context.route = route;
      context.params = params;
      if (route.anyOrigin) context.responseHeaders['access-control-allow-origin'] = '*';
      return serve(context);
    });
  }
  const respond = async (context: RequestContext): Promise<Response> =>
    (options.respond
      ? completeResponse(await options.respond(context), context, {}, security)
      : await paths.fetch(context.method, context.pathname, context)) ??
    rejectUnmatched(paths.methodsAt(context.pathname), context, consumeGeneral);

  const handle: Fetch = async (request, env) => {
    const startedAt = app.clock.now();
    const context = createRequestContext(request, env, app, basePath);
    let response: Response;
    try {
      response = await respond(context);
    } catch (error) {
      response = await respondToError(toAppError(error, app, context.requestId), context);
    }
    for (const step of context.afterResponse) step();
    countRequest(app.metrics, context, response.status, app.clock.now() - startedAt);
    app.log.info('request', {
      request_id: context.requestId,
      method: request.method,
      ...(options.respond && { host: new URL(request.url).hostname }),
      path: redactPath(context.pathname, context.route !== null),
      status: response.status,
      ms: app.clock.now() - startedAt,
    });
    return response;
  };
  return (request, env) => inTrace(readTraceContext(request.headers), () => handle(request, env));
}

/** For scripts of any site (Fetch Standard §3.3.3), on routes with `anyOrigin`. */
const PREFLIGHT = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'content-type, mcp-protocol-version',
  'access-control-max-age': '3600',
};

/** Without path parameters or unknown methods, which clients choose. */
function countRequest(
  { httpRequests, httpDuration }: Metrics,
  { route, pathname, search }: RequestContext,
  status: number,
  ms: number,
): void {
  const { method = 'none', path = 'none' } = route ?? {};
  httpRequests.inc({ method, route: path, status });
  if (/[?&]wait=/.test(search)) return;
  const surface = isApiPath(pathname) ? 'api' : route && isPage(route) ? 'page' : 'other';
  httpDuration.observe({ surface }, ms / 1000);
}

/** Sorts `/tests/new` before `/tests/:id`, because the first matching route handles a request. */
function literalsFirst(a: Route, b: Route): number {
  const [one, other] = [a, b].map(({ path }) =>
    path.replace(/[^/]+/g, (segment) => (/^:\w+$/.test(segment) ? '1' : '0')),
  );
  return one! < other! ? -1 : Number(one! > other!);
}

/** Groups routes by method and path. Routes of a group differ in the content type of the request body. */
function groupByPath(routes: Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const key = `${route.method} ${route.path}`;
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  return groups;
}

interface Candidate {
  route: Route;
  serve: Serve;
}

function chooseByContentType(candidates: Candidate[], { request }: RequestContext): Candidate {
  if (candidates.length === 1) return candidates[0]!;
  const type = contentType(request);
  return (
    candidates.find(({ route }) => route.consumes?.type === type) ??
    candidates.find(({ route }) => !route.consumes) ??
    // The error of this route names the content type that it accepts.
    candidates[0]!
  );
}

/**
 * Throws `method_not_allowed` if the path supports other methods, else `not_found`. OPTIONS is supported for `anyOrigin`
 * only: the service allows no other requests of scripts of other sites.
 */
async function rejectUnmatched(
  methods: string[],
  context: RequestContext,
  consumeGeneral: ConsumeGeneralLimit,
): Promise<never> {
  await consumeGeneral(context, null);
  if (methods.length === 0) throw pathNotFound();
  const allow = methods.flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : [m])).join(', ');
  const detail = `This endpoint doesn't support this method. Use ${allow}.`;
  throw new AppError('method_not_allowed', detail, [], { allow });
}

/** Browsers without a session are sent to the sign-in page, and get other errors as a page. */
function createErrorResponder(
  { problemPage, signInPath }: RouterOptions,
  { security, encodeDocument }: Shared,
) {
  const respondWithPage = async (page: Response, problem: AppError, context: RequestContext) => {
    const completed = completeResponse(page, context, problem.headers, security);
    return encodeDocument(context.route ?? {}, completed, context);
  };
  return async (problem: AppError, context: RequestContext): Promise<Response> => {
    if (signInPath && problem.code === 'unauthenticated' && canSignIn(context)) {
      const location = signInPath(context.pathname + context.search);
      return respondWithPage(
        new Response(null, { status: 303, headers: { location } }),
        problem,
        context,
      );
    }
    if (problemPage && wantsPage(context))
      return respondWithPage(
        await problemPage(problemOf(problem, context.requestId), context),
        problem,
        context,
      );
    return problemResponse(problem, context.requestId, {
      ...security,
      ...context.responseHeaders,
    });
  };
}

/** Any error as one for the client. An unexpected one is a bug, and is logged. */
export function toAppError(error: unknown, app: App, requestId: string): AppError {
  if (error instanceof AppError) return error;
  const unavailable = unavailableDatabase(error);
  if (unavailable) return unavailable;
  app.log.error('request failed', {
    request_id: requestId,
    fault: error instanceof Error ? error.stack : String(error),
  });
  return internalError();
}

// Serving one route: authorize, parse, handle, and respond, once per Idempotency-Key.

type Serve = (context: RequestContext) => Promise<Response>;

/** Shared by all routes of one router. */
interface Shared {
  app: App;
  routes: Route[];
  identify: Identify;
  reauthorize: Reauthorize;
  consumeGeneral: ConsumeGeneralLimit;
  /** The rate limit of a single route, if it has one. */
  limitOf(route: Route): RateLimit | undefined;
  security: HeaderFields;
  encodeDocument: EncodeDocument;
}

const NO_QUERY = v.strictObject({});

function serveRoute(route: Route, shared: Shared): Serve {
  const { security, encodeDocument } = shared;
  const authorize = createAuthorize(shared, route);
  const query = route.query ?? NO_QUERY;
  const present = presenterOf(route);
  const checkMatch = createIfMatchCheck(editablePartAt(shared.routes, route) ?? route.etag);
  return async (context) => {
    const { request, search } = context;
    const authorization = await authorize(context);
    if (authorization.refusal)
      return jsonResponse(
        context,
        await replayAfterDemotion(shared.app, route, context, authorization),
        security,
      );
    const app = appFor(shared.app, authorization.actor);
    const fields: Record<string, string> = {};
    const cookies: string[] = [];
    const transaction = createRequestTransaction(route, { ...shared, app }, authorization.actor);
    const call: AnyCall = {
      app,
      actor: authorization.actor as Actor,
      params: decodeParams(context.params),
      query: readQuery(query, route, search) as never,
      ...(await readRouteBody(app, route, context)),
      headers: request.headers,
      get caller() {
        return context.caller;
      },
      consume: (limit) =>
        consumeRateLimit(limit, addressGroup(context.caller.ip), context.responseHeaders),
      transact: transaction.transact,
      invoke: (invoked, invocation) => invoke(shared, context, call, invoked, invocation),
      headOnly: request.method === 'HEAD',
      ifMatch: (value) => checkMatch(request.headers.get('if-match'), value),
      setHeader(name, value) {
        if (name.toLowerCase() === 'set-cookie') cookies.push(value);
        else fields[name.toLowerCase()] = value;
      },
      requestId: context.requestId,
      get signal() {
        return request.signal;
      },
    };
    const handle = async (storeResponse: StoreResponse | null) => {
      transaction.storeResponse = storeResponse;
      const result = await route.handle(call);
      transaction.requireCompleted();
      return result;
    };
    if (present) {
      const toStored = (value: unknown) => present(value, fields);
      const stored = await respondIdempotently(route, context, call, toStored, handle);
      return withCookies(jsonResponse(context, stored, security), cookies);
    }
    const response = (await handle(null)) as Response;
    const completed = completeResponse(response, context, fields, security);
    return withCookies(await encodeDocument(route, completed, context), cookies);
  };
}

/** Checks `If-Match`. Computes no ETag for requests without it. */
function createIfMatchCheck(editable: Route['etag']) {
  return (header: string | null, value: unknown) => {
    if (!editable) throw new Error('ifMatch() needs a GET route with an ETag');
    if (header !== null) checkIfMatch(header, etagOf(editable(value)));
  };
}

// Paths for the log, without the secrets that some paths contain.

/** Some clients send an API key instead of its ID. */
const API_KEY_PATTERN = /dlv_(live|test)_[^/]*/gi;

/**
 * Possible secrets: at least 20 characters in a path without a route, and at least 40 in a path with
 * one, because IDs have 20 or more. They include percent signs, because a secret may be percent-encoded.
 */
const TOKEN_PATTERN = /[\w%-]{20,}/g;
const LONG_TOKEN_PATTERN = /[\w%-]{40,}/g;

/**
 * Returns a function that replaces the secret parameters of a path by their names, as in
 * `/password/:token`. `hasRoute` is true if the path has a route.
 */
export function createPathRedactor(routes: Pick<Route, 'path' | 'secretParams'>[]) {
  const patterns = routes.flatMap(({ path, secretParams = [] }) =>
    secretParams.map((name) => patternOf(path, name)),
  );
  return (path: string, hasRoute: boolean): string =>
    patterns
      .reduce((text, { pattern, replacement }) => text.replace(pattern, replacement), path)
      .replace(API_KEY_PATTERN, ':key')
      .replace(hasRoute ? LONG_TOKEN_PATTERN : TOKEN_PATTERN, ':masked');
}

/**
 * Matches the secret and everything after it, because paths without a route are logged too, such as
 * a link that was copied with extra text.
 */
function patternOf(path: string, name: string) {
  const before = path.slice(0, path.indexOf(`:${name}`));
  const parts = before
    .split('/')
    .filter(Boolean)
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[^\w-]/g, '\\$&')));
  return {
    pattern: new RegExp(`^(/+${parts.join('/+')}/+)[^/].*$`, 'is'),
    replacement: `$1:${name}`,
  };
}
