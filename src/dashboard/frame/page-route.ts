/** Declares the routes of pages and of their forms. */

import type { Role } from '../../http/actor.ts';
import { type Call, type RouteSpec, route, type Schema } from '../../http/route.ts';
import { FORM, MEMBER_FORM } from './form.tsx';

type PageSpec<R, Q> = Omit<RouteSpec<R, Q, undefined, undefined>, 'method' | 'produces' | 'body'>;

/** A page for the role and those above it. Visitors are sent to the sign-in page first. */
export function page<const R extends Role | 'public', Q extends Schema | undefined = undefined>(
  spec: PageSpec<R, Q>,
) {
  return route<R, Q, undefined, undefined>({ method: 'GET', produces: ['text/html'], ...spec });
}

/**
 * A form of a page. It changes data only through `call.invoke`, and then redirects; with errors it responds
 * with the page, the messages, and what was typed. A form that calls `transact` itself is declared with `route`.
 */
export function form<const R extends Role | 'public', Q extends Schema | undefined = undefined>(
  spec: PageSpec<R, Q>,
) {
  return route<R, Q, undefined, undefined>({
    method: 'POST',
    consumes: spec.role === 'public' ? FORM : MEMBER_FORM,
    produces: ['text/html'],
    invokes: true,
    ...spec,
  });
}

/** The call of a signed-in member on a public page that identifies members; null for visitors. */
export function memberCallOf<Q>(
  call: Call<'public', Q, undefined>,
): Call<'viewer', Q, undefined> | null {
  return call.actor === null ? null : (call as never);
}
