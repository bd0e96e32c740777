/** Renders reports one after another in a worker thread with limits on time and memory. */

import { AppError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type StartWorker, startWorker } from '../lib/threads.ts';
import type { PreviewChoice } from './preview/message-preview.ts';
import type {
  AppFrame,
  RenderCommand,
  Rendered,
  RenderResult,
  RenderThreadData,
  ReportFormat,
  StoredMessage,
  StoredReport,
  StoredShare,
} from './report.ts';
import type { ScheduledReport } from './summary.ts';
import { RENDER_FILE } from './worker-file.ts';

interface TestJob {
  kind: 'test';
  format: ReportFormat;
  frame?: AppFrame;
  report: StoredReport;
  /** Called when the job starts, because messages may be large. null if it was deleted. */
  message(): Promise<StoredMessage | null>;
}

/** See `RenderCommand`. */
interface PreviewJob {
  kind: 'preview';
  choice: PreviewChoice | null;
  message(): Promise<StoredMessage>;
}

interface SharedJob {
  kind: 'shared';
  format: ReportFormat;
  /** Called when the job starts, because there may be many large tests. */
  shared(): Promise<StoredShare>;
}

/** Always a PDF. */
interface SummaryJob {
  kind: 'summary';
  report: ScheduledReport;
}

/** Lists the images of a message as JSON: see `RenderCommand`. */
interface ImagesJob {
  kind: 'images';
  message(): Promise<Uint8Array>;
  checks: string;
}

interface DifferenceJob {
  kind: 'difference';
  messages(): Promise<{ before: Uint8Array; after: Uint8Array }>;
}

export type ReportJob = (
  | TestJob
  | SharedJob
  | SummaryJob
  | PreviewJob
  | ImagesJob
  | DifferenceJob
) & {
  /** Aborted when the client has disconnected. */
  signal?: AbortSignal;
};

export interface ReportRenderer {
  /**
   * Rejects with an AppError `unavailable` if the queue is full, the report needs too much time or memory,
   * or the reporter is closed; with another Error for a bug.
   */
  render(job: ReportJob): Promise<Rendered>;
  /** Ends the thread and rejects all waiting and running jobs. */
  close(): Promise<void>;
}

export interface ReportRendererOptions extends RenderThreadOptions {
  /** The thread ends after this time without a job. */
  idleMs?: number;
  /** Maximum waiting jobs of the team. Shared links have a separate queue of half this size. */
  maxWaiting?: number;
}

interface QueuedJob {
  job: ReportJob;
  resolve(rendered: Rendered): void;
  reject(error: Error): void;
}

/**
 * Shared links have a separate queue, which is served only while no job of the team waits. The thread
 * starts with the first job, and restarts with the next job after it has ended.
 */
export function createReportRenderer(options: ReportRendererOptions): ReportRenderer {
  const { idleMs = 60_000, maxWaiting = 20 } = options;
  const queues = {
    team: { waiting: [] as QueuedJob[], maxLength: maxWaiting },
    links: { waiting: [] as QueuedJob[], maxLength: Math.ceil(maxWaiting / 2) },
  };
  const nextJob = () => queues.team.waiting.shift() ?? queues.links.waiting.shift();
  let thread: RenderThread | null = null;
  let busy = false;
  let closed = false;
  let idleTimer: NodeJS.Timeout | undefined;

  async function drainQueues(): Promise<void> {
    if (busy) return;
    busy = true;
    clearTimeout(idleTimer);
    for (let queued = nextJob(); queued; queued = nextJob()) await run(queued);
    busy = false;
    idleTimer = setTimeout(() => {
      void thread?.end();
      thread = null;
    }, idleMs).unref();
  }

  async function run({ job, resolve, reject }: QueuedJob): Promise<void> {
    try {
      if (job.signal?.aborted) throw unavailable('The client closed the request.');
      const command = await commandOf(job);
      if (closed) throw unavailable(CLOSED);
      resolve(await renderInThread(command));
    } catch (error) {
      reject(closed ? unavailable(CLOSED) : (error as Error));
    }
  }

  /** A message that takes more than the limits is left out of its report: the findings are still of use. */
  async function renderInThread(command: RenderCommand): Promise<Rendered> {
    thread ??= startRenderThread(options, (ended) => {
      if (thread === ended) thread = null;
    });
    try {
      return await thread.render(command);
    } catch (error) {
      const lighter = error instanceof LimitError && !closed ? withoutMessages(command) : null;
      if (lighter === null) throw error;
      return renderInThread(lighter);
    }
  }

  return {
    render(job) {
      if (closed) return Promise.reject(unavailable(CLOSED));
      const { waiting, maxLength } = job.kind === 'shared' ? queues.links : queues.team;
      if (waiting.length >= maxLength) return Promise.reject(unavailable(TOO_MANY_REPORTS));
      return new Promise((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        void drainQueues();
      });
    },
    async close() {
      closed = true;
      clearTimeout(idleTimer);
      for (const { waiting } of Object.values(queues))
        for (const queued of waiting.splice(0)) queued.reject(unavailable(CLOSED));
      await thread?.end();
    },
  };
}

