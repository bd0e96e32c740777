/** The interface of DNS lookups. An answer is found, absent (in two ways), or unknown. */

export type RecordType =
  | 'A'
  | 'AAAA'
  | 'CAA'
  | 'CNAME'
  | 'DNSKEY'
  | 'DS'
  | 'MX'
  | 'NS'
  | 'PTR'
  | 'SOA'
  | 'TLSA'
  | 'TXT';

/** Every record as text: TXT strings joined without a separator, MX as `10 mx.example.com`. */
export type DnsAnswer =
  | {
      status: 'found';
      records: string[];
      /** The lowest TTL of the records, in seconds. */
      ttl: number;
      /** The AD bit: the resolver has validated the answer with DNSSEC (RFC 4035 §3.2.3). */
      authenticated: boolean;
    }
  /** NXDOMAIN: neither the name nor any name below it exists (RFC 8020). */
  | { status: 'nxdomain' }
  /** NOERROR without a record of this type: the name exists. */
  | { status: 'nodata' }
  /** Unknown: must never be treated as absent. */
  | { status: 'error'; reason: DnsErrorReason };

export type DnsErrorReason =
  | 'timeout'
  | 'servfail'
  | 'refused'
  | 'unreachable'
  | 'malformed'
  | 'limit'
  /** The resolver denies names that exist: see `withoutFalseDenials`. */
  | 'denies'
  | 'disabled';

/** Looks up one name; never rejects. Names are in A-labels, without a trailing dot. */
export type Resolver = (name: string, type: RecordType) => Promise<DnsAnswer>;

/** The answer of a cache. Each caller gets its own records, so that sorting them does not change the cache. */
export function copyAnswer(answer: DnsAnswer): DnsAnswer {
  return answer.status === 'found' ? { ...answer, records: [...answer.records] } : answer;
}

/** The records, an empty list if there are none, or null if the lookup failed. */
export function recordsOf(answer: DnsAnswer): string[] | null {
  if (answer.status === 'found') return answer.records;
  return answer.status === 'error' ? null : [];
}

/** Parses the text of an MX record, `10 mx.example.com`; `.` is the null MX (RFC 7505). */
export function parseMx(text: string): { preference: number; exchange: string } {
  // A form may have put spaces into the name.
  const [, preference = '0', exchange = '.'] = /^(\S*) ?(.*)$/s.exec(text) ?? [];
  return { preference: Number(preference), exchange: exchange === '' ? '.' : exchange };
}

/** Why a DNS lookup failed, as a clause. */
export const DNS_FAILURES: Record<DnsErrorReason, string> = {
  timeout: 'no response in time',
  servfail: 'the DNS server failed to resolve the name (SERVFAIL)',
  refused: 'the DNS server refused the query (REFUSED)',
  unreachable: 'no DNS server could be reached',
  malformed: 'the DNS response is invalid',
  limit: 'the limit on DNS queries was reached',
  denies: 'the DNS server reports every name as missing, even com, so its answers are wrong',
  disabled: 'DNS lookups are disabled',
};
