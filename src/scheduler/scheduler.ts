/** Runs jobs at their ticks and at once when woken; what is due stands in the database, not here. */

import { Cron } from 'croner';
import { errorMessage } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

export interface Job {
  name: string;
  /** When to look for due work (croner's pattern, seconds first). */
  tick: string;
  /** Does what is due now and resolves when it is done or under way; never counts on being called on time. */
  run(): Promise<void>;
  /** Resolves when nothing that `run` started is under way any more. */
  idle?(): Promise<void>;
}

export interface Scheduler {
  start(): void;
  /** Runs a job now, or once more if it is running. Unknown names and a stopped scheduler do nothing. */
  wake(name: string): void;
  /** Whether it has been started and not stopped. */
  running(): boolean;
  /** No new runs; resolves when those under way have ended. */
  stop(): Promise<void>;
}

/** A scheduler that does nothing until it is started. */
export function createScheduler(jobs: Job[], log: Log): Scheduler {
  const runners = new Map(jobs.map((job) => [job.name, createRunner(job, log)]));
  let ticks: Cron[] = [];
  let running = false;
  const wake = (name: string) => {
    if (running) runners.get(name)?.wake();
  };
  return {
    start() {
      running = true;
      ticks = jobs.map((job) => new Cron(job.tick, { unref: true }, () => wake(job.name)));
      for (const { name } of jobs) wake(name);
    },
    wake,
    running: () => running,
    async stop() {
      running = false;
      for (const tick of ticks) tick.stop();
      await Promise.all([...runners.values()].map((runner) => runner.ended()));
      await Promise.all(jobs.map((job) => job.idle?.()));
    },
  };
}

/** One run at a time; a wake during a run makes it run again, so that no new work is overlooked. */
function createRunner(job: Job, log: Log) {
  let current = Promise.resolve();
  let busy = false;
  let again = false;
  const loop = async () => {
    do {
      again = false;
      try {
        await job.run();
      } catch (error) {
        // The work is still due in the database: the next tick tries again.
        log.error('job failed', {
          job: job.name,
          error: errorMessage(error),
          fault: error instanceof Error ? error.stack : undefined,
        });
      }
    } while (again);
    busy = false;
  };
  return {
    wake() {
      if (busy) {
        again = true;
        return;
      }
      busy = true;
      current = loop();
    },
    async ended() {
      again = false;
      await current;
    },
  };
}
