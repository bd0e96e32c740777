/** The domains that the message claims to come from: in From, and in MAIL FROM. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { bareAddress, LONGEST_ADDRESS } from '../../lib/bare-address.ts';
import { addressDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';

/** The domain of the first From address, in A-labels; null where it has none. */
export function fromDomain(context: Context): string | null {
  return mailDomain(context.message.from[0]?.address ?? '');
}

/** The domain of MAIL FROM, in A-labels; null for the null sender, an unknown one, and one without a domain. */
export function mailFromDomain(context: Context): string | null {
  return mailDomain(bareAddress(context.envelope.mail_from ?? ''));
}

// An address literal or a single label (`root@localhost`) is no domain that mail can be sent to.
function mailDomain(address: string): string | null {
  const domain = address.length > LONGEST_ADDRESS ? null : addressDomain(address);
  return domain?.includes('.') && normalizeAddress(domain) === null ? domain : null;
}
