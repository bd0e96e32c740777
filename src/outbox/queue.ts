/** Puts mail into the outbox, in the transaction of what it tells of. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { isoTime } from '../lib/clock.ts';
import { mailPurpose, type SecretBox } from '../lib/crypto.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { refuseEach } from '../lib/errors.ts';
import type { Mail } from '../net/smtp/compose.ts';
import type { Tx } from '../store/open.ts';
import type { OutboxRow } from '../store/tables.generated.ts';

/** The job that sends what is due: to wake it by. */
export const SEND_JOB = 'send mail';

/**
 * The id of the mail; null where outgoing mail is not configured. After the commit, wake `SEND_JOB`.
 * It is not sent from `usefulUntil` on, an ISO time, as when its link has run out by then. `bulk`:
 * there may be a lot of its kind, and other mail goes first.
 */
export async function queueMail(
  tx: Tx,
  { mailer, newId, clock, secrets }: Pick<App, 'mailer' | 'newId' | 'clock' | 'secrets'>,
  mail: OutgoingMail,
  usefulUntil: string | null = null,
  { bulk = false }: { bulk?: boolean } = {},
): Promise<string | null> {
  if (mailer === null) return null;
  const id = newId('mail');
  const now = isoTime(clock.now());
  await tx
    .insertInto('outbox')
    .values({
      id,
      created_at: now,
      recipient: mail.to,
      content: sealMail(secrets, id, mail),
      status: 'queued',
      attempts: 0,
      due_at: now,
      useful_until: usefulUntil,
      bulk: bulk ? 1 : 0,
    })
    .execute();
  return id;
}

export type EmailStatus = 'not_configured' | 'queued' | 'sent' | 'failed';

/** What became of the mail of an invitation; retention removes the row of none that was not sent. */
export function emailStatus(
  mailId: string | null,
  row: Pick<OutboxRow, 'status'> | undefined,
): EmailStatus {
  if (mailId === null) return 'not_configured';
  return row?.status ?? 'sent';
}

// What a waiting mail says, as it is kept: encrypted, for its links are keys.

/** A mail before it has an id. */
export type OutgoingMail = Omit<Mail, 'id'>;

/** In JSON octets are written in base64. */
const encodeParts = (parts?: { content: Uint8Array }[]) =>
  parts?.map(({ content, ...about }) => ({
    ...about,
    content: Buffer.from(content).toString('base64'),
  }));
const decodeParts = (parts?: { content: string }[]) =>
  parts?.map(({ content, ...about }) => ({ ...about, content: Buffer.from(content, 'base64') }));

export function sealMail(secrets: SecretBox, id: string, mail: OutgoingMail): string {
  const { images, attachments, ...rest } = mail;
  const text = JSON.stringify({
    ...rest,
    images: encodeParts(images),
    attachments: encodeParts(attachments),
  });
  return secrets.seal(text, mailPurpose(id));
}

/** null where it was sealed by another key, or is damaged. */
export function openMail(secrets: SecretBox, id: string, sealed: string): Mail | null {
  const text = secrets.open(sealed, mailPurpose(id));
  if (text === null) return null;
  const { images, attachments, ...rest } = JSON.parse(text);
  return { ...rest, id, images: decodeParts(images), attachments: decodeParts(attachments) };
}

// Takes mail back that waits in the outbox and is of no use any more.

/**
 * What is being sent at this moment may go out, and is `sent` then; where that attempt fails, no
 * other follows. `null` stands for no mail.
 */
export async function withdrawMail(
  tx: Tx,
  ids: (string | null)[],
  error = 'it was taken back: its link works no more',
): Promise<void> {
  const waiting = ids.filter((id) => id !== null);
  if (waiting.length === 0) return;
  await tx
    .updateTable('outbox')
    .set({
      status: 'failed',
      content: null,
      due_at: null,
      lease: null,
      leased_until: null,
      error,
    })
    .where('id', 'in', waiting)
    .where('status', '=', 'queued')
    .execute();
}

// To whom mail of ours may go.

/**
 * Throws `validation_failed` for addresses of our own: mail that came in as a test would be counted by
 * the next report, or raise the alert that it tells of.
 */
export function refuseOwnAddresses(
  { INBOX_DOMAIN }: Pick<Config, 'INBOX_DOMAIN'>,
  recipients: string[],
): void {
  refuseEach(
    'recipients',
    recipients,
    (email) => addressDomain(email) === INBOX_DOMAIN,
    'is an address of this service, at which tests arrive; name one that people read',
  );
}
