/** The TXT record that proves the team's control over a domain, and its lookup. */

import type { App } from '../app.ts';
import { DNS_FAILURES } from '../net/dns/resolver.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { teamToken } from './team-token.ts';

/** The result of a lookup. `detail` is a sentence for users; `startedAt` is in ms since the epoch. */
export type Lookup = { startedAt: number } & (
  | { found: 'yes' }
  /** DNS answered, and the record isn't there. */
  | { found: 'no'; detail: string }
  /** DNS didn't answer. */
  | { found: 'unknown'; detail: string }
);

export function verificationRecord({ name, token }: Pick<DomainRow, 'name' | 'token'>) {
  return {
    type: 'TXT' as const,
    name: `_deliverability.${name}`,
    value: `deliverability-verify=${token}`,
  };
}

export const teamRecord = (name: string, token: string) => verificationRecord({ name, token });

/** The record of the domain counts, or that of the team. Rejects only if the database is unavailable. */
export async function lookUpVerification(
  app: Pick<App, 'resolver' | 'clock' | 'db'>,
  domain: Pick<DomainRow, 'name' | 'token'>,
): Promise<Lookup> {
  const { resolver, clock } = app;
  const startedAt = clock.now();
  const { name, value } = verificationRecord(domain);
  const accepted = [value, teamRecord(domain.name, await teamToken(app)).value];
  const answer = await resolver(name, 'TXT');
  if (answer.status === 'error')
    return {
      startedAt,
      found: 'unknown',
      detail: `Could not look up the TXT record at ${name}: ${DNS_FAILURES[answer.reason]}. This does not count as a failed verification.`,
    };
  if (answer.status !== 'found')
    return { startedAt, found: 'no', detail: `No TXT record found at ${name}.` };
  if (answer.records.some((text) => accepted.includes(stripQuotes(text))))
    return { startedAt, found: 'yes' };
  return {
    startedAt,
    found: 'no',
    detail: `The TXT record at ${name} does not contain ${value}.`,
  };
}

/** Some users publish the quotes of the zone file syntax as part of the value. */
const stripQuotes = (text: string): string => text.trim().replace(/^"(.*)"$/, '$1');
