/** Who is signed in at a page that everybody may open, and the way in for who has just signed in. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { readSessionCookies } from '../http/session-cookie.ts';
import type { MemberRow } from '../store/tables.ts';
import { deviceCookie } from '../team/device-cookie.ts';
import { cookieOf } from '../team/session-routes.ts';
import { identifySession } from '../team/sessions.ts';
import { seeOther } from './page.tsx';

export async function signedIn({
  app,
  headers,
}: {
  app: App;
  headers: Headers;
}): Promise<Actor | null> {
  let actor: Actor | null = null;
  for (const token of readSessionCookies(headers.get('cookie'), app.config))
    actor ??= await identifySession(app, token);
  return actor;
}

/** To the first page, with the cookies of the session and of the browser; `before` are more of them. */
export function enter(
  app: App,
  { token, member }: { token: string; member: MemberRow },
  ...before: string[]
): Response {
  const response = seeOther('/');
  // Several of one name, so not by `setHeader`, which has one.
  for (const cookie of [...before, cookieOf(app, token), deviceCookie(app, member)])
    if (cookie !== null) response.headers.append('set-cookie', cookie);
  return response;
}
