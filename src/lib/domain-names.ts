/** Domain names in canonical form: lower-case A-labels without a trailing dot. */

import { domainToASCII } from 'node:url';
import { getDomain, parse } from 'tldts';

/** In characters. */
const MAX_NAME = 253;
// Constants, because a regular expression in a function is a new object with each call.
const FINAL_DOT = /\.$/;
const SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const PRINTABLE = /^[\x21-\x7e]+$/;
/** Labels between dots. */
const VALID_NAME = /^(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*$/;

/**
 * The name as lower-case A-labels without a trailing dot; null if it can't be a domain name
 * (RFC 1035 §2.3.4, RFC 5891). Underscores are allowed, as in `_dmarc.example.com`.
 */
export function normalizeDomain(name: string): string | null {
  const trimmed = name.trim().replace(FINAL_DOT, '');
  if (trimmed === '' || trimmed.length > 1000) return null;
  const isAscii = PRINTABLE.test(trimmed);
  // domainToASCII silently drops newlines and tabs.
  if (!isAscii && SPACE_OR_CONTROL.test(trimmed)) return null;
  // ASCII names skip domainToASCII: it rejects some underscores and rewrites names that look like
  // IP addresses.
  const ascii = isAscii ? trimmed.toLowerCase() : domainToASCII(trimmed);
  if (ascii === '' || ascii.length > MAX_NAME) return null;
  return VALID_NAME.test(ascii) ? ascii : null;
}

/** The name and all names above it, the longest first: `a.example.com`, `example.com`, `com`. */
export function withParents(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

const MAX_CACHED = 64;

const copyOf = (text: string): string => Buffer.from(text).toString();

/** Caches up to 64 results: a message repeats a few names, and a search of the list takes microseconds. */
function cached(search: (name: string) => string | null): typeof search {
  const cache = new Map<string, string | null>();
  return (name) => {
    const known = cache.get(name);
    if (known !== undefined) return known;
    const found = search(name);
    if (name.length > MAX_NAME) return found;
    if (cache.size === MAX_CACHED) cache.clear();
    // Copies, because a part of a string keeps the whole string in memory.
    cache.set(copyOf(name), found === null ? null : copyOf(found));
    return found;
  };
}

/**
 * The registrable domain by the ICANN part of the Public Suffix List: `mail.example.co.uk` →
 * `example.co.uk`. Null for a public suffix or a name without one.
 */
export const organizationalDomain = cached((name) =>
  getDomain(name, { allowPrivateDomains: false, validateHostname: false }),
);

/**
 * The shortest name above which someone else decides what is published, by the whole Public Suffix List:
 * `mail.shop.uk.com` → `shop.uk.com`. Null for a suffix. DMARC does not use this part of the list.
 */
export const ownedDomain = cached((name) =>
  getDomain(name, { allowPrivateDomains: true, validateHostname: false }),
);

/** What the owner of a name registered, by `ownedDomain`; the name itself if it is a suffix. */
export const ownerOf = (name: string): string => ownedDomain(name) ?? name;

/** The normalized domain of an email address; null if it has no valid domain. */
export function addressDomain(address: string): string | null {
  const at = address.lastIndexOf('@');
  return at < 0 ? null : normalizeDomain(address.slice(at + 1));
}

const RESERVED = /(^|\.)(example|test|invalid|localhost|example\.(com|net|org))$/;

/** Whether the name is reserved for tests and examples (RFC 2606, RFC 6761). In lower case. */
export const isReservedName = (domain: string): boolean => RESERVED.test(domain);

/** Whether names can be registered below the end of the name: false for `.lan`, `.arpa` and a mistyped `.con`. */
export const isRegistrable = (name: string): boolean =>
  isReservedName(name) ||
  (!name.endsWith('.arpa') && parse(name, { validateHostname: false }).isIcann === true);