/** null if the report has none, or is about nothing else. */
function withoutMessages(command: RenderCommand): RenderCommand | null {
  if (command.kind === 'test')
    return command.message === null ? null : { ...command, message: null };
  if (command.kind !== 'shared') return null;
  const { reports } = command.shared;
  if (reports.every(({ message }) => message === null)) return null;
  const lighter = reports.map((report) => ({ ...report, message: null }));
  return { ...command, shared: { ...command.shared, reports: lighter } };
}

/** The data to post to the thread. */
async function commandOf(job: ReportJob): Promise<RenderCommand> {
  switch (job.kind) {
    case 'test': {
      const { kind, format, frame, report } = job;
      return { kind, format, frame, report, message: await job.message() };
    }
    case 'preview':
      return { kind: job.kind, choice: job.choice, message: await job.message() };
    case 'shared':
      return { kind: job.kind, format: job.format, shared: await job.shared() };
    case 'summary':
      return { kind: job.kind, report: job.report };
    case 'images':
      return { kind: job.kind, raw: await job.message(), checks: job.checks };
    case 'difference':
      return { kind: job.kind, ...(await job.messages()) };
  }
}

const CLOSED = 'The service is shutting down.';
/** Also for other limits on the number of reports. */
export const TOO_MANY_REPORTS = 'Too many reports are being generated. Try again in a moment.';
const unavailable = (detail: string): AppError => new AppError('unavailable', detail);

/** The thread took too much time or memory. */
class LimitError extends AppError {}

// A render thread. It is terminated if a job exceeds its limits.

interface RenderThread {
  /** One job at a time. Rejects with an AppError if the thread ended, with another Error for a bug. */
  render(command: RenderCommand): Promise<Rendered>;
  end(): Promise<unknown>;
}

interface RenderThreadOptions {
  log: Log;
  /** For one job, including the start of the thread. */
  timeoutMs?: number;
  memoryMb?: number;
  /** Folders and files of fonts for PDFs, for scripts that the executable has no font for. */
  fontPaths?: string[];
  /** Tests of failing threads use another file. */
  workerFile?: string;
  startWorker?: StartWorker;
}

/** Starts a thread that does not keep the process running while idle. */
function startRenderThread(
  options: RenderThreadOptions,
  onExit: (thread: RenderThread) => void,
): RenderThread {
  const { log, timeoutMs = 20_000, memoryMb = 512, workerFile = RENDER_FILE } = options;
  const workerData: RenderThreadData = { fontPaths: options.fontPaths ?? [] };
  const worker = (options.startWorker ?? startWorker)(workerFile, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 12 },
  });
  worker.unref();
  let current: PromiseWithResolvers<Rendered> | null = null;
  let failure = 'Could not generate the report: the render thread ended.';
  worker.on('message', (result: RenderResult) => {
    if (result.ok) current?.resolve(result.rendered);
    else current?.reject(new Error(result.error));
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      failure = 'Could not generate the report: not enough memory.';
    log.warn('render thread failed', { error: error.message });
  });
  worker.on('exit', () => {
    onExit(thread);
    current?.reject(new LimitError('unavailable', failure));
  });
  const thread: RenderThread = {
    async render(command) {
      current = Promise.withResolvers();
      const timer = setTimeout(() => {
        failure = 'Could not generate the report: it took too long.';
        log.warn('render thread timed out');
        void worker.terminate();
      }, timeoutMs);
      worker.ref();
      worker.postMessage(command);
      try {
        return await current.promise;
      } finally {
        clearTimeout(timer);
        worker.unref();
        current = null;
      }
    },
    end: () => worker.terminate(),
  };
  return thread;
}
