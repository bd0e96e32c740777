/** The state transitions of a domain after a lookup of its record or after health checks. */

import { createHash } from 'node:crypto';
import { type DomainHealth, keepPreviousResults } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { appendEvent, type EventType } from '../events/events.ts';
import { observed } from '../events/observations.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { lockIn, type Tx } from '../store/open.ts';
import { channel } from '../store/subscribers.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { HealthResult } from './health.ts';
import './observe.ts';
import { presentListed } from './queries.ts';
import { withoutExpired } from './selectors.ts';
import { noteDomainChange } from './team-domains.ts';
import type { Lookup } from './verification.ts';
import { lastKnownHealth } from './watched-records.ts';

interface Transition {
  change: Partial<DomainRow>;
  /** The event that reports the transition; null if the status didn't change. */
  event: EventType | null;
}

/** The columns that give a failed domain another 72 hours. */
function restartVerification(now: number): Partial<DomainRow> {
  return { status: 'pending', pending_since: isoTime(now), missing_since: null };
}

const NO_CHANGE: Transition = { change: {}, event: null };

/**
 * Whether a lookup that started at `startedAt` is older than the recorded one. A recorded time in the
 * future was written before the clock was set back, and is ignored.
 */
function isStale(startedAt: number, recordedAt: string | null, now: number): boolean {
  const recorded = recordedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(recordedAt);
  return startedAt < recorded && recorded <= now;
}

/** Don't call it for failed domains, which aren't looked up. `now` is in ms since the epoch. */
export function afterLookup(row: DomainRow, lookup: Lookup, now: number): Transition {
  if (isStale(lookup.startedAt, row.last_checked_at, now)) return NO_CHANGE;
  const lookupResult = {
    last_checked_at: isoTime(lookup.startedAt),
    last_check_detail: lookup.found === 'yes' ? null : lookup.detail,
  };
  const { change, event } =
    row.status === 'verified' ? whenVerified(row, lookup, now) : whenPending(row, lookup, now);
  return { change: { ...lookupResult, ...change }, event };
}

/** A domain that must be verified again has a first lookup again. */
const NO_LOOKS = { next_look_at: null, watched: null } as const;

const FAILED: Transition = {
  change: {
    status: 'failed',
    verified_at: null,
    missing_since: null,
    next_check_at: null,
    ...NO_LOOKS,
  },
  event: 'domain.verification_failed',
};

/** A time in the future was written before the clock was set back. */
const clampToNow = (at: string, now: number): number => Math.min(Date.parse(at), now);

function whenPending(row: DomainRow, { found }: Lookup, now: number): Transition {
  if (found === 'yes') {
    const verified_at = isoTime(now);
    // Due now, so that the job runs the health checks.
    const change = { status: 'verified', verified_at, next_check_at: verified_at } as const;
    const firstLook = { ...NO_LOOKS, next_look_at: verified_at };
    return { change: { ...change, ...firstLook, missing_since: null }, event: 'domain.verified' };
  }
  const since = clampToNow(row.pending_since, now);
  if (found === 'no' && now - since >= VERIFICATION_TIMEOUT_MS) return FAILED;
  const next_check_at = isoTime(nextLookup(since, now));
  return { change: { pending_since: isoTime(since), next_check_at }, event: null };
}

function whenVerified(row: DomainRow, { found }: Lookup, now: number): Transition {
  if (found === 'unknown')
    return { change: { next_check_at: isoTime(now + RETRY_DELAY_MS) }, event: null };
  const nextDailyCheck = nextDaily(row.id, now);
  if (found === 'yes')
    return { change: { missing_since: null, next_check_at: isoTime(nextDailyCheck) }, event: null };
  const since = row.missing_since === null ? now : clampToNow(row.missing_since, now);
  if (now - since >= MISSING_TIMEOUT_MS) return FAILED;
  const next_check_at = isoTime(Math.min(nextDailyCheck, since + MISSING_TIMEOUT_MS));
  return { change: { missing_since: isoTime(since), next_check_at }, event: null };
}

/**
 * An unknown result doesn't overwrite a known one, and is retried soon. The first known health sends no
 * event; each later change does while the domain is verified.
 */
function afterHealth(row: DomainRow, { health, startedAt }: HealthResult, now: number): Transition {
  if (isStale(startedAt, row.health_checked_at, now)) return NO_CHANGE;
  const known = lastKnownHealth(row);
  if (health.status === 'unknown' && known !== 'unknown') return NO_CHANGE;
  const change = {
    health_status: health.status,
    health_score: health.score,
    health_checks: JSON.stringify(health.checks),
    health_checked_at: isoTime(startedAt),
    ...withoutExpired(row, health.checks, startedAt),
  };
  if (row.status !== 'verified') return { change, event: null };
  const hasChanged = known !== 'unknown' && known !== health.status;
  // A look says which record changed.
  const next_look_at = hasChanged ? isoTime(now) : (row.next_look_at ?? isoTime(now));
  return {
    change: { ...change, next_look_at },
    event: hasChanged ? 'domain.health_changed' : null,
  };
}

// When a domain is checked next.

