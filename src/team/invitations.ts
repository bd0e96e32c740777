/** Invitations in the database: made, listed, sent again, revoked, and what state one is in. */

import type { App } from '../app.ts';
import { type Page, pageOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { type EmailStatus, emailStatus, queueMail, withdrawMail } from '../outbox/queue.ts';
import type { Db, Tx } from '../store/open.ts';
import type { InvitationRow, MemberRow } from '../store/tables.generated.ts';
import { type Author, audit } from './audit.ts';
import { invitationMail } from './mails.ts';
import { findMemberByEmail } from './members.ts';
import type { NewInvitation, TeamInvitation } from './schema.ts';

const INVITATION_LIFETIME_MS = 7 * 86_400_000;

/** With what became of its mail. */
export interface InvitationState extends InvitationRow {
  email_status: EmailStatus;
}

/** An invitation with a new link, which is in this answer and in the mail alone. */
export interface LinkedInvitation {
  invitation: InvitationState;
  url: string;
}

/** Who invites, with the App that the mail needs. */
type Inviter = Author & { app: App };

export function invitationStatus(
  row: Pick<InvitationRow, 'accepted_at' | 'revoked_at' | 'expires_at'>,
  now: number,
): TeamInvitation['status'] {
  if (row.accepted_at !== null) return 'accepted';
  // What had run out before it was revoked has been closed, and no more.
  const end = row.revoked_at === null ? now : Date.parse(row.revoked_at);
  if (Date.parse(row.expires_at) <= end) return 'expired';
  return row.revoked_at === null ? 'pending' : 'revoked';
}

/** `now` decides whether it has expired. */
export function presentInvitation(row: InvitationState, now: number): TeamInvitation {
  const { id, email, role, email_status, invited_by, created_at, expires_at } = row;
  return {
    id,
    object: 'team_invitation',
    email,
    role,
    status: invitationStatus(row, now),
    email_status,
    invited_by,
    created_at,
    expires_at,
  };
}

function withMail(db: Db | Tx) {
  return db
    .selectFrom('invitations')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('outbox')
        .select('outbox.status')
        .whereRef('outbox.id', '=', 'invitations.mail_id')
        .as('mail_status'),
    );
}

type Found = InvitationRow & { mail_status: 'queued' | 'sent' | 'failed' | null };

const stateOf = ({ mail_status, ...row }: Found): InvitationState => ({
  ...row,
  email_status: emailStatus(
    row.mail_id,
    mail_status === null ? undefined : { status: mail_status },
  ),
});

/** One page, newest first. */
export async function listInvitations(db: Db, page: Page) {
  const { rows, hasMore } = await pageOf(withMail(db), page);
  return { rows: rows.map(stateOf), hasMore };
}

/** Throws `not_found`. */
export async function invitationOr404(db: Db | Tx, id: string): Promise<InvitationState> {
  const row = await withMail(db).where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no invitation with this id.');
  return stateOf(row);
}

/**
 * Throws `conflict` for an address that is on the team or has an open invitation, and `rate_limited` for
 * one that has just got mail.
 */
export async function createInvitation(
  tx: Tx,
  author: Inviter,
  inviter: MemberRow,
  { email, role }: NewInvitation,
): Promise<LinkedInvitation> {
  await requireNoMember(tx, email);
  const now = author.app.clock.now();
  await closeExpired(tx, email, isoTime(now));
  const seed = { email, role, invited_by: inviter.id, created_at: isoTime(now) };
  const { fresh, url } = await freshLink(tx, author, inviter, seed);
  const row: InvitationRow = {
    id: author.app.newId('inv'),
    ...seed,
    ...fresh,
    accepted_at: null,
    revoked_at: null,
  };
  // The index on open invitations decides, whatever else is going on.
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('invitations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (!numInsertedOrUpdatedRows)
    throw new AppError(
      'conflict',
      `${email} is invited already. Send that invitation again, or revoke it first.`,
    );
  await limitInvitationMail(tx, author.app, row);
  await note(tx, author, 'invitation.created', row);
  return { invitation: stateOf({ ...row, mail_status: 'queued' }), url };
}

/**
 * An open invitation, expired or not, gets a new link for another seven days; the old one dies. Throws
 * `rate_limited` while its address has just got mail.
 */
export async function resendInvitation(
  tx: Tx,
  author: Inviter,
  inviter: MemberRow,
  id: string,
): Promise<LinkedInvitation> {
  const present = await invitationOr404(tx, id);
  requireOpen(present);
  await requireNoMember(tx, present.email);
  await withdrawMail(tx, [present.mail_id]);
  await keepReplacedLink(tx, present);
  const { fresh, url } = await freshLink(tx, author, inviter, present);
  // Who sends it knows the link, and answers for it from now on.
  const change = { ...fresh, invited_by: inviter.id };
  await tx.updateTable('invitations').set(change).where('id', '=', id).execute();
  const row = { ...present, ...change };
  await limitInvitationMail(tx, author.app, row);
  await note(tx, author, 'invitation.resent', row);
  return { invitation: stateOf({ ...row, mail_status: 'queued' }), url };
}

/** Throws `conflict` for one that was accepted; one that was revoked already stays as it is. */
export async function revokeInvitation(tx: Tx, author: Author, id: string): Promise<void> {
  const present = await invitationOr404(tx, id);
  if (present.revoked_at !== null) return;
  requireOpen(present);
  const now = isoTime(author.app.clock.now());
  const change = { revoked_at: now };
  await tx.updateTable('invitations').set(change).where('id', '=', id).execute();
  await withdrawMail(tx, [present.mail_id]);
  await note(tx, author, 'invitation.revoked', present);
}

function requireOpen(row: InvitationRow): void {
  if (row.accepted_at !== null)
    throw new AppError('conflict', 'This invitation has been accepted: remove the member instead.');
  if (row.revoked_at !== null)
    throw new AppError('conflict', 'This invitation is closed: make a new one instead.');
}

async function requireNoMember(tx: Tx, email: string): Promise<void> {
  if (await findMemberByEmail(tx, email))
    throw new AppError('conflict', `${email} is on the team already.`);
}

/** One that has run out stands in nobody's way. */
async function closeExpired(tx: Tx, email: string, now: string): Promise<void> {
  await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '<=', now)
    .execute();
}

