/** The name under which deliveries are woken, and what is handed from the claim to the record. */

import type { WebhookDeliveryRow } from '../store/webhook-tables.ts';

export const DELIVER_JOB = 'deliver webhooks';

/** A delivery whose attempt is written down and about to be made. */
export interface ClaimedDelivery
  extends Pick<WebhookDeliveryRow, 'id' | 'endpoint_id' | 'round_failures'> {
  lease: string;
  /** Of the attempt. */
  number: number;
  /** Milliseconds since 1970. */
  startedAt: number;
  url: string;
  headers: Record<string, string>;
  payload: string;
}
