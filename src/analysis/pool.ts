/** A pool of analysis threads with limits on time and memory: no message can stall the service. */

import { batchPerTurn } from '../lib/concurrency.ts';
import type { Log } from '../lib/log.ts';
import { type StartWorker, startWorker } from '../lib/threads.ts';
import { answerLookup } from '../net/dns/remote-resolver.ts';
import type { AskDns } from '../net/dns/reply.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import type { AnalysisStep, StepOutcome } from './analyze.ts';
import type { Setup } from './check.ts';
import { type AnalysisInput, DEADLINE_MS } from './check.ts';
import { NO_SETUP } from './context.ts';
import type { StoredResult } from './result.ts';
import type { FromWorker, ToWorker } from './worker.ts';
import { ANALYSIS_FILE } from './worker-file.ts';

/** `unreadable`: the message exhausted the time or memory of a thread that ran no other job. */
export type PoolOutcome =
  /** `toFix`: the ids of the checks that fail or warn, so that callers need not parse the result. */
  | { ok: true; result: StoredResult; issueIds: string[] }
  | { ok: false; reason: 'unreadable' | 'fault' | 'closed'; detail: string };

/** A message that is read only when its analysis starts, so that waiting jobs need no memory. */
export interface StoredRaw {
  size: number;
  /** A new array each time, because it is moved to the thread. Optionally with values that only its header has. */
  read(): Promise<Uint8Array | Pick<AnalysisInput, 'raw' | 'envelope' | 'receivedAt'>>;
}

export type PoolInput = Omit<AnalysisInput, 'raw'> & { raw: Uint8Array | StoredRaw };

interface JobOptions {
  offline?: boolean;
  setup?: Setup;
  /** Called while the analysis runs; again from the start if it is repeated after its thread ended. */
  onStep?: OnStep;
}
type OnStep = (step: AnalysisStep, outcome: StepOutcome) => void;

export interface AnalysisPool {
  /**
   * Queues the job while all threads are full, or while the running jobs use the memory for large
   * messages. Rejects only if the message cannot be read.
   */
  analyze(input: PoolInput, options?: JobOptions): Promise<PoolOutcome>;
  /** Rejects new jobs and ends the threads. Unfinished jobs resolve as `closed`. */
  close(): Promise<void>;
}

export interface PoolOptions {
  threads: number;
  resolver: Resolver;
  /** Without it, lookups that fail are not explained. */
  askDns?: AskDns | null;
  log: Log;
  deadlineMs?: number;
  /** How long after its deadline a job may take before its thread counts as stuck. */
  graceMs?: number;
  idleMs?: number;
  memoryMb?: number;
  /** The file that a thread runs. Tests of faulty threads use another one. */
  workerFile?: string;
  startWorker?: StartWorker;
}

/** Analyses mostly wait for DNS, so many share a thread: a slow DNS server delays other messages by milliseconds. */
export const MAX_JOBS_PER_THREAD = 12;

// Bounds on memory, whatever the messages are. What a thread needs grows with the size of its messages.

/** Larger messages are analyzed one at a time, whatever the number of threads. */
const LARGE_BYTES = 2 * 1024 * 1024;
/** The total size of the other messages that share a thread. */
const MAX_BYTES_PER_THREAD = 4 * 1024 * 1024;
/**
 * The default for the heap of a thread: twice what the worst known messages need. A job that reaches it ends as `unreadable`,
 * but some allocations end the whole process there.
 */
const HEAP_MB = 256;

