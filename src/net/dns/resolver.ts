/** What a DNS question can be answered with: found, not there (in two ways), or unknown. */

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
      /** Seconds that the answer may be kept, the least of its records. */
      ttl: number;
      /** The AD bit: the resolver has validated the answer by DNSSEC (RFC 4035 §3.2.3). */
      authenticated: boolean;
    }
  /** NXDOMAIN: nothing has this name, nor is there anything below it (RFC 8020). */
  | { status: 'nxdomain' }
  /** NOERROR without a record of this type: the name is there. */
  | { status: 'nodata' }
  /** Could not be found out: never to be taken for an absence. */
  | { status: 'error'; reason: DnsErrorReason };

export type DnsErrorReason =
  | 'timeout'
  | 'servfail'
  | 'refused'
  | 'unreachable'
  | 'malformed'
  | 'limit'
  | 'disabled';

/** Asks one question; never throws. Names are given without a trailing dot, in A-labels. */
export type Resolver = (name: string, type: RecordType) => Promise<DnsAnswer>;

/** The records, or an empty list where there are none; null where it could not be found out. */
export function recordsOf(answer: DnsAnswer): string[] | null {
  if (answer.status === 'found') return answer.records;
  return answer.status === 'error' ? null : [];
}

/** An MX record's text, `10 mx.example.com`, in its parts; `.` stands for the null MX (RFC 7505). */
export function parseMx(text: string): { preference: number; exchange: string } {
  const [preference = '0', exchange = '.'] = text.split(' ');
  return { preference: Number(preference), exchange: exchange === '' ? '.' : exchange };
}

// Why a question to the DNS has no answer, in half a sentence.

export const DNS_FAILURES: Record<DnsErrorReason, string> = {
  timeout: 'no answer came in time',
  servfail: 'the server could not find it out (SERVFAIL)',
  refused: 'the server refused to answer (REFUSED)',
  unreachable: 'no DNS server could be reached',
  malformed: 'the answer could not be read',
  limit: 'too many questions had been asked',
  disabled: 'DNS is turned off',
};
