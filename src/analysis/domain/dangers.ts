/**
 * How dangerous a problem of a domain is. The score, the summary and every list of problems read this table, so they
 * cannot contradict one another.
 */

import type { DomainCheck } from './health.ts';

interface Danger {
  /** The highest score possible while the problem remains. */
  limit: number;
  applies(check: DomainCheck): boolean;
}

/** Below this, every score belongs to a domain with a critical finding; from here on, none does. */
export const CRITICAL_BELOW = 50;

/** What critical findings lead to, worst first. `docs/monitoring.md` shows the limits. */
const DANGERS: Danger[] = [
  // Nobody finds the domain: all its mail is rejected, and none reaches it.
  { limit: 10, applies: ({ id }) => id === 'name_servers' },
  // Forged mail passes SPF as if it were the owner's, and DMARC with it.
  { limit: 20, applies: ({ id, evidence }) => id === 'spf_record' && evidence.open === true },
  // Large mailbox providers reject mail from listed domains.
  { limit: 30, applies: ({ id }) => id === 'domain_blocklists' },
  // All mail to the domain returns, or all that Gmail and Microsoft send.
  { limit: 35, applies: ({ id }) => id === 'mx' || id === 'mta_sts' },
  // Mailbox providers can't authenticate the mail of its servers.
  { limit: 40, applies: ({ id }) => id === 'spf_record' },
  // Receivers don't know what to do with forged mail.
  { limit: 45, applies: ({ id }) => id === 'dmarc_policy' || id === 'dmarc_record' },
];

/** The highest score of a domain with this finding; 100 unless it is critical. */
export function limitOf(check: DomainCheck): number {
  if (check.severity !== 'critical') return 100;
  return DANGERS.find(({ applies }) => applies(check))?.limit ?? CRITICAL_BELOW - 1;
}

/** The checks with something to fix: the most dangerous first, then those that cost more points. */
export function worstFirst<T extends DomainCheck>(checks: T[]): T[] {
  const lost = ({ status, former_status, points }: DomainCheck) =>
    (former_status ?? status) === 'fail' ? points : points / 2;
  return checks
    .filter(({ severity }) => severity !== null)
    .toSorted((a, b) => limitOf(a) - limitOf(b) || lost(b) - lost(a));
}
