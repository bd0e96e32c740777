/** The TXT record that proves that a domain is the team's: what it says, and whether it is there. */

import type { App } from '../app.ts';
import type { DnsErrorReason } from '../net/resolver.ts';
import type { DomainRow } from '../store/watching-tables.ts';

/** Of one lookup; `detail` is a sentence for people, `begunAt` in milliseconds since 1970. */
export type Lookup = { begunAt: number } & (
  | { found: 'yes' }
  /** The DNS has answered, and it is not there. */
  | { found: 'no'; detail: string }
  /** The DNS has not answered: nothing is known. */
  | { found: 'unknown'; detail: string }
);

export function verificationRecord({ name, token }: Pick<DomainRow, 'name' | 'token'>) {
  return {
    type: 'TXT' as const,
    name: `_deliverability.${name}`,
    value: `deliverability-verify=${token}`,
  };
}

const REASONS: Record<DnsErrorReason, string> = {
  timeout: 'no answer came in time',
  servfail: 'the server could not find it out (SERVFAIL)',
  refused: 'the server refused to answer (REFUSED)',
  unreachable: 'no DNS server could be reached',
  malformed: 'the answer could not be read',
  limit: 'too many questions were being asked',
  disabled: 'DNS is turned off',
};

/** Never rejects. */
export async function lookUpVerification(
  { resolver, clock }: Pick<App, 'resolver' | 'clock'>,
  domain: Pick<DomainRow, 'name' | 'token'>,
): Promise<Lookup> {
  const begunAt = clock.now();
  const { name, value } = verificationRecord(domain);
  const answer = await resolver(name, 'TXT');
  if (answer.status === 'error')
    return {
      begunAt,
      found: 'unknown',
      detail: `TXT ${name} could not be looked up: ${REASONS[answer.reason]}. This is not counted as a failure.`,
    };
  if (answer.status !== 'found')
    return { begunAt, found: 'no', detail: `There is no TXT record at ${name}.` };
  if (answer.records.some((text) => plain(text) === value)) return { begunAt, found: 'yes' };
  return {
    begunAt,
    found: 'no',
    detail: `The TXT record at ${name} has another value than ${value}.`,
  };
}

/** Some who publish a record take the quotes of a zone file for a part of it. */
const plain = (text: string): string => text.trim().replace(/^"(.*)"$/, '$1');
