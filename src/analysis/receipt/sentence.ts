/** Who received a saved message, as a sentence. */

import { formatUtcTime } from '../../lib/clock.ts';
import type { Receipt } from './receipt.ts';

export const UNKNOWN_RECEIPT = 'Not known: this is a file.';

/** `Gmail received it from 192.0.2.25 (mail.example.com), encrypted, on 20 Nov 2026, 09:46 UTC.` */
export function describeReceipt(receipt: Receipt | null): string {
  if (receipt?.client_ip == null) return UNKNOWN_RECEIPT;
  const { provider, by, client_ip, helo, tls, at } = receipt;
  const from = helo === null ? client_ip : `${client_ip} (${helo})`;
  const encryption = tls === null ? [] : [tls.used ? 'encrypted' : 'not encrypted'];
  const time = at === null ? [] : [`on ${formatUtcTime(at)}`];
  return `${[`${provider ?? by} received it from ${from}`, ...encryption, ...time].join(', ')}.`;
}
