/** One analysis thread: what it has to do, its questions, and its end. */

import { Worker } from 'node:worker_threads';
import { batched } from '../lib/batch.ts';
import type { Log } from '../lib/log.ts';
import type { Resolver } from '../net/resolver.ts';
import type { AnalysisInput } from './check.ts';
import type { PoolOutcome } from './pool.ts';
import type { Setup } from './setup.ts';
import { type FromWorker, type ToWorker, WORKER_ROLE } from './worker.ts';

export interface Job {
  id: number;
  input: AnalysisInput;
  offline: boolean;
  setup: Setup;
  /** Set after a thread died with this job in it: it is then tried once more, alone. */
  alone: boolean;
  timer?: NodeJS.Timeout;
  settle(outcome: PoolOutcome): void;
}

export interface Thread {
  jobs: Map<number, Job>;
  /** Told to end: takes nothing any more. */
  ending: boolean;
  /** A job has used up its time or the memory; else the thread ended for reasons of its own. */
  exhausted: boolean;
  give(job: Job): void;
  /** Ends it whatever it does; its jobs go to `onGone`. */
  end(): Promise<unknown>;
}

export interface ThreadOptions {
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
export function startThread(options: ThreadOptions): Thread {
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
