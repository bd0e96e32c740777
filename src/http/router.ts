/** Routes requests to their handlers and gives every response its common header fields. */

import { IttyRouter } from 'itty-router';
import * as v from 'valibot';
import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import type { Actor, Identify, Reauthorize } from './actor.ts';
import {
  type ConsumeGeneralLimit,
  createAuthorize,
  createConsumeGeneralLimit,
} from './authorize.ts';
import { answerAgain, answerOf, type KeepAnswer } from './idempotency.ts';
import { contentType, decodeParams, readBodyOf, readQuery } from './parse.ts';
import { type Problem, problemOf, problemResponse } from './problem.ts';
import { addressGroup, consumeRateLimit, createLimits, type RateLimit } from './rate-limit.ts';
import {
  createRequestContext,
  type Env,
  type RequestContext,
  wantsPage,
} from './request-context.ts';
import {
  checkIfMatch,
  complete,
  etagOf,
  type HeaderFields,
  jsonResponse,
  objectAt,
  presenterOf,
  responseFilter,
  securityHeaders,
  toJson,
  withCookies,
} from './response.ts';
import type { AnyCall, Route } from './route.ts';
import { transactionOf } from './transact.ts';

/** `env` is what the server knows of the connection. */
export type Fetch = (request: Request, env?: Env) => Promise<Response>;

interface RouterOptions {
  app: App;
  routes: Route[];
  identify: Identify;
  reauthorize: Reauthorize;
  /** Renders the page of an error; without it, browsers get the problem document too. */
  problemPage?(problem: Problem): Response;
}

/** Answers every request. Only a bug becomes `internal_error`, logged with the request id. */
export function createRouter(options: RouterOptions): Fetch {
  const { app, routes, identify, reauthorize, problemPage } = options;
  const router = IttyRouter();
  const shown = app.config.SURFACE === 'preview' ? routes.filter((r) => r.preview) : routes;
  const security = securityHeaders(app.config);
  const consumeGeneral = createConsumeGeneralLimit(app);
  const logged = loggedPaths(routes);
  const limitOf = createLimits(routes, app.clock);
  const shared: Shared = {
    ...{ app, routes: shown, identify, reauthorize, consumeGeneral, limitOf, security },
  };
  for (const [key, alternatives] of groupByPath(shown)) {
    const [method, path] = key.split(' ') as [string, string];
    const serves = alternatives.map((route) => ({ route, serve: serveRoute(route, shared) }));
    const add = router[method.toLowerCase() as 'get'];
    add(path, (context: RequestContext) => {
      const { route, serve } = chooseByType(serves, context);
      context.route = route;
      return serve(context);
    });
  }

  return async (request, env) => {
    const started = app.clock.now();
    const context = createRequestContext(request, env, app);
    let response: Response;
    try {
      response =
        (await router.fetch(context as never)) ?? refuse(router.routes, context, consumeGeneral);
    } catch (error) {
      const problem = toAppError(error, app, context.requestId);
      response =
        problemPage && wantsPage(context)
          ? complete(
              problemPage(problemOf(problem, context.requestId)),
              context,
              problem.headers,
              security,
            )
          : problemResponse(problem, context.requestId, { ...security, ...context.fields });
    }
    app.log.info('request', {
      request_id: context.requestId,
      method: request.method,
      path: logged(context.pathname, context.route !== null),
      status: response.status,
      ms: app.clock.now() - started,
    });
    return response;
  };
}

/** Routes of one method and path differ by the content type of their request bodies. */
function groupByPath(routes: Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const key = `${route.method} ${route.path}`;
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  return groups;
}

interface Served {
  route: Route;
  serve: Serve;
}

function chooseByType(serves: Served[], { request }: RequestContext): Served {
  if (serves.length === 1) return serves[0]!;
  const type = contentType(request);
  const chosen =
    serves.find(({ route }) => route.consumes?.type === type) ??
    serves.find(({ route }) => !route.consumes) ??
    // Its error names the content type that it accepts.
    serves[0]!;
  return chosen;
}

/**
 * 405 where the path is known by another method, else 404. OPTIONS is such a method: no other
 * origin's page is ever allowed anything.
 */
function refuse(
  known: [string, RegExp, ...unknown[]][],
  context: RequestContext,
  consumeGeneral: ConsumeGeneralLimit,
): Response {
  consumeGeneral(context, null);
  const methods = [
    ...new Set(known.filter(([, pattern]) => pattern.test(context.pathname)).map(([m]) => m)),
  ];
  if (methods.length === 0) throw new AppError('not_found', 'There is nothing at this address.');
  const allow = methods.flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : [m])).join(', ');
  throw new AppError('method_not_allowed', `This address takes ${allow}.`, [], { allow });
}

