/** The render thread: one report after the other, made off the main thread. */

import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { FromRenderer, RenderCommand } from './job.ts';

/** Tells it from analysis threads: in the executable every thread runs the same file. */
export const RENDER_ROLE = 'render';

/** What a thread runs: a path, as only paths are looked up inside the executable. */
export const RENDER_FILE = fileURLToPath(import.meta.url);

if (!isMainThread && workerData?.role === RENDER_ROLE) void serve();

async function serve(): Promise<void> {
  // Only here: the main thread knows this file too, and has no use for fonts and pages.
  const { makeReport } = await import('./make-report.ts');
  const port = parentPort!;
  port.on('message', async (command: RenderCommand) => {
    try {
      const rendered = await makeReport(command);
      const answer: FromRenderer = { ok: true, rendered };
      port.postMessage(answer, [rendered.bytes.buffer as ArrayBuffer]);
    } catch (error) {
      const answer: FromRenderer = { ok: false, error: String((error as Error)?.stack ?? error) };
      port.postMessage(answer);
    }
  });
}
