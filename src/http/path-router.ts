/**
 * Finds the handler of a request by its method and its path, in which segments can be parameters.
 *
 * itty-router tries its routes one after another. So routes whose paths begin alike have a router of their own, and a
 * request tries a dozen patterns instead of all.
 */

import { IttyRouter, type IttyRouterType } from 'itty-router';

/** `params` are not decoded. */
type Handler<Context> = (params: Record<string, string>, context: Context) => Promise<Response>;

export interface PathRouter<Context> {
  /** The first of several that match a request handles it. */
  add(method: string, path: string, handler: Handler<Context>): void;
  /** Undefined if no route matches. Rejects as the handler does. */
  fetch(method: string, pathname: string, context: Context): Promise<Response | undefined>;
  /** The methods of the routes for a path, in the order in which they were added. */
  methodsAt(pathname: string): string[];
}

/** What itty-router gets: it reads `method` and `url`, and writes `params`, `query` and `route`. */
interface RoutedRequest {
  method: string;
  url: string;
  params: Record<string, string>;
}

/** itty-router needs a full URL. */
const ORIGIN = 'http://localhost';
/** Paths of the API differ in the segment after it. */
const API_VERSION = 'v1';

export function createPathRouter<Context>(): PathRouter<Context> {
  const root = IttyRouter<never>();
  const groups = new Map<string, IttyRouterType<never>>([['', root]]);

  /** The router of all paths that begin with these segments, as a route of the router of their parent. */
  function groupAt(prefix: string): IttyRouterType<never> {
    const existing = groups.get(prefix);
    if (existing) return existing;
    const group = IttyRouter<never>();
    groups.set(prefix, group);
    groupAt(prefix.slice(0, prefix.lastIndexOf('/'))).all(`${prefix}/*`, group.fetch as never);
    return group;
  }

  return {
    add(method, path, handler) {
      const handle = ({ params }: RoutedRequest, context: Context) => handler(params, context);
      groupAt(prefixOf(path))[method.toLowerCase() as 'get'](path, handle as never);
    },
    fetch: (method, pathname, context) =>
      root.fetch({ method, url: ORIGIN + pathname } as never, context as never),
    methodsAt(pathname) {
      const routes = [...groups.values()].flatMap(({ routes }) => routes);
      const matching = routes.filter(
        ([method, pattern]) => method !== 'ALL' && pattern.test(pathname),
      );
      return [...new Set(matching.map(([method]) => method))];
    },
  };
}

/** The first segment of a path, or two of an API path; empty if they have a parameter. */
function prefixOf(path: string): string {
  const segments = path.split('/').slice(1);
  const prefix = segments.slice(0, segments[0] === API_VERSION ? 2 : 1);
  return prefix.some((segment) => segment === '' || segment.startsWith(':'))
    ? ''
    : `/${prefix.join('/')}`;
}
