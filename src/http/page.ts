/** Which requests people make with a browser, who are answered by pages whatever becomes of them. */

import type { Route } from './route.ts';
import type { Visit } from './visit.ts';

/** Whether a route is a page of the web application; the API has HTML too, for programs that fetch it. */
export function isPage({ path, produces }: Pick<Route, 'path' | 'produces'>): boolean {
  return !isOfApi(path) && produces?.includes('text/html') === true;
}

/** Whether an error is to be a page: at a page, or by a link or at no route where a browser shows what it gets. */
export function wantsPage({ route, pathname, request }: Visit): boolean {
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