/** Minutes since the verification started. After the last one, lookups are hourly. */
const FIRST_LOOKUPS_MIN = [1, 5, 15, 30, 60];
/** After this time without a record, the verification fails. */
const VERIFICATION_TIMEOUT_MS = 72 * HOUR_MS;
/** After this time without its record, a verified domain fails. */
export const MISSING_TIMEOUT_MS = 3 * DAY_MS;
/** An inconclusive check is repeated after this time. */
export const RETRY_DELAY_MS = HOUR_MS;

/** Checks are never scheduled further ahead, so a later time was written before the clock was set back. */
export const MAX_CHECK_DELAY_MS = 25 * HOUR_MS;

/** The next lookup of an unverified domain; all times are in ms since the epoch. */
export function nextLookup(pendingSince: number, now: number): number {
  const firstLookups = FIRST_LOOKUPS_MIN.map((minutes) => pendingSince + minutes * MINUTE_MS);
  const hours = Math.max(0, Math.floor((now - pendingSince) / HOUR_MS));
  return firstLookups.find((at) => at > now) ?? pendingSince + (hours + 1) * HOUR_MS;
}

/** The first time from `earliest` on at the domain's own time of the day or hour, which spreads the load. */
function nextSlot(id: string, earliest: number, period: number): number {
  const offset = createHash('sha256').update(id).digest().readUInt32BE(0) % period;
  const slot = Math.floor(earliest / period) * period + offset;
  return slot >= earliest ? slot : slot + period;
}

/** The next daily check of a verified domain. At least an hour ahead, because the domain was just checked. */
const nextDaily = (id: string, now: number): number => nextSlot(id, now + HOUR_MS, DAY_MS);

/** The next look at the records of a verified domain, within the hour. */
export const nextLook = (id: string, now: number): number => nextSlot(id, now + 1, HOUR_MS);

/** Looks are never scheduled further ahead. */
export const MAX_LOOK_DELAY_MS = HOUR_MS;

// Recording results with their events, in the transaction of the change.

/** Returns the updated row. Also writes `extraColumns`. */
export async function recordLookup(
  tx: Tx,
  app: App,
  row: DomainRow,
  lookup: Lookup,
  extraColumns: Partial<DomainRow> = {},
): Promise<DomainRow> {
  const { change, event } = afterLookup(row, lookup, app.clock.now());
  return storeTransition(tx, app, row, { change: { ...change, ...extraColumns }, event });
}

/**
 * Records a lookup that a user requested. It restarts the verification of a failed domain. For a verified
 * domain, the daily check stays scheduled, because it also checks the health.
 */
export async function recordRequestedLookup(
  tx: Tx,
  app: App,
  row: DomainRow,
  lookup: Lookup,
): Promise<DomainRow> {
  const now = app.clock.now();
  if (isStale(lookup.startedAt, row.last_checked_at, now)) return row;
  const restart = row.status === 'failed' ? restartVerification(now) : {};
  const { change, event } = afterLookup({ ...row, ...restart }, lookup, now);
  const staysVerified = row.status === 'verified' && event === null;
  const schedule = staysVerified ? { next_check_at: row.next_check_at } : {};
  return storeTransition(tx, app, row, { change: { ...restart, ...change, ...schedule }, event });
}

/** Makes the next check of a domain due now, because its records were changed. A failed one gets another 72 hours. */
export async function requestCheck(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  id: string,
): Promise<void> {
  const now = clock.now();
  const query = tx.selectFrom('domains').select(['id', 'status']).where('id', '=', id);
  const row = await lockIn(tx, query).executeTakeFirst();
  if (!row) return;
  const restart = row.status === 'failed' ? restartVerification(now) : {};
  const next_check_at = isoTime(now);
  const look = row.status === 'verified' ? { next_look_at: next_check_at } : {};
  const change = { ...restart, ...look, next_check_at };
  await tx.updateTable('domains').set(change).where('id', '=', id).execute();
}

/** `row` must be read in this transaction. Returns the updated row, and the health with previous statuses. */
export async function recordHealth(
  tx: Tx,
  app: App,
  row: DomainRow,
  { health, startedAt }: HealthResult,
): Promise<{ row: DomainRow; result: HealthResult }> {
  const result = { health: keepPreviousResults(health, JSON.parse(row.health_checks)), startedAt };
  const transition = afterHealth(row, result, app.clock.now());
  const updated = await storeTransition(tx, app, row, transition);
  if (updated.status === 'verified' && transition !== NO_CHANGE) {
    const { id: domainId, name: subject } = row;
    const { health } = result;
    await app.subscribers.publish(observed, tx, [{ kind: 'health', subject, domainId, health }]);
    await app.subscribers.publish(healthRecorded, tx, updated, health);
  }
  return { result, row: updated };
}

/** Published in the transaction that records the health of a verified domain. */
export const healthRecorded =
  channel<[domain: DomainRow, health: DomainHealth]>('domain health recorded');

async function storeTransition(
  tx: Tx,
  app: App,
  before: DomainRow,
  { change, event: type }: Transition,
): Promise<DomainRow> {
  const row = { ...before, ...change };
  if (Object.keys(change).length > 0)
    await tx.updateTable('domains').set(change).where('id', '=', before.id).execute();
  if (row.status !== before.status) await noteDomainChange(tx);
  if (type === null) return row;
  const listed = presentListed(row);
  const data =
    type === 'domain.health_changed'
      ? { ...listed, previous_health: lastKnownHealth(before) }
      : listed;
  await appendEvent(tx, { type, livemode: true, data }, app);
  return row;
}
