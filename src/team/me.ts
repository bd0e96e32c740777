/** The member who asks: as they see themselves, and what they change of themselves. */

import type { Actor, CurrentActor } from '../http/actor.ts';
import { type Call, route } from '../http/route.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { audit } from './audit.ts';
import { renameMember } from './members.ts';
import { checkPassword } from './password-rules.ts';
import { changePassword, checkPresentPassword } from './passwords.ts';
import { reauthorize, reauthorizeOwnRole, requireOwnRole } from './permissions.ts';
import { Me, MePatch, presentMember } from './schema.ts';
import type { SignInRequest } from './sign-in.ts';
import { signInGuardOf } from './sign-in-guard.ts';

interface OwnChange {
  name?: string;
  password?: string;
  current_password?: string;
}

/** As they stand at the moment of the question, or of the change. */
async function presentMe(
  db: Db | Tx,
  { keyId, sessionId, livemode }: Actor,
  { member, role }: CurrentActor,
): Promise<Me> {
  const key = keyId === null ? undefined : await findKey(db, keyId);
  const session = sessionId === null ? undefined : await findTimes(db, sessionId);
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

const findTimes = (db: Db | Tx, id: string) =>
  db
    .selectFrom('sessions')
    .select(['id', 'created_at', 'expires_at'])
    .where('id', '=', id)
    .executeTakeFirst();

type OwnRequest = Pick<SignInRequest, 'app' | 'caller' | 'signal'> &
  Pick<Call<'viewer', undefined, undefined, typeof Me>, 'actor' | 'ifMatch' | 'transact'>;

/**
 * Throws `validation_failed`, also for a wrong present password, `precondition_failed`, and as
 * `requireOwnRole` does.
 */
async function changeMe(request: OwnRequest, change: OwnChange): Promise<Me> {
  const { app, actor, signal } = request;
  const { member: before } = await reauthorizeOwnRole(app.db, request);
  const password = wantedPassword(change, before.email);
  let hash: string | null = null;
  if (password) {
    await checkPresentPassword(request, before, password.present);
    hash = await signInGuardOf(app).passwords.hash(password.wanted, signal);
  }
  return request.transact(async (tx, own) => {
    requireOwnRole(own);
    request.ifMatch(await presentMe(tx, actor, own));
    const { name = own.member.name } = change;
    if (name !== own.member.name) await rename(tx, request, own.member.name, name);
    if (hash !== null) {
      requireUnchanged(before, own.member);
      await changePassword(tx, request, hash);
    }
    return presentMe(tx, actor, { ...own, member: { ...own.member, name } });
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

async function rename(tx: Tx, { app, actor, caller }: OwnRequest, from: string, to: string) {
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
function requireUnchanged(before: MemberRow, now: MemberRow): void {
  if (now.password_hash === before.password_hash) return;
  throw new AppError('conflict', 'The password was changed by somebody else at the same time.');
}

// The operations on the member who asks (contract §6).

const getMe = route({
  method: 'GET',
  path: '/v1/me',
  operation: 'getMe',
  role: 'viewer',
  summary: 'Get who you are: the member, the role, and the key or session you came by',
  etag: true,
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
  role: 'viewer',
  live: true,
  summary:
    'Change your name, or your password by the present one, which ends other sessions; a key needs your own role for it',
  etag: true,
  body: MePatch,
  response: Me,
  errors: ['conflict', 'rate_limited', 'unavailable'],
  handle: (call) => changeMe(call, call.body),
});

export const meRoutes = [getMe, updateMe];
