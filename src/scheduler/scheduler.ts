/** Runs jobs on a schedule and immediately when woken. Due work is stored in the database, not here. */

import { Cron } from 'croner';
import { monotonicClock } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { outsideTrace } from '../lib/trace-context.ts';
import { DatabaseUnavailableError } from '../store/errors.ts';

export interface Job {
  name: string;
  /** When to look for due work: a croner pattern, seconds first. */
  tick: string;
  /** Performs the due work; resolves when it has finished or started. Must not rely on being called on time. */
  run(): Promise<void>;
  /** Resolves when everything that `run` has started has finished. */
  idle?(): Promise<void>;
}

export interface Scheduler {
  /** Throws if the scheduler is running or a job of the same name exists. */
  add(...jobs: Job[]): void;
  start(): void;
  /**
   * There is new work: runs a job now, or once more if it is running. Other nodes look for it too. Does nothing for
   * an unknown name or while stopped.
   */
  wake(name: string): void;
  /** The same for this node only, for example because it has capacity again. */
  wakeHere(name: string): void;
  /** Looks for work of every job on this node. */
  wakeAll(): void;
  /** True from `start` to `stop`. */
  running(): boolean;
  /** Starts no new runs; resolves when the current ones have finished. */
  stop(): Promise<void>;
}

const WARNING_INTERVAL_MS = 60_000;

/** Creates a scheduler without jobs, which does nothing until it is started. */
export function createScheduler(
  log: Log,
  onWake: (name: string) => void = () => {},
  onRun: (name: string, outcome: 'done' | 'failed') => void = () => {},
): Scheduler {
  const jobs: Job[] = [];
  const runners = new Map<string, ReturnType<typeof createRunner>>();
  const ticks: Cron[] = [];
  let running = false;
  let warnedAt = Number.NEGATIVE_INFINITY;
  /** One line for all jobs, which fail together and every second. */
  const warnUnavailable = ({ message }: Error) => {
    if (monotonicClock.now() - warnedAt < WARNING_INTERVAL_MS) return;
    warnedAt = monotonicClock.now();
    log.warn('jobs wait for the database', { error: message });
  };
  const wakeHere = (name: string) => {
    if (running) runners.get(name)?.wake();
  };
  return {
    add(...added) {
      if (running) throw new Error('Add jobs before the scheduler starts.');
      for (const job of added) {
        if (runners.has(job.name)) throw new Error(`A job named ${job.name} already exists.`);
        jobs.push(job);
        runners.set(job.name, createRunner(job, log, warnUnavailable, onRun));
      }
    },
    start() {
      running = true;
      // Most jobs have the same pattern, and each timer computes its own times.
      for (const [tick, due] of Map.groupBy(jobs, (job) => job.tick))
        ticks.push(
          new Cron(tick, { unref: true }, () => {
            for (const { name } of due) wakeHere(name);
          }),
        );
      for (const { name } of jobs) wakeHere(name);
    },
    wake(name) {
      wakeHere(name);
      if (running) onWake(name);
    },
    wakeHere,
    wakeAll() {
      for (const { name } of jobs) wakeHere(name);
    },
    running: () => running,
    async stop() {
      running = false;
      for (const tick of ticks.splice(0)) tick.stop();
      await Promise.all([...runners.values()].map((runner) => runner.idle()));
      await Promise.all(jobs.map((job) => job.idle?.()));
    },
  };
}

/** One run at a time. A wake during a run causes another run, so that no new work is missed. */
function createRunner(
  job: Job,
  log: Log,
  warnUnavailable: (error: Error) => void,
  onRun: (name: string, outcome: 'done' | 'failed') => void,
) {
  let current = Promise.resolve();
  let busy = false;
  let rerun = false;
  const loop = async () => {
    do {
      rerun = false;
      try {
        await job.run();
        onRun(job.name, 'done');
      } catch (error) {
        onRun(job.name, 'failed');
        // The work is still due in the database: the next tick retries it.
        if (error instanceof DatabaseUnavailableError) warnUnavailable(error);
        else
          log.error('job failed', {
            job: job.name,
            error: errorMessage(error),
            fault: error instanceof Error ? error.stack : undefined,
          });
      }
    } while (rerun);
    busy = false;
  };
  return {
    wake() {
      if (busy) {
        rerun = true;
        return;
      }
      busy = true;
      current = outsideTrace(loop);
    },
    async idle() {
      rerun = false;
      await current;
    },
  };
}

// A job that claims due items and works on several at a time.

interface ClaimingJobOptions<Item extends { id: string }> {
  name: string;
  /** Maximum number of items in progress. */
  concurrency: number;
  /** Claims up to `limit` due items. Those in progress here are not started again. */
  claim(limit: number, inProgress: string[]): Promise<Item[]>;
  work(item: Item): Promise<void>;
  /** Called with the error of `work`. The lease then expires, and the item is claimed again. */
  onError(item: Item, error: unknown): void;
  /** Runs this job again soon, on this node. */
  wake(): void;
}

/** Runs every second and when woken. If more was due than the concurrency allows, also runs whenever an item finishes. */
export function claimingJob<Item extends { id: string }>(options: ClaimingJobOptions<Item>): Job {
  const inProgress = new Map<string, Promise<void>>();
  let hasMore = false;
  const start = (item: Item) => {
    // An item in progress is claimed again if its lease has expired, for example after a clock change.
    if (inProgress.has(item.id)) return;
    const work = options
      .work(item)
      .catch((error) => options.onError(item, error))
      .then(() => {
        inProgress.delete(item.id);
        if (hasMore) options.wake();
      });
    inProgress.set(item.id, work);
  };
  return {
    name: options.name,
    tick: '* * * * * *',
    async run() {
      const capacity = options.concurrency - inProgress.size;
      if (capacity <= 0) return;
      const claimed = await options.claim(capacity, [...inProgress.keys()]);
      hasMore = claimed.length === capacity;
      for (const item of claimed) start(item);
    },
    async idle() {
      await Promise.all(inProgress.values());
    },
  };
}
