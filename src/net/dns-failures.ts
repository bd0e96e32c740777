/** Why a question to the DNS has no answer, in half a sentence. */

import type { DnsErrorReason } from './resolver.ts';

export const DNS_FAILURES: Record<DnsErrorReason, string> = {
  timeout: 'no answer came in time',
  servfail: 'the server could not find it out (SERVFAIL)',
  refused: 'the server refused to answer (REFUSED)',
  unreachable: 'no DNS server could be reached',
  malformed: 'the answer could not be read',
  limit: 'too many questions had been asked',
  disabled: 'DNS is turned off',
};
