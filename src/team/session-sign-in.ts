/** Sign-in by e-mail address and password, and the beginning of a session however somebody got in. */

import type { App } from '../app.ts';
import type { Caller } from '../http/caller.ts';
import { AppError } from '../lib/errors.ts';
import { hasOtherCost } from '../lib/passwords.ts';
import type { MemberRow, SessionRow } from '../store/tables.ts';
import { audit } from './audit.ts';
import { knownDevice } from './device-cookie.ts';
import { normalizeEmail } from './email-address.ts';
import { findMember, findMemberByEmail } from './members.ts';
import { endReplacedSession } from './session-end.ts';
import { insertSession } from './sessions.ts';

/** Of a request, what the paths into and out of an account need. */
export interface Visit {
  app: App;
  caller: Caller;
  headers: Headers;
  requestId: string;
  signal: AbortSignal;
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
  visit: Visit,
  { email, password }: { email: string; password: string },
): Promise<SignedIn> {
  const { app, caller, headers, requestId } = visit;
  const account = accountOf(email);
  const device = await knownDevice(app, headers.get('cookie'), account);
  const guess = { account, ip: caller.ip, device };
  const known = device !== null;
  const signedIn = await app.signIn.tries.attempt(guess, () =>
    signInOnce(visit, { account, password, known }),
  );
  if (signedIn) return signedIn;
  app.log.info('sign-in refused', { request_id: requestId, ip: caller.ip });
  throw new AppError('unauthenticated', 'The e-mail address or the password is wrong.', [], {
    'www-authenticate': 'Bearer',
  });
}

async function signInOnce(
  visit: Visit,
  given: { account: string; password: string; known: boolean },
): Promise<SignedIn | null> {
  const { app, signal } = visit;
  const { account, password, known } = given;
  const { passwords } = app.signIn;
  const member = await findMemberByEmail(app.db, account);
  const hash = member?.password_hash ?? null;
  const right = await passwords.verify(password, hash, { signal, known });
  if (!right || !member || hash === null) return null;
  if (!hasOtherCost(hash)) return startSession(visit, member);
  const renewed = await passwords.hash(password, signal);
  const signedIn = await startSession(visit, member, { renewed });
  // Another sign-in at the same moment may have renewed it: the password is as right as before.
  return signedIn ?? signInOnce(visit, given);
}

/**
 * A session for this member, in the place of one that the browser has already; null where the member
 * has gone or has another password by now. `renewed` is another hash of the same password, to be
 * kept from now on.
 */
export async function startSession(
  { app, caller, headers }: Pick<Visit, 'app' | 'caller' | 'headers'>,
  { id, password_hash }: Pick<MemberRow, 'id' | 'password_hash'>,
  { renewed = password_hash, by }: { renewed?: string | null; by?: 'oidc' } = {},
): Promise<SignedIn | null> {
  return app.db.transaction().execute(async (tx) => {
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
