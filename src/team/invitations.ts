/** Invitations in the database: create, list, resend, and revoke them, and their status. */

import { type RawBuilder, sql } from 'kysely';
import type { App } from '../app.ts';
import { readLimit } from '../http/limited.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { DAY_MS, MINUTE_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import { cancelMail, type EmailStatus, emailStatus, queueMail } from '../outbox/queue.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { InvitationRow, MemberRow } from '../store/tables.generated.ts';
import { type Author, audit } from './audit.ts';
import { AUDITED_INVITATION } from './audited.ts';
import { invitationMail } from './mails.ts';
import { findMemberByEmail, requireLimitable } from './members.ts';
import type { InvitationStatus, NewInvitation, TeamInvitation } from './schema.ts';

const INVITATION_LIFETIME_MS = 7 * DAY_MS;

/** With the status of its email. */
export interface InvitationWithEmailStatus extends InvitationRow {
  email_status: EmailStatus;
}

/** An invitation with its new link, which is otherwise only in the email. */
export interface IssuedInvitation {
  invitation: InvitationWithEmailStatus;
  url: string;
}

/** The author of an invitation, with the App for the email. */
type InvitationAuthor = Author & { app: App };

export function invitationStatus(
  row: Pick<InvitationRow, 'accepted_at' | 'revoked_at' | 'expires_at'>,
  now: number,
): TeamInvitation['status'] {
  if (row.accepted_at !== null) return 'accepted';
  // An invitation that had expired when it was revoked stays expired.
  const end = row.revoked_at === null ? now : Date.parse(row.revoked_at);
  if (Date.parse(row.expires_at) <= end) return 'expired';
  return row.revoked_at === null ? 'pending' : 'revoked';
}

/** `now` determines whether the invitation has expired. */
export function presentInvitation(row: InvitationWithEmailStatus, now: number): TeamInvitation {
  const { id, email, role, tags, email_status, invited_by, created_at, expires_at } = row;
  return {
    id,
    object: 'team_invitation',
    email,
    role,
    tags: readLimit(tags),
    status: invitationStatus(row, now),
    email_status,
    invited_by,
    created_at,
    expires_at,
  };
}

/** As `invitationStatus` says. */
function hasStatus(status: InvitationStatus, now: string): RawBuilder<boolean> {
  const isExpired = sql`expires_at <= coalesce(revoked_at, ${now})`;
  const conditions = {
    accepted: sql<boolean>`accepted_at is not null`,
    expired: sql<boolean>`accepted_at is null and ${isExpired}`,
    revoked: sql<boolean>`accepted_at is null and revoked_at is not null and not ${isExpired}`,
    pending: sql<boolean>`accepted_at is null and revoked_at is null and not ${isExpired}`,
  };
  return sql`(${conditions[status]})`;
}

