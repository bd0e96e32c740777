/** Analysis threads with limits on time and memory, so that no message can stall or end the service. */

import type { Log } from '../lib/log.ts';
import type { Resolver } from '../net/resolver.ts';
import { type AnalysisInput, DEADLINE_MS } from './check.ts';
import type { SealedResult } from './result.ts';
import { NO_SETUP, type Setup } from './setup.ts';
import { type Job, startThread, type Thread } from './thread.ts';
import { WORKER_FILE } from './worker.ts';

/** `unreadable`: the message used up the time or the memory of a thread that had nothing else to do. */
export type PoolOutcome =
  /** `toFix`: the ids of the checks that fail or warn, for who does not want to read all of them. */
  | { ok: true; result: SealedResult; toFix: string[] }
  | { ok: false; reason: 'unreadable' | 'fault' | 'closed'; detail: string };

export interface AnalysisPool {
  /** Never rejects. Waits in a queue while all threads are full. */
  analyze(
    input: AnalysisInput,
    options?: { offline?: boolean; setup?: Setup },
  ): Promise<PoolOutcome>;
  /** Lets nothing new in, ends the threads; what was running answers `closed`. */
  close(): Promise<void>;
}

export interface PoolOptions {
  threads: number;
  resolver: Resolver;
  log: Log;
  deadlineMs?: number;
  /** How long past its deadline a job may stay silent before its thread is taken for stuck. */
  graceMs?: number;
  memoryMb?: number;
  /** What a thread runs; another file in tests of threads that go wrong. */
  workerFile?: string;
}

/** Analyses wait mostly for DNS: this many share a thread, so that a dead server stops nobody else. */
export const JOBS_PER_THREAD = 12;

/** Threads are started as there is work for them, and stay. */
export function createAnalysisPool(options: PoolOptions): AnalysisPool {
  const threads = new Set<Thread>();
  const queue: Job[] = [];
  let closed = false;
  let lastId = 0;

  function next(): void {
    while (queue.length > 0 && !closed) {
      const thread = roomFor(queue[0]!, threads, options.threads, start);
      if (!thread) return;
      thread.give(queue.shift()!);
    }
  }

  function start(): Thread {
    const { resolver, log, deadlineMs = DEADLINE_MS, graceMs = 5_000 } = options;
    const { memoryMb = 512, workerFile = WORKER_FILE } = options;
    const limits = { deadlineMs, graceMs, memoryMb };
    const thread = startThread({ resolver, log, workerFile, ...limits, onRoom: next, onGone });
    threads.add(thread);
    return thread;
  }

  /** Stuck, out of memory, or closed: what the thread held is tried again, each alone. */
  function onGone(thread: Thread, jobs: Job[]): void {
    threads.delete(thread);
    for (const job of jobs) {
      if (closed) job.settle(CLOSED);
      else if (job.alone) job.settle(thread.exhausted ? UNREADABLE : FAULT);
      else queue.push({ ...job, alone: true });
    }
    next();
  }

  return {
    analyze(input, { offline = false, setup = NO_SETUP } = {}) {
      if (closed) return Promise.resolve(CLOSED);
      return new Promise((settle) => {
        lastId += 1;
        queue.push({ id: lastId, input, offline, setup, alone: false, settle });
        next();
      });
    },
    async close() {
      closed = true;
      for (const job of queue.splice(0)) job.settle(CLOSED);
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

const CLOSED: PoolOutcome = { ok: false, reason: 'closed', detail: 'shutting down' };
/** A thread that cannot even start says nothing about a message. */
const FAULT: PoolOutcome = { ok: false, reason: 'fault', detail: 'the analysis thread ended' };
const UNREADABLE: PoolOutcome = {
  ok: false,
  reason: 'unreadable',
  detail: 'it takes too much time or memory',
};

/** The least busy thread, or a new one while there may be more; none where the job must wait. */
function roomFor(job: Job, threads: Set<Thread>, most: number, start: () => Thread): Thread | null {
  const free = [...threads]
    .filter(({ ending, jobs }) => !ending && ![...jobs.values()].some(({ alone }) => alone))
    .sort((a, b) => a.jobs.size - b.jobs.size)[0];
  if (free?.jobs.size === 0 && !job.alone) return free;
  if (threads.size < most) return start();
  // What is tried alone gets a new thread: what kills that can have been nothing else.
  if (free?.jobs.size === 0) void free.end();
  return !job.alone && free && free.jobs.size < JOBS_PER_THREAD ? free : null;
}
