/** `score_below`: a test scores less than the rule's threshold. */

import { type Condition, NO } from './condition.ts';

interface Value {
  score: number;
  threshold: number;
}

const THRESHOLD = { min: 0, max: 100, default: 70 };

export const scoreBelow: Condition<number, Value> = {
  id: 'score_below',
  threshold: THRESHOLD,

  factsOfTest: ({ score }) => score,
  judge: (score, threshold) =>
    score < threshold ? { answer: 'yes', value: { score, threshold } } : NO,

  alertsWhen: (threshold) => `a test scores below ${threshold}`,
  documentation: `a test scores less than \`threshold\` (${THRESHOLD.min}–${THRESHOLD.max}; ${THRESHOLD.default} where it is not given)`,
  shortText: 'the score is too low',
  openedText: ({ subject, value: { score, threshold } }) => ({
    title: `Mail from ${subject} scored ${score}, below ${threshold}`,
    lead: `The rule asks for ${threshold} of 100 at least. The lower the score, the likelier the spam folder.`,
  }),
  endedTitle({ subject }, { threshold, test }) {
    const score = test?.score ?? null;
    return score !== null && score >= threshold
      ? `Mail from ${subject} scored ${score}, no longer below ${threshold}`
      : `Mail from ${subject} no longer scores below ${threshold}`;
  },
  measurements({ value }, { endedBy }) {
    const now = endedBy?.score ?? null;
    const isHigher = now !== null && now >= value.threshold;
    const score = isHigher ? `${now} of 100 (it was ${value.score})` : `${value.score} of 100`;
    return [
      [endedBy === null || isHigher ? 'Score' : 'Score then', score],
      ['Alerts below', `${value.threshold}`],
    ];
  },
  isRemedy: () => true,
  sampleValue: (threshold) => ({ score: Math.max(0, threshold - 1), threshold }),
};
