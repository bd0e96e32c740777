/** A request on its way through the router, and what its answer carries whatever becomes of it. */

import type { App } from '../app.ts';
import { type Caller, callerOf, type Peer } from './actor.ts';
import type { Route } from './route.ts';

/** What the server knows of a request beside it; absent where a request did not come by a socket. */
export interface Env {
  incoming: { socket: Peer };
}

export interface RequestContext {
  /** HEAD is answered like GET; node:http leaves the body out. */
  method: string;
  /** What itty-router matches by, and what it finds in the path. */
  url: string;
  params: Record<string, string>;
  request: Request;
  requestId: string;
  /** null until one is found, and for good where there is none. */
  route: Route | null;
  pathname: string;
  /** With its `?`, or empty. */
  search: string;
  /** Header fields of the answer, also of an error. */
  fields: Record<string, string>;
  readonly caller: Caller;
}

export function createRequestContext(
  request: Request,
  env: Env | undefined,
  { newId, config }: Pick<App, 'newId' | 'config'>,
): RequestContext {
  const { pathname, search } = new URL(request.url);
  // Read now: the socket of a client that has gone away knows it no more.
  const peer = { remoteAddress: env?.incoming.socket.remoteAddress };
  let caller: Caller | undefined;
  return {
    method: request.method === 'HEAD' ? 'GET' : request.method,
    url: request.url,
    params: {},
    request,
    requestId: newId('req'),
    route: null,
    pathname,
    search,
    fields: {},
    // Most answers need none of it.
    get caller() {
      caller ??= callerOf(request.headers, peer, config.TRUSTED_PROXIES);
      return caller;
    },
  };
}

// Which requests people make with a browser, who are answered by pages whatever becomes of them.

/** Whether a route is a page of the web application; the API has HTML too, for programs that fetch it. */
export function isPage({ path, produces }: Pick<Route, 'path' | 'produces'>): boolean {
  return !isOfApi(path) && produces?.includes('text/html') === true;
}

/** Whether an error is to be a page: at a page, or by a link or at no route where a browser shows what it gets. */
export function wantsPage({ route, pathname, request }: RequestContext): boolean {
  if (route && !route.byLink) return isPage(route);
  const accept = request.headers.get('accept') ?? '';
  return !isOfApi(pathname) && weightOf(accept, 'text/html') > 0 && !prefersJson(accept);
}

/** Whether JSON is asked for rather than a page (RFC 9110 §12.5.1); who names neither has no wish. */
export function prefersJson(accept: string): boolean {
  return weightOf(accept, 'application/json') > weightOf(accept, 'text/html');
}

/** From 0 to 1; 0 for a type that is not named. */
function weightOf(accept: string, type: string): number {
  for (const item of accept.split(',')) {
    const [name, ...params] = item.split(';').map((part) => part.trim().toLowerCase());
    if (name !== type) continue;
    const quality = params.find((param) => param.startsWith('q='));
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
  }
  return 0;
}

const isOfApi = (path: string): boolean => /^\/v1(\/|$)/.test(path);
