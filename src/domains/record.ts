/** Records what looks at a domain have found, with the events, in the transaction of the change. */

import { withFormer } from '../analysis/domain/former-checks.ts';
import type { App } from '../app.ts';
import { appendEvent } from '../events/append.ts';
import type { Tx } from '../store/open.ts';
import type { DomainRow } from '../store/watching-tables.ts';
import type { Look } from './health.ts';
import { presentListed } from './present.ts';
import { afterHealth, afterLookup, isStale, restarted, type Transition } from './transitions.ts';
import type { Lookup } from './verification.ts';

/** Gives the row as it is then. `more` is changed beside. */
export async function recordLookup(
  tx: Tx,
  app: App,
  row: DomainRow,
  lookup: Lookup,
  more: Partial<DomainRow> = {},
): Promise<DomainRow> {
  const { change, event } = afterLookup(row, lookup, app.clock.now());
  return store(tx, app, row, { change: { ...change, ...more }, event });
}

/**
 * Of a lookup that somebody asked for: it begins the search of a failed domain anew, and the daily
 * look at a verified one, which sees more, comes as planned.
 */
export async function recordAskedLookup(
  tx: Tx,
  app: App,
  row: DomainRow,
  lookup: Lookup,
): Promise<DomainRow> {
  const now = app.clock.now();
  if (isStale(lookup.begunAt, row.last_checked_at, now)) return row;
  const begun = row.status === 'failed' ? restarted(now) : {};
  const { change, event } = afterLookup({ ...row, ...begun }, lookup, now);
  const stays = row.status === 'verified' && event === null;
  const planned = stays ? { next_check_at: row.next_check_at } : {};
  return store(tx, app, row, { change: { ...begun, ...change, ...planned }, event });
}

/** The row as it is in the transaction; gives it as it is then, and the health beside what was known. */
export async function recordHealth(
  tx: Tx,
  app: App,
  row: DomainRow,
  { health, begunAt }: Look,
): Promise<{ row: DomainRow; look: Look }> {
  const look = { health: withFormer(health, JSON.parse(row.health_checks)), begunAt };
  return { look, row: await store(tx, app, row, afterHealth(row, look, app.clock.now())) };
}

async function store(
  tx: Tx,
  app: App,
  before: DomainRow,
  { change, event: type }: Transition,
): Promise<DomainRow> {
  const row = { ...before, ...change };
  if (Object.keys(change).length > 0)
    await tx.updateTable('domains').set(change).where('id', '=', before.id).execute();
  if (type === null) return row;
  const listed = presentListed(row);
  const data =
    type === 'domain.health_changed'
      ? { ...listed, previous_health: before.health_status }
      : listed;
  await appendEvent(tx, { type, livemode: true, data }, app);
  return row;
}
