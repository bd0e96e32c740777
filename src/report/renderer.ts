/** Makes reports in a thread of their own, with limits on time and memory, one after the other. */

import { Worker } from 'node:worker_threads';
import { AppError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type {
  FromRenderer,
  RenderCommand,
  Rendered,
  ReportFormat,
  StoredReport,
  StoredShare,
} from './report.ts';
import type { ScheduledReport } from './summary.ts';
import { RENDER_FILE } from './worker-file.ts';

interface TestJob {
  kind: 'test';
  format: ReportFormat;
  report: StoredReport;
  /** Reads the message when its turn has come: it may be large. null where it is gone or not shown. */
  message(): Promise<Uint8Array | null>;
}

interface SharedJob {
  kind: 'shared';
  format: ReportFormat;
  /** Reads the tests when its turn has come: they are many, and may be large. */
  shared(): Promise<StoredShare>;
}

/** A PDF. */
interface SummaryJob {
  kind: 'summary';
  report: ScheduledReport;
}

export type ReportJob = (TestJob | SharedJob | SummaryJob) & {
  /** Whoever wanted it has gone. */
  signal?: AbortSignal;
};

export interface Reporter {
  /**
   * Rejects with an AppError `unavailable` where the queue is full, the report takes too much time or
   * memory, or the reporter is closed; with an Error for a bug.
   */
  render(job: ReportJob): Promise<Rendered>;
  /** Ends the thread; what waits and what runs is rejected. */
  close(): Promise<void>;
}

export interface ReporterOptions extends RenderThreadOptions {
  /** The thread ends after so long without a report. */
  idleMs?: number;
  /** How many may wait; of links at most half as many do beside them. */
  maxWaiting?: number;
}

interface Order {
  job: ReportJob;
  resolve(rendered: Rendered): void;
  reject(error: Error): void;
}

/**
 * What strangers want by a link waits in a lane of its own, and until nothing of the team's waits.
 * The thread is started by the first report, and again by the first after a pause.
 */
export function createReporter(options: ReporterOptions): Reporter {
  const { idleMs = 60_000, maxWaiting = 20 } = options;
  const lanes = {
    team: { waiting: [] as Order[], most: maxWaiting },
    links: { waiting: [] as Order[], most: Math.ceil(maxWaiting / 2) },
  };
  const next = () => lanes.team.waiting.shift() ?? lanes.links.waiting.shift();
  let thread: RenderThread | null = null;
  let busy = false;
  let closed = false;
  let idle: NodeJS.Timeout | undefined;

  async function work(): Promise<void> {
    if (busy) return;
    busy = true;
    clearTimeout(idle);
    for (let order = next(); order; order = next()) await serve(order);
    busy = false;
    idle = setTimeout(() => {
      void thread?.end();
      thread = null;
    }, idleMs).unref();
  }

  async function serve({ job, resolve, reject }: Order): Promise<void> {
    try {
      if (job.signal?.aborted) throw unavailable('Nobody waits for this report any more.');
      const command = await commandOf(job);
      if (closed) throw unavailable(CLOSED);
      thread ??= startRenderThread(options, (gone) => {
        if (thread === gone) thread = null;
      });
      resolve(await thread.make(command));
    } catch (error) {
      reject(closed ? unavailable(CLOSED) : (error as Error));
    }
  }

  return {
    render(job) {
      if (closed) return Promise.reject(unavailable(CLOSED));
      const { waiting, most } = job.kind === 'shared' ? lanes.links : lanes.team;
      if (waiting.length >= most)
        return Promise.reject(unavailable('Too many reports are being made now. Try again soon.'));
      return new Promise((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        void work();
      });
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      for (const { waiting } of Object.values(lanes))
        for (const order of waiting.splice(0)) order.reject(unavailable(CLOSED));
      await thread?.end();
    },
  };
}

/** What a thread can be sent: data alone. */
async function commandOf(job: ReportJob): Promise<RenderCommand> {
  switch (job.kind) {
    case 'test': {
      const { kind, format, report } = job;
      return { kind, format, report, raw: await job.message() };
    }
    case 'shared':
      return { kind: job.kind, format: job.format, shared: await job.shared() };
    case 'summary':
      return { kind: job.kind, report: job.report };
  }
}

const CLOSED = 'The service is shutting down.';
const unavailable = (detail: string): AppError => new AppError('unavailable', detail);

// One render thread: it makes a report within its time and memory, or is ended.

interface RenderThread {
  /** One at a time. Rejects with an AppError where the thread ended, with an Error for a bug. */
  make(command: RenderCommand): Promise<Rendered>;
  end(): Promise<unknown>;
}

interface RenderThreadOptions {
  log: Log;
  /** For one report, the start of the thread included. */
  timeoutMs?: number;
  memoryMb?: number;
  /** What it runs; another file in tests of threads that go wrong. */
  workerFile?: string;
}

/** Starts a thread; an idle one does not keep the process up. */
function startRenderThread(
  options: RenderThreadOptions,
  onGone: (thread: RenderThread) => void,
): RenderThread {
  const { log, timeoutMs = 20_000, memoryMb = 512, workerFile = RENDER_FILE } = options;
  const worker = new Worker(workerFile, {
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 64 },
  });
  worker.unref();
  let present: PromiseWithResolvers<Rendered> | null = null;
  let why = 'The report could not be made: its thread ended.';
  worker.on('message', (answer: FromRenderer) => {
    if (answer.ok) present?.resolve(answer.rendered);
    else present?.reject(new Error(answer.error));
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') why = 'The report needs too much memory.';
    log.warn('render thread failed', { error: error.message });
  });
  worker.on('exit', () => {
    onGone(thread);
    present?.reject(new AppError('unavailable', why));
  });
  const thread: RenderThread = {
    async make(command) {
      present = Promise.withResolvers();
      const timer = setTimeout(() => {
        why = 'The report takes too long to make.';
        log.warn('render thread is stuck');
        void worker.terminate();
      }, timeoutMs);
      worker.ref();
      worker.postMessage(command);
      try {
        return await present.promise;
      } finally {
        clearTimeout(timer);
        worker.unref();
        present = null;
      }
    },
    end: () => worker.terminate(),
  };
  return thread;
}
