/** The header fields that prove to a receiver where an event comes from and that it is whole. */

import { createHmac } from 'node:crypto';
import type { SigningSecrets } from './signing-secrets.ts';

export interface Signable {
  eventId: string;
  /** The exact text of the body. */
  payload: string;
  /** Milliseconds since 1970: when it is sent. */
  sentAt: number;
}

/**
 * Our own fields (contract §9: `sha256=` and the hex HMAC of `<timestamp>.<payload>` under the whole
 * secret) and those of Standard Webhooks (`v1,` and the base64 HMAC of `<id>.<timestamp>.<payload>`
 * under what its base64 stands for). A former secret that overlaps signs too.
 */
export function signatureHeaders(
  { eventId, payload, sentAt }: Signable,
  { present, former }: SigningSecrets,
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const own = (secret: string) =>
    `sha256=${createHmac('sha256', secret).update(`${timestamp}.${payload}`).digest('hex')}`;
  const standard = (secret: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${eventId}.${timestamp}.${payload}`)
      .digest('base64')}`;
  return {
    'x-service-signature': own(present),
    ...(former === null ? {} : { 'x-service-signature-previous': own(former) }),
    'x-service-timestamp': timestamp,
    'x-service-event-id': eventId,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': [present, former]
      .filter((secret) => secret !== null)
      .map(standard)
      .join(' '),
  };
}
