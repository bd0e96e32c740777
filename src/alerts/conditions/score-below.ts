/** `score_below`: a test scores less than the rule's threshold. */

import { type Condition, NO, UNKNOWN } from './condition.ts';

interface Value {
  score: number;
  threshold: number;
}

const THRESHOLD = {
  min: 0,
  max: 100,
  default: 70,
  unit: 'points',
  text: 'A score below this value triggers the alert.',
};

export const scoreBelow: Condition<'test', Value> = {
  observes: ['test'],
  threshold: THRESHOLD,

  evaluate({ test: { score } }, threshold) {
    if (score === null) return UNKNOWN;
    return score < threshold ? { answer: 'yes', value: { score, threshold } } : NO;
  },

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
