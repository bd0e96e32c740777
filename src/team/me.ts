/** The caller's own account: read and change it. */

import type { Actor, CurrentActor } from '../http/actor.ts';
import { type Call, route } from '../http/route.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { audit } from './audit.ts';
import { renameMember } from './members.ts';
import { checkPassword } from './password-rules.ts';
import { changePassword, checkCurrentPassword } from './passwords.ts';
import { reauthorize, reauthorizeOwnRole, requireOwnRole } from './permissions.ts';
import { Me, MePatch, presentMember } from './schema.ts';
import type { SignInRequest } from './sign-in.ts';
import { signInGuardOf } from './sign-in-guard.ts';

interface AccountChange {
  name?: string;
  password?: string;
  current_password?: string;
}

/** Converts the account to its API object. Reads the key and the session from `db`, which may be a transaction. */
async function presentMe(
  db: Db | Tx,
  { keyId, sessionId, livemode }: Actor,
  { member, role }: CurrentActor,
): Promise<Me> {
  const key = keyId === null ? undefined : await findKey(db, keyId);
  const session = sessionId === null ? undefined : await findSession(db, sessionId);
  return {
    object: 'me',
    member: presentMember(member),
    role,
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
    const { name = current.member.name } = change;
    if (name !== current.member.name) await rename(tx, request, current.member.name, name);
    if (hash !== null) {
      requireSamePassword(memberBefore, current.member);
      await changePassword(tx, request, hash);
    }
    return presentMe(tx, actor, { ...current, member: { ...current.member, name } });
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

async function rename(tx: Tx, { app, actor, caller }: AccountRequest, from: string, to: string) {
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

/** Another request may have changed the password while the new one was being hashed. */
function requireSamePassword(memberBefore: MemberRow, memberNow: MemberRow): void {
  if (memberNow.password_hash === memberBefore.password_hash) return;
  throw new AppError('conflict', 'The password was changed by another request. Try again.');
}

// Operations on the caller's own account (contract §6).

const editableMe = ({ member: { id, name } }: Me) => [id, name];

const getMe = route({
  method: 'GET',
  path: '/v1/me',
  operation: 'getMe',
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
  changesCaller: true,
  role: 'viewer',
  summary: 'Update your account',
  description:
    'Changes your name or password. A new password requires the current one and ends your other sessions. If you use an API key, it must have the same role as its member.',
  etag: editableMe,
  body: MePatch,
  response: Me,
  errors: ['conflict', 'rate_limited', 'unavailable'],
  handle: (call) => changeMe(call, call.body),
});

export const meRoutes = [getMe, updateMe];
