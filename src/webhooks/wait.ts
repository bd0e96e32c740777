/** Waiting for an attempt of a delivery to end, for `?wait=`. */

import type { App } from '../app.ts';
import { waitUntil } from '../lib/signals.ts';
import { deliveryOr404 } from './deliveries.ts';
import type { DeliveryState } from './present.ts';

/**
 * Resolves with the delivery as soon as no attempt is due or under way, or as it is after `ms`
 * milliseconds or when the client goes away. Throws `not_found`.
 */
export function waitForAttempt(
  app: Pick<App, 'db' | 'clock' | 'signals'>,
  id: string,
  ms: number,
  abort: AbortSignal,
): Promise<DeliveryState> {
  const look = () => deliveryOr404(app.db, id);
  return waitUntil(app, { name: id, ms, abort }, look, (row) => rests(row, app.clock.now()));
}

/** It is over, or waits for the time of its next attempt. */
function rests({ status, lease, due_at }: DeliveryState, now: number): boolean {
  return status !== 'pending' || (lease === null && due_at !== null && Date.parse(due_at) > now);
}
