/** The job that looks up the records for feedback of each domain. */

import type { DomainCheck } from '../../analysis/domain/health.ts';
import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { errorMessage } from '../../lib/errors.ts';
import { claimingJob, type Job } from '../../scheduler/scheduler.ts';
import { claimRows } from '../../store/leases.ts';
import type { DomainRow, FeedbackDomainRow } from '../../store/tables.generated.ts';
import { selectorsOf } from '../selectors.ts';
import { lookUpFeedbackRecords } from './records.ts';
import { isReportedSending } from './sending.ts';

export const LOOKUP_JOB = 'domains.feedback-records';

const LEASE_MS = 120_000;
/** While a record is missing, someone may be publishing it. */
const MISSING_MS = 10 * 60_000;
const PUBLISHED_MS = 6 * HOUR_MS;

export const lookupJob = (app: App): Job =>
  claimingJob({
    name: LOOKUP_JOB,
    concurrency: 4,
    claim: (limit) =>
      claimRows(app, {
        table: 'feedback_domains',
        due: app.db
          .selectFrom('feedback_domains')
          .selectAll()
          .where('lookup_at', '<=', isoTime(app.clock.now()))
          .orderBy('lookup_at')
          .limit(limit),
        leaseMs: LEASE_MS,
      }),
    work: (row) => lookUp(app, row),
    onError: ({ id }, error) =>
      app.log.error('could not look up the records for feedback', {
        domain: id,
        error: errorMessage(error),
      }),
    wake: () => app.scheduler.wakeHere(LOOKUP_JOB),
  });

async function lookUp(app: App, { id }: FeedbackDomainRow): Promise<void> {
  const domain = await app.db
    .selectFrom('domains')
    .select(['id', 'name', 'given_selectors', 'learnt_selectors', 'health_checks'])
    .where('id', '=', id)
    .executeTakeFirst();
  const records = domain
    ? await lookUpFeedbackRecords(app, app.backgroundResolver, domain, {
        // Domains below it count when the records are shown: they may be looked up later.
        sends: await isReportedSending(app, app.db, domain),
        isSigned: isSigned(domain),
      })
    : [];
  const isDone = records.every(({ published }) => published === true);
  await app.db
    .updateTable('feedback_domains')
    .set({
      // What could not be looked up keeps the last answer.
      ...(records.some(({ published }) => published === null)
        ? {}
        : { records: JSON.stringify(records) }),
      lookup_at: isoTime(app.clock.now() + (isDone ? PUBLISHED_MS : MISSING_MS)),
      lease: null,
      leased_until: null,
    })
    .where('id', '=', id)
    .execute();
}

/**
 * Whether a selector was entered or learned, or the last health check found a key that is not revoked. Also true before the first
 * check, or if it could not look up keys: no mail may be lost because something is unknown.
 */
function isSigned(domain: SelectorsAndHealth): boolean {
  const checks: DomainCheck[] = JSON.parse(domain.health_checks);
  const keys = checks.filter(({ id }) => id === 'dkim_selector');
  return (
    selectorsOf(domain).length > 0 ||
    keys.length === 0 ||
    keys.some(({ status, evidence }) => status === 'error' || typeof evidence.type === 'string')
  );
}

type SelectorsAndHealth = Pick<DomainRow, 'given_selectors' | 'learnt_selectors' | 'health_checks'>;
