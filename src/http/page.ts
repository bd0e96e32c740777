/** Which requests people make with a browser, who are answered by pages whatever becomes of them. */

import type { Route } from './route.ts';
import type { Visit } from './visit.ts';

/** Whether a route is a page of the web application; the API has HTML too, for programs that fetch it. */
export function isPage({ path, produces }: Pick<Route, 'path' | 'produces'>): boolean {
  return !isOfApi(path) && produces?.includes('text/html') === true;
}

/** Whether an error is to be a page: at a page, or at no route where a browser shows what it gets. */
export function wantsPage({ route, pathname, request }: Visit): boolean {
  if (route) return isPage(route);
  return !isOfApi(pathname) && /\btext\/html\b/i.test(request.headers.get('accept') ?? '');
}

const isOfApi = (path: string): boolean => /^\/v1(\/|$)/.test(path);
