/** Stands for a condition that a newer version of the program has added: it is shown as it is stored, and left alone. */

import { type Condition, UNKNOWN } from './condition.ts';

export const unknownCondition = (id: string): Condition => ({
  observes: [],
  threshold: null,
  evaluate: () => UNKNOWN,
  choice: { text: id, hint: 'This version of the program does not know this condition.' },
  alertsWhen: () => `“${id}” is met, which this version does not know`,
  documentation: 'a condition of a newer version',
  shortText: id,
  openedText: ({ subject }) => ({
    title: `${subject}: ${id}`,
    lead: 'A newer version of the program opened this incident. This version does not know its condition.',
  }),
  resolvedTitle: ({ subject }) => `${subject}: ${id} is over`,
  measurements: () => [],
  isRelevantFix: () => false,
  sampleValue: () => ({}),
});
