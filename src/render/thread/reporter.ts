/** Makes reports in a thread of their own, with limits on time and memory, one after the other. */

import { AppError } from '../../lib/errors.ts';
import type { ScheduledReport } from '../summary.ts';
import type { RenderCommand, Rendered, ReportFormat, SealedReport, SealedShare } from './job.ts';
import { type RenderThread, type RenderThreadOptions, startRenderThread } from './render-thread.ts';

interface TestJob {
  kind: 'test';
  format: ReportFormat;
  report: SealedReport;
  /** Reads the message when its turn has come: it may be large. null where it is gone or not shown. */
  message(): Promise<Uint8Array | null>;
}

interface SharedJob {
  kind: 'shared';
  format: ReportFormat;
  /** Reads the tests when its turn has come: they are many, and may be large. */
  shared(): Promise<SealedShare>;
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