function selectWithMailStatus(db: Db | Tx) {
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

type RowWithMailStatus = InvitationRow & { mail_status: 'queued' | 'sent' | 'failed' | null };

const stateOf = ({ mail_status, ...row }: RowWithMailStatus): InvitationWithEmailStatus => ({
  ...row,
  email_status: emailStatus(
    row.mail_id,
    mail_status === null ? undefined : { status: mail_status },
  ),
});

/** One page, newest first, of all invitations or of those that now have the status. */
export async function listInvitations(
  db: Db,
  page: Page,
  { status, now }: { status?: InvitationStatus; now: number },
) {
  const all = selectWithMailStatus(db);
  const query = status ? all.where(hasStatus(status, isoTime(now))) : all;
  const { rows, hasMore } = await fetchPage(query, page, all);
  return { rows: rows.map(stateOf), hasMore };
}

/** Throws `not_found`. */
export async function invitationOr404(db: Db | Tx, id: string): Promise<InvitationWithEmailStatus> {
  const query = selectWithMailStatus(db).where('id', '=', id);
  const row = await lockIn(db, query, 'invitations').executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such invitation.');
  return stateOf(row);
}

/**
 * Throws `conflict` if the address belongs to a member or has a pending invitation, and `rate_limited`
 * if it received too many emails.
 */
export async function createInvitation(
  tx: Tx,
  author: InvitationAuthor,
  inviter: MemberRow,
  { email, role, tags }: NewInvitation,
): Promise<IssuedInvitation> {
  requireLimitable(role, tags);
  await requireNotMember(tx, email);
  const now = author.app.clock.now();
  await closeExpired(tx, email, isoTime(now));
  const fields = { email, role, invited_by: inviter.id, created_at: isoTime(now) };
  const { link, url } = await createLink(tx, author, inviter, fields);
  const row: InvitationRow = {
    id: author.app.newId('inv'),
    ...fields,
    ...link,
    tags: tags && JSON.stringify(tags.toSorted()),
    accepted_at: null,
    revoked_at: null,
  };
  // The index on pending invitations also prevents concurrent duplicates.
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('invitations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (!numInsertedOrUpdatedRows)
    throw new AppError(
      'conflict',
      `${email} already has a pending invitation. Resend it, or revoke it first.`,
    );
  // Again, because an earlier invitation may have been accepted since the first check.
  await requireNotMember(tx, email);
  await limitInvitationMail(tx, author.app, row);
  await audit(tx, author, AUDITED_INVITATION, 'invitation.created', row.id, detailsOf(row));
  return { invitation: stateOf({ ...row, mail_status: 'queued' }), url };
}

/**
 * Replaces the link of a pending or expired invitation with one valid for seven more days. Throws
 * `conflict` for a closed invitation, and `rate_limited` if the address received too many emails.
 */
export async function resendInvitation(
  tx: Tx,
  author: InvitationAuthor,
  inviter: MemberRow,
  id: string,
): Promise<IssuedInvitation> {
  const current = await invitationOr404(tx, id);
  requireOpen(current);
  await requireNotMember(tx, current.email);
  await cancelMail(tx, [current.mail_id]);
  await storeReplacedLink(tx, current);
  const { link, url } = await createLink(tx, author, inviter, current);
  // The member who resends an invitation knows the link and becomes its inviter.
  const change = { ...link, invited_by: inviter.id };
  await tx.updateTable('invitations').set(change).where('id', '=', id).execute();
  const row = { ...current, ...change };
  await limitInvitationMail(tx, author.app, row);
  await audit(tx, author, AUDITED_INVITATION, 'invitation.resent', row.id, detailsOf(row));
  return { invitation: stateOf({ ...row, mail_status: 'queued' }), url };
}

/** Throws `conflict` for an accepted invitation. Does nothing for a revoked one. */
export async function revokeInvitation(tx: Tx, author: Author, id: string): Promise<void> {
  const current = await invitationOr404(tx, id);
  if (current.revoked_at !== null) return;
  requireOpen(current);
  const now = isoTime(author.app.clock.now());
  const change = { revoked_at: now };
  await tx.updateTable('invitations').set(change).where('id', '=', id).execute();
  await cancelMail(tx, [current.mail_id]);
  await audit(tx, author, AUDITED_INVITATION, 'invitation.revoked', current.id, detailsOf(current));
}

function requireOpen(row: InvitationRow): void {
  if (row.accepted_at !== null)
    throw new AppError(
      'conflict',
      'This invitation has already been accepted. Remove the member instead.',
    );
  if (row.revoked_at !== null)
    throw new AppError(
      'conflict',
      'This invitation is no longer pending. Create a new one instead.',
    );
}

async function requireNotMember(tx: Tx, email: string): Promise<void> {
  if (await findMemberByEmail(tx, email))
    throw new AppError('conflict', `${email} is already on the team.`);
}

/** An expired invitation must not block a new one. */
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

/** Creates a token and queues the email with its link. The database stores only the hash. */
async function createLink(
  tx: Tx,
  { app }: InvitationAuthor,
  inviter: MemberRow,
  { email, role }: Pick<InvitationRow, 'email' | 'role'>,
) {
  const token = randomSecret();
  const url = `${app.config.APP_URL}/invitations/${token}`;
  const expires_at = isoTime(app.clock.now() + INVITATION_LIFETIME_MS);
  const mail = invitationMail(app.config, inviter, { email, role, expires_at }, url);
  return {
    url,
    link: { hash: sha256(token), expires_at, mail_id: await queueMail(tx, app, mail, expires_at) },
  };
}

const detailsOf = ({ email, role, tags }: InvitationRow) => ({
  email,
  role,
  ...(tags === null ? {} : { tags: readLimit(tags) }),
});

// Limits invitation emails per address, so that resending can't flood a mailbox.

const MAX_MAILS_PER_DAY = 5;

/**
 * Call it after the email is queued. Throws `rate_limited`, which rolls the transaction back, if the
 * address was sent another email within the last minute, or five within 24 hours. Emails of revoked
 * invitations count too.
 */
async function limitInvitationMail(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { email, mail_id }: Pick<InvitationRow, 'email' | 'mail_id'>,
): Promise<void> {
  if (mail_id === null) return;
  const now = clock.now();
  const recentMails = await tx
    .selectFrom('outbox')
    .select('created_at')
    .where('recipient', '=', email)
    .where('created_at', '>', isoTime(now - DAY_MS))
    // If the clock was set back, emails in the future don't count.
    .where('created_at', '<=', isoTime(now))
    .where('id', '!=', mail_id)
    .orderBy('created_at', 'desc')
    .limit(MAX_MAILS_PER_DAY)
    .execute();
  const times = recentMails.map(({ created_at }) => Date.parse(created_at));
  const [latest] = times;
  const fifth = times[MAX_MAILS_PER_DAY - 1];
  if (fifth !== undefined)
    throw tooManyMails(email, 'five emails in 24 hours', fifth + DAY_MS - now);
  if (latest !== undefined && latest > now - MINUTE_MS)
    throw tooManyMails(email, 'one email per minute', latest + MINUTE_MS - now);
}

function tooManyMails(email: string, limit: string, waitMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new AppError(
    'rate_limited',
    `Too many emails to ${email}: the limit is ${limit}. Try again later, or share the link that you have.`,
    [],
    { 'retry-after': String(seconds) },
  );
}

// Replaced links are stored, so that people who open one are told to use the newer link.

/** Per invitation. */
const MAX_REPLACED_LINKS = 20;

/** Call it with the invitation as it was before the resend. */
async function storeReplacedLink(tx: Tx, { id, hash }: InvitationRow): Promise<void> {
  const retainedHashes = tx
    .selectFrom('replaced_invitation_links')
    .select('hash')
    .where('invitation_id', '=', id)
    // Effectively random, because rows have no timestamp.
    .orderBy('hash')
    .limit(MAX_REPLACED_LINKS - 1);
  await tx
    .deleteFrom('replaced_invitation_links')
    .where('invitation_id', '=', id)
    .where('hash', 'not in', retainedHashes)
    .execute();
  await tx
    .insertInto('replaced_invitation_links')
    .values({ hash, invitation_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The invitation that once had a link with this hash. */
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
