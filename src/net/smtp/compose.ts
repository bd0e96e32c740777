/** Composes an email of the service: header, parts and envelope. */

import type { SendMailOptions } from 'nodemailer';
import { normalizeDomain } from '../../lib/domain-names.ts';
import type { MailImage } from '../../lib/mail.ts';

export interface Mail {
  /** Identifies the email in its Message-ID, which stays the same for each attempt. */
  id: string;
  /** A single address. */
  to: string;
  /** Instead of the configured name of the sender. */
  fromName?: string;
  subject: string;
  text: string;
  html: string;
  /** Additional header fields. */
  headers?: Record<string, string>;
  /** Images of the HTML part, related to it (RFC 2387). */
  images?: MailImage[];
  attachments?: MailAttachment[];
}

export interface MailAttachment {
  filename: string;
  /** `message/rfc822` is sent unencoded (RFC 2046 §5.2.1), everything else in base64. */
  contentType: string;
  content: Uint8Array;
}

/** Returns the options for nodemailer. The envelope sender is the From address. Reads no files or URLs. */
export function composeMail(mail: Mail, from: string, now: number): SendMailOptions {
  const configured = readMailbox(from);
  const sender = { ...configured, name: mail.fromName ?? configured.name };
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
    // Prevents automatic replies (RFC 3834 §5).
    headers: { ...mail.headers, 'Auto-Submitted': 'auto-generated' },
    attachments: [
      ...(mail.images ?? []).map(toInlineImage),
      ...(mail.attachments ?? []).map(toAttachment),
    ],
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const toAttachment = ({ filename, contentType, content }: MailAttachment) => ({
  filename,
  contentType,
  content: Buffer.from(content),
  contentDisposition: 'attachment' as const,
});

/** nodemailer puts attachments with a Content-ID into a multipart/related part with the HTML. */
const toInlineImage = ({ cid, ...image }: MailImage) => ({
  ...toAttachment(image),
  cid,
  contentDisposition: 'inline' as const,
});

/** Parses `Name <address>`, or an address alone. */
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
