/** The job that imports from report mailboxes that are due. One node works on a mailbox at a time. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { errorMessage } from '../../lib/errors.ts';
import { claimingJob, type Job } from '../../scheduler/scheduler.ts';
import { claimRows } from '../../store/leases.ts';
import { importSome, LEASE_MS } from './import.ts';
import { IMPORT_JOB } from './stored.ts';

const MAX_CONCURRENT = 2;

export function importJob(app: App): Job {
  const stop = new AbortController();
  const job = claimingJob({
    name: IMPORT_JOB,
    concurrency: MAX_CONCURRENT,
    async claim(limit, inProgress) {
      if (stop.signal.aborted || !(await app.hasSpare())) return [];
      const due = app.db
        .selectFrom('report_mailboxes')
        .selectAll()
        .where('next_run_at', '<=', isoTime(app.clock.now()))
        // A cancelled import ends after its message. Until then, a lease for the next one would be lost.
        .where(({ and, eb }) =>
          and(inProgress.length === 0 ? [] : [eb('id', 'not in', inProgress)]),
        )
        .orderBy('next_run_at')
        .limit(limit);
      return claimRows(app, { table: 'report_mailboxes', due, leaseMs: LEASE_MS });
    },
    work: (held) => importSome(app, held, stop.signal),
    onError: ({ id }, error) =>
      app.log.error('could not record an import', {
        mailbox: id,
        error: errorMessage(error),
      }),
    wake: () => app.scheduler.wakeHere(IMPORT_JOB),
  });
  return {
    ...job,
    async idle() {
      stop.abort();
      await job.idle?.();
    },
  };
}
