/** From a row to the domain that the API answers and that events embed. */

import { isoTime } from '../lib/clock.ts';
import type { DomainRow } from '../store/watching-tables.ts';
import type { Look } from './health.ts';
import type { Domain, DomainHealthAnswer, ListedDomain, RecordToPublish } from './schema.ts';
import { selectorsOf } from './selectors.ts';
import { verificationRecord } from './verification.ts';

/** The list form never needs the checks, by far the largest part. */
export type ListedRow = Omit<DomainRow, 'health_checks'>;

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

/** What a look has found, with what to publish. */
export function presentHealth(
  row: DomainRow,
  { health: { status, score, summary, checks }, begunAt }: Look,
  records: RecordToPublish[],
): DomainHealthAnswer {
  return {
    object: 'domain_health',
    domain_id: row.id,
    name: row.name,
    status,
    score,
    summary,
    checks,
    records,
    checked_at: isoTime(begunAt),
  };
}
