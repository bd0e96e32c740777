/** Adapts our resolver to mailauth, with answers and errors in the format of `node:dns`. */

import type { DNSResolver } from 'mailauth';
import {
  type DnsErrorReason,
  parseMx,
  type RecordType,
  type Resolver,
} from '../../net/dns/resolver.ts';

/** mailauth treats ENOTFOUND, ENODATA and EBADNAME as absence, all other codes as failure. */
const ERROR_CODES: Record<DnsErrorReason, string> = {
  timeout: 'ETIMEOUT',
  servfail: 'ESERVFAIL',
  refused: 'EREFUSED',
  unreachable: 'ECONNREFUSED',
  malformed: 'EBADRESP',
  denies: 'EBADRESP',
  disabled: 'ECANCELLED',
  limit: 'ECANCELLED',
};

/**
 * Returns a function `(name, type)` that resolves TXT as lists of strings, MX as
 * `{ exchange, priority }`, and other types as text. It rejects with Node's error codes: `ENOTFOUND`
 * (no such name), `ENODATA` (no such record), `EBADNAME` (not a valid DNS name, RFC 1035 §2.3.4, so
 * not queried), and any other code for a failed lookup.
 */
export function mailauthResolver(resolver: Resolver): DNSResolver {
  const resolve = async (fullName: string, type: string) => {
    const name = fullName.replace(/\.$/, '');
    if (!isValidName(name)) throw dnsError('EBADNAME', name, type);
    const answer = await resolver(name, type as RecordType);
    if (answer.status === 'nxdomain') throw dnsError('ENOTFOUND', name, type);
    if (answer.status === 'nodata') throw dnsError('ENODATA', name, type);
    if (answer.status === 'error') throw dnsError(ERROR_CODES[answer.reason], name, type);
    if (type === 'TXT') return answer.records.map((record) => [record]);
    if (type === 'MX') return answer.records.map(mxRecord);
    return answer.records;
  };
  // mailauth's resolver type does not cover the format of MX answers.
  return resolve as DNSResolver;
}

function isValidName(name: string): boolean {
  const octets = Buffer.byteLength(name);
  return (
    octets > 0 &&
    octets <= 253 &&
    name.split('.').every((label) => label !== '' && Buffer.byteLength(label) <= 63)
  );
}

function mxRecord(text: string): { exchange: string; priority: number } {
  const { preference, exchange } = parseMx(text);
  // Node returns the null MX (RFC 7505) as an empty name.
  return { exchange: exchange === '.' ? '' : exchange, priority: preference };
}

/** An error in the format of `node:dns`, without a stack trace because absence is common. */
function dnsError(code: string, name: string, type: string): Error {
  const message = `query${type} ${code} ${name}`;
  return Object.assign(Object.create(Error.prototype) as Error, { message, code });
}
