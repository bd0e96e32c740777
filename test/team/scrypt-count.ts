/** Counts the scrypt calls of Node, and how many run concurrently. */

import { createHook } from 'node:async_hooks';
import type { TestContext } from 'node:test';

export interface ScryptCount {
  begun: number;
  running: number;
  /** The maximum of concurrent calls. */
  most: number;
  /** The number of calls that started during `work`. */
  during<T>(work: () => Promise<T>): Promise<{ result: T; count: number }>;
}

export function countScrypt(t: TestContext): ScryptCount {
  const running = new Set<number>();
  const count: ScryptCount = {
    begun: 0,
    running: 0,
    most: 0,
    async during(work) {
      const before = count.begun;
      const result = await work();
      return { result, count: count.begun - before };
    },
  };
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return;
      running.add(id);
      count.begun += 1;
      count.running = running.size;
      count.most = Math.max(count.most, running.size);
    },
    // Called with the result.
    before(id) {
      if (running.delete(id)) count.running = running.size;
    },
  }).enable();
  t.after(() => hook.disable());
  return count;
}
