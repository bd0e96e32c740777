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

function fail(name: string | null, hasMessage: boolean): void {
  if (name !== null) FAULTS[name]?.(hasMessage);
}

parentPort!.on('message', (command: RenderCommand) => {
  if (command.kind === 'test') fail(command.report.name, command.message !== null);
  if (command.kind === 'shared')
    for (const { name, message } of command.shared.reports) fail(name, message !== null);
});
