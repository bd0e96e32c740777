/** Who is signed in at a page that everybody may open. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { readSessionCookie } from '../http/session-cookie.ts';
import { identifySession } from '../team/sessions.ts';

export async function signedIn({
  app,
  headers,
}: {
  app: App;
  headers: Headers;
}): Promise<Actor | null> {
  const token = readSessionCookie(headers.get('cookie'), app.config);
  return token === null ? null : identifySession(app, token);
}
