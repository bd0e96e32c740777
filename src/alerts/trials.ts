/** For the form of a rule: how often it would have alerted lately at which threshold, and the latest value. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { countTimes } from './conditions/history.ts';
import { CONDITIONS, type ConditionId } from './conditions/index.ts';
import { listRecommended, timesInWords } from './recommended.ts';

const DAYS = 30;

/**
 * By condition, in a sentence or two: "Now 0.08% on 28 Nov 2026. In the last 30 days, it would have alerted twice at 1, and never
 * at 2 or more." Without data, what is missing.
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
        `Now ${past.now}. In the last ${DAYS} days, it would have alerted ${LIST.format(
          threshold!.tried!.map(
            (tried) => `${inWords(countTimes(past.answersAt(tried)))} at ${tried}`,
          ),
        )}.`,
      );
  }
  return words;
}

const LIST = new Intl.ListFormat('en-GB');

const inWords = (times: number): string =>
  ['never', 'once', 'twice'][times] ?? `${new Intl.NumberFormat('en-GB').format(times)} times`;
