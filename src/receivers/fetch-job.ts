/** The job that fetches from each account once a day, and when somebody asks for it. One node does it. */

import type { App } from '../app.ts';
import { errorMessage } from '../lib/errors.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { claimDue } from './accounts.ts';
import { fetchAccount } from './fetch-account.ts';

export const FETCH_JOB = 'receivers.fetch';

const MAX_CONCURRENT_ACCOUNTS = 2;

export function fetchJob(app: App): Job {
  const stop = new AbortController();
  const job = claimingJob({
    name: FETCH_JOB,
    concurrency: MAX_CONCURRENT_ACCOUNTS,
    claim: async (limit) => (stop.signal.aborted ? [] : claimDue(app, limit)),
    async work(held) {
      const account = app.config.RECEIVERS.find(({ name }) => name === held.id)!;
      await fetchAccount(app, account, held, stop.signal);
    },
    onError: ({ id }, error) =>
      app.log.error('fetching from a receiver failed', {
        receiver: id,
        error: errorMessage(error),
        fault: error instanceof Error ? error.stack : undefined,
      }),
    wake: () => app.scheduler.wakeHere(FETCH_JOB),
  });
  return {
    ...job,
    async idle() {
      stop.abort();
      await job.idle?.();
    },
  };
}
