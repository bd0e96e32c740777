/** What the watch knows about a source goes with the addresses that show it, once they belong to another source. */

import type { App } from '../../app.ts';
import { subjectMoved } from '../../events/observations.ts';
import { isoTime } from '../../lib/clock.ts';
import type { Tx } from '../../store/open.ts';
import { reportDaysOf } from '../sources/new.ts';
import { dayBefore } from '../sums.ts';
import {
  DAYS_NEEDED,
  inheritedState,
  NEW_DAYS,
  remainingState,
  type SourceState,
} from './source-state.ts';
import { daysBySource, observationOf, watchedDomain } from './sources.ts';

/**
 * Call it once an address and its days have moved, in the transaction that locked the sources of the domain. A look-up that names a failing network must not end its incident and
 * open another one. No event says that the other source fails: the first event was about it.
 */
export async function moveState(
  tx: Tx,
  app: App,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const rows = await tx
    .selectFrom('feedback_sources')
    .selectAll()
    .where('id', 'in', [from, to])
    .execute();
  const [previous, next] = [from, to].map((id) => rows.find((row) => row.id === id));
  if (!previous || !next || (previous.new_since ?? previous.failing_since) === null) return;
  const domain = await watchedDomain(tx, previous.domain_id);
  if (!domain) return;
  const today = isoTime(app.clock.now()).slice(0, 10);
  const days = await daysBySource(tx, [from, to], dayBefore(today, DAYS_NEEDED));
  const [remaining, joined] = [days.get(from) ?? [], days.get(to) ?? []];
  const left = remainingState(previous, remaining);
  const moved = {
    new_since: left.new_since === null ? previous.new_since : null,
    failing_since: left.failing_since === null ? previous.failing_since : null,
  };
  if ((moved.new_since ?? moved.failing_since) === null) return;
  const period = { from: dayBefore(today, NEW_DAYS), to: today };
  const reportDays = (await reportDaysOf(tx, [domain.id], period)).get(domain.id) ?? [];
  const inherited = inheritedState(moved, next, joined, { today, reportDays });
  await setState(tx, from, left);
  await setState(tx, to, inherited);
  await app.subscribers.publish(subjectMoved, tx, {
    from: await observationOf(tx, domain, previous, { state: left, days: remaining, today }),
    to: await observationOf(tx, domain, next, { state: inherited, days: joined, today }),
  });
}

const setState = (tx: Tx, id: string, state: SourceState): Promise<unknown> =>
  tx.updateTable('feedback_sources').set(state).where('id', '=', id).execute();
