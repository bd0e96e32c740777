/** A request on its way through the router, and what its answer carries whatever becomes of it. */

import type { App } from '../app.ts';
import { inNetworks, type Network, normalizeAddress } from '../lib/addresses.ts';
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

// From where a request comes: the address of the client, and what it calls itself.

export interface Caller {
  /** null where it is not known, as for a socket that is gone. */
  ip: string | null;
  /** Cut to 500 characters. */
  userAgent: string | null;
}

/** What node:http knows of the connection below a request. */
interface Peer {
  remoteAddress?: string;
}

const USER_AGENT_MAX = 500;

/** What `X-Forwarded-For` says counts where the peer is a trusted proxy. */
export function callerOf(headers: Headers, peer: Peer, trusted: Network[]): Caller {
  const address = normalizeAddress(peer.remoteAddress ?? '');
  const byProxy = address !== null && trusted.length > 0 && inNetworks(address, trusted);
  return {
    ip: byProxy ? forwardedFor(address, headers.get('x-forwarded-for') ?? '', trusted) : address,
    userAgent: headers.get('user-agent')?.slice(0, USER_AGENT_MAX) ?? null,
  };
}

/**
 * Each proxy adds, on the right, the address that it was reached from. So the list is read from the
 * right for as long as the one who wrote it is trusted; what is left of the first who is not may be
 * invented, and so may what is left of something that is no address.
 */
function forwardedFor(peer: string, header: string, trusted: Network[]): string {
  let address = peer;
  for (const entry of header.split(',').reverse()) {
    const before = normalizeAddress(withoutPort(entry.trim()));
    if (before === null) break;
    address = before;
    if (!inNetworks(address, trusted)) break;
  }
  return address;
}

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  return entry.replace(/^(\[[^\]]*\]|[\d.]+):\d{1,5}$/, '$1');
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
