/** The owner of the team: created on the server, and replaced by a transfer. There is exactly one. */

import type { App } from '../app.ts';
import { ConfigError, PREFIX } from '../config/config.ts';
import type { Actor } from '../http/actor.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { isUniqueViolation } from '../store/errors.ts';
import { lockIn, type Tx, transact } from '../store/open.ts';
import { channel } from '../store/subscribers.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { type Author, audit } from './audit.ts';
import { AUDITED_MEMBER } from './audited.ts';
import {
  findOwner,
  type Handover,
  lockMembers,
  NOT_LINKED,
  newMember,
  normalizeEmail,
  revokeInvitationsOf,
  setRole,
  type TeamContext,
} from './members.ts';
import { findPasswordProblem } from './password-rules.ts';
import { revokePasswordLinks } from './passwords.ts';
import { endSessions } from './sessions.ts';
import { signInGuardOf } from './sign-in-guard.ts';

/** Published once in the life of a team, in the transaction that gives it an owner. */
export const firstOwnerMade = channel<[author: Author]>('first owner made');

/** Without subscribers, nothing happens for the first owner. */
type OwnerContext = TeamContext & Partial<Pick<App, 'subscribers'>>;

interface MakeOwnerResult {
  owner: MemberRow;
  created: boolean;
  /** The owner before the change; null if there was none or nothing changed. */
  previous: MemberRow | null;
}

/**
 * Makes this address the owner, in one transaction. Without an owner, it creates the member. Otherwise,
 * the member with that address becomes the owner, or the owner's address changes. Both revoke the
 * access of the previous owner. `passwordHash` is only for a new member.
 */
export async function makeOwner(
  context: OwnerContext,
  email: string,
  passwordHash: string | null = null,
): Promise<MakeOwnerResult> {
  // Normalized as at sign-in. An invalid address is only converted to lower case.
  const address = normalizeEmail(email) ?? email.toLowerCase();
  return repeatIfNotUnique(() => makeOwnerOnce(context, { email, address, passwordHash }));
}

/** Without an owner, nothing can be locked, and two calls may both create one. */
async function repeatIfNotUnique<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (!isUniqueViolation(error) || attempt >= MAX_OWNER_ATTEMPTS) throw error;
    }
}

const MAX_OWNER_ATTEMPTS = 10;

async function makeOwnerOnce(
  context: OwnerContext,
  { email, address, passwordHash }: { email: string; address: string; passwordHash: string | null },
): Promise<MakeOwnerResult> {
  return transact(context.db, async (tx) => {
    const owners = tx.selectFrom('members').selectAll().where('role', '=', 'owner');
    const current = await lockIn(tx, owners).executeTakeFirst();
    const members = tx.selectFrom('members').selectAll().where('email', '=', address);
    const member = await lockIn(tx, members).executeTakeFirst();
    if (member && member.id === current?.id)
      return { owner: current, created: false, previous: null };
    const previous = current ?? null;
    if (!previous) {
      const fields = { email: address, name: email.split('@')[0]!, password_hash: passwordHash };
      const owner = member
        ? await replaceOwner(tx, context, null, member)
        : await createOwner(tx, context, fields);
      await context.subscribers?.publish(firstOwnerMade, tx, serverAuthor(context));
      return { owner, created: !member, previous };
    }
    const owner = member
      ? await replaceOwner(tx, context, previous, member)
      : await changeAddress(tx, context, previous, address);
    return { owner, created: false, previous };
  });
}

/** Creates the owner at the first start with OWNER_EMAIL. Throws a ConfigError for an invalid password. */
export async function createFirstOwner(app: App): Promise<void> {
  const { OWNER_EMAIL: email, OWNER_PASSWORD: password } = app.config;
  if (!email || (await findOwner(app.db))) return;
  const problem = password && findPasswordProblem(password, email);
  if (problem) throw new ConfigError([`${PREFIX}OWNER_PASSWORD ${problem}`]);
  await makeOwner(app, email, password && (await signInGuardOf(app).passwords.hash(password)));
  app.log.info('created the owner', { email });
}

const serverAuthor = (context: TeamContext): Author => ({
  app: context,
  actor: null,
  caller: { ip: null },
});

