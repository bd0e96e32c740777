/** A delivery that is made once more. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { afterCommit } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import { type Author, audit } from '../team/audit.ts';
import { findEventOf } from './deliveries.ts';
import { endpointOr404, requireActive } from './endpoints.ts';
import { DELIVER_JOB } from './jobs.ts';
import type { DeliveryState } from './present.ts';

type Resender = Author & { app: App };

/**
 * Begins a new round, due at once. Throws `conflict` for a delivery that is on its way already or
 * whose endpoint is not active, and `gone` where its event is no longer kept. To be called in
 * `transact`.
 */
export async function resendDelivery(
  tx: Tx,
  author: Resender,
  row: DeliveryState,
): Promise<DeliveryState> {
  const { id, endpoint_id, event_id } = row;
  requireActive(await endpointOr404(tx, endpoint_id));
  if (row.status === 'pending')
    throw new AppError(
      'conflict',
      'This delivery is on its way: its next attempt is made by itself. Look at next_attempt_at.',
    );
  if (row.sample === null && (await findEventOf(tx, row)) === null)
    throw new AppError(
      'gone',
      'The event of this delivery is no longer kept, so there is nothing to send.',
    );
  await beginRound(tx, author.app, [id], 'resend');
  await audit(tx, author, {
    action: 'webhook_delivery.resent',
    object: { type: 'webhook_delivery', id },
    details: { endpoint_id, event_id },
  });
  return { ...row, ...newRound(author.app, 'resend') };
}

const newRound = ({ clock }: Pick<App, 'clock'>, round_trigger: 'resend' | 'recover') => ({
  status: 'pending' as const,
  round_trigger,
  round_failures: 0,
  due_at: isoTime(clock.now()),
  lease: null,
});

/** To be called in `transact`. */
export async function beginRound(
  tx: Tx,
  app: Pick<App, 'clock' | 'scheduler'>,
  ids: string[],
  trigger: 'resend' | 'recover',
): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set(newRound(app, trigger))
    .where('id', 'in', ids)
    .execute();
  afterCommit(tx, () => app.scheduler.wake(DELIVER_JOB));
}
