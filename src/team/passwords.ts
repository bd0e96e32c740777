/** Changes a password, given the current one or a link. Both end the member's other sessions. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { Actor } from '../http/actor.ts';
import type { AnyCall } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { type Db, lockIn, type Tx, transact } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { audit } from './audit.ts';
import { AUDITED_MEMBER } from './audited.ts';
import { passwordMail } from './mails.ts';
import { findMemberByEmail, findOwner, lockMembers, type TeamContext } from './members.ts';
import { checkPassword } from './password-rules.ts';
import { endSessions } from './sessions.ts';
import { normalizeAccount, replaceSession, type SignInRequest } from './sign-in.ts';
import { signInGuardOf } from './sign-in-guard.ts';

interface PasswordReset {
  member: Pick<MemberRow, 'id' | 'password_hash'>;
  /** The value of the session cookie; null if the link does not start a session. */
  sessionToken: string | null;
}

/**
 * Sets a password with a link. With `startsSession`, the link of an owner who chooses a first password also
 * signs in this browser. Throws `not_found` and `gone` for the link, `validation_failed` for the password.
 */
export async function resetPassword(
  { app, caller, headers, signal, transact }: Omit<SignInRequest, 'requestId'>,
  { token, password }: { token: string; password: string },
  { startsSession = false } = {},
): Promise<PasswordReset> {
  const holder = await verifyPasswordLink(app.db, app.clock.now(), token);
  checkPassword(password, holder.email);
  const password_hash = await signInGuardOf(app).passwords.hash(password, signal);
  const sessionToken = await transact(async (tx) => {
    // Before the link, as in other transactions that change a password.
    await lockMembers(tx, [holder.id]);
    // Checked again, so that only one of two concurrent requests uses the link.
    const { id, email, isFirst } = await verifyPasswordLink(tx, app.clock.now(), token);
    const sessionsEnded = await replacePassword(tx, app, { id, password_hash });
    const actor = { memberId: id, email, keyId: null, sessionId: null };
    await audit(tx, { app, actor, caller }, AUDITED_MEMBER, 'password.reset', id, {
      sessions_ended: sessionsEnded,
    });
    if (!startsSession || !isFirst) return null;
    return (await replaceSession(tx, { app, caller, headers }, { id, email })).token;
  });
  await signInGuardOf(app).attempts.clear(holder.email);
  return { member: { id: holder.id, password_hash }, sessionToken };
}

/** Throws `validation_failed` if the password is wrong, and `rate_limited` after too many attempts. */
export async function checkCurrentPassword(
  {
    app,
    caller,
    signal,
    actor,
  }: Pick<SignInRequest, 'app' | 'caller' | 'signal'> & { actor: Actor },
  { email, password_hash }: Pick<MemberRow, 'email' | 'password_hash'>,
  currentPassword: string,
): Promise<void> {
  // Counted per member, separately from sign-in. A member can have any number of sessions and keys, so
  // counting per session or key wouldn't limit anything.
  const attempt = { account: email, ip: caller.ip, device: `own account ${actor.memberId}` };
  const correct = await signInGuardOf(app).attempts.attempt(attempt, async () =>
    (await signInGuardOf(app).passwords.verify(currentPassword, password_hash, {
      signal,
      isKnownClient: true,
    }))
      ? true
      : null,
  );
  if (correct) return;
  throw invalidParams([
    { param: 'current_password', code: 'wrong', message: 'does not match your current password' },
  ]);
}

/** For members who change their own password. Keeps the current session. */
export async function changePassword(
  tx: Tx,
  { app, actor, caller }: Pick<SignInRequest, 'app' | 'caller'> & { actor: Actor },
  password_hash: string,
): Promise<void> {
  const { memberId: id, sessionId } = actor;
  const sessionsEnded = await replacePassword(tx, app, { id, password_hash }, sessionId);
  await audit(tx, { app, actor, caller }, AUDITED_MEMBER, 'password.changed', id, {
    sessions_ended: sessionsEnded,
  });
}

/** Revokes all password links and ends all other sessions. Returns the number of ended sessions. */
async function replacePassword(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { id, password_hash }: Pick<MemberRow, 'id'> & { password_hash: string },
  currentSessionId: string | null = null,
): Promise<number> {
  await tx.updateTable('members').set({ password_hash }).where('id', '=', id).execute();
  await revokePasswordLinks(tx, id, clock.now());
  return endSessions(tx, id, currentSessionId);
}

// Links to set a password. Each link works once.

/** The lifetime of an emailed link, and of a link that the `owner` command prints. */
export const MAILED_LINK_LIFETIME_MS = HOUR_MS;
const OWNER_LINK_LIFETIME_MS = DAY_MS;
/** Valid links per member. */
const MAX_MAILED_LINKS = 5;

/**
 * Whether a member has the maximum number of valid emailed links. Anyone may request a link, so a new
 * request must not revoke earlier links.
 */
async function hasMaxLinks(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  memberId: string,
): Promise<boolean> {
  const now = clock.now();
  const { count } = await tx
    .selectFrom('password_links')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('member_id', '=', memberId)
    .where('used_at', 'is', null)
    // Valid and emailed. A link of the `owner` command is older, or expires later.
    .where('created_at', '>', isoTime(now - MAILED_LINK_LIFETIME_MS))
    .where('expires_at', '<=', isoTime(now + MAILED_LINK_LIFETIME_MS))
    .executeTakeFirstOrThrow();
  return Number(count) >= MAX_MAILED_LINKS;
}