/** Revokes the access of the previous owner, because their account may have been stolen. */
async function replaceOwner(
  tx: Tx,
  context: TeamContext,
  previous: MemberRow | null,
  next: MemberRow,
): Promise<MemberRow> {
  const now = isoTime(context.clock.now());
  const revokedAccess = previous ? await revokeAccess(tx, previous.id, now) : undefined;
  // Who can run the command makes anyone the owner, whom nothing limits.
  await tx.updateTable('members').set({ tags: null }).where('id', '=', next.id).execute();
  const unlimited = { ...next, tags: null };
  return setOwner(tx, serverAuthor(context), previous, unlimited, revokedAccess);
}

/** Revokes the existing access, because the new address may belong to another person. */
async function changeAddress(
  tx: Tx,
  context: TeamContext,
  owner: MemberRow,
  email: string,
): Promise<MemberRow> {
  await tx.updateTable('members').set({ email }).where('id', '=', owner.id).execute();
  const revokedAccess = await revokeAccess(tx, owner.id, isoTime(context.clock.now()));
  await audit(tx, serverAuthor(context), AUDITED_MEMBER, 'member.changed', owner.id, {
    email: { from: owner.email, to: email },
    ...revokedAccess,
  });
  return { ...owner, email, password_hash: null, ...NOT_LINKED };
}

async function createOwner(
  tx: Tx,
  context: TeamContext,
  fields: Pick<MemberRow, 'email' | 'name' | 'password_hash'>,
): Promise<MemberRow> {
  const owner = newMember(context, { ...fields, role: 'owner' });
  await tx.insertInto('members').values(owner).execute();
  await audit(tx, serverAuthor(context), AUDITED_MEMBER, 'member.created', owner.id, {
    email: owner.email,
    role: 'owner',
  });
  return owner;
}

/**
 * Transfers ownership from the actor, who becomes an admin. Throws `forbidden` if the actor is no
 * longer the owner, and `validation_failed` for an invalid new owner.
 */
export async function transferOwnership(
  tx: Tx,
  author: Author & { actor: Pick<Actor, 'memberId'> },
  newOwnerId: string,
): Promise<Handover> {
  // The second of two concurrent transfers waits here, and finds the first one completed.
  const involved = await lockMembers(tx, [author.actor.memberId, newOwnerId]);
  const previous = involved.get(author.actor.memberId);
  if (previous?.role !== 'owner') throw new AppError('forbidden', 'You are no longer the owner.');
  if (newOwnerId === previous.id) throw invalidOwner('already the owner');
  const next = involved.get(newOwnerId);
  if (!next) throw invalidOwner('no such member');
  return { previous, owner: await setOwner(tx, author, previous, next) };
}

const invalidOwner = (message: string) =>
  invalidParams([{ param: 'new_owner_id', code: 'invalid', message }]);

async function setOwner(
  tx: Tx,
  author: Author,
  previous: MemberRow | null,
  next: MemberRow,
  revokedAccess?: RevokedAccess,
): Promise<MemberRow> {
  const now = isoTime(author.app.clock.now());
  // In this order, because a unique index allows only one owner.
  if (previous) await setRole(tx, previous, 'admin', now);
  await setRole(tx, next, 'owner', now);
  await audit(tx, author, AUDITED_MEMBER, 'ownership.transferred', next.id, {
    from: previous ? { id: previous.id, email: previous.email } : null,
    to: { id: next.id, email: next.email, role: next.role },
    ...revokedAccess,
  });
  return { ...next, role: 'owner' };
}

// Revokes all access to an account that another person takes over.

/** Counts for the audit log. */
interface RevokedAccess {
  sessions_ended: number;
  keys_ended: number;
  assistants_ended: number;
  invitations_revoked: number;
}

/**
 * Ends sessions, and revokes keys, connected assistants, the password, password links, the link to an account at the identity
 * provider, and pending invitations, whose links the previous holder knows. `now` is in ISO 8601.
 */
async function revokeAccess(tx: Tx, memberId: string, now: string): Promise<RevokedAccess> {
  const revoked = { password_hash: null, ...NOT_LINKED };
  await tx.updateTable('members').set(revoked).where('id', '=', memberId).execute();
  await revokePasswordLinks(tx, memberId, Date.parse(now));
  const { numUpdatedRows } = await tx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('member_id', '=', memberId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  const assistants = await tx
    .deleteFrom('connected_assistants')
    .where('member_id', '=', memberId)
    .executeTakeFirstOrThrow();
  return {
    sessions_ended: await endSessions(tx, memberId),
    keys_ended: Number(numUpdatedRows),
    assistants_ended: Number(assistants.numDeletedRows),
    invitations_revoked: await revokeInvitationsOf(tx, memberId, now),
  };
}
