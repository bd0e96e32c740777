/** The context of a request in the router, and header fields of its response, including error responses. */

import type { App } from '../app.ts';
import { type Caller, callerOf, type Peer } from './actor.ts';
import type { BasePath } from './base-path.ts';
import type { Route } from './route.ts';

/** The connection of a request; absent for requests without a socket, as in tests. */
export interface Env {
  incoming: {
    socket: Peer;
    /** As of a stream of node:http. */
    iterator?(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array>;
  };
}

export interface RequestContext {
  /** GET for HEAD requests; node:http omits the body. */
  method: string;
  /** The parameters of the path, not decoded; empty before a route matches. */
  params: Record<string, string>;
  request: Request;
  /** The body as received, for GET requests, whose Request has none. Absent without a socket. */
  incoming?(): AsyncIterable<Uint8Array>;
  requestId: string;
  /** null if no route matches, or none has been matched yet. */
  route: Route | null;
  pathname: string;
  /** Includes the `?`; empty without a query. */
  search: string;
  /** Header fields of the response, including error responses. */
  responseHeaders: Record<string, string>;
  /** Called once the response is known. */
  afterResponse: (() => void)[];
  readonly caller: Caller;
}

export function createRequestContext(
  request: Request,
  env: Env | undefined,
  { newId, config }: Pick<App, 'newId' | 'config'>,
  basePath: BasePath | null = null,
): RequestContext {
  const url = new URL(request.url);
  if (basePath) url.pathname = basePath.strip(url.pathname);
  const { pathname, search } = url;
  // Read now, because a closed socket has no remote address.
  const peer = { remoteAddress: env?.incoming.socket.remoteAddress };
  let caller: Caller | undefined;
  return {
    method: request.method === 'HEAD' ? 'GET' : request.method,
    params: {},
    request,
    incoming: env?.incoming.iterator && (() => env.incoming.iterator!({ destroyOnReturn: false })),
    requestId: newId('req'),
    route: null,
    pathname,
    search,
    responseHeaders: {},
    afterResponse: [],
    // Computed on demand, because most requests don't need it.
    get caller() {
      caller ??= callerOf(request.headers, peer, config.TRUSTED_PROXIES);
      return caller;
    },
  };
}

// Requests of browsers, which get errors as pages.

/** Whether a route is a page of the web application. API routes that return HTML are not pages. */
export function isPage({ path, produces }: Pick<Route, 'path' | 'produces'>): boolean {
  return !isApiPath(path) && produces?.includes('text/html') === true;
}

/** Whether the client gets an error as a page: on pages, and elsewhere outside the API if it prefers HTML. */
export function wantsPage({ route, pathname, request }: RequestContext): boolean {
  if (route && !route.isPublicLink) return isPage(route);
  const accept = request.headers.get('accept') ?? '';
  return !isApiPath(pathname) && weightOf(accept, 'text/html') > 0 && !prefersJson(accept);
}

/** Whether a browser asks for a page that needs a session. API clients name the type or send a key. */
export function canSignIn({ route, request }: RequestContext): boolean {
  const { headers, method } = request;
  return (
    method === 'GET' &&
    route?.produces?.includes('text/html') === true &&
    !headers.has('authorization') &&
    weightOf(headers.get('accept') ?? '', 'text/html') > 0
  );
}

/** Whether an `Accept` header prefers JSON to HTML (RFC 9110 §12.5.1); false if it names neither. */
export function prefersJson(accept: string): boolean {
  return weightOf(accept, 'application/json') > weightOf(accept, 'text/html');
}

/** From 0 to 1; 0 for a type that the header doesn't name. */
function weightOf(accept: string, type: string): number {
  for (const item of accept.split(',')) {
    const [name, ...params] = item.split(';').map((part) => part.trim().toLowerCase());
    if (name !== type) continue;
    const quality = params.find((param) => param.startsWith('q='));
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
  }
  return 0;
}

export const isApiPath = (path: string): boolean => /^\/v1(\/|$)/.test(path);
