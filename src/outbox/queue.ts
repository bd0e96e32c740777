/** Queues emails in the outbox, in the same transaction as the change that they report. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { isoTime } from '../lib/clock.ts';
import { mailPurpose, type SecretBox } from '../lib/crypto.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { rejectInvalidItems } from '../lib/errors.ts';
import type { Mail } from '../net/smtp/compose.ts';
import type { Tx } from '../store/open.ts';
import type { OutboxRow } from '../store/tables.generated.ts';

/** The name of the sending job, used to wake it. */
export const SEND_JOB = 'send mail';

/**
 * Returns the id of the email, or null if outgoing mail is not configured. Wake `SEND_JOB` after the
 * commit. The email is not sent after `usefulUntil` (ISO time), for example when its link expires.
 * There may be many `bulk` emails, so other emails are sent first.
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
      content: encryptMail(secrets, id, mail),
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

/** The status of the email of an invitation. A missing row means sent: retention never deletes failed emails of invitations. */
export function emailStatus(
  mailId: string | null,
  row: Pick<OutboxRow, 'status'> | undefined,
): EmailStatus {
  if (mailId === null) return 'not_configured';
  return row?.status ?? 'sent';
}

// The content of queued emails is encrypted, because their links are credentials.

/** An email that has no id yet. */
export type OutgoingMail = Omit<Mail, 'id'>;

/** Binary content is Base64 in JSON. */
const encodeParts = (parts?: { content: Uint8Array }[]) =>
  parts?.map(({ content, ...metadata }) => ({
    ...metadata,
    content: Buffer.from(content).toString('base64'),
  }));
const decodeParts = (parts?: { content: string }[]) =>
  parts?.map(({ content, ...metadata }) => ({
    ...metadata,
    content: Buffer.from(content, 'base64'),
  }));

export function encryptMail(secrets: SecretBox, id: string, mail: OutgoingMail): string {
  const { images, attachments, ...rest } = mail;
  const text = JSON.stringify({
    ...rest,
    images: encodeParts(images),
    attachments: encodeParts(attachments),
  });
  return secrets.seal(text, mailPurpose(id));
}

/** null if the content is damaged or was encrypted with another key. */
export function decryptMail(secrets: SecretBox, id: string, sealed: string): Mail | null {
  const text = secrets.open(sealed, mailPurpose(id));
  if (text === null) return null;
  const { images, attachments, ...rest } = JSON.parse(text);
  return { ...rest, id, images: decodeParts(images), attachments: decodeParts(attachments) };
}

// Cancels queued emails.

/**
 * An email that is being sent may still go out and then becomes `sent`. If that attempt fails, it is
 * not retried. Ignores `null`, which means no email.
 */
export async function cancelMail(
  tx: Tx,
  ids: (string | null)[],
  error = 'it was canceled: its link no longer works',
): Promise<void> {
  const mailIds = ids.filter((id) => id !== null);
  if (mailIds.length === 0) return;
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
    .where('id', 'in', mailIds)
    .where('status', '=', 'queued')
    .execute();
}

// Which recipients are allowed.

/**
 * Throws `validation_failed` for addresses of the test domain: an email received as a test would count
 * in the next report or trigger the alert that it reports.
 */
export function rejectTestAddresses(
  { INBOX_DOMAIN }: Pick<Config, 'INBOX_DOMAIN'>,
  recipients: string[],
): void {
  rejectInvalidItems(
    'recipients',
    recipients,
    (email) => addressDomain(email) === INBOX_DOMAIN,
    'is an address in the domain of the test addresses; use a mailbox that people read',
  );
}
