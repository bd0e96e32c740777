/** Which identity SPF is asked about: MAIL FROM, or HELO for a null sender. */

import { bareAddress, LONGEST_ADDRESS } from '../../lib/bare-address.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { fieldValue } from '../message.ts';

export interface SpfIdentity {
  identity: 'mailfrom' | 'helo';
  /** The address or host name as it was said; null where nothing is known. */
  text: string | null;
  /** What is given to check_host() as <sender> (RFC 7208 §4.1); null where it holds no domain name. */
  sender: string | null;
  /** Whose record is asked for, in A-labels; null where the text holds no domain name. */
  domain: string | null;
  /** Where a MAIL FROM comes from that the session does not tell; null where it does. */
  assumed: 'return_path' | null;
}

/**
 * MAIL FROM, or HELO where it is empty (RFC 7208 §2.4). Where the session does not tell, the
 * Return-Path field does, in which a receiver has written it down (RFC 5321 §4.4). Nothing stands in
 * for it otherwise: the From address is often at another domain.
 */
export function spfIdentity(context: Context): SpfIdentity {
  const { mail_from, helo } = context.envelope;
  if (mail_from !== null) return mailFromOrHelo(mail_from, helo, null);
  const returnPath = fieldValue(context.message, 'return-path');
  if (returnPath !== null) return mailFromOrHelo(returnPath, helo, 'return_path');
  return { identity: 'mailfrom', text: null, sender: null, domain: null, assumed: null };
}

function mailFromOrHelo(
  said: string,
  helo: string | null,
  assumed: SpfIdentity['assumed'],
): SpfIdentity {
  const address = bareAddress(said);
  if (address !== '') {
    // The local part may be a quoted string that holds an @: the domain follows the last one.
    const at = address.lastIndexOf('@');
    const domain = domainOf(address.slice(at + 1));
    const localPart = at > 0 ? address.slice(0, at) : 'postmaster';
    const sender = domain && `${localPart}@${domain}`;
    return { identity: 'mailfrom', text: said, sender, domain, assumed };
  }
  const domain = helo === null ? null : domainOf(helo.trim());
  return {
    identity: 'helo',
    text: helo,
    sender: domain && `postmaster@${domain}`,
    domain,
    assumed,
  };
}

/** A name of two labels or more that may be asked for; null for anything else (RFC 7208 §4.3). */
function domainOf(text: string): string | null {
  if (text.length > LONGEST_ADDRESS) return null;
  const domain = normalizeDomain(text);
  return domain?.includes('.') && !/^[\d.]+$/.test(domain) ? domain : null;
}
