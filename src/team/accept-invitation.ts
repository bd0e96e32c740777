/** Adds an invited person to the team and marks the invitation as accepted. */

import type { App } from '../app.ts';
import type { Caller } from '../http/actor.ts';
import { isoTime } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { cancelMail } from '../outbox/queue.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { InvitationRow, MemberRow } from '../store/tables.generated.ts';
import { audit } from './audit.ts';
import { AUDITED_INVITATION } from './audited.ts';
import { findByReplacedLink, invitationStatus } from './invitations.ts';
import { newMember } from './members.ts';

/**
 * The pending invitation of a link. Throws `not_found` for an unknown token, and `gone` for one that
 * was used, revoked, or replaced by a resend, or has expired.
 */
export async function requirePendingInvitation(
  db: Db | Tx,
  token: string,
  now: number,
): Promise<InvitationRow> {
  const query = db.selectFrom('invitations').selectAll().where('hash', '=', sha256(token));
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw await unknownLinkError(db, sha256(token), now);
  const status = invitationStatus(row, now);
  if (status !== 'pending') throw new AppError('gone', GONE_MESSAGES[status]);
  return row;
}

const GONE_MESSAGES = {
  accepted: 'This invitation has already been accepted. Sign in instead.',
  revoked: 'This invitation has been revoked. Ask an admin for a new one.',
  expired: 'This invitation has expired. Ask an admin for a new one.',
};

/** A replaced link gets the error of its invitation, unless the invitation is still pending. */
async function unknownLinkError(db: Db | Tx, hash: string, now: number): Promise<AppError> {
  const invitation = await findByReplacedLink(db, hash);
  if (!invitation) return new AppError('not_found', 'Invalid invitation link.');
  const status = invitationStatus(invitation, now);
  const replacedMessage =
    'This link was replaced by a newer one. Use the link in the latest email.';
  return new AppError('gone', status === 'pending' ? replacedMessage : GONE_MESSAGES[status]);
}

/** Throws `not_found` and `gone` for invalid links, and `conflict` if the address already belongs to a member. */
export async function acceptInvitation(
  tx: Tx,
  request: JoinContext,
  { token, name, passwordHash }: { token: string; name: string; passwordHash: string },
): Promise<MemberRow> {
  const invitation = await requirePendingInvitation(tx, token, request.app.clock.now());
  return joinTeam(tx, request, invitation, { name, passwordHash });
}

interface JoinContext {
  app: App;
  caller: Pick<Caller, 'ip'>;
}

/**
 * Adds the invited person to the team. The invitation must have been read as pending in this transaction.
 * `passwordHash` is null for members who sign in with OpenID Connect. Throws `conflict` as
 * `acceptInvitation` does.
 */
export async function joinTeam(
  tx: Tx,
  { app, caller }: JoinContext,
  { id, email, role, tags, mail_id }: InvitationRow,
  { name, passwordHash }: { name: string; passwordHash: string | null },
): Promise<MemberRow> {
  await tx
    .updateTable('invitations')
    .set({ accepted_at: isoTime(app.clock.now()) })
    .where('id', '=', id)
    .execute();
  // A queued email would contain a link that no longer works.
  await cancelMail(tx, [mail_id]);
  const member = newMember(app, { email, name, role, tags, password_hash: passwordHash });
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('members')
    .values(member)
    // Also covers two requests that accept the invitation at the same time.
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (!numInsertedOrUpdatedRows)
    throw new AppError('conflict', `${email} is already on the team. Sign in instead.`);
  const actor = { memberId: member.id, email, keyId: null, sessionId: null };
  await audit(tx, { app, actor, caller }, AUDITED_INVITATION, 'invitation.accepted', id, {
    email,
    role,
    member_id: member.id,
  });
  return member;
}
