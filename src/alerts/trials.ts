/** For the form of a rule: how often it would have alerted lately at which threshold, and the latest value. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { countTimes } from './conditions/history.ts';
import { CONDITIONS, type ConditionId } from './conditions/index.ts';
import { listRecommended, timesInWords } from './recommended.ts';

const DAYS = 30;

/**
 * By condition, in a sentence or two: "Latest value: 0.08% on 28 Nov 2026. Alerts in the last 30 days would have been: 2 at 1 and
 * none at 2." Without data, what is missing.
 */
export async function trialsInWords({
  db,
  clock,
  config,
}: Pick<App, 'db' | 'clock' | 'config'>): Promise<Map<ConditionId, string>> {
  const app = { db, clock, config };
  const recommended = await listRecommended(app);
  const words = new Map(
    recommended.map((rule) => [
      rule.condition,
      rule.times === null
        ? `Earlier alerts are ${timesInWords(rule)}.`
        : `Would have alerted: ${timesInWords(rule)}.`,
    ]),
  );
  const reading = { ...app, since: isoTime(clock.now() - DAYS * DAY_MS) };
  for (const { id, threshold, history } of CONDITIONS) {
    const past = threshold?.tried && (await history?.past?.(reading));
    if (past)
      words.set(
        id,
        `Latest value: ${past.now}. Alerts in the last ${DAYS} days would have been: ${LIST.format(
          threshold!.tried!.map(
            (tried) => `${numberOf(countTimes(past.answersAt(tried)))} at ${tried}`,
          ),
        )}.`,
      );
  }
  return words;
}

const LIST = new Intl.ListFormat('en-GB');

const NUMBER = new Intl.NumberFormat('en-GB');
const numberOf = (times: number): string => (times === 0 ? 'none' : NUMBER.format(times));
