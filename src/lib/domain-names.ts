/** Domain names in canonical form: lower-case A-labels without a trailing dot. */

import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';

/** Labels between dots. */
const VALID_NAME = /^(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*$/;

/**
 * The name as lower-case A-labels without a trailing dot; null if it can't be a domain name
 * (RFC 1035 §2.3.4, RFC 5891). Underscores are allowed, as in `_dmarc.example.com`.
 */
export function normalizeDomain(name: string): string | null {
  const trimmed = name.trim().replace(/\.$/, '');
  if (trimmed === '' || trimmed.length > 1000) return null;
  // domainToASCII silently drops newlines and tabs.
  if (/[\s\p{Cc}]/u.test(trimmed)) return null;
  // ASCII names skip domainToASCII: it rejects some underscores and rewrites names that look like
  // IP addresses.
  const ascii = /^[\x21-\x7e]+$/.test(trimmed) ? trimmed.toLowerCase() : domainToASCII(trimmed);
  if (ascii === '' || ascii.length > 253) return null;
  return VALID_NAME.test(ascii) ? ascii : null;
}

/**
 * The registrable domain by the ICANN part of the Public Suffix List: `mail.example.co.uk` →
 * `example.co.uk`. Null for a public suffix or a name without one.
 */
export function organizationalDomain(name: string): string | null {
  return getDomain(name, { allowPrivateDomains: false, validateHostname: false });
}

/**
 * The shortest name above which someone else decides what is published, by the whole Public Suffix List:
 * `mail.shop.uk.com` → `shop.uk.com`. Null for a suffix. DMARC does not use this part of the list.
 */
export function ownedDomain(name: string): string | null {
  return getDomain(name, { allowPrivateDomains: true, validateHostname: false });
}

/** The normalized domain of an email address; null if it has no valid domain. */
export function addressDomain(address: string): string | null {
  const at = address.lastIndexOf('@');
  return at < 0 ? null : normalizeDomain(address.slice(at + 1));
}

const RESERVED = /(^|\.)(example|test|invalid|localhost|example\.(com|net|org))$/;

/** Whether the name is reserved for tests and examples (RFC 2606, RFC 6761). In lower case. */
export const isReservedName = (domain: string): boolean => RESERVED.test(domain);
