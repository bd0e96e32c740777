/** How often a rule would have alerted lately, from what is stored about its condition. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';

export interface PastReading extends Pick<App, 'db' | 'clock' | 'config'> {
  /** From this time on. */
  since: string;
}

/** How a condition counts. */
export interface History {
  /** What is missing if there is no data: "no completed test". */
  missing: string;
  /** Of a rule with the default threshold and without a domain. Reads a bounded number of rows. Null without data. */
  timesSince(reading: PastReading): Promise<Times | null>;
}

export interface Times {
  times: number;
  /** Later than asked for if less is stored. */
  since: string;
}

/** What was known about a subject at a time or on a day. */
export interface PastAnswer {
  at: string;
  subject: string;
  answer: 'yes' | 'no' | 'unknown';
}

/** Rows that one condition reads: the newest ones. */
export const MAX_PAST_ROWS = 10_000;

/** As rules open incidents: at the first "yes" about a subject, and at the first one after a "no". In any order. */
export function countTimes(answers: PastAnswer[]): number {
  const open = new Set<string>();
  let times = 0;
  // Days and times sort as text.
  for (const { subject, answer } of answers.toSorted((a, b) => (a.at < b.at ? -1 : +(a.at > b.at))))
    if (answer === 'no') open.delete(subject);
    else if (answer === 'yes' && !open.has(subject)) {
      open.add(subject);
      times++;
    }
  return times;
}

/** Null without data. If the oldest `answers` were left out, the period begins later. */
export function timesOf(
  answers: PastAnswer[],
  { since }: PastReading,
  isCut = answers.length >= MAX_PAST_ROWS,
): Times | null {
  if (answers.every(({ answer }) => answer === 'unknown')) return null;
  const first = answers.reduce((oldest, { at }) => (at < oldest ? at : oldest), answers[0]!.at);
  return { times: countTimes(answers), since: isCut && first > since ? first : since };
}

/** The first day of the period. */
export const firstDay = ({ since }: PastReading): string => since.slice(0, 10);

/** Since when events, monitor runs and incidents of the period are kept. */
export function keptSince({ clock, config, since }: PastReading): string {
  const { EVENT_RETENTION } = config;
  const kept = EVENT_RETENTION === 0 ? since : isoTime(clock.now() - EVENT_RETENTION);
  return kept > since ? kept : since;
}
