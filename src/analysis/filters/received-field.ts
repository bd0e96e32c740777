/** The fields that a receiving server would have put before the message, so that an engine judges the right client. */

import type { Context } from '../check.ts';
import { mailDate } from '../mail-date.ts';

/**
 * Return-Path and Received (RFC 5321 §4.4) with the client, its HELO and the time of receipt, which
 * is "now" for rules on the Date field. What is not known is left out: an engine takes a message
 * without Received as one of its own.
 */
export function receivedFields(context: Context, clientName: string | null): Buffer {
  const { mail_from, client_ip, helo, tls } = context.envelope;
  const fields: string[] = [];
  if (mail_from !== null) fields.push(`Return-Path: <${token(mail_from)}>`);
  if (client_ip !== null) {
    const address = client_ip.includes(':') ? `IPv6:${client_ip}` : client_ip;
    const from = `from ${token(helo) || 'unknown'} (${token(clientName) || 'unknown'} [${address}])`;
    const by = `by mx.invalid (Deliverability) with ${tls?.used ? 'ESMTPS' : 'ESMTP'} id 1`;
    fields.push(`Received: ${from}\r\n\t${by};\r\n\t${mailDate(context.receivedAt)}`);
  }
  return Buffer.from(fields.map((field) => `${field}\r\n`).join(''), 'utf8');
}

/** Without what would end the token, the comment or the field. */
const token = (text: string | null): string =>
  (text ?? '').replace(/[\s\u0000-\u001f\u007f()<>;]+/g, '').slice(0, 320);
