/** Every condition that an alert rule can have, in the order in which the API documents them. */

import type { AlertRow } from '../../store/tables.generated.ts';
import { authFail } from './auth-fail.ts';
import { blocklistHit } from './blocklist-hit.ts';
import type { Condition } from './condition.ts';
import { placementProblem } from './placement-problem.ts';
import { scoreBelow } from './score-below.ts';
import { seedFailing } from './seed-failing.ts';

export const CONDITIONS: Condition[] = [
  scoreBelow,
  authFail,
  blocklistHit,
  placementProblem,
  seedFailing,
];

type Rule = Pick<AlertRow, 'condition' | 'threshold'>;

/** Throws for an unknown id, which the schema doesn't allow. */
export function conditionOf({ condition }: Pick<Rule, 'condition'>): Condition {
  const found = CONDITIONS.find(({ id }) => id === condition);
  if (!found) throw new Error(`Unknown alert condition: ${condition}.`);
  return found;
}

/** The rule's own threshold, or its condition's default; 0 if the condition has none. */
export const thresholdOf = (rule: Rule): number =>
  rule.threshold ?? conditionOf(rule).threshold?.default ?? 0;

/** Any value that at least one condition accepts. */
export const THRESHOLD_RANGE = {
  min: Math.min(...CONDITIONS.flatMap(({ threshold }) => threshold?.min ?? [])),
  max: Math.max(...CONDITIONS.flatMap(({ threshold }) => threshold?.max ?? [])),
};

/** The table in docs/monitoring.md, as Markdown without a final line break. */
export function conditionTable(): string {
  return [
    '| `condition` | Met when | Evaluated on |',
    '|---|---|---|',
    ...CONDITIONS.map((condition) => {
      const { id, documentation, factsOfTest, factsOfRun, factsOfSeed } = condition;
      const sources = [
        ...(factsOfTest ? ['tests'] : []),
        ...(factsOfRun ? ['monitor runs'] : []),
        ...(factsOfSeed ? ['seed mailboxes'] : []),
      ];
      return `| \`${id}\` | ${documentation} | ${sources.join(' and ')} |`;
    }),
  ].join('\n');
}