/** A new token, of which only the hash is kept, and the mail that carries it. */
async function freshLink(
  tx: Tx,
  { app }: Inviter,
  inviter: MemberRow,
  { email, role }: Pick<InvitationRow, 'email' | 'role'>,
) {
  const token = randomSecret();
  const url = `${app.config.APP_URL}/invitations/${token}`;
  const expires_at = isoTime(app.clock.now() + INVITATION_LIFETIME_MS);
  const mail = invitationMail(app.config, inviter, { email, role, expires_at }, url);
  return {
    url,
    fresh: { hash: sha256(token), expires_at, mail_id: await queueMail(tx, app, mail, expires_at) },
  };
}

async function note(
  tx: Tx,
  author: Author,
  action: string,
  { id, email, role }: InvitationRow,
): Promise<void> {
  const object = { type: 'team_invitation', id };
  await audit(tx, author, { action, object, details: { email, role } });
}

// How often the same address gets mail by invitations: nobody's mailbox is filled by sending one again and again.

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_MAILS_PER_DAY = 5;

/**
 * To be called once the mail of the invitation is queued: throws `rate_limited`, which takes it back,
 * where others went to the same address within the last minute, or five within 24 hours. An invitation
 * that was revoked and made anew counts with them. Without outgoing mail there is nothing to limit.
 */
async function limitInvitationMail(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { email, mail_id }: Pick<InvitationRow, 'email' | 'mail_id'>,
): Promise<void> {
  if (mail_id === null) return;
  const now = clock.now();
  const earlier = await tx
    .selectFrom('outbox')
    .select('created_at')
    .where('recipient', '=', email)
    .where('created_at', '>', isoTime(now - DAY_MS))
    // Where the clock was put back, what is ahead of it holds up nobody.
    .where('created_at', '<=', isoTime(now))
    .where('id', '!=', mail_id)
    .orderBy('created_at', 'desc')
    .limit(MAX_MAILS_PER_DAY)
    .execute();
  const times = earlier.map(({ created_at }) => Date.parse(created_at));
  const [latest] = times;
  const fifth = times[MAX_MAILS_PER_DAY - 1];
  if (fifth !== undefined)
    throw tooManyMails(email, 'five mails in 24 hours', fifth + DAY_MS - now);
  if (latest !== undefined && latest > now - MINUTE_MS)
    throw tooManyMails(email, 'one mail a minute', latest + MINUTE_MS - now);
}

function tooManyMails(email: string, most: string, waitMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new AppError(
    'rate_limited',
    `${email} gets at most ${most} from here. Wait, or pass on the link that you have.`,
    [],
    { 'retry-after': String(seconds) },
  );
}

// Links of invitations that a resend has replaced: kept for a while, so that they can say so.

/** So many of one invitation are known; of more, some are unknown again. */
const MAX_REPLACED_LINKS = 20;

/** To be called with the invitation as it was before. */
async function keepReplacedLink(tx: Tx, { id, hash }: InvitationRow): Promise<void> {
  const kept = tx
    .selectFrom('replaced_invitation_links')
    .select('hash')
    .where('invitation_id', '=', id)
    // As good as at random: nothing tells which is older.
    .orderBy('hash')
    .limit(MAX_REPLACED_LINKS - 1);
  await tx
    .deleteFrom('replaced_invitation_links')
    .where('invitation_id', '=', id)
    .where('hash', 'not in', kept)
    .execute();
  await tx
    .insertInto('replaced_invitation_links')
    .values({ hash, invitation_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The invitation to which a link with this hash has once led. */
export async function findByReplacedLink(
  db: Db | Tx,
  hash: string,
): Promise<InvitationRow | undefined> {
  return db
    .selectFrom('replaced_invitation_links as replaced')
    .innerJoin('invitations', 'invitations.id', 'replaced.invitation_id')
    .selectAll('invitations')
    .where('replaced.hash', '=', hash)
    .executeTakeFirst();
}
