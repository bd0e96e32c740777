/** The caller's own account: read and change it. */

import type { Actor, CurrentActor } from '../http/actor.ts';
import { type Call, route } from '../http/route.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { audit } from './audit.ts';
import { AUDITED_MEMBER } from './audited.ts';
import { checkPassword } from './password-rules.ts';
import { changePassword, checkCurrentPassword } from './passwords.ts';
import { reauthorize, reauthorizeOwnRole, requireOwnRole } from './permissions.ts';
import { Me, MePatch, presentMember } from './schema.ts';
import type { SignInRequest } from './sign-in.ts';
import { signInGuardOf } from './sign-in-guard.ts';

interface AccountChange {
  name?: string;
  time_zone?: string | null;
  date_locale?: string | null;
  password?: string;
  current_password?: string;
}

/** Converts the account to its API object. Reads the key and the session from `db`, which may be a transaction. */
async function presentMe(
  db: Db | Tx,
  { keyId, sessionId, livemode }: Actor,
  { member, role, tags }: CurrentActor,
): Promise<Me> {
  const key = keyId === null ? undefined : await findKey(db, keyId);
  const session = sessionId === null ? undefined : await findSession(db, sessionId);
  return {
    object: 'me',
    member: presentMember(member),
    role,
    livemode,
    tags,
    time_zone: member.time_zone,
    date_locale: member.date_locale,
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

const findSession = (db: Db | Tx, id: string) =>
  db
    .selectFrom('sessions')
    .select(['id', 'created_at', 'expires_at'])
    .where('id', '=', id)
    .executeTakeFirst();

type AccountRequest = Pick<SignInRequest, 'app' | 'caller' | 'signal'> &
  Pick<Call<'viewer', undefined, undefined, typeof Me>, 'actor' | 'ifMatch' | 'transact'>;

/**
 * Throws `validation_failed` (also for a wrong current password), `precondition_failed`, `conflict`, and
 * as `requireOwnRole` does.
 */
async function changeMe(request: AccountRequest, change: AccountChange): Promise<Me> {
  const { app, actor, signal } = request;
  const { member: memberBefore } = await reauthorizeOwnRole(app.db, request);
  const passwords = passwordsOf(change, memberBefore.email);
  let hash: string | null = null;
  if (passwords) {
    await checkCurrentPassword(request, memberBefore, passwords.current);
    hash = await signInGuardOf(app).passwords.hash(passwords.next, signal);
  }
  return request.transact(async (tx, current) => {
    requireOwnRole(current);
    request.ifMatch(await presentMe(tx, actor, current));
    const member = await updateProfile(tx, request, current.member, change);
    if (hash !== null) {
      requireSamePassword(memberBefore, current.member);
      await changePassword(tx, request, hash);
    }
    return presentMe(tx, actor, { ...current, member });
  });
}

/** Requires both passwords or none, so that nobody can change a password in an unattended browser. */
function passwordsOf({ password, current_password }: AccountChange, email: string) {
  if (password === undefined && current_password === undefined) return null;
  if (password !== undefined && current_password !== undefined) {
    checkPassword(password, email);
    return { next: password, current: current_password };
  }
  const param = password === undefined ? 'password' : 'current_password';
  const message = 'is required to change the password';
  throw invalidParams([{ param, code: 'required', message }]);
}

const PROFILE = ['name', 'time_zone', 'date_locale'] as const;

/** Changes the given fields, and returns the member with them. */
async function updateProfile(
  tx: Tx,
  { app, actor, caller }: AccountRequest,
  member: MemberRow,
  change: AccountChange,
): Promise<MemberRow> {
  const changed = PROFILE.filter(
    (field) => change[field] !== undefined && change[field] !== member[field],
  );
  if (changed.length === 0) return member;
  const values = Object.fromEntries(changed.map((field) => [field, change[field]]));
  await tx.updateTable('members').set(values).where('id', '=', member.id).execute();
  const details = Object.fromEntries(
    changed.map((field) => [field, { from: member[field], to: change[field] }]),
  );
  await audit(tx, { app, actor, caller }, AUDITED_MEMBER, 'member.changed', member.id, details);
  return { ...member, ...values };
}

/** Another request may have changed the password while the new one was being hashed. */
function requireSamePassword(memberBefore: MemberRow, memberNow: MemberRow): void {
  if (memberNow.password_hash === memberBefore.password_hash) return;
  throw new AppError('conflict', 'The password was changed by another request. Try again.');
}

// Operations on the caller's own account (contract §6).

const editableMe = ({ member: { id, name }, time_zone, date_locale }: Me) => [
  id,
  name,
  time_zone,
  date_locale,
];

const getMe = route({
  method: 'GET',
  path: '/v1/me',
  operation: 'getMe',
  limited: true,
  role: 'viewer',
  summary: 'Get your account',
  description:
    'Returns your member object, your effective role and the API key or session of the request.',
  etag: editableMe,
  response: Me,
  handle: async (call) => {
    const { app, actor } = call;
    return presentMe(app.db, actor, await reauthorize(app.db, call, 'viewer'));
  },
});

const updateMe = route({
  method: 'PATCH',
  path: '/v1/me',
  operation: 'updateMe',
  limited: true,
  changesCaller: true,
  role: 'viewer',
  summary: 'Update your account',
  description:
    'Changes your name, your password, or how pages show you times. A new password requires the current one and ends your other sessions. If you use an API key, it must have the same role as its member.',
  etag: editableMe,
  body: MePatch,
  response: Me,
  errors: ['conflict', 'rate_limited', 'unavailable'],
  handle: (call) => changeMe(call, call.body),
});

export const meOperations = { get: getMe, update: updateMe };
