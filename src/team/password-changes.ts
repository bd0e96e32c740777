/** The ways to another password: by the present one, or by a link; each ends the sessions elsewhere. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.ts';
import { audit } from './audit.ts';
import { endPasswordLinks, openPasswordLink } from './password-links.ts';
import { checkPassword } from './password-rules.ts';
import type { Visit } from './session-sign-in.ts';
import { endSessions } from './sessions.ts';

/**
 * Sets the password by a link, and does `alsoDo` in the same transaction; gives whose it is. Throws `not_found` and
 * `gone` for the link, `validation_failed` for the password.
 */
export async function resetPassword(
  { app, caller, signal }: Visit,
  { token, password }: { token: string; password: string },
  alsoDo: (tx: Tx) => Promise<void> = async () => {},
): Promise<Pick<MemberRow, 'id' | 'password_hash'>> {
  const holder = await openPasswordLink(app.db, app.clock.now(), token);
  checkPassword(password, holder.email);
  const password_hash = await app.signIn.passwords.hash(password, signal);
  await app.db.transaction().execute(async (tx) => {
    // Again: of two that use it at the same time, one does.
    const { id, email } = await openPasswordLink(tx, app.clock.now(), token);
    const ended = await replacePassword(tx, app, { id, password_hash });
    const actor = { memberId: id, email, keyId: null, sessionId: null };
    await audit(
      tx,
      { app, actor, caller },
      {
        action: 'password.reset',
        object: { type: 'team_member', id },
        details: { sessions_ended: ended },
      },
    );
    await alsoDo(tx);
  });
  app.signIn.tries.clear(holder.email);
  return { id: holder.id, password_hash };
}

/** Throws `validation_failed` where the present password is another, and `rate_limited` for who guesses it. */
export async function checkPresentPassword(
  { app, caller, signal, actor }: Visit & { actor: Actor },
  { email, password_hash }: Pick<MemberRow, 'email' | 'password_hash'>,
  given: string,
): Promise<void> {
  // Counted apart from strangers, who do not get here; not by session or key, of which there may be
  // as many as somebody likes.
  const guess = { account: email, ip: caller.ip, device: `own account ${actor.memberId}` };
  const right = await app.signIn.tries.attempt(guess, async () =>
    (await app.signIn.passwords.verify(given, password_hash, { signal, known: true }))
      ? true
      : null,
  );
  if (right) return;
  throw new AppError('validation_failed', 'Wrong: current_password.', [
    { param: 'current_password', code: 'wrong', message: 'is not the present password' },
  ]);
}

/** In the transaction of a member's own change; the session that it comes by stays. */
export async function changePassword(
  tx: Tx,
  { app, actor, caller }: Pick<Visit, 'app' | 'caller'> & { actor: Actor },
  password_hash: string,
): Promise<void> {
  const { memberId: id, sessionId } = actor;
  const ended = await replacePassword(tx, app, { id, password_hash }, sessionId);
  await audit(
    tx,
    { app, actor, caller },
    {
      action: 'password.changed',
      object: { type: 'team_member', id },
      details: { sessions_ended: ended },
    },
  );
}

/** What a password opened is closed: other sessions, and links to set another. */
async function replacePassword(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { id, password_hash }: Pick<MemberRow, 'id'> & { password_hash: string },
  keptSession: string | null = null,
): Promise<number> {
  await tx.updateTable('members').set({ password_hash }).where('id', '=', id).execute();
  await endPasswordLinks(tx, id, clock.now());
  return endSessions(tx, id, keptSession);
}
