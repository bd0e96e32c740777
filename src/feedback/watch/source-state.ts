/** Whether a source is new, or fails though it passed before, from its days. */

import {
  failedOf,
  failsDmarc,
  MIN_FAILING_MESSAGES,
  type StoppedCounts,
  stoppedOf,
} from '../../figures/dmarc.ts';
import type { FeedbackSourceRow } from '../../store/tables.generated.ts';
import { isRest, kindOf, type SourceTotals } from '../sources/kind.ts';
import { type Appearance, isNew, UNSEEN_DAYS } from '../sources/new.ts';
import { dayBefore } from '../sums.ts';

/** A day of a source, in UTC. */
export interface SourceDay extends SourceTotals, StoppedCounts {
  day: string;
}

/** Since when, as days; null if it is not. */
export interface SourceState {
  new_since: string | null;
  failing_since: string | null;
}

export type WatchedSource = Pick<
  FeedbackSourceRow,
  'key' | 'mark' | 'claim' | 'label' | 'new_since' | 'failing_since'
>;

/** So many messages before a day show whether a source passed. */
const PASSED_MESSAGES = 100;

/** Reports about a day arrive during the next two. Before, a part of them could say the opposite. */
export const COMPLETE_AFTER_DAYS = 2;
/** How far back a day may be that changes the state: reports of older ones were imported, or are late. */
export const RECENT_DAYS = 7;
/** How long a source is new, and how long a failing one may be silent. */
const ENDING_DAYS = 14;
/** How far before today a source may have appeared that is new: it is new for two weeks, and may have begun slowly before. */
export const NEW_DAYS = 2 * ENDING_DAYS;

/** Unless somebody said that it is not. */
export const isOurs = ({ mark }: Pick<WatchedSource, 'mark'>): boolean =>
  mark === null || mark === 'own';

/** How many days before today `days` must reach, for `sourceState`. */
export const DAYS_NEEDED = UNSEEN_DAYS + NEW_DAYS;

/**
 * The state after the latest reports. `days` are those of the source of the last `DAYS_NEEDED` days, oldest first.
 * `reportDays` are those days of which any report about the domain tells.
 */
export function sourceState(
  { key, mark, claim, label, new_since, failing_since }: WatchedSource,
  days: SourceDay[],
  { today, reportDays }: { today: string; reportDays: string[] },
): SourceState {
  const complete = days.filter(({ day }) => day <= dayBefore(today, COMPLETE_AFTER_DAYS));
  const recent = complete.filter(
    ({ day, messages }) => day >= dayBefore(today, RECENT_DAYS) && messages >= MIN_FAILING_MESSAGES,
  );
  const isClassified = isRest(key) || (mark ?? label) !== null;
  const passedBefore = (day: string): boolean => {
    const totals = totalsBefore(complete, day);
    const kind = kindOf({ key, mark, claim }, totals);
    return totals.messages >= MIN_FAILING_MESSAGES && (kind === 'own' || kind === 'service');
  };
  return {
    new_since: isClassified ? null : newSince(new_since, complete, recent, { today, reportDays }),
    failing_since: isOurs({ mark })
      ? failingSince(failing_since, complete, recent, { today, passedBefore })
      : null,
  };
}

/**
 * What is left of the state of a source after addresses moved away. `days` are the remaining ones. What they no longer show
 * was about the addresses that moved.
 */
export function remainingState({ new_since, failing_since }: SourceState, days: SourceDay[]) {
  const showsNew = since(days, new_since).some((day) => arrived(day) >= MIN_FAILING_MESSAGES);
  return {
    new_since: showsNew ? new_since : null,
    failing_since: failsSince(days, failing_since) ? failing_since : null,
  };
}

/** The state of a source that got addresses with this state. Its `days` include theirs. */
export function inheritedState(
  moved: SourceState,
  { mark, label, new_since, failing_since }: WatchedSource,
  days: SourceDay[],
  { today, reportDays }: { today: string; reportDays: string[] },
): SourceState {
  const isStillNew = moved.new_since !== null && (mark ?? label) === null;
  return {
    new_since:
      new_since ??
      (isStillNew && lastsNew(moved.new_since!, days, { today, reportDays })
        ? moved.new_since
        : null),
    failing_since:
      failing_since ??
      (isOurs({ mark }) && failsSince(days, moved.failing_since) ? moved.failing_since : null),
  };
}

