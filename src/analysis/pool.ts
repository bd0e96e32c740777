/** Analysis threads with limits on time and memory, so that no message can stall or end the service. */

import { Worker } from 'node:worker_threads';
import { batched } from '../lib/batch.ts';
import type { Log } from '../lib/log.ts';
import type { Resolver } from '../net/resolver.ts';
import { type AnalysisInput, DEADLINE_MS } from './check.ts';
import type { SealedResult } from './result.ts';
import { type FromWorker, type ToWorker, WORKER_FILE, WORKER_ROLE } from './worker.ts';

/** `unreadable`: the message used up the time or the memory of a thread that had nothing else to do. */
export type PoolOutcome =
  | { ok: true; result: SealedResult }
  | { ok: false; reason: 'unreadable' | 'fault' | 'closed'; detail: string };

export interface AnalysisPool {
  /** Never rejects. Waits in a queue while all threads are full. */
  analyze(input: AnalysisInput, options?: { offline?: boolean }): Promise<PoolOutcome>;
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
const JOBS_PER_THREAD = 8;

/** Room for what many analyses at once make and drop: less of it is copied. */
const YOUNG_MB = 96;

interface Job {
  id: number;
  input: AnalysisInput;
  offline: boolean;
  /** Set after a thread died with this job in it: it is then tried once more, alone. */
  alone: boolean;
  timer?: NodeJS.Timeout;
  settle(outcome: PoolOutcome): void;
}

interface Thread {
  worker: Worker;
  send(message: ToWorker): void;
  jobs: Map<number, Job>;
  /** Told to end: takes nothing any more. */
  ending: boolean;
}

export function createAnalysisPool(options: PoolOptions): AnalysisPool {
  const { resolver, log, deadlineMs = DEADLINE_MS, graceMs = 5_000, memoryMb = 512 } = options;
  const { workerFile = WORKER_FILE } = options;
  const threads = new Set<Thread>();
  const queue: Job[] = [];
  let closed = false;
  let lastId = 0;

  function next(): void {
    while (queue.length > 0 && !closed) {
      const thread = roomFor(queue[0]!);
      if (!thread) return;
      give(thread, queue.shift()!);
    }
  }

  /** The least busy thread, or a new one while there may be more; none where the job must wait. */
  function roomFor(job: Job): Thread | null {
    const free = [...threads]
      .filter(({ ending, jobs }) => !ending && ![...jobs.values()].some(({ alone }) => alone))
      .sort((a, b) => a.jobs.size - b.jobs.size)[0];
    if (free?.jobs.size === 0 && !job.alone) return free;
    if (threads.size < options.threads) return startThread();
    // What is tried alone gets a new thread: what kills that can have been nothing else.
    if (free?.jobs.size === 0) end(free);
    return !job.alone && free && free.jobs.size < JOBS_PER_THREAD ? free : null;
  }

  function startThread(): Thread {
    const worker = new Worker(workerFile, {
      workerData: { role: WORKER_ROLE },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const send = batched<ToWorker>((messages) => worker.postMessage(messages));
    const thread: Thread = { worker, send, jobs: new Map(), ending: false };
    threads.add(thread);
    worker.on('message', (messages: FromWorker[]) => {
      for (const message of messages) received(thread, message);
    });
    worker.on('error', (error) => log.warn('analysis thread failed', { error: error.message }));
    worker.on('exit', () => ended(thread));
    worker.unref();
    return thread;
  }

  function give(thread: Thread, job: Job): void {
    thread.jobs.set(job.id, job);
    thread.worker.ref();
    job.timer = setTimeout(() => {
      if (thread.ending) return;
      log.warn('analysis thread is stuck', { jobs: thread.jobs.size });
      end(thread);
    }, deadlineMs + graceMs);
    const { id, input, offline } = job;
    thread.send({ type: 'analyze', job: id, input, offline, deadlineMs });
  }

  function received(thread: Thread, message: FromWorker): void {
    if (message.type === 'ask') {
      const { ask, name, record } = message;
      void resolver(name, record).then((answer) => thread.send({ type: 'answer', ask, answer }));
      return;
    }
    const job = thread.jobs.get(message.job);
    if (!job) return;
    release(thread, job);
    if (message.type === 'done') {
      for (const fault of message.faults) log.error('a check failed', { fault });
      job.settle({ ok: true, result: message.result });
    } else {
      log.error('an analysis failed', { fault: message.error });
      job.settle({ ok: false, reason: 'fault', detail: 'the analysis failed' });
    }
    next();
  }

  function end(thread: Thread): void {
    thread.ending = true;
    void thread.worker.terminate();
  }

  function release(thread: Thread, job: Job): void {
    clearTimeout(job.timer);
    thread.jobs.delete(job.id);
    if (thread.jobs.size === 0) thread.worker.unref();
  }

  /** A thread is gone: stuck, out of memory, or closed. What it held is tried again, each alone. */
  function ended(thread: Thread): void {
    threads.delete(thread);
    for (const job of thread.jobs.values()) {
      clearTimeout(job.timer);
      if (closed) job.settle({ ok: false, reason: 'closed', detail: 'shutting down' });
      else if (job.alone)
        job.settle({ ok: false, reason: 'unreadable', detail: 'it takes too much time or memory' });
      else queue.push({ ...job, alone: true });
    }
    thread.jobs.clear();
    next();
  }

  return {
    analyze(input, { offline = false } = {}) {
      if (closed) return Promise.resolve({ ok: false, reason: 'closed', detail: 'shutting down' });
      return new Promise((settle) => {
        lastId += 1;
        queue.push({ id: lastId, input, offline, alone: false, settle });
        next();
      });
    },
    async close() {
      closed = true;
      for (const job of queue.splice(0))
        job.settle({ ok: false, reason: 'closed', detail: 'shutting down' });
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}
