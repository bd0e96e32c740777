/** Whether a source is new, or fails though it passed before, from its days. */

import { kindOf, type SourceMark, type SourceTotals } from '../sources/kind.ts';
import { dayBefore } from '../sums.ts';

/** A day of a source, in UTC. */
export interface SourceDay extends SourceTotals {
  day: string;
  quarantined: number;
  rejected: number;
}

/** Since when, as days; null if it is not. */
export interface SourceState {
  new_since: string | null;
  failing_since: string | null;
}

/** Fewer messages of a day say little. */
export const MIN_MESSAGES = 10;
const MAX_FAILING_SHARE = 0.05;

/** How far back a day may be that changes the state: reports of older ones were imported, or are late. */
const RECENT_DAYS = 5;
/** A source that was not seen for so long is new again. */
export const ABSENT_DAYS = 60;
/** How long a source is new, and how long a failing one may be silent. */
const ENDING_DAYS = 14;
/** Before, every source of a domain would be new. */
const ESTABLISHED_DAYS = 14;

/** How many days before today `days` must reach, for `sourceState`. */
export const DAYS_NEEDED = ABSENT_DAYS + ENDING_DAYS + RECENT_DAYS;

/**
 * The state after the latest reports. `days` are those of the source of the last `DAYS_NEEDED` days, oldest first.
 * `firstDay` is the first day of which any report about the domain tells.
 */
export function sourceState(
  {
    key,
    mark,
    label,
    ...state
  }: SourceState & { key: string; mark: string | null; label: string | null },
  days: SourceDay[],
  { today, firstDay }: { today: string; firstDay: string },
): SourceState {
  const recent = days.filter(
    ({ day, messages }) => day >= dayBefore(today, RECENT_DAYS) && messages >= MIN_MESSAGES,
  );
  const passedBefore = (day: string): boolean => {
    const totals = totalsOf(days.filter((other) => other.day < day));
    const kind = kindOf(key, mark as SourceMark | null, totals);
    return totals.messages >= MIN_MESSAGES && (kind === 'own' || kind === 'service');
  };
  return {
    new_since: newSince(state.new_since, days, recent, {
      today,
      firstDay,
      isClassified: (mark ?? label) !== null,
    }),
    failing_since: failingSince(state.failing_since, days, recent, { today, passedBefore }),
  };
}

function newSince(
  before: string | null,
  days: SourceDay[],
  recent: SourceDay[],
  { today, firstDay, isClassified }: { today: string; firstDay: string; isClassified: boolean },
): string | null {
  if (isClassified) return null;
  if (before !== null) return before > dayBefore(today, ENDING_DAYS) ? before : null;
  // What the policy stops is a number, not a problem.
  const found = recent.find(
    ({ messages, quarantined, rejected }) => messages - quarantined - rejected >= MIN_MESSAGES,
  );
  if (!found) return null;
  const appeared = appearance(days, found.day);
  // Compared with today, so that it does not begin again once it has ended.
  const isNew =
    appeared > dayBefore(today, ENDING_DAYS) && firstDay <= dayBefore(appeared, ESTABLISHED_DAYS);
  return isNew ? found.day : null;
}

/** The first of the days up to this one without a gap of `ABSENT_DAYS`. */
function appearance(days: SourceDay[], until: string): string {
  let first = until;
  for (const { day } of days.filter(({ day }) => day < until).reverse()) {
    if (day <= dayBefore(first, ABSENT_DAYS)) break;
    first = day;
  }
  return first;
}

const isFailing = ({ messages, passed }: Pick<SourceDay, 'messages' | 'passed'>): boolean =>
  messages - passed > messages * MAX_FAILING_SHARE;

function failingSince(
  before: string | null,
  days: SourceDay[],
  recent: SourceDay[],
  { today, passedBefore }: { today: string; passedBefore: (day: string) => boolean },
): string | null {
  if (before !== null) return hasRecovered(before, days, today) ? null : before;
  const found = recent.find((day) => isFailing(day) && day.messages - day.passed >= MIN_MESSAGES);
  // A later day that passes says that it was over before anybody could look.
  const latest = recent.at(-1);
  if (!found || !latest || !isFailing(latest)) return null;
  return passedBefore(found.day) ? found.day : null;
}

/** The latest days with enough messages pass, or it has been silent for two weeks. */
function hasRecovered(since: string, days: SourceDay[], today: string): boolean {
  const later = days.filter(({ day }) => day > since);
  const lastDay = later.at(-1)?.day ?? since;
  if (lastDay < dayBefore(today, ENDING_DAYS)) return true;
  let sum = { messages: 0, passed: 0 };
  for (const { messages, passed } of later.toReversed()) {
    sum = { messages: sum.messages + messages, passed: sum.passed + passed };
    if (sum.messages >= MIN_MESSAGES) return !isFailing(sum);
  }
  return false;
}

function totalsOf(days: SourceDay[]): SourceTotals {
  const sum = (name: keyof SourceTotals) => days.reduce((total, day) => total + day[name], 0);
  return {
    ...{ messages: sum('messages'), passed: sum('passed'), dkim: sum('dkim') },
    ...{ spf: sum('spf'), forwarded: sum('forwarded') },
  };
}
