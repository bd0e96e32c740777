/** Asking for a link to set a new password: the same answer after the same work for every address. */

import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import type { Tx } from '../store/open.ts';
import { audit } from './audit.ts';
import { findMemberByEmail, findOwner } from './members.ts';
import {
  insertPasswordLink,
  MAILED_LINK_MS,
  makePasswordLink,
  passwordLinkUrl,
} from './password-links.ts';
import { passwordMail } from './password-mail.ts';
import { accountOf, type Visit } from './session-sign-in.ts';

/**
 * Sends a link where the address is a member's. Throws `rate_limited` for many requests for one
 * address or from one. Without outgoing mail it does nothing: a link that nobody gets would only end
 * the one before.
 */
export async function requestPasswordReset(visit: Visit, email: string): Promise<void> {
  const { app, caller } = visit;
  const account = accountOf(email);
  // Each request counts, as nothing is found out here.
  await app.signIn.resets.attempt({ account, ip: caller.ip }, async () => {
    if (app.mailer === null) return null;
    const queued = await app.db.transaction().execute(async (tx) => {
      const member = await findMemberByEmail(tx, account);
      return member ? sendLink(tx, visit, member) : pretendToSend(tx, visit);
    });
    if (queued) app.scheduler.wake(SEND_JOB);
    return null;
  });
}

async function sendLink(
  tx: Tx,
  { app, caller }: Visit,
  { id, email }: { id: string; email: string },
): Promise<boolean> {
  const token = await makePasswordLink(tx, app, id, MAILED_LINK_MS);
  const url = passwordLinkUrl(app.config, token);
  const mail = await queueMail(tx, app, passwordMail(app.config, email, url));
  const entry = { action: 'password.reset_requested', object: { type: 'team_member', id } };
  await audit(tx, { app, actor: null, caller }, entry);
  return mail !== null;
}

/**
 * Writes a link and a mail as for a member and takes them back before anybody can see them: the
 * transaction has as much to write to the disk, so that the time tells nothing either.
 */
async function pretendToSend(tx: Tx, { app }: Visit): Promise<boolean> {
  const owner = await findOwner(tx);
  if (!owner) return false;
  const { token, hash } = await insertPasswordLink(tx, app, owner.id, MAILED_LINK_MS);
  const url = passwordLinkUrl(app.config, token);
  const mail = await queueMail(tx, app, passwordMail(app.config, owner.email, url));
  await tx.deleteFrom('password_links').where('hash', '=', hash).execute();
  if (mail !== null) await tx.deleteFrom('outbox').where('id', '=', mail).execute();
  return mail !== null;
}
