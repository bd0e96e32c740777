/** The job that looks at what reports say about each domain, for events and alert rules. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { isStopped } from '../../domains/feedback/state.ts';
import { observed } from '../../events/observations.ts';
import { isoTime } from '../../lib/clock.ts';
import type { Job } from '../../scheduler/scheduler.ts';
import { type Tx, transact } from '../../store/open.ts';
import { messageCounts } from '../messages/counts.ts';
import { isReportedSince } from '../queries.ts';
import { countedReports, dayBefore } from '../sums.ts';
import type {
  FeedbackObservation,
  ReceiverDayObservation,
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
    .where(isReportedSince(''))
    .orderBy('id')
    .execute();
  for (const { id } of domains) {
    await transact(app.db, async (tx) => {
      const domain = await watchedDomain(tx, id);
      if (!domain) return;
      await app.subscribers.publish(observed, tx, [
        ...observeArrival(app, domain),
        await observeTls(tx, app, domain),
        await observeReceiverDay(tx, app, domain),
      ]);
    });
    await watchSources(app, id);
    await yieldToEventLoop();
  }
}

/** Nothing if all its reports were uploaded: nobody sends any that could stop. */
function observeArrival(
  { clock }: Pick<App, 'clock'>,
  { id, name, first_at, last_at }: WatchedDomain,
): FeedbackObservation[] {
  if (last_at === null) return [];
  const state = { lastReportAt: last_at, isStopped: isStopped({ first_at, last_at }, clock.now()) };
  return [{ kind: 'feedback', subject: name, domainId: id, ...state }];
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
  const subject = { kind: 'tls' as const, subject: name, domainId: id };
  if (!latest) return { ...subject, day: null, succeeded: 0, failed: 0, reporters: 0 };
  return { ...subject, ...latest, reporters: await reportersOf(tx, id, latest.day, 'tls') };
}

/** How many reporters sent reports about a day. */
async function reportersOf(tx: Tx, id: string, day: string, type: 'dmarc' | 'tls') {
  const rows = await countedReports(tx, { domains: [id], from: day, to: day }, type)
    .select('reporter_id')
    .distinct()
    .execute();
  return rows.length;
}

async function observeReceiverDay(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { id, name }: WatchedDomain,
): Promise<ReceiverDayObservation> {
  const { from, to } = recentDays(clock);
  const subject = { kind: 'receiver_day' as const, subject: name, domainId: id };
  const latest = await tx
    .selectFrom('dmarc_days')
    .select(['day', 'messages'])
    .where('domain_id', '=', id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!latest)
    return { ...subject, day: null, complaints: 0, receivers: [], messages: 0, reporters: 0 };
  const asked = { domains: [id], from: latest.day, to: latest.day };
  // Those that do not count may be forged.
  const kinds = await messageCounts(tx, asked, 'complaint kind');
  const receivers = await messageCounts(tx, asked, 'complaint provider');
  return {
    ...subject,
    ...latest,
    complaints: kinds.find(({ value }) => value === 'abuse')?.count ?? 0,
    receivers: receivers
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .map(({ value }) => value),
    reporters: await reportersOf(tx, id, latest.day, 'dmarc'),
  };
}
