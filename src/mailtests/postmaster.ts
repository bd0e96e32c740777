/** Passes mail for postmaster on to the owner, as an attachment, in a mail of the service's own. */

import { decodeWords } from 'postal-mime';
import type { Envelope } from '../analysis/check.ts';
import { scanHeaders } from '../analysis/mime/headers.ts';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { formatSize } from '../lib/durations.ts';
import { printable } from '../lib/log.ts';
import { type MailAttachment, readMailbox } from '../net/smtp/compose.ts';
import { queueMail } from '../outbox/queue.ts';
import { mailFrame } from '../report/mail-frame.ts';
import type { Tx } from '../store/open.ts';
import type { MessageRow } from '../store/tables.generated.ts';
import { findOwner } from '../team/members.ts';

const DAY_MS = 86_400_000;
/** Anyone may write to postmaster: beyond this the owner's mailbox is spared, and mail is kept alone. */
const MAX_A_DAY = 50;
/** It waits in the database once more, encrypted; complaints are small. */
const MAX_ATTACHED = 256 * 1024;
/** Where the fields of an honest message stand. */
const MAX_HEADER = 64 * 1024;
/** Octets of a line without its end (RFC 5322 §2.1.1). */
const MAX_LINE = 998;

/** In the transaction that stores the message. What no person has sent, or what might come round again, stays here. */
export async function passOn(
  tx: Tx,
  app: App,
  message: MessageRow,
  raw: Uint8Array,
): Promise<void> {
  if (app.mailer === null) return;
  const owner = await findOwner(tx);
  if (!owner || addressDomain(owner.email) === app.config.INBOX_DOMAIN) return;
  const envelope: Envelope = JSON.parse(message.envelope);
  const { headers } = scanHeaders(raw.subarray(0, MAX_HEADER));
  const field = (key: string) => headers.find((one) => one.key === key)?.value ?? '';
  if (isAutomatic(field('auto-submitted')) || isOurs(envelope, app)) return;
  const today = await countToday(tx, app);
  if (today > MAX_A_DAY) return;
  const subject = readable(field('subject'), 100);
  const attached = raw.byteLength <= MAX_ATTACHED;
  if (!attached)
    app.log.warn('mail for postmaster is too large to be passed on whole', {
      message: message.id,
      size: message.size,
    });
  const { text, html } = mailFrame({
    title: `Mail for ${message.recipient}`,
    preheader: readable(`${subject} – ${field('from')}`, 140),
    blocks: [
      `Somebody wrote to ${message.recipient}, the address at which other people report problems with the mail of a service. ${attached ? 'The message is attached as it came: open it with care.' : `It is too large to be attached and is kept as ${message.id}, which no page of the service shows: if you need what it says, ask the sender for a shorter one.`}`,
      { facts: factsOf(message, envelope, subject, field('from')) },
      ...(today === MAX_A_DAY
        ? [`These were ${MAX_A_DAY} within a day. What else comes is kept and not passed on.`]
        : []),
    ],
    footer: `You get this because you are the owner of the service at ${app.config.APP_URL}.`,
  });
  await queueMail(tx, app, {
    to: owner.email,
    subject: `Mail for ${message.recipient}${subject === '' ? '' : `: ${subject}`}`,
    text,
    html,
    attachments: attached ? [attachmentOf(raw)] : undefined,
  });
}

/** Anything but `no` says that a machine has written it (RFC 3834 §5). */
const isAutomatic = (autoSubmitted: string): boolean =>
  !/^(?:no\b.*)?$/i.test(autoSubmitted.slice(0, 100).trim());

/** A bounce, which may be one of a mail of ours, or mail of ours itself. */
function isOurs({ mail_from }: Envelope, { config }: App): boolean {
  const own = config.MAIL_FROM ? readMailbox(config.MAIL_FROM).address : null;
  return !mail_from || mail_from.toLowerCase() === own?.toLowerCase();
}

/** This one too. */
async function countToday(tx: Tx, { clock }: App): Promise<number> {
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
    ['From', readable(from, 200) || 'Nobody'],
    ['Subject', subject || 'None'],
    [
      'Envelope',
      `${readable(mail_from ?? '', 200)}, from ${client_ip ?? 'an unknown address'} (${readable(helo ?? '', 100)})`,
    ],
    ['Received', `${message.received_at.slice(0, 16).replace('T', ' ')} UTC`],
    ['Size', formatSize(message.size)],
  ];
}

/** A stranger's text, short and without what moves a cursor. */
const readable = (text: string, length: number): string =>
  printable(decodeWords(text.slice(0, 1000)).replace(/\s+/g, ' '))
    .trim()
    .slice(0, length)
    .toWellFormed();

/** A message may not be encoded (RFC 2046 §5.2.1): what SMTP would change on the way goes as a file. */
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
    if (length > MAX_LINE) return false;
    start = end + 1;
  }
  return true;
}
