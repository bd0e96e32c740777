/** The entry point of a render thread: renders one report after another. */

import { parentPort, workerData } from 'node:worker_threads';
import { createSystemFonts } from './pdf/system-fonts.ts';
import { renderReport } from './render-report.ts';
import type { RenderCommand, RenderResult, RenderThreadData } from './report.ts';

const port = parentPort!;
const systemFonts = createSystemFonts((workerData as RenderThreadData).fontPaths);

port.on('message', async (command: RenderCommand) => {
  try {
    const rendered = await renderReport(command, systemFonts);
    const result: RenderResult = { ok: true, rendered };
    port.postMessage(result, [rendered.bytes.buffer as ArrayBuffer]);
  } catch (error) {
    const result: RenderResult = { ok: false, error: String((error as Error)?.stack ?? error) };
    port.postMessage(result);
  }
});
