/** Analysis threads with limits on time and memory, so that no message can stall or end the service. */

import { Worker } from 'node:worker_threads';
import { batched } from '../lib/concurrency.ts';
import type { Log } from '../lib/log.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import type { Setup } from './check.ts';
import { type AnalysisInput, DEADLINE_MS } from './check.ts';
import { NO_SETUP } from './context.ts';
import type { StoredResult } from './result.ts';
import { type FromWorker, type ToWorker, WORKER_FILE, WORKER_ROLE } from './worker.ts';

/** `unreadable`: the message used up the time or the memory of a thread that had nothing else to do. */
export type PoolOutcome =
  /** `toFix`: the ids of the checks that fail or warn, for who does not want to read all of them. */
  | { ok: true; result: StoredResult; toFix: string[] }
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
      const thread = pickThread(queue[0]!, threads, options.threads, start);
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
function pickThread(
  job: Job,
  threads: Set<Thread>,
  most: number,
  start: () => Thread,
): Thread | null {
  const free = [...threads]
    .filter(({ ending, jobs }) => !ending && ![...jobs.values()].some(({ alone }) => alone))
    .sort((a, b) => a.jobs.size - b.jobs.size)[0];
  if (free?.jobs.size === 0 && !job.alone) return free;
  if (threads.size < most) return start();
  // What is tried alone gets a new thread: what kills that can have been nothing else.
  if (free?.jobs.size === 0) void free.end();
  return !job.alone && free && free.jobs.size < JOBS_PER_THREAD ? free : null;
}

// One analysis thread: what it has to do, its questions, and its end.

interface Job {
  id: number;
  input: AnalysisInput;
  offline: boolean;
  setup: Setup;
  /** Set after a thread died with this job in it: it is then tried once more, alone. */
  alone: boolean;
  timer?: NodeJS.Timeout;
  settle(outcome: PoolOutcome): void;
}

interface Thread {
  jobs: Map<number, Job>;
  /** Told to end: takes nothing any more. */
  ending: boolean;
  /** A job has used up its time or the memory; else the thread ended for reasons of its own. */
  exhausted: boolean;
  give(job: Job): void;
  /** Ends it whatever it does; its jobs go to `onGone`. */
  end(): Promise<unknown>;
}

interface ThreadOptions {
  resolver: Resolver;
  log: Log;
  deadlineMs: number;
  /** How long past its deadline a job may stay silent before its thread is taken for stuck. */
  graceMs: number;
  memoryMb: number;
  /** The file that it runs; tests have one that misbehaves. */
  workerFile: string;
  /** A job has ended: there is room. */
  onRoom(): void;
  /** The thread is gone, with these jobs in it. */
  onGone(thread: Thread, jobs: Job[]): void;
}

/** Room for what many analyses at once make and drop: less of it is copied. */
const YOUNG_MB = 96;

/** Starts a thread; an idle one does not keep the process up. */
function startThread(options: ThreadOptions): Thread {
  const { log } = options;
  const worker = new Worker(options.workerFile, {
    workerData: { role: WORKER_ROLE },
    resourceLimits: {
      maxOldGenerationSizeMb: options.memoryMb,
      maxYoungGenerationSizeMb: YOUNG_MB,
    },
  });
  const send = batched<ToWorker>((messages) => worker.postMessage(messages));
  const jobs = new Map<number, Job>();
  const thread: Thread = {
    jobs,
    ending: false,
    exhausted: false,
    give(job) {
      jobs.set(job.id, job);
      worker.ref();
      job.timer = setTimeout(() => {
        if (thread.ending) return;
        log.warn('analysis thread is stuck', { jobs: jobs.size });
        thread.exhausted = true;
        void thread.end();
      }, options.deadlineMs + options.graceMs);
      const { id, input, offline, setup } = job;
      send({ type: 'analyze', job: id, input, offline, setup, deadlineMs: options.deadlineMs });
    },
    end() {
      thread.ending = true;
      return worker.terminate();
    },
  };
  worker.on('message', (messages: FromWorker[]) => {
    for (const message of messages) {
      if (message.type === 'ask') answer(message, options.resolver, send);
      else settle(message, jobs, options);
    }
    if (jobs.size === 0) worker.unref();
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    thread.exhausted ||= error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    log.warn('analysis thread failed', { error: error.message });
  });
  worker.on('exit', () => {
    for (const { timer } of jobs.values()) clearTimeout(timer);
    options.onGone(thread, [...jobs.values()]);
    jobs.clear();
  });
  worker.unref();
  return thread;
}

type Asked = Extract<FromWorker, { type: 'ask' }>;

function answer({ ask, name, record }: Asked, resolver: Resolver, send: (m: ToWorker) => void) {
  void resolver(name, record).then((found) => send({ type: 'answer', ask, answer: found }));
}

function settle(
  message: Exclude<FromWorker, Asked>,
  jobs: Map<number, Job>,
  { log, onRoom }: ThreadOptions,
): void {
  const job = jobs.get(message.job);
  if (!job) return;
  clearTimeout(job.timer);
  jobs.delete(job.id);
  if (message.type === 'done') {
    for (const fault of message.faults) log.error('a check failed', { fault });
    job.settle({ ok: true, result: message.result, toFix: message.toFix });
  } else {
    log.error('an analysis failed', { fault: message.error });
    job.settle({ ok: false, reason: 'fault', detail: 'the analysis failed' });
  }
  onRoom();
}
