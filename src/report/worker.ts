/** The entry point of a render thread: renders one report after another. */

import { parentPort } from 'node:worker_threads';
import { makeReport } from './render-report.ts';
import type { FromRenderer, RenderCommand } from './report.ts';

const port = parentPort!;

port.on('message', async (command: RenderCommand) => {
  try {
    const rendered = await makeReport(command);
    const result: FromRenderer = { ok: true, rendered };
    port.postMessage(result, [rendered.bytes.buffer as ArrayBuffer]);
  } catch (error) {
    const result: FromRenderer = { ok: false, error: String((error as Error)?.stack ?? error) };
    port.postMessage(result);
  }
});
