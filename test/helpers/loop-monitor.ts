/** Preloaded into a program under test: on SIGUSR2 it says how long its event loop stood still at most. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

// A stall that the signal found under way is measured when the timer of the histogram has run.
const SETTLE_MS = 50;

if (isMainThread) {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  process.on('SIGUSR2', () => {
    setTimeout(() => {
      const line = { message: 'longest stall', ms: Math.round(delays.max / 1e6) };
      delays.reset();
      process.stderr.write(`${JSON.stringify(line)}\n`);
    }, SETTLE_MS);
  });
}
