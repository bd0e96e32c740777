/** Ends of sessions: by their member, and by another sign-in from the same browser. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { readSessionCookies } from '../http/session-cookie.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import { type Author, audit } from './audit.ts';
import { ownStanding } from './permissions.ts';
import { endSession, identifySession } from './sessions.ts';

/** Throws `not_found`, for the session of somebody else too, and as `ownStanding` does. */
export async function endOwnSession(
  author: Author & { app: App; actor: Actor },
  id: string,
): Promise<void> {
  await author.app.db.transaction().execute(async (tx) => {
    await ownStanding(tx, author);
    if (!(await endSession(tx, author.actor.memberId, id)))
      throw new AppError('not_found', 'You have no session with this id.');
    await auditEnd(tx, author, id);
  });
}

/**
 * Ends the session whose cookie a sign-in is about to replace, if there is one: nobody could sign
 * out of it any more. It is its own doing, whoever signs in now.
 */
export async function endReplacedSession(
  tx: Tx,
  { app, caller, headers }: Pick<Author, 'caller'> & { app: App; headers: Headers },
): Promise<void> {
  for (const token of readSessionCookies(headers.get('cookie'), app.config)) {
    const actor = await identifySession({ db: tx, clock: app.clock }, token);
    if (!actor?.sessionId) continue;
    await endSession(tx, actor.memberId, actor.sessionId);
    await auditEnd(tx, { app, actor, caller }, actor.sessionId);
  }
}

const auditEnd = (tx: Tx, author: Author, id: string): Promise<void> =>
  audit(tx, author, { action: 'session.ended', object: { type: 'session', id } });
