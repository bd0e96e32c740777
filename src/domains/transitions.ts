/** What becomes of a domain after a lookup of its record, and after a look at its health. */

import { createHash } from 'node:crypto';
import { withFormer } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { appendEvent, type EventType } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { Look } from './health.ts';
import { presentListed } from './queries.ts';
import { withoutGone } from './selectors.ts';
import type { Lookup } from './verification.ts';

interface Transition {
  change: Partial<DomainRow>;
  /** The event that reports it; null where nothing has moved. */
  event: EventType | null;
}

/** A failed domain whose record is looked for again: its 72 hours begin anew. */
function restarted(now: number): Partial<DomainRow> {
  return { status: 'pending', pending_since: isoTime(now), missing_since: null };
}

/** Nothing has moved. */
const NOTHING: Transition = { change: {}, event: null };

/**
 * Whether what began then is older than what is recorded, and ends later. A record of a time to
 * come is of a clock that has been set back since, and holds nothing up.
 */
function isStale(begunAt: number, recordedAt: string | null, now: number): boolean {
  const recorded = recordedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(recordedAt);
  return begunAt < recorded && recorded <= now;
}

/** Not for a failed domain, which nobody looks at. `now` in milliseconds since 1970. */
export function afterLookup(row: DomainRow, lookup: Lookup, now: number): Transition {
  if (isStale(lookup.begunAt, row.last_checked_at, now)) return NOTHING;
  const seen = {
    last_checked_at: isoTime(lookup.begunAt),
    last_check_detail: lookup.found === 'yes' ? null : lookup.detail,
  };
  const { change, event } =
    row.status === 'verified' ? whenVerified(row, lookup, now) : whenPending(row, lookup, now);
  return { change: { ...seen, ...change }, event };
}

const FAILED: Transition = {
  change: { status: 'failed', verified_at: null, missing_since: null, next_check_at: null },
  event: 'domain.verification_failed',
};

/** A time that is still to come was written by a clock that has been set back. */
const sinceThen = (at: string, now: number): number => Math.min(Date.parse(at), now);

function whenPending(row: DomainRow, { found }: Lookup, now: number): Transition {
  if (found === 'yes') {
    const verified_at = isoTime(now);
    // Its health is looked at by the job, at once.
    const change = { status: 'verified', verified_at, next_check_at: verified_at } as const;
    return { change: { ...change, missing_since: null }, event: 'domain.verified' };
  }
  const since = sinceThen(row.pending_since, now);
  if (found === 'no' && now - since >= SEARCH_MS) return FAILED;
  const next_check_at = isoTime(nextLookup(since, now));
  return { change: { pending_since: isoTime(since), next_check_at }, event: null };
}

function whenVerified(row: DomainRow, { found }: Lookup, now: number): Transition {
  if (found === 'unknown')
    return { change: { next_check_at: isoTime(now + RETRY_MS) }, event: null };
  const daily = nextDaily(row.id, now);
  if (found === 'yes')
    return { change: { missing_since: null, next_check_at: isoTime(daily) }, event: null };
  const since = row.missing_since === null ? now : sinceThen(row.missing_since, now);
  if (now - since >= GONE_MS) return FAILED;
  const next_check_at = isoTime(Math.min(daily, since + GONE_MS));
  return { change: { missing_since: isoTime(since), next_check_at }, event: null };
}

/**
 * What could not be found out changes nothing that is known already, and is looked at again soon.
 * The first known health of a domain is no news; after that each move of it is, while it is verified.
 */
function afterHealth(row: DomainRow, { health, begunAt }: Look, now: number): Transition {
  if (isStale(begunAt, row.health_checked_at, now)) return NOTHING;
  if (health.status === 'unknown' && row.health_status !== 'unknown') return NOTHING;
  const change = {
    health_status: health.status,
    health_score: health.score,
    health_checks: JSON.stringify(health.checks),
    health_checked_at: isoTime(begunAt),
    ...withoutGone(row, health.checks, begunAt),
  };
  const moved = row.health_status !== 'unknown' && row.health_status !== health.status;
  const isNews = moved && row.status === 'verified';
  return { change, event: isNews ? 'domain.health_changed' : null };
}

// When a domain is looked at next.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Counted from the beginning of the search; hourly from the last of them on. */
const FIRST_LOOKUPS_MIN = [1, 5, 15, 30, 60];
/** So long a record is looked for before its absence is a failure. */
const SEARCH_MS = 72 * HOUR_MS;
/** So long a record may be gone before a verified domain is verified no more. */
const GONE_MS = 3 * DAY_MS;
/** What could not be found out is looked at again after this. */
export const RETRY_MS = HOUR_MS;

/** No plan is farther away: what is, was made before the clock was set back. */
export const FURTHEST_MS = 25 * HOUR_MS;

/** The next lookup of an unverified domain; all times in milliseconds since 1970. */
export function nextLookup(pendingSince: number, now: number): number {
  const first = FIRST_LOOKUPS_MIN.map((minutes) => pendingSince + minutes * MINUTE_MS);
  const hours = Math.max(0, Math.floor((now - pendingSince) / HOUR_MS));
  return first.find((at) => at > now) ?? pendingSince + (hours + 1) * HOUR_MS;
}

/**
 * The next daily look at a verified domain: each has its own time of day, by its id, so that ten
 * thousand do not come at once. Not within an hour, as it has just been looked at.
 */
function nextDaily(id: string, now: number): number {
  const timeOfDay = createHash('sha256').update(id).digest().readUInt32BE(0) % DAY_MS;
  const earliest = now + HOUR_MS;
  const today = Math.floor(earliest / DAY_MS) * DAY_MS + timeOfDay;
  return today >= earliest ? today : today + DAY_MS;
}

// Records what looks at a domain have found, with the events, in the transaction of the change.

/** Gives the row as it is then. `more` is changed beside. */
export async function recordLookup(
  tx: Tx,
  app: App,
  row: DomainRow,
  lookup: Lookup,
  more: Partial<DomainRow> = {},
): Promise<DomainRow> {
  const { change, event } = afterLookup(row, lookup, app.clock.now());
  return storeTransition(tx, app, row, { change: { ...change, ...more }, event });
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
  return storeTransition(tx, app, row, { change: { ...begun, ...change, ...planned }, event });
}

/** The row as it is in the transaction; gives it as it is then, and the health beside what was known. */
export async function recordHealth(
  tx: Tx,
  app: App,
  row: DomainRow,
  { health, begunAt }: Look,
): Promise<{ row: DomainRow; look: Look }> {
  const look = { health: withFormer(health, JSON.parse(row.health_checks)), begunAt };
  return {
    look,
    row: await storeTransition(tx, app, row, afterHealth(row, look, app.clock.now())),
  };
}

async function storeTransition(
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
