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
  /** To be called before the start. */
  add(...jobs: Job[]): void;
  start(): void;
  /** Runs a job now, or once more if it is running. Unknown names and a stopped scheduler do nothing. */
  wake(name: string): void;
  /** Whether it has been started and not stopped. */
  running(): boolean;
  /** No new runs; resolves when those under way have ended. */
  stop(): Promise<void>;
}

/** A scheduler without jobs that does nothing until it is started. */
export function createScheduler(log: Log): Scheduler {
  const jobs: Job[] = [];
  const runners = new Map<string, ReturnType<typeof createRunner>>();
  let ticks: Cron[] = [];
  let running = false;
  const wake = (name: string) => {
    if (running) runners.get(name)?.wake();
  };
  return {
    add(...added) {
      for (const job of added) {
        jobs.push(job);
        runners.set(job.name, createRunner(job, log));
      }
    },
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

// The shape of a job that claims what is due, a few at once, and works on each by itself.

interface Claiming<Item extends { id: string }> {
  name: string;
  /** So many are under way at most. */
  atOnce: number;
  /** Takes up to so many that are due. */
  claim(limit: number): Promise<Item[]>;
  work(item: Item): Promise<void>;
  /** Told of what `work` threw: the lease runs out, and the item is taken up again. */
  failed(item: Item, error: unknown): void;
  /** Has this job run again soon. */
  wake(): void;
}

/** Looks every second and when woken; again as soon as there is room, where there was more than room. */
export function claimingJob<Item extends { id: string }>(spec: Claiming<Item>): Job {
  const underWay = new Map<string, Promise<void>>();
  let more = false;
  const begin = (item: Item) => {
    // Taken again while it is in hand here, as when the clock was set: its lease runs out.
    if (underWay.has(item.id)) return;
    const work = spec
      .work(item)
      .catch((error) => spec.failed(item, error))
      .then(() => {
        underWay.delete(item.id);
        if (more) spec.wake();
      });
    underWay.set(item.id, work);
  };
  return {
    name: spec.name,
    tick: '* * * * * *',
    async run() {
      const room = spec.atOnce - underWay.size;
      if (room <= 0) return;
      const claimed = await spec.claim(room);
      more = claimed.length === room;
      for (const item of claimed) begin(item);
    },
    async idle() {
      await Promise.all(underWay.values());
    },
  };
}

// When what somebody else's server has refused is tried again: at growing distances, for about eleven hours.

const MINUTE_MS = 60_000;
const RETRY_DELAYS_MS = [1, 5, 30, 120, 480].map((minutes) => minutes * MINUTE_MS);

/** No attempt is ever planned for later than this. */
export const MAX_RETRY_DELAY_MS = Math.max(...RETRY_DELAYS_MS);

/** Milliseconds from the end of the attempt that was the nth to fail; null where it was the last. */
export function retryAfterMs(failures: number): number | null {
  return RETRY_DELAYS_MS[failures - 1] ?? null;
}
