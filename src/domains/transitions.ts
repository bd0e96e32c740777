/** What becomes of a domain after a lookup of its record, and after a look at its health. */

import type { EventType } from '../events/append.ts';
import { isoTime } from '../lib/clock.ts';
import type { DomainRow } from '../store/watching-tables.ts';
import type { Look } from './health.ts';
import { GONE_MS, nextDaily, nextLookup, RETRY_MS, SEARCH_MS } from './schedule.ts';
import { withoutGone } from './selectors.ts';
import type { Lookup } from './verification.ts';

export interface Transition {
  change: Partial<DomainRow>;
  /** The event that reports it; null where nothing has moved. */
  event: EventType | null;
}

/** A failed domain whose record is looked for again: its 72 hours begin anew. */
export function restarted(now: number): Partial<DomainRow> {
  return { status: 'pending', pending_since: isoTime(now), missing_since: null };
}

/** Nothing has moved. */
const NOTHING: Transition = { change: {}, event: null };

/**
 * Whether what began then is older than what is recorded, and ends later. A record of a time to
 * come is of a clock that has been set back since, and holds nothing up.
 */
export function isStale(begunAt: number, recordedAt: string | null, now: number): boolean {
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
export function afterHealth(row: DomainRow, { health, begunAt }: Look, now: number): Transition {
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
