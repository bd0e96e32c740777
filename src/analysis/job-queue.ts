/** The order in which an analysis thread starts its jobs. */

import { type Clock, monotonicClock } from '../lib/clock.ts';

export interface JobQueue<T> {
  /** Starts the job, or queues it. */
  add(job: T): void;
  /** Call for each answer that the thread receives: it lets a running job continue. */
  noteActivity(): void;
}

interface JobQueueOptions<T> {
  /** Never rejects. */
  run(job: T): Promise<void>;
  /** Called whenever the last running job has ended. */
  onIdle?(): void;
  /** After this time without answers, in milliseconds, running jobs count as waiting for the network. */
  quietMs?: number;
  clock?: Clock;
}

/** Enough to keep the thread busy while one job waits for cached DNS answers. */
const MAX_BUSY_JOBS = 3;

/** Answers delay a queued job no longer than this, in milliseconds. */
const MAX_DELAY_MS = 100;

/**
 * Starts jobs in the order of arrival: up to three at once, and one more after each quiet time, because the others then
 * wait for the network. With twelve at once, all their objects live until the last one ends. The garbage collector then
 * copies them several times, and a message takes a tenth more time.
 */
export function createJobQueue<T>({
  run,
  onIdle,
  quietMs = 5,
  clock = monotonicClock,
}: JobQueueOptions<T>): JobQueue<T> {
  const queue: T[] = [];
  let running = 0;
  let wasActive = false;
  /** Since when the first queued job waits for a quiet time. */
  let waitingSince = 0;
  let timer: NodeJS.Timeout | null = null;

  function start(job: T): void {
    running += 1;
    void run(job).then(() => {
      running -= 1;
      while (running < MAX_BUSY_JOBS && queue.length > 0) start(queue.shift()!);
      if (running === 0) onIdle?.();
    });
  }

  function startNextWhenQuiet(): void {
    timer ??= setTimeout(() => {
      timer = null;
      wasActive = false;
      // Messages that arrived while a job kept the thread busy are handled before this.
      setImmediate(() => {
        const isQuiet = !wasActive || clock.now() - waitingSince >= MAX_DELAY_MS;
        if (isQuiet && queue.length > 0) {
          waitingSince = clock.now();
          start(queue.shift()!);
        }
        if (queue.length > 0) startNextWhenQuiet();
      });
    }, quietMs);
  }

  return {
    add(job) {
      if (running < MAX_BUSY_JOBS) {
        start(job);
        return;
      }
      if (queue.length === 0) waitingSince = clock.now();
      queue.push(job);
      startNextWhenQuiet();
    },
    noteActivity() {
      wasActive = true;
      if (timer === null || clock.now() - waitingSince >= MAX_DELAY_MS) return;
      clearTimeout(timer);
      timer = null;
      startNextWhenQuiet();
    },
  };
}
