/** Every condition that an alert rule can have, in the order in which the API documents them. */

import type { AlertRow } from '../../store/tables.generated.ts';
import { authFail } from './auth-fail.ts';
import { blocklistHit } from './blocklist-hit.ts';
import type { Condition } from './condition.ts';
import { scoreBelow } from './score-below.ts';

export const CONDITIONS: Condition[] = [scoreBelow, authFail, blocklistHit];

type Rule = Pick<AlertRow, 'condition' | 'threshold'>;

/** Throws for an id that is not declared: the schema allows no such row. */
export function conditionOf({ condition }: Pick<Rule, 'condition'>): Condition {
  const found = CONDITIONS.find(({ id }) => id === condition);
  if (!found) throw new Error(`There is no alert condition ${condition}.`);
  return found;
}

/** The rule's own threshold, or its condition's default; 0 where the condition has none. */
export const thresholdOf = (rule: Rule): number =>
  rule.threshold ?? conditionOf(rule).threshold?.default ?? 0;

/** What a rule accepts as its threshold: any value that some condition accepts. */
export const THRESHOLD_RANGE = {
  min: Math.min(...CONDITIONS.flatMap(({ threshold }) => threshold?.min ?? [])),
  max: Math.max(...CONDITIONS.flatMap(({ threshold }) => threshold?.max ?? [])),
};

/** The table in docs/monitoring.md: Markdown, without a line end. */
export function conditionTable(): string {
  return [
    '| `condition` | is met where | by |',
    '|---|---|---|',
    ...CONDITIONS.map((condition) => {
      const { id, documentation, factsOfTest, factsOfRun } = condition;
      const by = [...(factsOfTest ? ['tests'] : []), ...(factsOfRun ? ['runs of monitors'] : [])];
      return `| \`${id}\` | ${documentation} | ${by.join(', and ')} |`;
    }),
  ].join('\n');
}
