/** From a request to the route that serves it; and every answer, whatever it is, with its manners. */

import { IttyRouter } from 'itty-router';
import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import type { Identify } from './actor.ts';
import { complete } from './answer.ts';
import { createTake } from './authorize.ts';
import { loggedPaths } from './logged-path.ts';
import { wantsPage } from './page.ts';
import { contentType } from './parse.ts';
import { type Problem, problemOf, problemResponse } from './problem.ts';
import { createLimits } from './rate-limit.ts';
import type { Route } from './route.ts';
import { securityHeaders } from './security-headers.ts';
import { type Serve, type Shared, serveRoute } from './serve-route.ts';
import { type Env, type Visit, visitOf } from './visit.ts';

/** `env` is what the server knows of the connection. */
export type Fetch = (request: Request, env?: Env) => Promise<Response>;

export interface RouterOptions {
  app: App;
  routes: Route[];
  identify: Identify;
  /** Makes the page of an error; where there is none, people too get the document. */
  problemPage?(problem: Problem): Response;
}

/** Answers every request, whatever it is; only a bug becomes `internal_error`, logged with its id. */
export function createRouter({ app, routes, identify, problemPage }: RouterOptions): Fetch {
  const router = IttyRouter();
  const shown = app.config.SURFACE === 'preview' ? routes.filter((r) => r.preview) : routes;
  const security = securityHeaders(app.config);
  const take = createTake(app);
  const logged = loggedPaths(routes);
  const limitOf = createLimits(routes, app.clock);
  const shared: Shared = { app, routes: shown, identify, take, limitOf, security };
  for (const [key, alternatives] of groupByPath(shown)) {
    const [method, path] = key.split(' ') as [string, string];
    const serves = alternatives.map((route) => ({ route, serve: serveRoute(route, shared) }));
    const add = router[method.toLowerCase() as 'get'];
    add(path, (visit: Visit) => {
      const { route, serve } = chooseByType(serves, visit);
      visit.route = route;
      return serve(visit);
    });
  }

  return async (request, env) => {
    const started = app.clock.now();
    const visit = visitOf(request, env, app);
    let response: Response;
    try {
      response = (await router.fetch(visit as never)) ?? refuse(router.routes, visit, take);
    } catch (error) {
      const problem = toAppError(error, app, visit.requestId);
      response =
        problemPage && wantsPage(visit)
          ? complete(
              problemPage(problemOf(problem, visit.requestId)),
              visit,
              problem.headers,
              security,
            )
          : problemResponse(problem, visit.requestId, { ...security, ...visit.fields });
    }
    app.log.info('request', {
      request_id: visit.requestId,
      method: request.method,
      path: logged(visit.pathname, visit.route !== null),
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

interface Served {
  route: Route;
  serve: Serve;
}

function chooseByType(serves: Served[], { request }: Visit): Served {
  if (serves.length === 1) return serves[0]!;
  const type = contentType(request);
  const chosen =
    serves.find(({ route }) => route.consumes?.type === type) ??
    serves.find(({ route }) => !route.consumes) ??
    // It says what it takes.
    serves[0]!;
  return chosen;
}

/**
 * 405 where the path is known by another method, else 404. OPTIONS is such a method: no other
 * origin's page is ever allowed anything.
 */
function refuse(
  known: [string, RegExp, ...unknown[]][],
  visit: Visit,
  take: (visit: Visit, who: null) => void,
): Response {
  take(visit, null);
  const methods = [
    ...new Set(known.filter(([, pattern]) => pattern.test(visit.pathname)).map(([m]) => m)),
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
