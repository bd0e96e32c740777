/** The domains that the message claims to come from: in From, and in MAIL FROM. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { addressDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';

/** No address is longer (RFC 5321 §4.5.3.1.3, RFC 3696 erratum 1690, generously): beyond is not one. */
const LONGEST_ADDRESS = 320;

/** The domain of the first From address, in A-labels; null where it has none. */
export function fromDomain(context: Context): string | null {
  return mailDomain(context.message.from[0]?.address ?? '');
}

/** The domain of MAIL FROM, in A-labels; null for the null sender, an unknown one, and one without a domain. */
export function mailFromDomain(context: Context): string | null {
  return mailDomain(bareAddress(context.envelope.mail_from ?? ''));
}

/** `<user@example.com>` and `user@example.com` alike; empty for the null sender `<>`. */
export function bareAddress(said: string): string {
  return said.trim().replace(/^<(.*)>$/s, '$1');
}

// An address literal or a single label (`root@localhost`) is no domain that mail can be sent to.
function mailDomain(address: string): string | null {
  const domain = address.length > LONGEST_ADDRESS ? null : addressDomain(address);
  return domain?.includes('.') && normalizeAddress(domain) === null ? domain : null;
}
