/** Runs jobs on a schedule and immediately when woken. What is due is stored in the database, not here. */

import { Cron } from 'croner';
import { errorMessage } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

export interface Job {
  name: string;
  /** When to look for due work: a croner pattern, seconds first. */
  tick: string;
  /** Does what is due now; resolves when that is done or has been started. Must not rely on being called on time. */
  run(): Promise<void>;
  /** Resolves when everything that `run` has started has ended. */
  idle?(): Promise<void>;
}

export interface Scheduler {
  /** Throws after the start, and for a second job of one name. */
  add(...jobs: Job[]): void;
  start(): void;
  /** Runs a job now, or once more if it is running. Unknown names and a stopped scheduler do nothing. */
  wake(name: string): void;
  /** Whether it has been started and not stopped. */
  running(): boolean;
  /** Starts no new runs; resolves when the current ones have ended. */
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
      if (running) throw new Error('Jobs are added before the scheduler starts.');
      for (const job of added) {
        if (runners.has(job.name)) throw new Error(`There are two jobs named ${job.name}.`);
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

/** One run at a time. A wake during a run causes another run, so that no new work is missed. */
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
        // The work is still due in the database: the next tick retries it.
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

// A job that claims what is due, a few items at a time, and works on each of them.

interface Claiming<Item extends { id: string }> {
  name: string;
  /** How many items are worked on at a time. */
  concurrency: number;
  /** Claims up to `limit` items that are due. */
  claim(limit: number): Promise<Item[]>;
  work(item: Item): Promise<void>;
  /** Called with what `work` threw. The lease then expires, and the item is claimed again. */
  failed(item: Item, error: unknown): void;
  /** Runs this job again soon. */
  wake(): void;
}

/** Runs every second and when woken; if more was due than there was capacity for, also whenever an item ends. */
export function claimingJob<Item extends { id: string }>(spec: Claiming<Item>): Job {
  const underWay = new Map<string, Promise<void>>();
  let more = false;
  const begin = (item: Item) => {
    // Claimed again while it is worked on here, as when the clock was set: its lease has expired.
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
      const capacity = spec.concurrency - underWay.size;
      if (capacity <= 0) return;
      const claimed = await spec.claim(capacity);
      more = claimed.length === capacity;
      for (const item of claimed) begin(item);
    },
    async idle() {
      await Promise.all(underWay.values());
    },
  };
}
