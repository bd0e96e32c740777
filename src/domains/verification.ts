/** The TXT record that proves that a domain is the team's: what it says, and whether it is there. */

import type { App } from '../app.ts';
import { DNS_FAILURES } from '../net/dns/resolver.ts';
import type { DomainRow } from '../store/tables.generated.ts';

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
      detail: `TXT ${name} could not be looked up: ${DNS_FAILURES[answer.reason]}. This is not counted as a failure.`,
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
