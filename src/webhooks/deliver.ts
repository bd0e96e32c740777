/** The job that makes the deliveries that are due: one transaction records what has ended and claims what is next, then the calls begin. */

import type { App } from '../app.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { transact } from '../store/after-commit.ts';
import { claimDueDeliveries, hasDueDeliveries } from './claim.ts';
import { type ClaimedDelivery, DELIVER_JOB } from './jobs.ts';
import { type EndedAttempt, hasSucceeded, recordAttempts } from './record.ts';
import { createSlots } from './slots.ts';

export function deliverJob(app: App): Job {
  const slots = createSlots();
  const underWay = new Set<Promise<void>>();
  let ended: EndedAttempt[] = [];
  const inHand = new Set<string>();

  /** Where it fails, what has ended is kept for the next run. */
  const turn = async (): Promise<ClaimedDelivery[]> => {
    if (ended.length === 0 && !(await hasDueDeliveries(app, slots))) return [];
    const recorded = ended;
    ended = [];
    const begun: ClaimedDelivery[] = [];
    try {
      const claimed = await transact(app.db, async (tx) => {
        await recordAttempts(tx, app, recorded);
        return claimDueDeliveries(tx, app, {
          room: slots.room,
          take(delivery) {
            slots.begin(delivery.endpoint_id);
            begun.push(delivery);
          },
          isInHand: (id) => inHand.has(id),
        });
      });
      for (const { delivery } of recorded) {
        inHand.delete(delivery.id);
        app.signals.raise(delivery.id);
      }
      for (const { id } of claimed) inHand.add(id);
      return claimed;
    } catch (error) {
      for (const { endpoint_id } of begun) slots.end(endpoint_id, null);
      ended.unshift(...recorded);
      throw error;
    }
  };

  const make = async (delivery: ClaimedDelivery): Promise<void> => {
    const { url, headers, payload, endpoint_id } = delivery;
    const outcome = await app.poster.post({ url, headers, body: payload });
    slots.end(endpoint_id, outcome && hasSucceeded(outcome));
    // null: we are closing, and the next start makes it again.
    if (outcome) ended.push({ delivery, outcome, at: app.clock.now() });
    else inHand.delete(delivery.id);
    app.scheduler.wake(DELIVER_JOB);
  };

  return {
    name: DELIVER_JOB,
    tick: '* * * * * *',
    async run() {
      for (const delivery of await turn()) {
        const work = make(delivery).then(() => void underWay.delete(work));
        underWay.add(work);
      }
    },
    async idle() {
      await Promise.all(underWay);
      if (ended.length > 0) await transact(app.db, (tx) => recordAttempts(tx, app, ended));
      ended = [];
    },
  };
}
