/** The render thread with a fault on command: what no report should be able to do, some do. */

import { parentPort } from 'node:worker_threads';
import type { RenderCommand } from '../../src/report/report.ts';
import '../../src/report/worker.ts';

// The real thread, which begins each report before its fault strikes.

const FAULTS: Record<string, () => void> = {
  loop() {
    for (;;);
  },
  allocate() {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => i + 0.5));
  },
  exit: () => process.exit(1),
  throw() {
    throw new Error('a fault at /a/path');
  },
};

/** A report asks for a fault by its name. */
parentPort!.on('message', (command: RenderCommand) => {
  if (command.kind === 'test' && command.report.name !== null) FAULTS[command.report.name]?.();
});
