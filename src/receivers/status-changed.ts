/** The event about what a receiver now says about an account, a requirement or an address. */

import type { App } from '../app.ts';
import type { ReceiverId } from '../config/receivers.ts';
import { appendEvent } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';
import type { ReceiverStatus } from './schema.ts';

/** Statuses that deserve an event even if there was none before. */
const BAD = ['failing', 'expiring', 'NEEDS_WORK', 'RED', 'BLOCKED'];

type Change = Pick<ReceiverStatus, 'receiver_id' | 'status' | 'previous_status' | 'detail'> & {
  receiver: ReceiverId;
} & Partial<Pick<ReceiverStatus, 'domain' | 'domain_id' | 'requirement' | 'address'>>;

/** Appends the event if the status has changed, or if a first one is bad. */
export async function appendStatusChange(tx: Tx, app: App, change: Change): Promise<void> {
  const { status, previous_status } = change;
  if (status === previous_status) return;
  if (previous_status === null && !BAD.includes(status)) return;
  const data: ReceiverStatus = {
    object: 'receiver_status',
    domain: null,
    domain_id: null,
    requirement: null,
    address: null,
    ...change,
    at: isoTime(app.clock.now()),
  };
  await appendEvent(tx, { type: 'receiver.status_changed', livemode: true, data }, app);
}
