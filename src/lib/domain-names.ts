/** Domain names as the standards compare them: A-labels, lower case, no trailing dot. */

import { domainToASCII, domainToUnicode } from 'node:url';
import { getDomain } from 'tldts';

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/**
 * The A-label form in lower case, without a trailing dot; null for what cannot be a domain name
 * (RFC 1035 §2.3.4, RFC 5891). Underscores are allowed, as in `_dmarc.example.com`.
 */
export function normalizeDomain(name: string): string | null {
  const trimmed = name.trim().replace(/\.$/, '');
  if (trimmed === '' || trimmed.length > 1000) return null;
  // domainToASCII turns whatever looks like an address into one, and refuses underscores in some
  // places; plain ASCII names need neither.
  const ascii = /^[\x21-\x7e]+$/.test(trimmed) ? trimmed.toLowerCase() : domainToASCII(trimmed);
  if (ascii === '' || ascii.length > 253) return null;
  return ascii.split('.').every((label) => LABEL.test(label)) ? ascii : null;
}

/** The U-label form for people to read; the A-label form where it cannot be decoded. */
export function displayDomain(name: string): string {
  return domainToUnicode(name) || name;
}

/**
 * The registrable domain by the Public Suffix List (`mail.example.co.uk` → `example.co.uk`), or
 * null for a public suffix or a name without one.
 */
export function organizationalDomain(name: string): string | null {
  return getDomain(name, { allowPrivateDomains: false, validateHostname: false });
}

/** Whether `name` is `parent` or below it; both normalised. */
export function isSameOrSubdomain(name: string, parent: string): boolean {
  return name === parent || name.endsWith(`.${parent}`);
}

/** The domain of an address, normalised; null where there is none. */
export function addressDomain(address: string): string | null {
  const at = address.lastIndexOf('@');
  return at < 0 ? null : normalizeDomain(address.slice(at + 1));
}
