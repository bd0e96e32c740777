/** What a mail of ours is made of: its header, its parts and its envelope. */

import type { SendMailOptions } from 'nodemailer';
import { normalizeDomain } from '../../lib/domain-names.ts';
import type { MailImage } from '../../lib/mail.ts';

export interface Mail {
  /** Makes the Message-ID: the same mail has the same at each try. */
  id: string;
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Further header fields. */
  headers?: Record<string, string>;
  /** What the HTML shows; each is in the same part as it (RFC 2387). */
  images?: MailImage[];
  attachments?: MailAttachment[];
}

export interface MailAttachment {
  filename: string;
  /** `message/rfc822` goes as it is (RFC 2046 §5.2.1), anything else in base64. */
  contentType: string;
  content: Uint8Array;
}

/** For nodemailer. The envelope's sender is the address of From. Nothing is read from files or the web. */
export function writeMail(mail: Mail, from: string, now: number): SendMailOptions {
  const sender = readMailbox(from);
  const recipient = { name: '', address: mail.to };
  return {
    from: sender,
    to: recipient,
    envelope: {
      from: sender.address,
      to: recipient,
      use8BitMime: mail.attachments?.some(isEightBit) ?? false,
    },
    messageId: `<${mail.id}@${domainOf(sender.address)}>`,
    date: new Date(now),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    // No answering machine answers it (RFC 3834 §5).
    headers: { ...mail.headers, 'Auto-Submitted': 'auto-generated' },
    attachments: [...(mail.images ?? []).map(inline), ...(mail.attachments ?? []).map(attached)],
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const attached = ({ filename, contentType, content }: MailAttachment) => ({
  filename,
  contentType,
  content: Buffer.from(content),
  contentDisposition: 'attachment' as const,
});

/** With a Content-ID nodemailer puts it beside the HTML. */
const inline = ({ cid, ...image }: MailImage) => ({
  ...attached(image),
  cid,
  contentDisposition: 'inline' as const,
});

/** Of `Name <address>`, or of an address alone. */
export function readMailbox(text: string): { name: string; address: string } {
  const [, name = '', address] = /^(.*)<([^<>]+)>$/.exec(text.trim()) ?? [];
  return { name: name.trim(), address: address ?? text.trim() };
}

function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return normalizeDomain(domain) ?? domain;
}

const isEightBit = ({ contentType, content }: MailAttachment): boolean =>
  contentType === 'message/rfc822' && content.some((byte) => byte > 127);
