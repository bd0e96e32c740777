/** Finds evidence that a check's `publicEvidence` does not declare. */

import type { CheckDeclaration, Finding, Json } from '../../src/analysis/check.ts';
import type { PublicRule } from '../../src/analysis/public-evidence.ts';

/**
 * The paths in the evidence ("found.file") that have no rule, or whose shape does not fit the rule.
 * Keys that stay private need a rule too: `left-out` or `unquoted`.
 */
export function undeclaredKeys(
  evidence: Finding['evidence'] = {},
  { publicEvidence }: CheckDeclaration,
): string[] {
  return publicEvidence === null
    ? []
    : [...new Set(findUndeclared(evidence, publicEvidence, [], ''))];
}

function findUndeclared(
  value: Json,
  rule: PublicRule | undefined,
  above: PublicRule[],
  at: string,
): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => findUndeclared(item, rule, above, at));
  if (typeof rule === 'object' && rule[''] && typeof value === 'string')
    return findUndeclared(value, rule[''], above, at);
  if (typeof value !== 'object' || value === null)
    return rule === undefined || typeof rule === 'object' ? [at].filter(() => value !== null) : [];
  const rules = rule === 'as-parent' ? above.at(-1) : rule;
  if (typeof rules !== 'object') return [at];
  return Object.entries(value).flatMap(([key, inner]) =>
    findUndeclared(
      inner,
      rules[key] ?? rules['*'],
      [...above, rules],
      at === '' ? key : `${at}.${key}`,
    ),
  );
}
