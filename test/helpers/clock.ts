/** A clock that only tests advance. */

import type { Clock } from '../../src/lib/clock.ts';

export interface TestClock extends Clock {
  advance(ms: number): void;
  set(ms: number): void;
}

export function testClock(start = Date.UTC(2026, 10, 21, 10, 0, 0)): TestClock {
  let now = start;
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
    set(ms) {
      now = ms;
    },
  };
}
