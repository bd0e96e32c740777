/** The analysis thread with a fault on command: what no message should be able to do, some do. */

import { parentPort } from 'node:worker_threads';
import type { FromWorker, ToWorker } from '../../src/analysis/worker.ts';

// The real thread, which begins each job before its fault strikes.
import '../../src/analysis/worker.ts';

/** How a message asks for a fault: a header field of this name. */
export const FAULT = 'X-Fault';

const port = parentPort!;
const post = port.postMessage.bind(port);

const FAULTS: Record<string, (job: number) => void> = {
  /** Blocks its thread for ever; says so first, by a question that the main thread sees. */
  loop() {
    post([{ type: 'ask', ask: -1, name: 'looping.invalid', record: 'A' } satisfies FromWorker]);
    for (;;);
  },
  allocate() {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => i + 0.5));
  },
  exit: () => process.exit(1),
  /** Its own job ends well, and the thread with it. */
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
