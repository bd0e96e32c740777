/** Lets mailauth ask this program's resolver: answers and errors in the shapes of `node:dns`. */

import type { DNSResolver } from 'mailauth';
import {
  type DnsErrorReason,
  parseMx,
  type RecordType,
  type Resolver,
} from '../../net/dns/resolver.ts';

/** mailauth tells absence (ENOTFOUND, ENODATA) and impossible names (EBADNAME) from failure by these. */
const ERROR_CODES: Record<DnsErrorReason, string> = {
  timeout: 'ETIMEOUT',
  servfail: 'ESERVFAIL',
  refused: 'EREFUSED',
  unreachable: 'ECONNREFUSED',
  malformed: 'EBADRESP',
  disabled: 'ECANCELLED',
  limit: 'ECANCELLED',
};

/**
 * A function `(name, type)` as mailauth wants it: TXT as lists of strings, MX as
 * `{ exchange, priority }`, all else as text. Rejects with an error whose `code` is one of Node's:
 * `ENOTFOUND` (no such name), `ENODATA` (no such record), `EBADNAME` (cannot be a name in the DNS,
 * RFC 1035 §2.3.4: not asked), and any other for what could not be found out.
 */
export function mailauthResolver(resolver: Resolver): DNSResolver {
  const ask = async (asked: string, type: string) => {
    const name = asked.replace(/\.$/, '');
    if (!canBeAsked(name)) throw dnsError('EBADNAME', name, type);
    const answer = await resolver(name, type as RecordType);
    if (answer.status === 'nxdomain') throw dnsError('ENOTFOUND', name, type);
    if (answer.status === 'nodata') throw dnsError('ENODATA', name, type);
    if (answer.status === 'error') throw dnsError(ERROR_CODES[answer.reason], name, type);
    if (type === 'TXT') return answer.records.map((record) => [record]);
    if (type === 'MX') return answer.records.map(mxRecord);
    return answer.records;
  };
  // mailauth's own type for a resolver leaves out what MX answers look like.
  return ask as DNSResolver;
}

function canBeAsked(name: string): boolean {
  const octets = Buffer.byteLength(name);
  return (
    octets > 0 &&
    octets <= 253 &&
    name.split('.').every((label) => label !== '' && Buffer.byteLength(label) <= 63)
  );
}

function mxRecord(text: string): { exchange: string; priority: number } {
  const { preference, exchange } = parseMx(text);
  // The null MX (RFC 7505) is an empty name in Node's answers.
  return { exchange: exchange === '.' ? '' : exchange, priority: preference };
}

/** An error such as `node:dns` rejects with, but without a stack: absence is an everyday answer. */
function dnsError(code: string, name: string, type: string): Error {
  const message = `query${type} ${code} ${name}`;
  return Object.assign(Object.create(Error.prototype) as Error, { message, code });
}
