/** The entry point of a render thread: renders one report after another. */

import { parentPort } from 'node:worker_threads';
import { renderReport } from './render-report.ts';
import type { RenderCommand, RenderResult } from './report.ts';

const port = parentPort!;

port.on('message', async (command: RenderCommand) => {
  try {
    const rendered = await renderReport(command);
    const result: RenderResult = { ok: true, rendered };
    port.postMessage(result, [rendered.bytes.buffer as ArrayBuffer]);
  } catch (error) {
    const result: RenderResult = { ok: false, error: String((error as Error)?.stack ?? error) };
    port.postMessage(result);
  }
});
