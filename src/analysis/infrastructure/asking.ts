/** What a check says where the DNS was not asked, or did not answer. */

import { DNS_FAILURES } from '../../net/dns-failures.ts';
import type { DnsErrorReason, RecordType } from '../../net/resolver.ts';
import { type Finding, skipped, unknown } from '../check.ts';

/** A question that was not answered. */
export interface Unanswered {
  name: string;
  type: RecordType;
  reason: DnsErrorReason;
}

export function offline(title: string): Finding {
  return skipped(title, 'DNS was not asked: offline.');
}

/** The finding of a check that hangs on these questions: unknown, and held against nobody. */
export function notAnswered(
  title: string,
  failures: Unanswered[],
  evidence: Finding['evidence'] = {},
): Finding {
  const questions = failures.map(
    ({ name, type, reason }) => `${type} ${name}: ${DNS_FAILURES[reason]}`,
  );
  const [first, ...others] = questions;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return unknown(
    title,
    `A DNS question was left open: ${first ?? 'none'}${more}. This is not counted against you.`,
    { ...evidence, unanswered: questions.slice(0, 10) },
  );
}
