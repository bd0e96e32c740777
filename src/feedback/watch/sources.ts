/** Finds the sources of a domain that are new or failing, stores it, and emits the events. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { appendEvent } from '../../events/events.ts';
import { observed } from '../../events/observations.ts';
import { MIN_FAILING_MESSAGES } from '../../figures/dmarc.ts';
import { isoTime } from '../../lib/clock.ts';
import { type Db, type Tx, transact } from '../../store/open.ts';
import type { FeedbackSourceRow } from '../../store/tables.generated.ts';
import { isReportedSince } from '../queries.ts';
import { lockSources, SUM_COLUMNS } from '../sources/days.ts';
import { reportDaysOf } from '../sources/new.ts';
import { presentSource } from '../sources/present.ts';
import { reportersOnDay, sourcesOf, withAddresses } from '../sources/queries.ts';
import { dayBefore, lastDays } from '../sums.ts';
import type { SourceObservation, WatchedDomain } from './observations.ts';
import {
  COMPLETE_AFTER_DAYS,
  DAYS_NEEDED,
  isOurs,
  NEW_DAYS,
  RECENT_DAYS,
  type RecoveryReason,
  recoveryReason,
  type SourceDay,
  type SourceState,
  sourceState,
} from './source-state.ts';

/** Sources per transaction, in which their days are read, too. */
const BATCH_SIZE = 25;

/** A domain with what the watch needs of it; undefined if it was removed or has no reports. */
export async function watchedDomain(db: Db | Tx, id: string): Promise<WatchedDomain | undefined> {
  return db
    .selectFrom('feedback_domains')
    .innerJoin('domains', 'domains.id', 'feedback_domains.id')
    .select(['domains.id', 'domains.name', 'first_at', 'last_at'])
    .where('domains.id', '=', id)
    .where(isReportedSince(''))
    .executeTakeFirst();
}

/** Those with enough messages in the last days, and those that were new or failing. */
export async function watchSources(app: App, domainId: string): Promise<void> {
  const today = isoTime(app.clock.now()).slice(0, 10);
  const ids = await candidates(app.db, domainId, today);
  const period = { from: dayBefore(today, NEW_DAYS), to: today };
  const reportDays = (await reportDaysOf(app.db, [domainId], period)).get(domainId) ?? [];
  for (let first = 0; first < ids.length; first += BATCH_SIZE) {
    const batch = ids.slice(first, first + BATCH_SIZE);
    await transact(app.db, (tx) => watchBatch(tx, app, domainId, { batch, today, reportDays }));
    await yieldToEventLoop();
  }
}

interface Batch {
  /** IDs of sources. */
  batch: string[];
  today: string;
  reportDays: string[];
}

async function watchBatch(
  tx: Tx,
  app: App,
  domainId: string,
  { batch, today, reportDays }: Batch,
): Promise<void> {
  const domain = await watchedDomain(tx, domainId);
  if (!domain) return;
  // No address moves from or to them meanwhile, and no other node looks at them.
  await lockSources(tx, domainId);
  const rows = await tx
    .selectFrom('feedback_sources')
    .selectAll()
    .where('id', 'in', batch)
    .orderBy('id')
    .execute();
  const days = await daysBySource(tx, batch, dayBefore(today, DAYS_NEEDED));
  const observations: SourceObservation[] = [];
  for (const row of rows) {
    const own = days.get(row.id) ?? [];
    const state = sourceState(row, own, { today, reportDays });
    if (await recordState(tx, app, domain, row, { state, days: own, today }))
      observations.push(await observationOf(tx, domain, row, { state, days: own, today }));
  }
  await app.subscribers.publish(observed, tx, observations);
}

