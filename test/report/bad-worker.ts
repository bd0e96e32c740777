/** A render thread that fails on request. */

import { parentPort } from 'node:worker_threads';
import type { RenderCommand } from '../../src/report/report.ts';
import '../../src/report/worker.ts';

// The import runs the real thread, which starts each job before the fault occurs.

/** The name of a report selects a fault. */
const FAULTS: Record<string, (hasMessage: boolean) => void> = {
  loop() {
    for (;;);
  },
  'loop with a message'(hasMessage) {
    while (hasMessage);
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

parentPort!.on('message', (command: RenderCommand) => {
  if (command.kind === 'test' && command.report.name !== null)
    FAULTS[command.report.name]?.(command.message !== null);
});
