/** The job that looks at what reports say about each domain, for events and alert rules. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { isStopped } from '../../domains/feedback/state.ts';
import { observed } from '../../events/observations.ts';
import { isoTime } from '../../lib/clock.ts';
import type { Job } from '../../scheduler/scheduler.ts';
import { type Tx, transact } from '../../store/open.ts';
import { messageCounts } from '../messages/counts.ts';
import { dayBefore } from '../sums.ts';
import type {
  ComplaintObservation,
  FeedbackObservation,
  TlsObservation,
  WatchedDomain,
} from './observations.ts';
import { COMPLETE_AFTER_DAYS, RECENT_DAYS } from './source-state.ts';
import { watchedDomain, watchSources } from './sources.ts';

export const watchJob = (app: App): Job => ({
  name: 'feedback.watch',
  // After the look-ups of new addresses, and often enough for reports that arrive once a day.
  tick: '30 */15 * * * *',
  run: () => watchFeedback(app),
});

/** Each domain in its own transactions, so that a large one delays nothing. */
export async function watchFeedback(app: App): Promise<void> {
  const domains = await app.db
    .selectFrom('feedback_domains')
    .select('id')
    .where('last_at', 'is not', null)
    .orderBy('id')
    .execute();
  for (const { id } of domains) {
    await transact(app.db, async (tx) => {
      const domain = await watchedDomain(tx, id);
      if (!domain) return;
      await app.subscribers.publish(observed, tx, [
        observeArrival(app, domain),
        await observeTls(tx, app, domain),
        await observeComplaints(tx, app, domain),
      ]);
    });
    await watchSources(app, id);
    await yieldToEventLoop();
  }
}

function observeArrival(
  { clock }: Pick<App, 'clock'>,
  { id, name, first_at, last_at }: WatchedDomain,
): FeedbackObservation {
  const stopped = isStopped({ first_at, last_at }, clock.now());
  const state = { lastReportAt: last_at!, isStopped: stopped };
  return { kind: 'feedback', subject: name, domainId: id, ...state };
}

/** The days that reporters have told of: their reports arrive during the next two. */
function recentDays(clock: App['clock']): { from: string; to: string } {
  const today = isoTime(clock.now()).slice(0, 10);
  return { from: dayBefore(today, RECENT_DAYS), to: dayBefore(today, COMPLETE_AFTER_DAYS) };
}

async function observeTls(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { id, name }: WatchedDomain,
): Promise<TlsObservation> {
  const { from, to } = recentDays(clock);
  const latest = await tx
    .selectFrom('tls_days')
    .select(['day', 'succeeded', 'failed'])
    .where('domain_id', '=', id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  const figures = latest ?? { day: null, succeeded: 0, failed: 0 };
  return { kind: 'tls', subject: name, domainId: id, ...figures };
}

async function observeComplaints(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { id, name }: WatchedDomain,
): Promise<ComplaintObservation> {
  const { from, to } = recentDays(clock);
  const subject = { kind: 'complaints' as const, subject: name, domainId: id };
  const latest = await tx
    .selectFrom('dmarc_days')
    .select(['day', 'messages'])
    .where('domain_id', '=', id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!latest) return { ...subject, day: null, complaints: 0, messages: 0 };
  const kinds = await messageCounts(
    tx,
    { domains: [id], from: latest.day, to: latest.day },
    'complaint kind',
  );
  // Those that do not count may be forged.
  const complaints = kinds.find(({ value }) => value === 'abuse')?.count ?? 0;
  return { ...subject, ...latest, complaints };
}
