/** An invited person joins: the link is used up and a member made, both or neither. */

import type { App } from '../app.ts';
import type { Caller } from '../http/actor.ts';
import { isoTime } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { withdrawMail } from '../outbox/queue.ts';
import type { Db, Tx } from '../store/open.ts';
import type { InvitationRow, MemberRow } from '../store/tables.generated.ts';
import { audit } from './audit.ts';
import { findByReplacedLink, invitationStatus } from './invitations.ts';

/**
 * The invitation of a link that can be used now. Throws `not_found` for a token that is unknown,
 * `gone` for one that is used, revoked or expired, or was replaced by a resend.
 */
export async function openInvitation(
  db: Db | Tx,
  token: string,
  now: number,
): Promise<InvitationRow> {
  const row = await db
    .selectFrom('invitations')
    .selectAll()
    .where('hash', '=', sha256(token))
    .executeTakeFirst();
  if (!row) throw await whyNone(db, sha256(token), now);
  const status = invitationStatus(row, now);
  if (status !== 'pending') throw new AppError('gone', GONE[status]);
  return row;
}

const GONE = {
  accepted: 'This invitation has been used: sign in instead.',
  revoked: 'This invitation has been revoked.',
  expired: 'This invitation has expired: ask for a new one.',
};

/** Where the newer link works no more either, what has become of the invitation counts. */
async function whyNone(db: Db | Tx, hash: string, now: number): Promise<AppError> {
  const invitation = await findByReplacedLink(db, hash);
  if (!invitation) return new AppError('not_found', 'There is no invitation with this link.');
  const status = invitationStatus(invitation, now);
  const replaced = 'This link was replaced by a newer one: open that of the latest e-mail.';
  return new AppError('gone', status === 'pending' ? replaced : GONE[status]);
}

/** Throws as `openInvitation` does, and `conflict` where the address has come onto the team by another way. */
export async function acceptInvitation(
  tx: Tx,
  request: Joining,
  { token, name, passwordHash }: { token: string; name: string; passwordHash: string },
): Promise<MemberRow> {
  const invitation = await openInvitation(tx, token, request.app.clock.now());
  return join(tx, request, invitation, { name, passwordHash });
}

interface Joining {
  app: App;
  caller: Pick<Caller, 'ip'>;
}

/**
 * Makes a member of who has an invitation that was found open in this transaction; without a
 * password where another service vouches for them. Throws `conflict` as `acceptInvitation` does.
 */
export async function join(
  tx: Tx,
  { app, caller }: Joining,
  { id, email, role, mail_id }: InvitationRow,
  { name, passwordHash }: { name: string; passwordHash: string | null },
): Promise<MemberRow> {
  const now = app.clock.now();
  await tx
    .updateTable('invitations')
    .set({ accepted_at: isoTime(now) })
    .where('id', '=', id)
    .execute();
  // Where it is still to be sent, its link would lead nowhere.
  await withdrawMail(tx, [mail_id]);
  const member: MemberRow = {
    id: app.newId('mem'),
    email,
    name,
    role,
    joined_at: isoTime(now),
    password_hash: passwordHash,
  };
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('members')
    .values(member)
    // Also where two accept one invitation at once on a database that lets them: one member.
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (!numInsertedOrUpdatedRows)
    throw new AppError('conflict', `${email} is on the team already: sign in instead.`);
  const actor = { memberId: member.id, email, keyId: null, sessionId: null };
  await audit(
    tx,
    { app, actor, caller },
    {
      action: 'invitation.accepted',
      object: { type: 'team_invitation', id },
      details: { email, role, member_id: member.id },
    },
  );
  return member;
}