const since = (days: SourceDay[], first: string | null): SourceDay[] =>
  first === null ? [] : days.filter(({ day }) => day >= first);

function failsSince(days: SourceDay[], first: string | null): boolean {
  const later = since(days, first);
  const sumOf = (name: 'messages' | 'passed') => later.reduce((sum, day) => sum + day[name], 0);
  return failsDmarc({ messages: sumOf('messages'), passed: sumOf('passed') });
}

/** What the policy stops is a number, not a problem. */
const arrived = (day: SourceDay): number => day.messages - stoppedOf(day);

/** New as in lists, and in addition with enough messages in a day that the policy does not stop. */
function newSince(
  before: string | null,
  days: SourceDay[],
  recent: SourceDay[],
  { today, reportDays }: { today: string; reportDays: string[] },
): string | null {
  if (before !== null) return lastsNew(before, days, { today, reportDays }) ? before : null;
  const found = recent.find((day) => arrived(day) >= MIN_FAILING_MESSAGES);
  if (!found) return null;
  // Compared with today, so that it does not begin again once it has ended.
  const appearance = appearanceIn(days, dayBefore(today, ENDING_DAYS - 1));
  return isNew(appearance, reportDays) ? found.day : null;
}

/** Whether a source that was new on a day still is. Reports that arrived later may show that it was there before. */
function lastsNew(
  day: string,
  days: SourceDay[],
  { today, reportDays }: { today: string; reportDays: string[] },
): boolean {
  const appearance = appearanceIn(days, dayBefore(day, ENDING_DAYS));
  return day > dayBefore(today, ENDING_DAYS) && isNew(appearance, reportDays);
}

function appearanceIn(days: SourceDay[], from: string): Appearance {
  const index = days.findIndex(({ day }) => day >= from);
  if (index < 0) return { first: null, previous: null };
  return { first: days[index]!.day, previous: days[index - 1]?.day ?? null };
}

function failingSince(
  before: string | null,
  days: SourceDay[],
  recent: SourceDay[],
  { today, passedBefore }: { today: string; passedBefore: (day: string) => boolean },
): string | null {
  if (before !== null) return hasRecovered(before, days, today) ? null : before;
  const found = recent.find((day) => failsDmarc(day) && failedOf(day) >= MIN_FAILING_MESSAGES);
  // A later day that passes says that it was over before anybody could look.
  const latest = recent.at(-1);
  if (!found || !latest || !failsDmarc(latest)) return null;
  return passedBefore(found.day) ? found.day : null;
}

/** The latest days with enough messages pass, or it has been silent for two weeks. */
/** Why a source that failed no longer counts as failing. `silent`: it sends nothing, so nobody knows whether it would pass. */
export type RecoveryReason = 'passes' | 'silent' | 'not_ours';

export function recoveryReason(
  { mark, failing_since }: Pick<WatchedSource, 'mark' | 'failing_since'>,
  days: SourceDay[],
  today: string,
): RecoveryReason {
  if (!isOurs({ mark })) return 'not_ours';
  const complete = days.filter(({ day }) => day <= dayBefore(today, COMPLETE_AFTER_DAYS));
  const lastDay = complete.at(-1)?.day ?? failing_since ?? '';
  return lastDay < dayBefore(today, ENDING_DAYS) ? 'silent' : 'passes';
}

function hasRecovered(since: string, days: SourceDay[], today: string): boolean {
  const later = days.filter(({ day }) => day > since);
  const lastDay = later.at(-1)?.day ?? since;
  if (lastDay < dayBefore(today, ENDING_DAYS)) return true;
  let sum = { messages: 0, passed: 0 };
  for (const { messages, passed } of later.toReversed()) {
    sum = { messages: sum.messages + messages, passed: sum.passed + passed };
    if (sum.messages >= MIN_FAILING_MESSAGES) return !failsDmarc(sum);
  }
  return false;
}

/** Of the last days before this one that together have enough messages, so that an outage long ago does not count. */
function totalsBefore(days: SourceDay[], until: string): SourceTotals {
  const totals = { messages: 0, passed: 0, dkim: 0, spf: 0, forwarded: 0 };
  for (const day of days.filter(({ day }) => day < until).reverse()) {
    if (totals.messages >= PASSED_MESSAGES) break;
    for (const name of Object.keys(totals) as (keyof SourceTotals)[]) totals[name] += day[name];
  }
  return totals;
}
