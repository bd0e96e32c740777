/** A request on its way through the router, and what its answer carries whatever becomes of it. */

import type { App } from '../app.ts';
import { type Caller, callerOf, type Peer } from './caller.ts';
import type { Route } from './route.ts';

/** What the server knows of a request beside it; absent where a request did not come by a socket. */
export interface Env {
  incoming: { socket: Peer };
}

export interface Visit {
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

export function visitOf(
  request: Request,
  env: Env | undefined,
  { newId, config }: Pick<App, 'newId' | 'config'>,
): Visit {
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
