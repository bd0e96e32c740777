/** What a completed test says about its From domain. */

import type { CheckResult } from '../analysis/result.ts';
import type { Observed } from '../events/observations.ts';
import type { TestRow } from '../store/tables.generated.ts';

/** A live test that has just completed, not a reanalysis. The subject is its From domain. */
export interface TestObservation extends Observed {
  kind: 'test';
  test: TestRow;
  checks: CheckResult[];
}

declare module '../events/observations.ts' {
  interface Observations {
    test: TestObservation;
  }
}

/** Empty for a message without a From domain, and in test mode, which says nothing about the team's mail. */
export function observeTest(test: TestRow): TestObservation[] {
  if (test.from_domain === null || test.livemode === 0) return [];
  let checks: CheckResult[] | undefined;
  return [
    {
      kind: 'test',
      subject: test.from_domain,
      domainId: test.domain_id,
      test,
      // Parsed only for a rule that reads them: they are large.
      get checks() {
        checks ??= test.checks === null ? [] : (JSON.parse(test.checks) as CheckResult[]);
        return checks;
      },
    },
  ];
}
