/** Sign-in with email address and password, and the start and end of sessions. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Actor, Caller, CurrentActor } from '../http/actor.ts';
import {
  cookieValues,
  readSessionCookies,
  sessionCookieName,
  setCookieHeader,
} from '../http/cookies.ts';
import type { Transact } from '../http/route.ts';
import { needsRehash, randomToken, sha256 } from '../lib/crypto.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { MemberRow, SessionRow } from '../store/tables.generated.ts';
import { type Author, audit } from './audit.ts';
import { AUDITED_MEMBER, AUDITED_SESSION } from './audited.ts';
import { findMember, findMemberByEmail, lockMembers, normalizeEmail } from './members.ts';
import { requireOwnRole } from './permissions.ts';
import { endSession, endSessions, identifySession, insertSession } from './sessions.ts';
import { signInGuardOf } from './sign-in-guard.ts';

/** The part of a request that sign-in, password, and invitation operations use. */
export interface SignInRequest {
  app: App;
  caller: Caller;
  headers: Headers;
  requestId: string;
  signal: AbortSignal;
  transact: Transact;
}

interface SignedIn {
  /** The value of the session cookie. */
  token: string;
  session: SessionRow;
  member: MemberRow;
}

/**
 * Checks the password and starts a session. Throws `rate_limited` after too many attempts, and
 * `unauthenticated` with the same message and after the same work for known and unknown addresses.
 */
export async function signIn(
  request: SignInRequest,
  { email, password }: { email: string; password: string },
): Promise<SignedIn> {
  const { app, caller, headers, requestId } = request;
  const account = normalizeAccount(email);
  const device = await findKnownDevice(app, headers.get('cookie'), account);
  const attempt = { account, ip: caller.ip, device };
  const isKnownBrowser = device !== null;
  const signedIn = await signInGuardOf(app).attempts.attempt(attempt, () =>
    attemptSignIn(request, { account, password, isKnownBrowser }),
  );
  if (signedIn) return signedIn;
  app.log.info('sign-in failed', { request_id: requestId, ip: caller.ip });
  throw new AppError('unauthenticated', 'Incorrect email address or password.', [], {
    'www-authenticate': 'Bearer',
  });
}

async function attemptSignIn(
  request: SignInRequest,
  credentials: { account: string; password: string; isKnownBrowser: boolean },
): Promise<SignedIn | null> {
  const { app, signal } = request;
  const { account, password, isKnownBrowser } = credentials;
  const { passwords } = signInGuardOf(app);
  const member = await findMemberByEmail(app.db, account);
  const hash = member?.password_hash ?? null;
  const correct = await passwords.verify(password, hash, {
    signal,
    isKnownClient: isKnownBrowser,
  });
  if (!correct || !member || hash === null) return null;
  if (!needsRehash(hash, app.passwordCost)) return startSession(request, member);
  const newHash = await passwords.hash(password, signal);
  const signedIn = await startSession(request, member, { newHash });
  // A concurrent sign-in may have replaced the hash. The password is still correct.
  return signedIn ?? attemptSignIn(request, credentials);
}

/**
 * Starts a session for the member and ends the browser's current one. Returns null if the member was
 * removed or the password has changed, or the linked account for `oidc`. `newHash` is a new hash of the same
 * password to store.
 */
export async function startSession(
  { app, caller, headers, transact }: Omit<SignInRequest, 'requestId' | 'signal'>,
  { id, password_hash, oidc_subject }: MemberRow,
  { newHash = password_hash, by }: { newHash?: string | null; by?: 'oidc' } = {},
): Promise<SignedIn | null> {
  return transact(async (tx) => {
    // Locked, so that a password that changes at this moment ends the new session too.
    const member = (await lockMembers(tx, [id])).get(id);
    if (!member || member.password_hash !== password_hash) return null;
    if (by === 'oidc' && member.oidc_subject !== oidc_subject) return null;
    if (newHash !== password_hash)
      await tx
        .updateTable('members')
        .set({ password_hash: newHash })
        .where('id', '=', id)
        .execute();
    const started = await replaceSession(tx, { app, caller, headers }, member, by);
    return { ...started, member: { ...member, password_hash: newHash } };
  });
}

type SessionContext = Pick<SignInRequest, 'app' | 'caller' | 'headers'>;

/** Starts a session for a member, who is locked in this transaction, and ends the browser's current one. */
export async function replaceSession(
  tx: Tx,
  { app, caller, headers }: SessionContext,
  { id, email }: Pick<MemberRow, 'id' | 'email'>,
  by?: 'oidc',
): Promise<Pick<SignedIn, 'token' | 'session'>> {
  await endReplacedSession(tx, { app, caller, headers });
  const { token, row } = await insertSession(tx, app, id, caller);
  const actor = { memberId: id, email, keyId: null, sessionId: row.id };
  const author = { app, actor, caller };
  await audit(tx, author, AUDITED_SESSION, 'session.created', row.id, by && { by });
  return { token, session: row };
}

