/** An analysis thread that fails on command, for tests of the pool. */

import { parentPort } from 'node:worker_threads';
import type { FromWorker, ToWorker } from '../../src/analysis/worker.ts';

// The real thread, which starts each job before the fault.
import '../../src/analysis/worker.ts';

/** The header field by which a message requests a fault. */
export const FAULT = 'X-Fault';

const port = parentPort!;
const post = port.postMessage.bind(port);

const FAULTS: Record<string, (job: number) => void> = {
  /** Blocks its thread forever, after a lookup that the main thread sees. */
  loop() {
    post([
      { type: 'lookup', lookup: -1, name: 'looping.invalid', record: 'A' } satisfies FromWorker,
    ]);
    for (;;);
  },
  allocate() {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => i + 0.5));
  },
  exit: () => process.exit(1),
  /** Completes its own job and then ends the thread. */
  'exit-when-done'(job) {
    port.postMessage = (messages: FromWorker[]) => {
      post(messages);
      if (messages.some((message) => message.type === 'done' && message.job === job))
        process.exit(1);
    };
  },
};

port.on('message', (messages: ToWorker[]) => {
  for (const message of messages) {
    if (message.type !== 'analyze') continue;
    const text = Buffer.from(message.input.raw).toString('latin1');
    const [, name] = new RegExp(`^${FAULT}: (.+)\r$`, 'm').exec(text) ?? [];
    if (name) FAULTS[name]!(message.job);
  }
});
