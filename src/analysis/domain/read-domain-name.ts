/** Reads the name of a domain to look at, as people write it; what is none is told with the reason. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';

/** `fault` follows the text itself: "is an e-mail address …". */
type ReadDomain = { name: string; fault?: undefined } | { name: null; fault: string };

/** Of a name's 253 characters (RFC 1035 §2.3.4), what is left beside the longest label that is put before it. */
const NAME_MAX = 253 - '_deliverability.'.length;

/** A registered domain or one below it, in A-labels; U-labels are taken. */
export function readDomainName(text: string): ReadDomain {
  const written = text.trim();
  const fault = faultOf(written);
  if (fault !== null) return { name: null, fault };
  const name = normalizeDomain(written);
  if (name === null || /(?:^|\.)\d+$/.test(name))
    return { name: null, fault: 'is not a domain name such as example.com' };
  if (name.length > NAME_MAX)
    return {
      name: null,
      fault: `is too long: names of records below it would not fit (${NAME_MAX} characters at most)`,
    };
  if (/(?:^|\.)_/.test(name))
    return {
      name: null,
      fault: 'is the name of a DNS record; give the domain that mail comes from',
    };
  if (organizationalDomain(name) === null) return { name: null, fault: suffixFault(name) };
  return { name };
}

function faultOf(text: string): string | null {
  if (text === '') return 'is empty; give a domain name such as example.com';
  if (text.includes('://') || /^mailto:/i.test(text))
    return 'has a scheme; give the domain name alone';
  if (text.includes('@')) return 'is an e-mail address; give the domain name behind the @ alone';
  if (normalizeAddress(text) !== null) return 'is an IP address, not a domain name';
  if (/:\d*$/.test(text)) return 'has a port; give the domain name alone';
  if (/[/?#]/.test(text)) return 'has a path; give the domain name alone';
  return null;
}

function suffixFault(name: string): string {
  return name.includes('.')
    ? 'is a public suffix, below which others register their domains; give one of those'
    : 'is a single label, not a registered domain such as example.com';
}
