/** From a row to the domain that the API answers and that events embed. */

import type { DomainHealth } from '../analysis/domain/domain-health.ts';
import { isoTime } from '../lib/clock.ts';
import type { DomainRow } from '../store/watching-tables.ts';
import type { Domain, DomainHealthAnswer, ListedDomain, RecordToPublish } from './schema.ts';
import { verificationRecord } from './verification.ts';

/** The list form never needs the checks, by far the largest part. */
export type ListedRow = Omit<DomainRow, 'health_checks'>;

/** Those given, then those learnt from mail. */
export function selectorsOf({
  given_selectors,
  learnt_selectors,
}: Pick<DomainRow, 'given_selectors' | 'learnt_selectors'>): string[] {
  return [...new Set<string>([...JSON.parse(given_selectors), ...JSON.parse(learnt_selectors)])];
}

export function presentListed(row: ListedRow): ListedDomain {
  return {
    id: row.id,
    object: 'domain',
    name: row.name,
    status: row.status,
    verification: verificationRecord(row),
    verified_at: row.verified_at,
    missing_since: row.missing_since,
    last_checked_at: row.last_checked_at,
    last_check_detail: row.last_check_detail,
    next_check_at: row.next_check_at,
    dkim_selectors: selectorsOf(row),
    badge_enabled: row.badge_enabled === 1,
    health: {
      status: row.health_status,
      score: row.health_score,
      checked_at: row.health_checked_at,
    },
    created_at: row.created_at,
  };
}

/** The full form: with the checks of the last look. */
export function presentDomain(row: DomainRow): Domain {
  const listed = presentListed(row);
  return { ...listed, health: { ...listed.health, checks: JSON.parse(row.health_checks) } };
}

/** What was found just now, with what to publish. */
export function presentHealth(
  row: DomainRow,
  { status, score, summary, checks }: DomainHealth,
  checkedAt: number,
): DomainHealthAnswer {
  return {
    object: 'domain_health',
    domain_id: row.id,
    name: row.name,
    status,
    score,
    summary,
    checks,
    records: recordsToPublish(row, checks),
    checked_at: isoTime(checkedAt),
  };
}

/** A key that only the signer knows leaves a gap like this: such a record cannot be copied. */
const GAP = /<[^<>]+>/;

function recordsToPublish(row: DomainRow, checks: DomainHealth['checks']): RecordToPublish[] {
  const proof = { ...verificationRecord(row), purpose: 'Proof that the domain is yours' };
  const fixes = checks.flatMap(({ label, fix }) =>
    fix?.record && !GAP.test(fix.record.value) ? [{ ...fix.record, purpose: label }] : [],
  );
  const missing = row.status !== 'verified' || row.missing_since !== null;
  const all = missing ? [proof, ...fixes] : fixes;
  return [...new Map(all.map((one) => [`${one.type} ${one.name} ${one.value}`, one])).values()];
}
