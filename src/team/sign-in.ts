/** Sign-in by e-mail address and password, and the beginning of a session however somebody got in. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Actor, Caller, CurrentActor } from '../http/actor.ts';
import {
  cookieField,
  cookieValues,
  readSessionCookies,
  sessionCookieName,
} from '../http/cookies.ts';
import type { Transact } from '../http/route.ts';
import { hasOtherCost, randomToken, sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { MemberRow, SessionRow } from '../store/tables.generated.ts';
import { type Author, audit } from './audit.ts';
import { findMember, findMemberByEmail, normalizeEmail } from './members.ts';
import { requireOwnRole } from './permissions.ts';
import { endSession, identifySession, insertSession } from './sessions.ts';
import { signInGuardOf } from './sign-in-guard.ts';

/** Of a request, what the ways into and out of an account need. */
export interface SignInRequest {
  app: App;
  caller: Caller;
  headers: Headers;
  requestId: string;
  signal: AbortSignal;
  transact: Transact;
}

interface SignedIn {
  /** What the cookie is to hold. */
  token: string;
  session: SessionRow;
  member: MemberRow;
}

/**
 * Checks the password and begins a session. Throws `unauthenticated`, with the same words and after
 * the same work whether or not the address is known, and `rate_limited` for who guesses.
 */
export async function signIn(
  request: SignInRequest,
  { email, password }: { email: string; password: string },
): Promise<SignedIn> {
  const { app, caller, headers, requestId } = request;
  const account = accountOf(email);
  const device = await knownDevice(app, headers.get('cookie'), account);
  const guess = { account, ip: caller.ip, device };
  const known = device !== null;
  const signedIn = await signInGuardOf(app).tries.attempt(guess, () =>
    signInOnce(request, { account, password, known }),
  );
  if (signedIn) return signedIn;
  app.log.info('sign-in refused', { request_id: requestId, ip: caller.ip });
  throw new AppError('unauthenticated', 'The e-mail address or the password is wrong.', [], {
    'www-authenticate': 'Bearer',
  });
}

async function signInOnce(
  request: SignInRequest,
  given: { account: string; password: string; known: boolean },
): Promise<SignedIn | null> {
  const { app, signal } = request;
  const { account, password, known } = given;
  const { passwords } = signInGuardOf(app);
  const member = await findMemberByEmail(app.db, account);
  const hash = member?.password_hash ?? null;
  const right = await passwords.verify(password, hash, { signal, known });
  if (!right || !member || hash === null) return null;
  if (!hasOtherCost(hash, app.passwordCost)) return startSession(request, member);
  const renewed = await passwords.hash(password, signal);
  const signedIn = await startSession(request, member, { renewed });
  // Another sign-in at the same moment may have renewed it: the password is as right as before.
  return signedIn ?? signInOnce(request, given);
}

/**
 * A session for this member, in the place of one that the browser has already; null where the member
 * has gone or has another password by now. `renewed` is another hash of the same password, to be
 * kept from now on.
 */
export async function startSession(
  { app, caller, headers, transact }: Omit<SignInRequest, 'requestId' | 'signal'>,
  { id, password_hash }: Pick<MemberRow, 'id' | 'password_hash'>,
  { renewed = password_hash, by }: { renewed?: string | null; by?: 'oidc' } = {},
): Promise<SignedIn | null> {
  return transact(async (tx) => {
    const member = await findMember(tx, id);
    if (!member || member.password_hash !== password_hash) return null;
    if (renewed !== password_hash)
      await tx
        .updateTable('members')
        .set({ password_hash: renewed })
        .where('id', '=', id)
        .execute();
    await endReplacedSession(tx, { app, caller, headers });
    const { token, row } = await insertSession(tx, app, id, caller);
    const actor = { memberId: id, email: member.email, keyId: null, sessionId: row.id };
    const object = { type: 'session', id: row.id };
    const details = by && { by };
    await audit(tx, { app, actor, caller }, { action: 'session.created', object, details });
    return { token, session: row, member: { ...member, password_hash: renewed } };
  });
}

/** An address as members have it; what is none has no member, and is counted as it was typed. */
export function accountOf(email: string): string {
  return normalizeEmail(email) ?? email.toLowerCase();
}

// Ends of sessions: by their member, and by another sign-in from the same browser.

/** Throws `not_found`, for the session of somebody else too, and as `requireOwnRole` does. */
export async function endOwnSession(
  tx: Tx,
  author: Author & { actor: Actor },
  current: CurrentActor,
  id: string,
): Promise<void> {
  requireOwnRole(current);
  if (!(await endSession(tx, author.actor.memberId, id)))
    throw new AppError('not_found', 'You have no session with this id.');
  await auditEnd(tx, author, id);
}

/**
 * Ends the session whose cookie a sign-in is about to replace, if there is one: nobody could sign
 * out of it any more. It is its own doing, whoever signs in now.
 */
async function endReplacedSession(
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

// What a browser keeps that has signed in to an account: there its tries count apart from those of strangers.

const DEVICE_LIFETIME_MS = 365 * 86_400_000;
const DEVICE_PURPOSE = 'browser that has signed in';
/** Far longer than any of ours: what is longer is not worth opening. */
const MAX_COOKIE_LENGTH = 1000;

const Device = v.strictObject({
  id: v.string(),
  member: v.string(),
  /** Of the hash of the password: with another password, the cookie is worth nothing. */
  password: v.string(),
  /** Milliseconds since the Unix epoch. */
  until: v.number(),
});
type Device = v.InferOutput<typeof Device>;

type DeviceCookieContext = Pick<App, 'secrets' | 'clock' | 'config'>;

/**
 * The `Set-Cookie` for a browser that has just signed in, or set the password by a link; null for a member without a password, at
 * whom nobody can guess. It is no credential: whoever has it still needs the password.
 */
export function deviceCookie(
  app: DeviceCookieContext,
  { id: member, password_hash }: Pick<MemberRow, 'id' | 'password_hash'>,
): string | null {
  if (password_hash === null) return null;
  const until = app.clock.now() + DEVICE_LIFETIME_MS;
  const device: Device = { id: randomToken(20), member, password: sha256(password_hash), until };
  const sealed = app.secrets.seal(JSON.stringify(device), DEVICE_PURPOSE);
  return cookieField(deviceCookieName(app), sealed, app.config, DEVICE_LIFETIME_MS / 1000);
}

/** The browser's own name, where it has signed in to this account and the password is still the same. */
export async function knownDevice(
  app: DeviceCookieContext & Pick<App, 'db'>,
  header: string | null,
  account: string,
): Promise<string | null> {
  const [device] = cookieValues(header, deviceCookieName(app)).flatMap(
    (value) => openDeviceCookie(app, value) ?? [],
  );
  if (!device) return null;
  // Found by what the cookie says, not by the address that is tried: the time tells nothing of that.
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
