/** One render thread: it makes a report within its time and memory, or is ended. */

import { Worker } from 'node:worker_threads';
import { AppError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { FromRenderer, RenderCommand, Rendered } from './job.ts';
import { RENDER_FILE } from './worker-file.ts';

export interface RenderThread {
  /** One at a time. Rejects with an AppError where the thread ended, with an Error for a bug. */
  make(command: RenderCommand): Promise<Rendered>;
  end(): Promise<unknown>;
}

export interface RenderThreadOptions {
  log: Log;
  /** For one report, the start of the thread included. */
  timeoutMs?: number;
  memoryMb?: number;
  /** What it runs; another file in tests of threads that go wrong. */
  workerFile?: string;
}

/** Starts a thread; an idle one does not keep the process up. */
export function startRenderThread(
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
