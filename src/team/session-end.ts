/** Sign-out: a member ends a session of their own. */

import type { Actor } from '../http/actor.ts';
import { AppError } from '../lib/errors.ts';
import { audit } from './audit.ts';
import type { Visit } from './session-sign-in.ts';
import { endSession } from './sessions.ts';

/** Throws `not_found`, for the session of somebody else too. */
export async function endOwnSession(
  { app, actor, caller }: Pick<Visit, 'app' | 'caller'> & { actor: Actor },
  id: string,
): Promise<void> {
  await app.db.transaction().execute(async (tx) => {
    if (!(await endSession(tx, actor.memberId, id)))
      throw new AppError('not_found', 'You have no session with this id.');
    const object = { type: 'session', id };
    await audit(tx, { app, actor, caller }, { action: 'session.ended', object });
  });
}
