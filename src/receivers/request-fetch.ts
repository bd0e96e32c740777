/** Fetches that people ask for. */

import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import { audited } from '../store/audited.ts';
import { afterCommit, lockIn, type Tx } from '../store/open.ts';
import { type Author, audit } from '../team/audit.ts';
import { FETCH_JOB } from './fetch-job.ts';
import { type ReceiverState, receiverStates } from './queries.ts';

export const AUDITED_RECEIVER = audited({
  type: 'receiver',
  name: 'Receiver',
  actions: ['receiver.fetch_requested'],
  page: () => '/receivers',
});

const MIN_INTERVAL_MS = 60_000;

/**
 * Makes the account due at once, on any node. Throws `not_found` for an account that is not configured, and
 * `rate_limited` within a minute of the last fetch.
 */
export async function requestFetch(
  tx: Tx,
  author: Author & { app: App },
  id: string,
): Promise<ReceiverState> {
  const { app } = author;
  await lockIn(tx, tx.selectFrom('receivers').select('id').where('id', '=', id)).execute();
  const states = await receiverStates({ db: tx, config: app.config });
  const state = states.find(({ account }) => account.name === id);
  if (!state?.row) throw new AppError('not_found', 'No such receiver.');
  const { attempted_at } = state.row;
  const waitMs =
    attempted_at === null ? 0 : Date.parse(attempted_at) + MIN_INTERVAL_MS - app.clock.now();
  // More than that means that the clock was wrong then.
  if (waitMs > 0 && waitMs <= MIN_INTERVAL_MS) throw tooSoon(waitMs);
  await tx.updateTable('receivers').set({ next_fetch_at: null }).where('id', '=', id).execute();
  await audit(tx, author, AUDITED_RECEIVER, 'receiver.fetch_requested', id, {
    receiver: state.account.receiver,
  });
  afterCommit(tx, () => app.scheduler.wake(FETCH_JOB));
  return { ...state, row: { ...state.row, next_fetch_at: null } };
}

function tooSoon(waitMs: number): AppError {
  const seconds = Math.ceil(waitMs / 1000);
  return new AppError(
    'rate_limited',
    `This account was fetched less than a minute ago. Try again in ${seconds} seconds.`,
    [],
    { 'retry-after': String(seconds) },
  );
}