function toAppError(error: unknown, app: App, requestId: string): AppError {
  if (error instanceof AppError) return error;
  if ((error as { code?: string }).code === 'SQLITE_FULL')
    return new AppError('unavailable', 'The disk is full.');
  if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY'))
    return new AppError(
      'unavailable',
      'The database is in use by another program. Try again soon.',
      [],
      { 'retry-after': '5' },
    );
  app.log.error('request failed', {
    request_id: requestId,
    fault: error instanceof Error ? error.stack : String(error),
  });
  return new AppError('internal_error', 'Something went wrong here. It has been logged.');
}

// One route: authorise, parse, handle and answer; once for each Idempotency-Key.

type Serve = (context: RequestContext) => Promise<Response>;

/** What all routes of one router share. */
interface Shared {
  app: App;
  routes: Route[];
  identify: Identify;
  reauthorize: Reauthorize;
  consumeGeneral: ConsumeGeneralLimit;
  /** The rate limit of the route itself, if it has one. */
  limitOf(route: Route): RateLimit | undefined;
  security: HeaderFields;
}

const NO_QUERY = v.strictObject({});

function serveRoute(route: Route, shared: Shared): Serve {
  const { app, security } = shared;
  const authorize = createAuthorize(shared, route);
  const query = route.query ?? NO_QUERY;
  const present = presenterOf(route);
  const object = objectAt(shared.routes, route) ?? route.response;
  const checkMatch = ifMatchOf(object && responseFilter(object));
  return async (context) => {
    const { request, search } = context;
    const asker = await authorize(context);
    if (asker.refusal)
      return jsonResponse(context, await answerAgain(app, route, context, asker), security);
    const fields: Record<string, string> = {};
    const cookies: string[] = [];
    const transaction = transactionOf(route, shared, asker.actor);
    const call: AnyCall = {
      app,
      actor: asker.actor as Actor,
      params: decodeParams(context.params),
      query: readQuery(query, route, search) as never,
      ...(await readBodyOf(app, route, request)),
      headers: request.headers,
      get caller() {
        return context.caller;
      },
      consume: (limit) => consumeRateLimit(limit, addressGroup(context.caller.ip), context.fields),
      transact: transaction.transact,
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
    const handle = async (keep: KeepAnswer | null) => {
      transaction.keep = keep;
      const answer = await route.handle(call);
      transaction.requireDone();
      return answer;
    };
    if (present) {
      const toAnswer = (value: unknown) => present(value, fields);
      const answer = await answerOf(route, context, call, toAnswer, handle);
      return withCookies(jsonResponse(context, answer, security), cookies);
    }
    const response = (await handle(null)) as Response;
    return withCookies(complete(response, context, fields, security), cookies);
  };
}

/** Checks `If-Match`; computes nothing for requests without it. */
function ifMatchOf(filter: ((value: unknown) => unknown) | undefined) {
  return (header: string | null, value: unknown) => {
    if (header !== null) checkIfMatch(header, etagOf(toJson(filter ? filter(value) : value)));
  };
}

// The path of a request as the log may have it: without the secrets that some paths hold.

/** An API key, which some put where its id belongs. */
const API_KEY_PATTERN = /dlv_(live|test)_[^/]*/gi;

/**
 * What may be a secret of ours in a path that matches no route, and in one that does, where ids are as
 * long as the first. A percent sign counts as part of one: encoding a path hides nothing in it.
 */
const TOKEN_PATTERN = /[\w%-]{20,}/g;
const LONG_TOKEN_PATTERN = /[\w%-]{40,}/g;

/**
 * Parts of a path that are secret (`secretParams` of a route) come out as their names:
 * `/password/:token`. `known` says whether a route has been found for it.
 */
export function loggedPaths(routes: Pick<Route, 'path' | 'secretParams'>[]) {
  const patterns = routes.flatMap(({ path, secretParams = [] }) =>
    secretParams.map((name) => patternOf(path, name)),
  );
  return (path: string, known: boolean): string =>
    patterns
      .reduce((text, { pattern, shown }) => text.replace(pattern, shown), path)
      .replace(API_KEY_PATTERN, ':key')
      .replace(known ? LONG_TOKEN_PATTERN : TOKEN_PATTERN, ':masked');
}

/**
 * Matches up to the secret and whatever follows it: a link that was copied badly, or asked for by
 * another method, matches no route and is logged too.
 */
function patternOf(path: string, name: string) {
  const before = path.slice(0, path.indexOf(`:${name}`));
  const parts = before
    .split('/')
    .filter(Boolean)
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[^\w-]/g, '\\$&')));
  return {
    pattern: new RegExp(`^(/+${parts.join('/+')}/+)[^/].*$`, 'is'),
    shown: `$1:${name}`,
  };
}