async function candidates(db: Db, domainId: string, today: string): Promise<string[]> {
  const active = await db
    .selectFrom('feedback_source_days')
    .select('source_id')
    .distinct()
    .where('domain_id', '=', domainId)
    .where('day', '>=', dayBefore(today, RECENT_DAYS))
    .where('messages', '>=', MIN_FAILING_MESSAGES)
    .execute();
  const flagged = await db
    .selectFrom('feedback_sources')
    .select('id')
    .where('domain_id', '=', domainId)
    .where(({ or, eb }) =>
      or([eb('new_since', 'is not', null), eb('failing_since', 'is not', null)]),
    )
    .execute();
  const ids = [...active.map(({ source_id }) => source_id), ...flagged.map(({ id }) => id)];
  return [...new Set(ids)].sort();
}

export async function daysBySource(
  db: Db | Tx,
  sources: string[],
  from: string,
): Promise<Map<string, SourceDay[]>> {
  const rows = await db
    .selectFrom('feedback_source_days')
    .select(['source_id', 'day', ...SUM_COLUMNS])
    .where('source_id', 'in', sources)
    .where('day', '>=', from)
    .where('messages', '>', 0)
    .orderBy('source_id')
    .orderBy('day')
    .execute();
  return Map.groupBy(rows, ({ source_id }) => source_id);
}

interface Observing {
  state: SourceState;
  days: SourceDay[];
  today: string;
}

export async function observationOf(
  tx: Tx,
  { id, name }: WatchedDomain,
  row: FeedbackSourceRow,
  { state: { new_since, failing_since }, days, today }: Observing,
): Promise<SourceObservation> {
  const [since, until] = [dayBefore(today, RECENT_DAYS), dayBefore(today, COMPLETE_AFTER_DAYS)];
  const latest = days.findLast(
    ({ day, messages }) => day >= since && day <= until && messages >= MIN_FAILING_MESSAGES,
  );
  const isReported = latest !== undefined && (new_since ?? failing_since) !== null;
  return {
    kind: 'source',
    subject: row.id,
    domainId: id,
    domain: name,
    name: row.label ?? row.name,
    day: latest?.day ?? null,
    messages: latest?.messages ?? 0,
    failed: latest ? latest.messages - latest.passed : 0,
    reporters: isReported ? await reportersOnDay(tx, row, latest.day) : 0,
    isOurs: isOurs(row),
    failingSince: failing_since,
    newSince: new_since,
  };
}

/** Resolves with false if somebody has changed the source meanwhile: the next run looks again. */
async function recordState(
  tx: Tx,
  app: App,
  domain: WatchedDomain,
  row: FeedbackSourceRow,
  { state, days, today }: { state: SourceState; days: SourceDay[]; today: string },
): Promise<boolean> {
  const { new_since, failing_since } = row;
  if (new_since === state.new_since && failing_since === state.failing_since) return true;
  const { numUpdatedRows } = await tx
    .updateTable('feedback_sources')
    .set(state)
    .where('id', '=', row.id)
    .where('new_since', 'is not distinct from', new_since)
    .where('failing_since', 'is not distinct from', failing_since)
    .where('mark', 'is not distinct from', row.mark)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  if (new_since === null && state.new_since !== null)
    await emit(tx, app, domain, row, 'feedback.new_source');
  if (failing_since === null && state.failing_since !== null)
    await emit(tx, app, domain, row, 'feedback.source_failing');
  if (failing_since !== null && state.failing_since === null)
    await emit(tx, app, domain, row, 'feedback.source_recovered', {
      reason: recoveryReason(row, days, today),
    });
  return true;
}

/** With the sums of the last 30 days, as lists show them. */
async function emit(
  tx: Tx,
  app: App,
  { id, name }: WatchedDomain,
  row: FeedbackSourceRow,
  type: 'feedback.new_source' | 'feedback.source_failing' | 'feedback.source_recovered',
  more: { reason?: RecoveryReason } = {},
): Promise<void> {
  const sums = await sourcesOf(tx, { domain: { id }, ...lastDays(app) }, { ids: [row.id] });
  const [source] = await withAddresses(tx, sums);
  if (!source) return;
  const data = { ...presentSource(source), domain: name, ...more };
  await appendEvent(tx, { type, livemode: true, data }, app);
}
