/** `score_below`: a test scores less than the rule's threshold. */

import { dayInWords } from '../../lib/format/times.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';
import { historyAt, MAX_PAST_ROWS } from './history.ts';

interface Value {
  score: number;
  threshold: number;
}

const THRESHOLD = {
  min: 0,
  max: 100,
  default: 70,
  unit: 'points',
  tried: [50, 60, 70, 80, 90],
  text: 'A score below this value triggers the alert.',
};

export const scoreBelow: Condition<'test', Value> = {
  observes: ['test'],
  threshold: THRESHOLD,

  evaluate({ test: { score } }, threshold) {
    if (score === null) return UNKNOWN;
    return score < threshold ? { answer: 'yes', value: { score, threshold } } : NO;
  },

  history: historyAt(THRESHOLD.default, {
    missing: 'no test with a score',
    async past(reading) {
      const rows = await reading.db
        .selectFrom('tests')
        .select(['completed_at', 'from_domain', 'score'])
        .where('livemode', '=', 1)
        .where('completed_at', '>=', reading.since)
        .where('score', 'is not', null)
        .where('from_domain', 'is not', null)
        .orderBy('completed_at', 'desc')
        .limit(MAX_PAST_ROWS)
        .execute();
      const [latest] = rows;
      if (!latest) return null;
      return {
        now: `${latest.score} on ${dayInWords(latest.completed_at!)}`,
        answersAt: (threshold) =>
          rows.map(({ completed_at: at, from_domain, score }) => ({
            at: at!,
            subject: from_domain!,
            answer: score! < threshold ? 'yes' : 'no',
          })),
      };
    },
  }),

  choice: {
    text: 'The score is too low',
    hint: 'Checked on each completed test.',
  },
  alertsWhen: (threshold) => `a test scores below ${threshold}`,
  documentation: `a test scores less than \`threshold\` (${THRESHOLD.min}–${THRESHOLD.max}, default ${THRESHOLD.default})`,
  shortText: 'the score is too low',
  openedText: ({ subject, value: { score, threshold } }) => ({
    title: `Mail from ${subject} scored ${score}, below ${threshold}`,
    lead: `The alert rule requires a score of at least ${threshold} out of 100. Mail with a low score is more likely to go to spam.`,
  }),
  resolvedTitle({ subject }, { threshold, test }) {
    const score = test?.score ?? null;
    return score !== null && score >= threshold
      ? `Mail from ${subject} scored ${score}, no longer below ${threshold}`
      : `Mail from ${subject} no longer scores below ${threshold}`;
  },
  measurements({ value }, { endedBy }) {
    const current = endedBy?.score ?? null;
    const hasRecovered = current !== null && current >= value.threshold;
    const score = hasRecovered ? `${current} of 100 (was ${value.score})` : `${value.score} of 100`;
    return [
      [endedBy === null || hasRecovered ? 'Score' : 'Original score', score],
      ['Alerts below', `${value.threshold}`],
    ];
  },
  isRelevantFix: () => true,
  sampleValue: (threshold) => ({ score: Math.max(0, threshold - 1), threshold }),
};
