/** What a render thread runs: one report after the other. */

import { parentPort } from 'node:worker_threads';
import { makeReport } from './render-report.ts';
import type { FromRenderer, RenderCommand } from './report.ts';

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
