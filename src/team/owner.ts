/** The one owner: made at the machine, handed on by the owner; never none and never two. */

import type { App } from '../app.ts';
import { ConfigError, PREFIX } from '../config/config.ts';
import type { Actor } from '../http/actor.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { type Author, audit } from './audit.ts';
import {
  findMember,
  findMemberByEmail,
  findOwner,
  type Handover,
  normalizeEmail,
  revokeInvitationsOf,
  setRole,
  type TeamContext,
} from './members.ts';
import { passwordFault } from './password-rules.ts';
import { endPasswordLinks } from './passwords.ts';
import { endSessions } from './sessions.ts';
import { signInGuardOf } from './sign-in-guard.ts';

interface MadeOwner {
  owner: MemberRow;
  created: boolean;
  /** The owner as they were; null where there was none, or nothing has changed. */
  former: MemberRow | null;
}

/**
 * Makes this address the owner: a new member on a team without one; on a team with one, the member
 * of that address takes over, or the owner's address changes to it; whatever let the former owner in
 * ends both times. `passwordHash` is that of a new member; one who is there keeps theirs. One
 * transaction.
 */
export async function makeOwner(
  context: TeamContext,
  email: string,
  passwordHash: string | null = null,
): Promise<MadeOwner> {
  // As sign-in reads it; what is no such address is kept as it was given.
  const address = normalizeEmail(email) ?? email.toLowerCase();
  return context.db.transaction().execute(async (tx) => {
    const present = await findOwner(tx);
    const member = await findMemberByEmail(tx, address);
    if (member && member.id === present?.id)
      return { owner: present, created: false, former: null };
    const former = present ?? null;
    if (member)
      return { owner: await takeOver(tx, context, former, member), created: false, former };
    if (former)
      return { owner: await readdress(tx, context, former, address), created: false, former };
    const seed = { email: address, name: email.split('@')[0]!, password_hash: passwordHash };
    return { owner: await createOwner(tx, context, seed), created: true, former };
  });
}

/** The first start with OWNER_EMAIL makes the owner. Throws a ConfigError for a password that cannot be used. */
export async function makeFirstOwner(app: App): Promise<void> {
  const { OWNER_EMAIL: email, OWNER_PASSWORD: password } = app.config;
  if (!email || (await findOwner(app.db))) return;
  const fault = password && passwordFault(password, email);
  if (fault) throw new ConfigError([`${PREFIX}OWNER_PASSWORD ${fault}`]);
  await makeOwner(app, email, password && (await signInGuardOf(app).passwords.hash(password)));
  app.log.info('made the first owner', { email });
}

const atTheMachine = (context: TeamContext): Author => ({
  app: context,
  actor: null,
  caller: { ip: null },
});

/** Who does this at the machine may be getting rid of a stolen account: the former owner keeps no way in. */
async function takeOver(
  tx: Tx,
  context: TeamContext,
  former: MemberRow | null,
  next: MemberRow,
): Promise<MemberRow> {
  const now = isoTime(context.clock.now());
  const ended = former ? await endAccess(tx, former.id, now) : undefined;
  return handOver(tx, atTheMachine(context), former, next, ended);
}

/** The address may be another person's: what let the former holder in ends. */
async function readdress(
  tx: Tx,
  context: TeamContext,
  owner: MemberRow,
  email: string,
): Promise<MemberRow> {
  await tx.updateTable('members').set({ email }).where('id', '=', owner.id).execute();
  const ended = await endAccess(tx, owner.id, isoTime(context.clock.now()));
  await audit(tx, atTheMachine(context), {
    action: 'member.changed',
    object: { type: 'team_member', id: owner.id },
    details: { email: { from: owner.email, to: email }, ...ended },
  });
  return { ...owner, email, password_hash: null };
}

async function createOwner(
  tx: Tx,
  context: TeamContext,
  seed: Pick<MemberRow, 'email' | 'name' | 'password_hash'>,
): Promise<MemberRow> {
  const owner: MemberRow = {
    id: context.newId('mem'),
    ...seed,
    role: 'owner',
    joined_at: isoTime(context.clock.now()),
  };
  await tx.insertInto('members').values(owner).execute();
  await audit(tx, atTheMachine(context), {
    action: 'member.created',
    object: { type: 'team_member', id: owner.id },
    details: { email: owner.email, role: 'owner' },
  });
  return owner;
}

/**
 * The actor hands the ownership to another member and becomes an admin. Throws `forbidden` where
 * they are the owner no more, `validation_failed` for one to whom it cannot be handed.
 */
export async function transferOwnership(
  tx: Tx,
  author: Author & { actor: Pick<Actor, 'memberId'> },
  newOwnerId: string,
): Promise<Handover> {
  const former = await findMember(tx, author.actor.memberId);
  // Of two transfers at once, the second finds the first one done.
  if (former?.role !== 'owner')
    throw new AppError('forbidden', 'This needs the role owner, and you are the owner no more.');
  if (newOwnerId === former.id) throw wrongOwner('is the owner already');
  const next = await findMember(tx, newOwnerId);
  if (!next) throw wrongOwner('names no member of the team');
  return { former, owner: await handOver(tx, author, former, next) };
}

const wrongOwner = (message: string) =>
  new AppError('validation_failed', 'Wrong: new_owner_id.', [
    { param: 'new_owner_id', code: 'invalid', message },
  ]);

async function handOver(
  tx: Tx,
  author: Author,
  former: MemberRow | null,
  next: MemberRow,
  ended?: EndedAccess,
): Promise<MemberRow> {
  const now = isoTime(author.app.clock.now());
  // In this order: the index allows one owner at a time.
  if (former) await setRole(tx, former, 'admin', now);
  await setRole(tx, next, 'owner', now);
  await audit(tx, author, {
    action: 'ownership.transferred',
    object: { type: 'team_member', id: next.id },
    details: {
      from: former ? { id: former.id, email: former.email } : null,
      to: { id: next.id, email: next.email, role: next.role },
      ...ended,
    },
  });
  return { ...next, role: 'owner' };
}

// Ends every way into an account, where it goes to another person.

/** What there was of each, for the audit log. */
interface EndedAccess {
  sessions_ended: number;
  keys_ended: number;
  invitations_revoked: number;
}

/**
 * Whoever had the account has nothing of it left: no session, key, password or link to set one, and
 * no invitation of theirs, whose link they know and could accept. `now` is in ISO 8601.
 */
async function endAccess(tx: Tx, memberId: string, now: string): Promise<EndedAccess> {
  await tx.updateTable('members').set({ password_hash: null }).where('id', '=', memberId).execute();
  await endPasswordLinks(tx, memberId, Date.parse(now));
  const keys = await tx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('member_id', '=', memberId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    sessions_ended: await endSessions(tx, memberId),
    keys_ended: Number(keys.numUpdatedRows),
    invitations_revoked: await revokeInvitationsOf(tx, memberId, now),
  };
}