/** The normalized address of an account. An invalid address has no member and stays as entered. */
export function normalizeAccount(email: string): string {
  return normalizeEmail(email) ?? email.toLowerCase();
}

// Ends sessions: at the request of their member, or because of another sign-in in the same browser.

/** Throws `not_found`, including for another member's session, and whatever `requireOwnRole` throws. */
export async function endOwnSession(
  tx: Tx,
  author: Author & { actor: Actor },
  current: CurrentActor,
  id: string,
): Promise<void> {
  requireOwnRole(current);
  if (!(await endSession(tx, author.actor.memberId, id)))
    throw new AppError('not_found', 'No such session.');
  await auditEnd(tx, author, id);
}

/** Ends the member's sessions except the current one, and returns their number. Throws as `requireOwnRole` does. */
export async function endOtherSessions(
  tx: Tx,
  author: Author & { actor: Actor },
  current: CurrentActor,
): Promise<number> {
  requireOwnRole(current);
  const { memberId, sessionId } = author.actor;
  const count = await endSessions(tx, memberId, sessionId);
  if (count > 0)
    await audit(tx, author, AUDITED_MEMBER, 'sessions.ended', memberId, {
      sessions_ended: count,
    });
  return count;
}

/**
 * Ends the session whose cookie a sign-in replaces, because nobody could sign out of it anymore. The
 * audit log names the member of that session as the author.
 */
async function endReplacedSession(tx: Tx, { app, caller, headers }: SessionContext): Promise<void> {
  for (const token of readSessionCookies(headers.get('cookie'), app.config)) {
    const actor = await identifySession({ db: tx, clock: app.clock }, token);
    if (!actor?.sessionId) continue;
    await endSession(tx, actor.memberId, actor.sessionId);
    await auditEnd(tx, { app, actor, caller }, actor.sessionId);
  }
}

const auditEnd = (tx: Tx, author: Author, id: string): Promise<void> =>
  audit(tx, author, AUDITED_SESSION, 'session.ended', id);

// The device cookie of a browser that has signed in to an account. Its sign-in attempts are counted
// separately from those of other clients.

const DEVICE_LIFETIME_MS = 365 * DAY_MS;
const DEVICE_PURPOSE = 'browser that has signed in';
/** Far longer than any valid cookie. Longer ones aren't decrypted. */
const MAX_COOKIE_LENGTH = 1000;

const Device = v.strictObject({
  id: v.string(),
  member: v.string(),
  /** A hash of the password hash: a new password invalidates the cookie. */
  password: v.string(),
  /** Milliseconds since the Unix epoch. */
  until: v.number(),
});
type Device = v.InferOutput<typeof Device>;

type DeviceCookieContext = Pick<App, 'secrets' | 'clock' | 'config'>;

/**
 * The `Set-Cookie` for a browser that has signed in or set a password with a link; null for a member
 * without a password, because there is none to guess. It isn't a credential: sign-in still requires
 * the password.
 */
export function deviceCookie(
  app: DeviceCookieContext,
  { id: member, password_hash }: Pick<MemberRow, 'id' | 'password_hash'>,
): string | null {
  if (password_hash === null) return null;
  const until = app.clock.now() + DEVICE_LIFETIME_MS;
  const device: Device = { id: randomToken(20), member, password: sha256(password_hash), until };
  const sealed = app.secrets.seal(JSON.stringify(device), DEVICE_PURPOSE);
  return setCookieHeader(deviceCookieName(app), sealed, app.config, DEVICE_LIFETIME_MS / 1000);
}

/** The ID of a browser that has signed in to this account with its current password; otherwise null. */
export async function findKnownDevice(
  app: DeviceCookieContext & Pick<App, 'db'>,
  header: string | null,
  account: string,
): Promise<string | null> {
  const [device] = cookieValues(header, deviceCookieName(app)).flatMap(
    (value) => openDeviceCookie(app, value) ?? [],
  );
  if (!device) return null;
  // Looked up by the cookie and not by the entered address, so that timing doesn't reveal known addresses.
  const member = await findMember(app.db, device.member);
  if (!member || member.email !== account || member.password_hash === null) return null;
  return sha256(member.password_hash) === device.password ? device.id : null;
}

function openDeviceCookie(app: DeviceCookieContext, sealed: string): Device | null {
  const text = sealed.length <= MAX_COOKIE_LENGTH ? app.secrets.open(sealed, DEVICE_PURPOSE) : null;
  if (text === null) return null;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Device), text);
  return success && app.clock.now() < output.until ? output : null;
}

const deviceCookieName = ({ config }: DeviceCookieContext): string =>
  `${sessionCookieName(config.APP_URL.startsWith('https:'))}-device`;
