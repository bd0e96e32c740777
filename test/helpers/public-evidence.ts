/** For tests: what of a finding's evidence its check has declared nothing about. */

import type { CheckDeclaration, Finding, Json } from '../../src/analysis/check.ts';
import type { PublicRule } from '../../src/analysis/public-evidence.ts';

/**
 * The places in the evidence ("found.file") that no rule names, or that have another shape than the
 * rule is for. Leaving a key out takes a rule as well: `left-out` or `unquoted`.
 */
export function undeclaredKeys(
  evidence: Finding['evidence'] = {},
  { publicEvidence }: CheckDeclaration,
): string[] {
  return publicEvidence === null ? [] : [...new Set(read(evidence, publicEvidence, [], ''))];
}

function read(
  value: Json,
  rule: PublicRule | undefined,
  above: PublicRule[],
  at: string,
): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => read(item, rule, above, at));
  if (typeof rule === 'object' && rule[''] && typeof value === 'string')
    return read(value, rule[''], above, at);
  if (typeof value !== 'object' || value === null)
    return rule === undefined || typeof rule === 'object' ? [at].filter(() => value !== null) : [];
  const rules = rule === 'as-parent' ? above.at(-1) : rule;
  if (typeof rules !== 'object') return [at];
  return Object.entries(value).flatMap(([key, inner]) =>
    read(inner, rules[key] ?? rules['*'], [...above, rules], at === '' ? key : `${at}.${key}`),
  );
}
