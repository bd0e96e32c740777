/** What a check says where the DNS was not asked, or did not answer. */

import type { DnsErrorReason, RecordType } from '../../net/resolver.ts';
import { type Finding, skipped, unknown } from '../check.ts';

const REASONS: Record<DnsErrorReason, string> = {
  timeout: 'no answer came in time',
  servfail: 'the server could not find it out (SERVFAIL)',
  refused: 'the server refused to answer (REFUSED)',
  unreachable: 'no DNS server could be reached',
  malformed: 'the answer could not be read',
  limit: 'too many questions had been asked',
  disabled: 'DNS is turned off',
};

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
  const questions = failures.map(({ name, type, reason }) => `${type} ${name}: ${REASONS[reason]}`);
  const [first, ...others] = questions;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return unknown(
    title,
    `A DNS question was left open: ${first ?? 'none'}${more}. This is not counted against you.`,
    { ...evidence, unanswered: questions.slice(0, 10) },
  );
}
