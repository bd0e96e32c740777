/** Forwards mail for postmaster to the owner, as an attachment of an email from the service. */

import { decodeWords } from 'postal-mime';
import type { Envelope } from '../analysis/check.ts';
import { scanHeaders } from '../analysis/mime/headers.ts';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { DAY_MS, formatSize } from '../lib/durations.ts';
import { timeInWords } from '../lib/format/times.ts';
import { printable } from '../lib/log.ts';
import { type MailAttachment, readMailbox } from '../net/smtp/compose.ts';
import { queueMail } from '../outbox/queue.ts';
import { mailFrame } from '../report/mail-frame.ts';
import type { Tx } from '../store/open.ts';
import type { MessageRow } from '../store/tables.generated.ts';
import { findOwner } from '../team/members.ts';

/** Anyone can write to postmaster. Messages above this limit are stored but not forwarded. */
const MAX_FORWARDED_PER_DAY = 50;
/** The outbox stores the attachment again, encrypted. Complaints are small. */
const MAX_ATTACHMENT_BYTES = 256 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
/** Octets without the line break (RFC 5322 §2.1.1). */
const MAX_LINE_LENGTH = 998;

/**
 * Queues the forwarded email. Call it in the transaction that stores the message. To prevent loops,
 * automatic messages and our own are not forwarded.
 */
export async function forwardToOwner(
  tx: Tx,
  app: App,
  message: MessageRow,
  raw: Uint8Array,
): Promise<void> {
  if (app.mailer === null) return;
  const owner = await findOwner(tx);
  if (!owner || addressDomain(owner.email) === app.config.INBOX_DOMAIN) return;
  const envelope: Envelope = JSON.parse(message.envelope);
  const { headers } = scanHeaders(raw.subarray(0, MAX_HEADER_BYTES));
  const field = (key: string) => headers.find((header) => header.key === key)?.value ?? '';
  if (isAutomatic(field('auto-submitted')) || isOurs(envelope, app)) return;
  const count = await countLastDay(tx, app);
  if (count > MAX_FORWARDED_PER_DAY) return;
  const subject = cleanText(field('subject'), 100);
  const isAttached = raw.byteLength <= MAX_ATTACHMENT_BYTES;
  if (!isAttached)
    app.log.warn('postmaster mail is too large to attach', {
      message_id: message.id,
      size: message.size,
    });
  const { text, html } = mailFrame({
    title: `Mail for ${message.recipient}`,
    preheader: cleanText(`${subject} – ${field('from')}`, 140),
    blocks: [
      `Someone sent a message to ${message.recipient}. People use this address to report problems with mail from your service.`,
      isAttached
        ? 'The original message is attached. Open it with care.'
        : `The message is too large to attach. The service keeps it as ${message.id} but cannot show it. If you need its content, ask the sender for a smaller message.`,
      { facts: factsOf(message, envelope, subject, field('from')) },
      ...(count === MAX_FORWARDED_PER_DAY
        ? [
            `This is message ${MAX_FORWARDED_PER_DAY} within 24 hours. The service stores further messages but does not forward them.`,
          ]
        : []),
    ],
    footer: `You received this email because you are the owner of the service at ${app.config.APP_URL}.`,
  });
  await queueMail(tx, app, {
    to: owner.email,
    subject: `Mail for ${message.recipient}${subject === '' ? '' : `: ${subject}`}`,
    text,
    html,
    attachments: isAttached ? [attachmentOf(raw)] : undefined,
  });
}

/** Any value but `no` marks an automatic message (RFC 3834 §5). */
const isAutomatic = (autoSubmitted: string): boolean =>
  !/^(?:no\b.*)?$/i.test(autoSubmitted.slice(0, 100).trim());

/** A bounce, which may result from an email of ours, or an email of ours itself. */
function isOurs({ mail_from }: Envelope, { config }: App): boolean {
  const serviceAddress = config.MAIL_FROM ? readMailbox(config.MAIL_FROM).address : null;
  return !mail_from || mail_from.toLowerCase() === serviceAddress?.toLowerCase();
}

/** Includes the current message. */
async function countLastDay(tx: Tx, { clock }: App): Promise<number> {
  const { count } = await tx
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('test_id', 'is', null)
    .where('received_at', '>', isoTime(clock.now() - DAY_MS))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function factsOf(
  message: MessageRow,
  { mail_from, client_ip, helo }: Envelope,
  subject: string,
  from: string,
): [string, string][] {
  return [
    ['From', cleanText(from, 200) || 'None'],
    ['Subject', subject || 'None'],
    [
      'Envelope',
      `${cleanText(mail_from ?? '', 200)}, from ${client_ip ?? 'an unknown IP address'} (${cleanText(helo ?? '', 100)})`,
    ],
    ['Received', timeInWords(message.received_at)],
    ['Size', formatSize(message.size)],
  ];
}

/** Untrusted text: shortened, without control characters. */
const cleanText = (text: string, length: number): string =>
  printable(decodeWords(text.slice(0, 1000)).replace(/\s+/g, ' '))
    .trim()
    .slice(0, length)
    .toWellFormed();

/**
 * A `message/rfc822` part must not be encoded (RFC 2046 §5.2.1). A message that SMTP would change is
 * attached as a file instead.
 */
function attachmentOf(raw: Uint8Array): MailAttachment {
  const contentType = survivesSmtp(raw) ? 'message/rfc822' : 'application/octet-stream';
  return { filename: 'message.eml', contentType, content: raw };
}

function survivesSmtp(raw: Uint8Array): boolean {
  if (raw.includes(0)) return false;
  for (let start = 0; start < raw.length; ) {
    const lf = raw.indexOf(0x0a, start);
    const end = lf < 0 ? raw.length : lf;
    const length = end - start - (raw[end - 1] === 0x0d ? 1 : 0);
    if (length > MAX_LINE_LENGTH) return false;
    start = end + 1;
  }
  return true;
}
