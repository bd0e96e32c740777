/** Domain names as the standards compare them: A-labels, lower case, no trailing dot. */

import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/**
 * The A-label form in lower case, without a trailing dot; null for what cannot be a domain name
 * (RFC 1035 §2.3.4, RFC 5891). Underscores are allowed, as in `_dmarc.example.com`.
 */
export function normalizeDomain(name: string): string | null {
  const trimmed = name.trim().replace(/\.$/, '');
  if (trimmed === '' || trimmed.length > 1000) return null;
  // domainToASCII would leave line ends and tabs out: what was written is not what would be read.
  if (/[\s\p{Cc}]/u.test(trimmed)) return null;
  // domainToASCII turns whatever looks like an address into one, and refuses underscores in some
  // places; plain ASCII names need neither.
  const ascii = /^[\x21-\x7e]+$/.test(trimmed) ? trimmed.toLowerCase() : domainToASCII(trimmed);
  if (ascii === '' || ascii.length > 253) return null;
  return ascii.split('.').every((label) => LABEL.test(label)) ? ascii : null;
}

/**
 * The registrable domain by the Public Suffix List (`mail.example.co.uk` → `example.co.uk`), or
 * null for a public suffix or a name without one.
 */
export function organizationalDomain(name: string): string | null {
  return getDomain(name, { allowPrivateDomains: false, validateHostname: false });
}

/** The domain of an address, normalised; null where there is none. */
export function addressDomain(address: string): string | null {
  const at = address.lastIndexOf('@');
  return at < 0 ? null : normalizeDomain(address.slice(at + 1));
}
