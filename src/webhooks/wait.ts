/** Waiting for an attempt of a delivery to end, for `?wait=`. */

import type { App } from '../app.ts';
import { deliveryOr404 } from './deliveries.ts';
import type { DeliveryState } from './present.ts';

/**
 * Resolves with the delivery as soon as no attempt is due or under way, or as it is after `ms`
 * milliseconds or when the client goes away. Throws `not_found`.
 */
export async function waitForAttempt(
  { db, clock, signals }: Pick<App, 'db' | 'clock' | 'signals'>,
  id: string,
  ms: number,
  abort: AbortSignal,
): Promise<DeliveryState> {
  const until = clock.now() + ms;
  for (;;) {
    const stop = new AbortController();
    // Waiting begins before the look, so that nothing is missed in between.
    const either = AbortSignal.any([abort, stop.signal]);
    const raised = signals.wait(id, until - clock.now(), either);
    try {
      const row = await deliveryOr404(db, id);
      if (rests(row, clock.now())) return row;
      if (!(await raised)) return await deliveryOr404(db, id);
    } finally {
      stop.abort();
    }
  }
}

/** It is over, or waits for the time of its next attempt. */
function rests({ status, lease, due_at }: DeliveryState, now: number): boolean {
  return status !== 'pending' || (lease === null && due_at !== null && Date.parse(due_at) > now);
}
