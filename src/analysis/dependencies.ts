/** What follows from what: a check that depends on a failed one is skipped; one cause is one finding. */

import type { Check, Finding } from './check.ts';

type Dependent = Pick<Check, 'id' | 'dependsOn'>;

const NONE: string[] = [];

/**
 * For each check the ids of the failed ones that it follows from: the roots alone, also through
 * checks that did not fail themselves. Empty where it stands for itself. Several checks may have
 * one id; ids that are not among the checks are no causes.
 */
export function causesOf(checks: Dependent[], findings: Finding[]): string[][] {
  const places = new Map<string, number[]>();
  for (const [index, { id }] of checks.entries())
    places.set(id, [...(places.get(id) ?? []), index]);
  const causes = (index: number, path: number[]): string[] => {
    const roots = new Set<string>();
    for (const id of dependenciesOf(checks[index]!, findings[index]!))
      for (const parent of places.get(id) ?? []) {
        // Two may name each other, each for its own kind of failure.
        if (path.includes(parent)) continue;
        const above = causes(parent, [...path, parent]);
        if (above.length > 0) for (const root of above) roots.add(root);
        else if (findings[parent]!.status === 'fail') roots.add(id);
      }
    return roots.size > 0 ? [...roots] : NONE;
  };
  return checks.map((_, index) => causes(index, [index]));
}

function dependenciesOf({ dependsOn = NONE }: Dependent, finding: Finding): string[] {
  return finding.dependsOn ? [...dependsOn, ...finding.dependsOn] : dependsOn;
}

/** What is shown of a check in the place of its own finding, where it has causes. */
export function followingFinding({ label }: Check, own: Finding, causes: string[]): Finding {
  return {
    ...own,
    status: 'skipped',
    title: `${label}: follows from ${causes.join(' and ')}.`,
    detail: `follows from ${causes.join(', ')}`,
    fix: undefined,
  };
}
