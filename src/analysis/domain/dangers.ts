/**
 * How dangerous a problem of a domain is. The score, the summary and every list of problems read this table, so they
 * cannot contradict one another.
 */

import type { CheckStatus, Json } from '../check.ts';

/** `critical`: mail of the domain is rejected, nobody can look it up, or anyone can send as the domain. null: nothing to fix. */
export type Severity = 'critical' | 'warning' | null;

/** What the danger of a check depends on. */
export interface JudgedCheck {
  /** As in a report. `dkim_selector` occurs once for each selector (`evidence.selector`). */
  id: string;
  status: CheckStatus;
  /** If the check fails to complete: its last known status, which determines severity and score. */
  former_status?: CheckStatus;
  severity: Severity;
  evidence: { [key: string]: Json };
  /** 0 for informational checks. */
  points: number;
}

interface Danger {
  /** The highest score possible while the problem remains. */
  limit: number;
  applies(check: JudgedCheck): boolean;
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
export function limitOf(check: JudgedCheck): number {
  if (check.severity !== 'critical') return 100;
  return DANGERS.find(({ applies }) => applies(check))?.limit ?? CRITICAL_BELOW - 1;
}

/** The checks with something to fix: the most dangerous first, then those that cost more points. */
export function worstFirst<T extends JudgedCheck>(checks: T[]): T[] {
  const lost = ({ status, former_status, points }: JudgedCheck) =>
    (former_status ?? status) === 'fail' ? points : points / 2;
  return checks
    .filter(({ severity }) => severity !== null)
    .toSorted((a, b) => limitOf(a) - limitOf(b) || lost(b) - lost(a));
}
