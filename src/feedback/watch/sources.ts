/** Finds the sources of a domain that are new or failing, stores it, and emits the events. */

import type { App } from '../../app.ts';
import { appendEvent } from '../../events/events.ts';
import { isoTime } from '../../lib/clock.ts';
import { lockIn, type Tx } from '../../store/open.ts';
import type { FeedbackSourceRow } from '../../store/tables.generated.ts';
import { SUM_COLUMNS } from '../sources/days.ts';
import { presentSource } from '../sources/present.ts';
import { sourcesOf, withAddresses } from '../sources/queries.ts';
import { dayBefore, lastDays } from '../sums.ts';
import type { SourceObservation, WatchedDomain } from './observations.ts';
import {
  DAYS_NEEDED,
  MIN_MESSAGES,
  type SourceDay,
  type SourceState,
  sourceState,
} from './source-state.ts';

/** Sources per query. */
const BATCH_SIZE = 100;
const RECENT_DAYS = 5;

/** Those with enough messages in the last days, and those that were new or failing. Call in `transact`. */
export async function observeSources(
  tx: Tx,
  app: App,
  domain: WatchedDomain,
): Promise<SourceObservation[]> {
  const today = isoTime(app.clock.now()).slice(0, 10);
  const ids = await candidates(tx, domain.id, today);
  const firstDay = await firstDayOf(tx, domain.id);
  const observations: SourceObservation[] = [];
  for (let first = 0; first < ids.length; first += BATCH_SIZE) {
    const batch = ids.slice(first, first + BATCH_SIZE);
    // Locked in the order of IDs, so that two nodes find the same state one after the other.
    const query = tx
      .selectFrom('feedback_sources')
      .selectAll()
      .where('id', 'in', batch)
      .orderBy('id');
    const rows = await lockIn(tx, query).execute();
    const days = await daysBySource(tx, batch, dayBefore(today, DAYS_NEEDED));
    for (const row of rows) {
      const own = days.get(row.id) ?? [];
      const state = sourceState(row, own, { today, firstDay });
      await recordState(tx, app, domain, row, state);
      observations.push(observationOf(domain, row, state, own, today));
    }
  }
  return observations;
}

async function candidates(tx: Tx, domainId: string, today: string): Promise<string[]> {
  const active = await tx
    .selectFrom('feedback_source_days')
    .select('source_id')
    .distinct()
    .where('domain_id', '=', domainId)
    .where('day', '>=', dayBefore(today, RECENT_DAYS))
    .where('messages', '>=', MIN_MESSAGES)
    .execute();
  const flagged = await tx
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

async function firstDayOf(tx: Tx, domainId: string): Promise<string> {
  const first = await tx
    .selectFrom('dmarc_days')
    .select('day')
    .where('domain_id', '=', domainId)
    .orderBy('day')
    .limit(1)
    .executeTakeFirst();
  return first?.day ?? '9999-12-31';
}

async function daysBySource(
  tx: Tx,
  sources: string[],
  from: string,
): Promise<Map<string, SourceDay[]>> {
  const rows = await tx
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

function observationOf(
  { id, name }: WatchedDomain,
  row: FeedbackSourceRow,
  { new_since, failing_since }: SourceState,
  days: SourceDay[],
  today: string,
): SourceObservation {
  const since = dayBefore(today, RECENT_DAYS);
  const latest = days.findLast(({ day, messages }) => day >= since && messages >= MIN_MESSAGES);
  return {
    ...{ kind: 'source', subject: row.id, domainId: id, domain: name },
    ...{ name: row.label ?? row.name, day: latest?.day ?? null },
    messages: latest?.messages ?? 0,
    failed: latest ? latest.messages - latest.passed : 0,
    ...{ failingSince: failing_since, newSince: new_since },
  };
}

async function recordState(
  tx: Tx,
  app: App,
  domain: WatchedDomain,
  row: FeedbackSourceRow,
  state: SourceState,
): Promise<void> {
  if (row.new_since === state.new_since && row.failing_since === state.failing_since) return;
  await tx.updateTable('feedback_sources').set(state).where('id', '=', row.id).execute();
  if (row.new_since === null && state.new_since !== null)
    await emit(tx, app, domain, row, 'feedback.new_source');
  if (row.failing_since === null && state.failing_since !== null)
    await emit(tx, app, domain, row, 'feedback.source_failing');
  if (row.failing_since !== null && state.failing_since === null)
    await emit(tx, app, domain, row, 'feedback.source_recovered');
}

/** With the sums of the last 30 days, as lists show them. */
async function emit(
  tx: Tx,
  app: App,
  { id, name }: WatchedDomain,
  row: FeedbackSourceRow,
  type: 'feedback.new_source' | 'feedback.source_failing' | 'feedback.source_recovered',
): Promise<void> {
  const sums = await sourcesOf(tx, { domain: { id }, ...lastDays(app) }, [row.id]);
  const [source] = await withAddresses(tx, sums);
  if (!source) return;
  const data = { ...presentSource(source), domain: name };
  await appendEvent(tx, { type, livemode: true, data }, app);
}