/** Adds a link. Only the return value has its token; the database has the hash. */
export async function insertPasswordLink(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  memberId: string,
  lifetimeMs: number,
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
      expires_at: isoTime(now + lifetimeMs),
      used_at: null,
    })
    .execute();
  return { token, hash };
}

/** Creates the link that the `owner` command prints, and revokes all earlier links. */
export async function createOwnerLink(
  { db, clock, newId }: TeamContext,
  config: Pick<Config, 'APP_URL'>,
  ownerId: string,
): Promise<string> {
  return transact(db, async (tx) => {
    // Of two concurrent calls, only the later link is valid.
    await lockMembers(tx, [ownerId]);
    await revokePasswordLinks(tx, ownerId, clock.now());
    const { token } = await insertPasswordLink(tx, { clock }, ownerId, OWNER_LINK_LIFETIME_MS);
    const author = { app: { clock, newId }, actor: null, caller: { ip: null } };
    await audit(tx, author, AUDITED_MEMBER, 'password.reset_requested', ownerId);
    return passwordLinkUrl(config, token);
  });
}

function passwordLinkUrl({ APP_URL }: Pick<Config, 'APP_URL'>, token: string): string {
  return `${APP_URL}/password/${token}`;
}

/** Revokes all password links of a member. */
export async function revokePasswordLinks(tx: Tx, memberId: string, now: number): Promise<void> {
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
  /** Whether this is the owner before their first sign-in: without a password, and without an account at the identity provider. */
  isFirst: boolean;
}

/** The member of a link. Throws `not_found`, or `gone` if it was used, was revoked, or has expired. */
export async function verifyPasswordLink(
  db: Db | Tx,
  now: number,
  token: string,
): Promise<LinkHolder> {
  const query = db
    .selectFrom('password_links')
    .innerJoin('members', 'members.id', 'password_links.member_id')
    .select(['members.id', 'email', 'role', 'password_hash', 'oidc_subject'])
    .select(['expires_at', 'used_at'])
    .where('hash', '=', sha256(token));
  const link = await lockIn(db, query, 'password_links').executeTakeFirst();
  if (!link) throw new AppError('not_found', 'Invalid password link.');
  if (link.used_at !== null)
    throw new AppError('gone', 'This link has been used or is no longer valid. Request a new one.');
  if (Date.parse(link.expires_at) <= now)
    throw new AppError('gone', 'This link has expired. Request a new one.');
  const { id, email, role, password_hash, oidc_subject } = link;
  const isFirst = role === 'owner' && password_hash === null && oidc_subject === null;
  return { id, email, isFirst };
}

// Requests for a password link. Every address gets the same response after the same work, so that
// nobody can find out which addresses have an account.

/**
 * Emails a link if the address belongs to a member. After many requests for one account, it
 * silently stops sending for a while. Throws `rate_limited` after too many requests from one client, for
 * any accounts.
 */
export async function requestPasswordReset(
  request: SignInRequest & Pick<AnyCall, 'consume'>,
  email: string,
): Promise<void> {
  const { app } = request;
  await request.consume(signInGuardOf(app).resetLimit);
  // Without outgoing mail, nobody would receive the link.
  if (app.mailer === null) return;
  const account = normalizeAccount(email);
  // Returns null, so that every request counts as a failed attempt.
  const send = () => sendOrPretend(request, account).then(() => null);
  try {
    await signInGuardOf(app).resets.attempt({ account, ip: null }, send);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'rate_limited')) throw error;
  }
}

async function sendOrPretend(request: SignInRequest, account: string): Promise<void> {
  const { app, transact } = request;
  const isQueued = await transact(async (tx) => {
    const member = await findMemberByEmail(tx, account);
    // Concurrent requests for one account must not exceed the number of links.
    await lockMembers(tx, [member?.id ?? '']);
    // Runs without a member too, so that every address causes the same queries.
    const maxReached = await hasMaxLinks(tx, app, member?.id ?? '');
    return member && !maxReached ? sendLink(tx, request, member) : pretendToSend(tx, request);
  });
  if (isQueued) app.scheduler.wake(SEND_JOB);
}

async function sendLink(
  tx: Tx,
  { app, caller }: SignInRequest,
  { id, email }: { id: string; email: string },
): Promise<boolean> {
  const { mailId } = await queueLink(tx, app, { id, email });
  const author = { app, actor: null, caller };
  await audit(tx, author, AUDITED_MEMBER, 'password.reset_requested', id);
  return mailId !== null;
}

/**
 * Writes a link and an email as for a member, and deletes them in the same transaction, so that the
 * response takes the same time for addresses without an account.
 */
async function pretendToSend(tx: Tx, { app }: SignInRequest): Promise<boolean> {
  const owner = await findOwner(tx);
  if (!owner) return false;
  const { mailId, hash } = await queueLink(tx, app, owner);
  await tx.deleteFrom('password_links').where('hash', '=', hash).execute();
  if (mailId !== null) await tx.deleteFrom('outbox').where('id', '=', mailId).execute();
  return mailId !== null;
}

/** Adds a link and queues the email with it. The email is dropped when the link expires. */
async function queueLink(tx: Tx, app: App, { id, email }: { id: string; email: string }) {
  const usefulUntil = isoTime(app.clock.now() + MAILED_LINK_LIFETIME_MS);
  const { token, hash } = await insertPasswordLink(tx, app, id, MAILED_LINK_LIFETIME_MS);
  const mail = passwordMail(app.config, email, passwordLinkUrl(app.config, token));
  return { hash, mailId: await queueMail(tx, app, mail, usefulUntil) };
}
