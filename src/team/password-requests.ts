/** Asking for a link to set a new password: the same answer after the same work for every address. */

import type { App } from '../app.ts';
import type { AnyCall } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import type { Tx } from '../store/open.ts';
import { audit } from './audit.ts';
import { findMemberByEmail, findOwner } from './members.ts';
import {
  hasEnoughLinks,
  insertPasswordLink,
  MAILED_LINK_MS,
  passwordLinkUrl,
} from './password-links.ts';
import { passwordMail } from './password-mail.ts';
import { accountOf, type Visit } from './session-sign-in.ts';

/**
 * Sends a link where the address is a member's. Many requests for one account send no more mail for
 * a while, and nobody is told: what is answered is the same whatever has been asked before. Throws
 * `rate_limited` for very many from one client, whichever accounts they name.
 */
export async function requestPasswordReset(
  visit: Visit & Pick<AnyCall, 'take'>,
  email: string,
): Promise<void> {
  const { app } = visit;
  visit.take(app.signIn.resetLimit);
  // A link that nobody gets is of no use.
  if (app.mailer === null) return;
  const account = accountOf(email);
  // Each counts, as nothing is found out here.
  const send = () => sendOrPretend(visit, account).then(() => null);
  try {
    await app.signIn.resets.attempt({ account, ip: null }, send);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'rate_limited')) throw error;
  }
}

async function sendOrPretend(visit: Visit, account: string): Promise<void> {
  const { app } = visit;
  const queued = await app.db.transaction().execute(async (tx) => {
    const member = await findMemberByEmail(tx, account);
    // Asked for nobody too: the same questions for every address.
    const enough = await hasEnoughLinks(tx, app, member?.id ?? '');
    return member && !enough ? sendLink(tx, visit, member) : pretendToSend(tx, visit);
  });
  if (queued) app.scheduler.wake(SEND_JOB);
}

async function sendLink(
  tx: Tx,
  { app, caller }: Visit,
  { id, email }: { id: string; email: string },
): Promise<boolean> {
  const { mail } = await queueLink(tx, app, { id, email });
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
  const { mail, hash } = await queueLink(tx, app, owner);
  await tx.deleteFrom('password_links').where('hash', '=', hash).execute();
  if (mail !== null) await tx.deleteFrom('outbox').where('id', '=', mail).execute();
  return mail !== null;
}

/** A link, and the mail that carries it, which is of use for as long as the link. */
async function queueLink(tx: Tx, app: App, { id, email }: { id: string; email: string }) {
  const usefulUntil = isoTime(app.clock.now() + MAILED_LINK_MS);
  const { token, hash } = await insertPasswordLink(tx, app, id, MAILED_LINK_MS);
  const mail = passwordMail(app.config, email, passwordLinkUrl(app.config, token));
  return { hash, mail: await queueMail(tx, app, mail, usefulUntil) };
}
