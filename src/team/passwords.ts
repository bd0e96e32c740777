/** The ways to another password: by the present one, or by a link; each ends the sessions elsewhere. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { Actor } from '../http/actor.ts';
import type { AnyCall } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { audit } from './audit.ts';
import { passwordMail } from './mails.ts';
import { findMemberByEmail, findOwner, type TeamContext } from './members.ts';
import { checkPassword } from './password-rules.ts';
import { endSessions } from './sessions.ts';
import { accountOf, type SignInRequest } from './sign-in.ts';
import { signInGuardOf } from './sign-in-guard.ts';

/**
 * Sets the password by a link; gives whose it is. Throws `not_found` and `gone` for the link,
 * `validation_failed` for the password.
 */
export async function resetPassword(
  { app, caller, signal, transact }: Omit<SignInRequest, 'headers' | 'requestId'>,
  { token, password }: { token: string; password: string },
): Promise<Pick<MemberRow, 'id' | 'password_hash'>> {
  const holder = await openPasswordLink(app.db, app.clock.now(), token);
  checkPassword(password, holder.email);
  const password_hash = await signInGuardOf(app).passwords.hash(password, signal);
  await transact(async (tx) => {
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
  });
  signInGuardOf(app).tries.clear(holder.email);
  return { id: holder.id, password_hash };
}

/** Throws `validation_failed` where the present password is another, and `rate_limited` for who guesses it. */
export async function checkPresentPassword(
  {
    app,
    caller,
    signal,
    actor,
  }: Pick<SignInRequest, 'app' | 'caller' | 'signal'> & { actor: Actor },
  { email, password_hash }: Pick<MemberRow, 'email' | 'password_hash'>,
  given: string,
): Promise<void> {
  // Counted apart from strangers, who do not get here; not by session or key, of which there may be
  // as many as somebody likes.
  const guess = { account: email, ip: caller.ip, device: `own account ${actor.memberId}` };
  const right = await signInGuardOf(app).tries.attempt(guess, async () =>
    (await signInGuardOf(app).passwords.verify(given, password_hash, { signal, known: true }))
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
  { app, actor, caller }: Pick<SignInRequest, 'app' | 'caller'> & { actor: Actor },
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

// Links by which a member sets a password: made, looked up, used once.

/** How long a link works: that of an e-mail, and that of the `owner` command. */
export const MAILED_LINK_MS = 3_600_000;
const OWNER_LINK_MS = 24 * 3_600_000;
/** Who has so many in the inbox that work still needs no other. */
const MAX_MAILED_LINKS = 5;

/**
 * Whether a member has been sent as many links as work at a time: as anybody may ask for one, no
 * request ends another link, and there are not more and more of them.
 */
async function hasEnoughLinks(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  memberId: string,
): Promise<boolean> {
  const now = clock.now();
  const { live } = await tx
    .selectFrom('password_links')
    .select(({ fn }) => fn.countAll().as('live'))
    .where('member_id', '=', memberId)
    .where('used_at', 'is', null)
    // Live and of an e-mail: that of the `owner` command is older, or works for longer.
    .where('created_at', '>', isoTime(now - MAILED_LINK_MS))
    .where('expires_at', '<=', isoTime(now + MAILED_LINK_MS))
    .executeTakeFirstOrThrow();
  return Number(live) >= MAX_MAILED_LINKS;
}

/** A new link, beside those that there are; its token is in this answer alone, the database has the hash. */
export async function insertPasswordLink(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  memberId: string,
  lifeMs: number,
): Promise<{ token: string; hash: string }> {
  const now = clock.now();
  const token = randomSecret();
  const hash = sha256(token);
  await tx
    .insertInto('password_links')
    .values({
      hash,
      member_id: memberId,
      created_at: isoTime(now),
      expires_at: isoTime(now + lifeMs),
      used_at: null,
    })
    .execute();
  return { token, hash };
}

/** The link that the `owner` command prints, and what the audit log has of it. Those before work no more. */
export async function makeOwnerLink(
  { db, clock, newId }: TeamContext,
  config: Pick<Config, 'APP_URL'>,
  ownerId: string,
): Promise<string> {
  return db.transaction().execute(async (tx) => {
    await endPasswordLinks(tx, ownerId, clock.now());
    const { token } = await insertPasswordLink(tx, { clock }, ownerId, OWNER_LINK_MS);
    const author = { app: { clock, newId }, actor: null, caller: { ip: null } };
    const object = { type: 'team_member', id: ownerId };
    await audit(tx, author, { action: 'password.reset_requested', object });
    return passwordLinkUrl(config, token);
  });
}

/** Where the link leads. */
function passwordLinkUrl({ APP_URL }: Pick<Config, 'APP_URL'>, token: string): string {
  return `${APP_URL}/password/${token}`;
}

/** None of the links of a member works any more. */
export async function endPasswordLinks(tx: Tx, memberId: string, now: number): Promise<void> {
  await tx
    .updateTable('password_links')
    .set({ used_at: isoTime(now) })
    .where('member_id', '=', memberId)
    .where('used_at', 'is', null)
    .execute();
}

interface LinkHolder {
  id: string;
  email: string;
}

/** Whose password the link sets. Throws `not_found`, or `gone` where it was used, ended or has expired. */
export async function openPasswordLink(
  db: Db | Tx,
  now: number,
  token: string,
): Promise<LinkHolder> {
  const link = await db
    .selectFrom('password_links')
    .innerJoin('members', 'members.id', 'password_links.member_id')
    .select(['members.id', 'email', 'expires_at', 'used_at'])
    .where('hash', '=', sha256(token))
    .executeTakeFirst();
  if (!link) throw new AppError('not_found', 'This link is not known.');
  if (link.used_at !== null)
    throw new AppError(
      'gone',
      'This link has been used, or was ended by another link or a new password.',
    );
  if (Date.parse(link.expires_at) <= now) throw new AppError('gone', 'This link has expired.');
  return { id: link.id, email: link.email };
}

// Asking for a link to set a new password: the same answer after the same work for every address.

/**
 * Sends a link where the address is a member's. Many requests for one account send no more mail for
 * a while, and nobody is told: what is answered is the same whatever has been asked before. Throws
 * `rate_limited` for very many from one client, whichever accounts they name.
 */
export async function requestPasswordReset(
  request: SignInRequest & Pick<AnyCall, 'consume'>,
  email: string,
): Promise<void> {
  const { app } = request;
  request.consume(signInGuardOf(app).resetLimit);
  // A link that nobody gets is of no use.
  if (app.mailer === null) return;
  const account = accountOf(email);
  // Each counts, as nothing is found out here.
  const send = () => sendOrPretend(request, account).then(() => null);
  try {
    await signInGuardOf(app).resets.attempt({ account, ip: null }, send);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'rate_limited')) throw error;
  }
}

async function sendOrPretend(request: SignInRequest, account: string): Promise<void> {
  const { app, transact } = request;
  const queued = await transact(async (tx) => {
    const member = await findMemberByEmail(tx, account);
    // Asked for nobody too: the same questions for every address.
    const enough = await hasEnoughLinks(tx, app, member?.id ?? '');
    return member && !enough ? sendLink(tx, request, member) : pretendToSend(tx, request);
  });
  if (queued) app.scheduler.wake(SEND_JOB);
}

async function sendLink(
  tx: Tx,
  { app, caller }: SignInRequest,
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
async function pretendToSend(tx: Tx, { app }: SignInRequest): Promise<boolean> {
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
