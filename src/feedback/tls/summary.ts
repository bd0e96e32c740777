/** What receivers report about the encryption of mail to a domain, over a period. */

import type { App } from '../../app.ts';
import { tlsReporters } from '../reporters.ts';
import { type Period, reporterCount } from '../sums.ts';
import { explainTlsFailure } from './explain.ts';
import { tlsFailures, tlsPolicies } from './policies.ts';

const MAX_LISTED = 100;

/** The days with reports, oldest first. */
export async function tlsDays({ db }: Pick<App, 'db'>, { domain, from, to }: Period) {
  const days = await db
    .selectFrom('tls_days')
    .select(['day', 'succeeded', 'failed'])
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .execute();
  return days.map(({ day, ...sums }) => ({ date: day, ...sums }));
}

export async function tlsFeedback(app: App, { domain, from, to }: Period) {
  const { db } = app;
  const days = await tlsDays(app, { domain, from, to });
  const failures = db
    .selectFrom('tls_failures')
    .innerJoin('feedback_reports', 'feedback_reports.id', 'tls_failures.report_id')
    .where('tls_failures.domain_id', '=', domain.id)
    .where('tls_failures.day', '>=', from)
    .where('tls_failures.day', '<=', to)
    .where('feedback_reports.status', '=', 'counted')
    .select(({ fn }) => fn.sum('tls_failures.sessions').as('sessions'))
    .orderBy('sessions', 'desc')
    .limit(MAX_LISTED);
  const servers = await failures
    .select('tls_failures.receiving_mx')
    .groupBy('tls_failures.receiving_mx')
    .execute();
  const reasons = await failures
    .select('tls_failures.result_type')
    .groupBy('tls_failures.result_type')
    .execute();
  return {
    object: 'tls_feedback' as const,
    domain_id: domain.id,
    from,
    to,
    succeeded: days.reduce((sum, day) => sum + day.succeeded, 0),
    failed: days.reduce((sum, day) => sum + day.failed, 0),
    days,
    servers: servers.map((row) => ({ ...row, sessions: Number(row.sessions) })),
    reasons: reasons.map(({ result_type, sessions }) => ({
      result_type,
      sessions: Number(sessions),
      ...explainTlsFailure(result_type, domain.name),
    })),
    failures: await tlsFailures(db, { domain, from, to }),
    reporter_count: await reporterCount(db, { domain, from, to }, 'tls'),
    reporters: await tlsReporters(db, { domain, from, to }),
    policies: await tlsPolicies(db, { domain, from, to }),
  };
}