/** Starts threads on demand, and keeps them until they have analyzed a large message or are idle. */
export function createAnalysisPool(options: PoolOptions): AnalysisPool {
  const threads = new Set<Thread>();
  const queue: Job[] = [];
  let closed = false;
  let lastId = 0;

  function assignJobs(): void {
    // A large message waits for another one, but the small ones behind it do not.
    let isLargeRunning = [...threads].some(({ jobs }) => [...jobs.values()].some(isLarge));
    for (let i = 0; i < queue.length && !closed; ) {
      const job = queue[i]!;
      if (isLarge(job) && isLargeRunning) {
        i += 1;
        continue;
      }
      const thread = pickThread(job, threads, options.threads, start);
      if (!thread) return;
      queue.splice(i, 1);
      isLargeRunning ||= isLarge(job);
      thread.assign(job);
    }
  }

  function start(): Thread {
    const { resolver, log, deadlineMs = DEADLINE_MS, graceMs = 5_000, idleMs = IDLE_MS } = options;
    const { memoryMb = HEAP_MB, workerFile = ANALYSIS_FILE } = options;
    const limits = { deadlineMs, graceMs, idleMs, memoryMb, startWorker: options.startWorker };
    const thread = startThread({
      resolver,
      askDns: options.askDns,
      log,
      workerFile,
      ...limits,
      onJobEnd: assignJobs,
      onExit,
    });
    threads.add(thread);
    return thread;
  }

  /** Retries each job of an ended thread in isolation, so that one message cannot fail the others. */
  function onExit(thread: Thread, jobs: Job[]): void {
    threads.delete(thread);
    for (const job of jobs) {
      if (closed) job.settle(CLOSED);
      else if (job.isolated) job.settle(thread.exhausted ? UNREADABLE : FAULT);
      else queue.push({ ...job, isolated: true });
    }
    assignJobs();
  }

  return {
    analyze(input, { offline = false, setup = NO_SETUP, onStep } = {}) {
      if (closed) return Promise.resolve(CLOSED);
      return new Promise((settle, fail) => {
        lastId += 1;
        queue.push({ id: lastId, input, offline, setup, onStep, isolated: false, settle, fail });
        assignJobs();
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
/** The thread ended for a reason other than the message, for example because it could not start. */
const FAULT: PoolOutcome = { ok: false, reason: 'fault', detail: 'the analysis thread ended' };
const UNREADABLE: PoolOutcome = {
  ok: false,
  reason: 'unreadable',
  detail: 'the analysis exceeded its time or memory limit',
};

const sizeOf = ({ input: { raw } }: Job): number => ('size' in raw ? raw.size : raw.byteLength);
const isLarge = (job: Job): boolean => sizeOf(job) > LARGE_BYTES;

/** Whether the thread has room for a message, by number and size. One large message may join. */
function hasRoom({ jobs }: Thread, job: Job): boolean {
  const small = [...jobs.values()].filter((other) => !isLarge(other));
  const bytes = small.reduce((sum, other) => sum + sizeOf(other), 0);
  if (jobs.size >= MAX_JOBS_PER_THREAD) return false;
  return isLarge(job) || bytes + sizeOf(job) <= MAX_BYTES_PER_THREAD;
}

/** The least busy thread, or a new one below the limit; null if the job must wait. */
function pickThread(
  job: Job,
  threads: Set<Thread>,
  maxThreads: number,
  start: () => Thread,
): Thread | null {
  const leastBusy = [...threads]
    .filter(({ ending, jobs }) => !ending && ![...jobs.values()].some(({ isolated }) => isolated))
    .sort((a, b) => a.jobs.size - b.jobs.size)[0];
  if (leastBusy?.jobs.size === 0 && !job.isolated) return leastBusy;
  if (threads.size < maxThreads) return start();
  // An isolated job gets a new thread, so that nothing else can end it.
  if (leastBusy?.jobs.size === 0) void leastBusy.end();
  return !job.isolated && leastBusy && hasRoom(leastBusy, job) ? leastBusy : null;
}

// One analysis thread: its jobs, its DNS lookups, and its end.

interface Job {
  id: number;
  input: PoolInput;
  offline: boolean;
  setup: Setup;
  onStep?: OnStep;
  /** A thread ended while it ran this job: the job gets one more attempt, alone on a new thread. */
  isolated: boolean;
  timer?: NodeJS.Timeout;
  settle(outcome: PoolOutcome): void;
  /** The message could not be read. */
  fail(error: unknown): void;
}

interface Thread {
  jobs: Map<number, Job>;
  /** Accepts no more jobs. */
  ending: boolean;
  /** A job exhausted its time or the memory. False if the thread ended for another reason. */
  exhausted: boolean;
  assign(job: Job): void;
  /** Terminates the thread. Its jobs go to `onExit`. */
  end(): Promise<unknown>;
}

interface ThreadOptions {
  resolver: Resolver;
  askDns?: AskDns | null;
  log: Log;
  deadlineMs: number;
  graceMs: number;
  idleMs: number;
  memoryMb: number;
  workerFile: string;
  startWorker?: StartWorker;
  /** A job ended, so the thread has capacity. */
  onJobEnd(): void;
  /** The thread ended with these jobs unfinished. */
  onExit(thread: Thread, jobs: Job[]): void;
}

/**
 * Twice as much saves 7% of the CPU time of a message, and takes 30 to 50 MB more for each thread. Half as much takes 16%
 * more time.
 */
const YOUNG_GENERATION_MB = 24;
/** A thread ends after this time without a job, which frees its memory. */
const IDLE_MS = 60_000;

/** Starts a thread. An idle thread does not keep the process alive. */
function startThread(options: ThreadOptions): Thread {
  const { log } = options;
  const worker = (options.startWorker ?? startWorker)(options.workerFile, {
    resourceLimits: {
      maxOldGenerationSizeMb: options.memoryMb,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
    },
  });
  const send = batchPerTurn<ToWorker>((messages) => worker.postMessage(messages));
  const jobs = new Map<number, Job>();
  let hadLarge = false;
  let idleTimer: NodeJS.Timeout | undefined;
  /** Those that the thread has. */
  let domains: Setup['domains'] = NO_SETUP.domains;
  const commandsFor = (
    { id, offline, setup: { domains: current, ...setup } }: Job,
    input: AnalysisInput,
  ): ToWorker[] => {
    const command = { type: 'analyze', job: id, offline, setup, input } as const;
    const commands: ToWorker[] = [{ ...command, deadlineMs: options.deadlineMs }];
    if (current !== domains) commands.unshift({ type: 'domains', domains: current });
    domains = current;
    return commands;
  };
  const startTimer = (job: Job) => {
    clearTimeout(job.timer);
    job.timer = setTimeout(() => {
      if (thread.ending) return;
      log.warn('analysis thread is stuck', { jobs: jobs.size });
      thread.exhausted = true;
      void thread.end();
    }, options.deadlineMs + options.graceMs);
  };
  /** Called when there are no more jobs. */
  const rest = () => {
    worker.unref();
    clearTimeout(idleTimer);
    // The heap would keep its size: a new thread starts small.
    if (hadLarge) void thread.end();
    else idleTimer = setTimeout(() => void thread.end(), options.idleMs).unref();
  };
  const thread: Thread = {
    jobs,
    ending: false,
    exhausted: false,
    assign(job) {
      jobs.set(job.id, job);
      clearTimeout(idleTimer);
      hadLarge ||= isLarge(job);
      worker.ref();
      startTimer(job);
      const { id, input } = job;
      const { raw } = input;
      if (!('read' in raw)) {
        // At once, as below: commands rely on their order.
        worker.postMessage(commandsFor(job, { ...input, raw }));
        return;
      }
      raw.read().then(
        (read) => {
          const known = read instanceof Uint8Array ? { raw: read } : read;
          if (!jobs.has(id)) return;
          startTimer(job);
          // Moved, not copied.
          worker.postMessage(commandsFor(job, { ...input, ...known }), [
            known.raw.buffer as ArrayBuffer,
          ]);
        },
        (error) => {
          clearTimeout(job.timer);
          if (!jobs.delete(id)) return;
          if (jobs.size === 0) rest();
          job.fail(error);
          options.onJobEnd();
        },
      );
    },
    end() {
      thread.ending = true;
      return worker.terminate();
    },
  };
  worker.on('message', (messages: FromWorker[]) => {
    for (const message of messages) {
      if (message.type === 'lookup') answerLookup(message, options.resolver, send, options.askDns);
      else if (message.type === 'started') {
        const job = jobs.get(message.job);
        if (job) startTimer(job);
      } else if (message.type === 'step')
        jobs.get(message.job)?.onStep?.(message.step, message.outcome);
      else settle(message, jobs, options);
    }
    if (jobs.size === 0 && !thread.ending) rest();
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    thread.exhausted ||= error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    log.warn('analysis thread failed', { error: error.message });
  });
  worker.on('exit', () => {
    clearTimeout(idleTimer);
    for (const { timer } of jobs.values()) clearTimeout(timer);
    options.onExit(thread, [...jobs.values()]);
    jobs.clear();
  });
  worker.unref();
  return thread;
}

function settle(
  message: Extract<FromWorker, { type: 'done' | 'failed' }>,
  jobs: Map<number, Job>,
  { log, onJobEnd }: ThreadOptions,
): void {
  const job = jobs.get(message.job);
  if (!job) return;
  clearTimeout(job.timer);
  jobs.delete(job.id);
  if (message.type === 'done') {
    for (const fault of message.faults) log.error('check failed', { fault });
    job.settle({ ok: true, result: message.result, issueIds: message.toFix });
  } else {
    log.error('analysis failed', { fault: message.error });
    job.settle({ ok: false, reason: 'fault', detail: 'the analysis failed' });
  }
  onJobEnd();
}
