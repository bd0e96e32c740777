/** The member who asks: as they see themselves, and what they change of themselves. */

import type { Actor } from '../http/actor.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.ts';
import { audit } from './audit.ts';
import { findMember, renameMember } from './members.ts';
import { changePassword, checkPresentPassword } from './password-changes.ts';
import { checkPassword } from './password-rules.ts';
import { presentMember } from './present.ts';
import type { Me } from './session-schema.ts';
import type { Visit } from './session-sign-in.ts';

export interface OwnChange {
  name?: string;
  password?: string;
  current_password?: string;
}

/** Throws `unauthenticated` where the member has gone since the request was let in. */
export async function presentMe(db: Db | Tx, actor: Actor): Promise<Me> {
  const member = await memberOf(db, actor);
  const { keyId, sessionId, livemode } = actor;
  const key = keyId === null ? undefined : await findKey(db, keyId);
  const session = sessionId === null ? undefined : await findTimes(db, sessionId);
  return {
    object: 'me',
    member: presentMember(member),
    role: actor.role,
    livemode,
    api_key: key ? { ...key, object: 'api_key' } : null,
    session: session ? { ...session, object: 'session' } : null,
  };
}

const findKey = (db: Db | Tx, id: string) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'name', 'prefix'])
    .where('id', '=', id)
    .executeTakeFirst();

const findTimes = (db: Db | Tx, id: string) =>
  db
    .selectFrom('sessions')
    .select(['id', 'created_at', 'expires_at'])
    .where('id', '=', id)
    .executeTakeFirst();

async function memberOf(db: Db | Tx, actor: Actor): Promise<MemberRow> {
  const member = await findMember(db, actor.memberId);
  if (member) return member;
  throw new AppError('unauthenticated', 'You are no longer on the team.', [], {
    'www-authenticate': 'Bearer',
  });
}

type OwnVisit = Visit & { actor: Actor; ifMatch(present: unknown): void };

/** Throws `validation_failed`, also for a wrong present password, and `precondition_failed`. */
export async function changeMe(visit: OwnVisit, change: OwnChange): Promise<Me> {
  const { app, actor, signal } = visit;
  const before = await memberOf(app.db, actor);
  const password = wantedPassword(change, before.email);
  let hash: string | null = null;
  if (password) {
    await checkPresentPassword(visit, before, password.present);
    hash = await app.signIn.passwords.hash(password.wanted, signal);
  }
  return app.db.transaction().execute(async (tx) => {
    const present = await presentMe(tx, actor);
    visit.ifMatch(present);
    if (change.name !== undefined && change.name !== present.member.name)
      await rename(tx, visit, present.member.name, change.name);
    if (hash !== null) {
      await requireUnchanged(tx, before);
      await changePassword(tx, visit, hash);
    }
    return presentMe(tx, actor);
  });
}

/** Both are given, or none: nobody changes a password by a browser that was left open. */
function wantedPassword({ password, current_password }: OwnChange, email: string) {
  if (password === undefined && current_password === undefined) return null;
  if (password !== undefined && current_password !== undefined) {
    checkPassword(password, email);
    return { wanted: password, present: current_password };
  }
  const param = password === undefined ? 'password' : 'current_password';
  throw new AppError('validation_failed', `Wrong: ${param}.`, [
    { param, code: 'required', message: 'is required: both passwords are given, or none' },
  ]);
}

async function rename(tx: Tx, { app, actor, caller }: OwnVisit, from: string, to: string) {
  await renameMember(tx, actor.memberId, to);
  await audit(
    tx,
    { app, actor, caller },
    {
      action: 'member.changed',
      object: { type: 'team_member', id: actor.memberId },
      details: { name: { from, to } },
    },
  );
}

/** While the passwords were worked on, a link may have set another. */
async function requireUnchanged(tx: Tx, before: MemberRow): Promise<void> {
  const now = await findMember(tx, before.id);
  if (now?.password_hash === before.password_hash) return;
  throw new AppError('conflict', 'The password was changed by somebody else at the same time.');
}
