/** Long deletions in short steps, so that requests and mail never wait for them. */

import { setTimeout as pause } from 'node:timers/promises';
import { monotonicClock } from '../lib/clock.ts';

/** How long a step should take. Nothing else writes to an SQLite database meanwhile. */
const TARGET_MS = 10;
const MAX_PAUSE_MS = 1_000;

interface StepOptions {
  /** The size of the first step. Default 100. */
  first?: number;
  /** Default 10. */
  min?: number;
  /** Default 1000. */
  max?: number;
}

/**
 * Calls `step` until it handles fewer rows than its limit. Adapts the limit to the time that a step takes, and pauses
 * as long as it took, so that at least half of the time is left for others.
 */
export async function inSteps(
  step: (limit: number) => Promise<number>,
  { first = 100, min = 10, max = 1_000 }: StepOptions = {},
): Promise<void> {
  let limit = first;
  for (;;) {
    const startedAt = monotonicClock.now();
    const handled = await step(limit);
    if (handled < limit) return;
    const ms = monotonicClock.now() - startedAt;
    if (ms > TARGET_MS) limit = Math.max(min, Math.floor(limit / 2));
    else if (ms < TARGET_MS / 2) limit = Math.min(max, limit * 2);
    await pause(Math.min(ms, MAX_PAUSE_MS));
  }
}
