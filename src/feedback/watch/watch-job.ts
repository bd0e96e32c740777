/** The job that looks at what reports say about each domain, for events and alert rules. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { isStopped } from '../../domains/feedback/state.ts';
import { type Observation, observed } from '../../events/observations.ts';
import { isoTime } from '../../lib/clock.ts';
import type { Job } from '../../scheduler/scheduler.ts';
import { type Tx, transact } from '../../store/open.ts';
import { dayBefore } from '../sums.ts';
import type { WatchedDomain } from './observations.ts';
import { observeSources } from './sources.ts';

export const watchJob = (app: App): Job => ({
  name: 'feedback.watch',
  // After the look-ups of new addresses, and often enough for reports that arrive once a day.
  tick: '30 */15 * * * *',
  run: () => watchFeedback(app),
});

/** Each domain in its own transaction, so that a large one delays nothing. */
export async function watchFeedback(app: App): Promise<void> {
  const domains = await app.db
    .selectFrom('feedback_domains')
    .innerJoin('domains', 'domains.id', 'feedback_domains.id')
    .select(['domains.id', 'domains.name', 'first_at', 'last_at'])
    .orderBy('domains.id')
    .execute();
  for (const domain of domains) {
    await transact(app.db, async (tx) => {
      const observations = [
        ...observeArrival(app, domain),
        ...(await observeTls(tx, app, domain)),
        ...(await observeComplaints(tx, app, domain)),
        ...(await observeSources(tx, app, domain)),
      ];
      await app.subscribers.publish(observed, tx, observations);
    });
    await yieldToEventLoop();
  }
}

function observeArrival(
  { clock }: Pick<App, 'clock'>,
  { id, name, first_at, last_at }: WatchedDomain,
): Observation[] {
  if (last_at === null) return [];
  const stopped = isStopped({ first_at, last_at }, clock.now());
  const state = { lastReportAt: last_at, isStopped: stopped };
  return [{ kind: 'feedback', subject: name, domainId: id, ...state }];
}

/** How many days back the latest reports may tell of. */
const RECENT_DAYS = 7;

async function observeTls(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { id, name }: WatchedDomain,
): Promise<Observation[]> {
  const latest = await tx
    .selectFrom('tls_days')
    .select(['day', 'succeeded', 'failed'])
    .where('domain_id', '=', id)
    .where('day', '>=', dayBefore(isoTime(clock.now()).slice(0, 10), RECENT_DAYS))
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  return latest ? [{ kind: 'tls', subject: name, domainId: id, ...latest }] : [];
}

/** DMARC reports about a day arrive during the next two; before, its messages would be too few. */
const COMPLETE_AFTER_DAYS = 2;

async function observeComplaints(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { id, name }: WatchedDomain,
): Promise<Observation[]> {
  const today = isoTime(clock.now()).slice(0, 10);
  const latest = await tx
    .selectFrom('dmarc_days')
    .select(['day', 'messages'])
    .where('domain_id', '=', id)
    .where('day', '>=', dayBefore(today, RECENT_DAYS))
    .where('day', '<=', dayBefore(today, COMPLETE_AFTER_DAYS))
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!latest) return [];
  const { count } = await tx
    .selectFrom('complaints')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('domain_id', '=', id)
    .where('day', '=', latest.day)
    .where('kind', '=', 'abuse')
    .executeTakeFirstOrThrow();
  const figures = { ...latest, complaints: Number(count) };
  return [{ kind: 'complaints', subject: name, domainId: id, ...figures }];
}
