/** The policies under which servers connected, and which of a domain's mail servers failed why: from TLS reports. */

import { sql } from 'kysely';
import type { Db, Tx } from '../../store/open.ts';
import type { TlsFailureRow } from '../../store/tables.generated.ts';
import { isOfCountedReport } from '../queries.ts';
import { reporterTitle } from '../record/reporters.ts';
import { EMPTY_CONTENT } from '../status.ts';
import { countedReports, type Period } from '../sums.ts';

/** Policies are read from so many of the newest reports. */
export const MAX_POLICY_REPORTS = 500;

interface StoredPolicy {
  policy_type: string;
  policy_string: string[];
  succeeded: number;
  failed: number;
}

/** By type and MTA-STS mode; those with the most sessions first. */
export async function tlsPolicies(
  db: Db | Tx,
  { domain, from, to }: Pick<Period, 'from' | 'to'> & { domain: Pick<Period['domain'], 'id'> },
) {
  const rows = await countedReports(db, { domains: [domain.id], from, to }, 'tls')
    .select(['content', 'period_to'])
    .where('content', '<>', EMPTY_CONTENT)
    .orderBy('period_to', 'desc')
    .limit(MAX_POLICY_REPORTS)
    .execute();
  const sums = new Map<string, TlsPolicySum>();
  for (const { content, period_to } of rows) {
    const { policies = [] } = JSON.parse(content) as { policies?: StoredPolicy[] };
    for (const { policy_type, policy_string, succeeded, failed } of policies) {
      const mode = modeOf(policy_type, policy_string);
      const key = `${policy_type} ${mode}`;
      const sum = sums.get(key) ?? { policy_type, mode, succeeded: 0, failed: 0, days: new Set() };
      sum.succeeded += succeeded;
      sum.failed += failed;
      sum.days.add(period_to!.slice(0, 10));
      sums.set(key, sum);
    }
  }
  return [...sums.values()].sort((a, b) => b.succeeded + b.failed - a.succeeded - a.failed);
}

interface TlsPolicySum {
  policy_type: string;
  mode: string | null;
  succeeded: number;
  failed: number;
  /** The last days of the reports, which are of one day each. Not in responses. */
  days: Set<string>;
}

/** Of an MTA-STS policy (RFC 8461 §3.2). */
function modeOf(type: string, lines: string[]): string | null {
  if (type !== 'sts') return null;
  const found = lines.join('\n').match(/^\s*mode\s*:\s*(enforce|testing|none)\b/im);
  return found?.[1]?.toLowerCase() ?? null;
}

const MAX_LISTED = 100;

/** Failed sessions by reason and mail server, the most frequent first. */
export async function tlsFailures(db: Db, { domain, from, to }: Period) {
  const rows = await db
    .selectFrom('tls_failures')
    .select(['result_type', 'receiving_mx'])
    .select(({ fn }) => fn.sum('sessions').as('sessions'))
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .where(isOfCountedReport)
    .groupBy(['result_type', 'receiving_mx'])
    .orderBy(sql`sum(sessions)`, 'desc')
    .limit(MAX_LISTED)
    .execute();
  return rows.map((row) => ({ ...row, sessions: Number(row.sessions) }));
}

const EXPORT_BATCH = 500;

export type NamedFailure = TlsFailureRow & { reporter: string };

/** All failures of a period in the order of their reports, read a few hundred at a time as the client takes them. */
export async function* eachFailure(
  db: Db,
  { domain, from, to }: Period,
): AsyncGenerator<NamedFailure> {
  let after: { report: string; position: number } = { report: '', position: -1 };
  for (;;) {
    const rows = await db
      .selectFrom('tls_failures')
      .innerJoin('feedback_reports', 'feedback_reports.id', 'tls_failures.report_id')
      .innerJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
      .selectAll('tls_failures')
      .select(reporterTitle.as('reporter'))
      .where('tls_failures.domain_id', '=', domain.id)
      .where('tls_failures.day', '>=', from)
      .where('tls_failures.day', '<=', to)
      .where('feedback_reports.status', '=', 'counted')
      .where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('tls_failures.report_id', 'tls_failures.position'),
          '>',
          tuple(after.report, after.position),
        ),
      )
      .orderBy('tls_failures.report_id')
      .orderBy('tls_failures.position')
      .limit(EXPORT_BATCH)
      .execute();
    yield* rows;
    const last = rows.at(-1);
    if (rows.length < EXPORT_BATCH || !last) return;
    after = { report: last.report_id, position: last.position };
  }
}
