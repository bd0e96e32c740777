/** DNS records as the text that the rest of the program reads, in presentation format (RFC 1035 §5.1). */

import type { Answer } from 'dns-packet';
import { normalizeAddress } from '../lib/addresses.ts';

/**
 * The record as text: `10 mx.example.com`, `0 issue "ca.example"`, TXT strings joined without a
 * separator (RFC 7208 §3.3), names without a trailing dot and in lower case. Null for types that
 * nobody here asks for.
 */
export function recordText(record: Answer): string | null {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return normalizeAddress(record.data) === null ? null : record.data;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return record.data.toLowerCase();
    case 'MX':
      return `${record.data.preference ?? 0} ${record.data.exchange.toLowerCase()}`;
    case 'TXT':
      return txtText(record.data);
    case 'CAA':
      return `${record.data.flags ?? 0} ${record.data.tag} "${record.data.value}"`;
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = record.data;
      return [mname, rname, serial, refresh, retry, expire, minimum].join(' ');
    }
    case 'DS': {
      const { keyTag, algorithm, digestType, digest } = record.data;
      return `${keyTag} ${algorithm} ${digestType} ${digest.toString('hex')}`;
    }
    case 'DNSKEY':
      return `${record.data.flags} 3 ${record.data.algorithm} ${record.data.key.toString('base64')}`;
    case 'TLSA': {
      const { usage, selector, matchingType, certificate } = record.data;
      return `${usage} ${selector} ${matchingType} ${certificate.toString('hex')}`;
    }
    default:
      return null;
  }
}

// The strings are joined as bytes first: a character may be split over two of them. Bytes that are
// not UTF-8 are read as Latin-1 and never replaced, so that a stray byte in an SPF or DKIM record
// stays in sight as a character above 127, at its own place.
function txtText(data: string | Buffer | (string | Buffer)[]): string {
  const pieces = (Array.isArray(data) ? data : [data]).map((piece) => Buffer.from(piece));
  const bytes = Buffer.concat(pieces);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}
