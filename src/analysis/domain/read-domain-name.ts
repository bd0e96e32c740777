/** Reads a domain name as people write it, or says why it is not one. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';

/** `fault` continues a sentence that begins with the text: "is an email address …". */
export type ReadDomain = { name: string; fault?: undefined } | { name: null; fault: string };

/** A name has at most 253 characters (RFC 1035 §2.3.4), including the longest label that we prepend. */
const MAX_NAME_LENGTH = 253 - '_deliverability.'.length;

/** Accepts a registered domain or a subdomain, also with U-labels. Returns A-labels. */
export function readDomainName(text: string): ReadDomain {
  const trimmed = text.trim();
  const fault = faultOf(trimmed);
  if (fault !== null) return { name: null, fault };
  const name = normalizeDomain(trimmed);
  if (name === null || /(?:^|\.)\d+$/.test(name))
    return { name: null, fault: 'is not a domain name such as example.com' };
  if (name.length > MAX_NAME_LENGTH)
    return {
      name: null,
      fault: `is too long (at most ${MAX_NAME_LENGTH} characters)`,
    };
  if (/(?:^|\.)_/.test(name))
    return {
      name: null,
      fault: 'is the name of a DNS record; enter the domain that sends mail',
    };
  if (organizationalDomain(name) === null) return { name: null, fault: suffixFault(name) };
  return { name };
}

function faultOf(text: string): string | null {
  if (text === '') return 'is empty; enter a domain name such as example.com';
  if (text.includes('://') || /^mailto:/i.test(text))
    return 'has a scheme; enter only the domain name';
  if (text.includes('@')) return 'is an email address; enter only the part after the @';
  if (normalizeAddress(text) !== null) return 'is an IP address, not a domain name';
  if (/:\d*$/.test(text)) return 'has a port; enter only the domain name';
  if (/[/?#]/.test(text)) return 'has a path; enter only the domain name';
  return null;
}

function suffixFault(name: string): string {
  return name.includes('.')
    ? 'is a public suffix; enter a domain registered below it'
    : 'is a single label, not a registered domain such as example.com';
}
