/** Completed tests, counted by the hour: what a summary reads instead of tests. */

import type { CheckResult } from '../analysis/result.ts';
import { toFix } from '../analysis/summary.ts';
import type { Tx } from '../store/open.ts';
import type { TestRow, TestTallyRow } from '../store/tables.generated.ts';

/** The numbers of a row, which add up; `issues` does so too, check by check. */
export const TALLIED = [
  'tests',
  'scored',
  'score_sum',
  'grade_a',
  'grade_b',
  'grade_c',
  'grade_d',
  'grade_f',
  'spf_known',
  'spf_pass',
  'dkim_known',
  'dkim_pass',
  'dmarc_known',
  'dmarc_pass',
  'placement_samples',
  'placement_inbox',
] as const satisfies (keyof TestTallyRow)[];
export type Tallied = Record<(typeof TALLIED)[number], number>;

/** Stands in the place of a domain for all tests together. */
export const ALL_TESTS = '';

const HOUR = '0000-00-00T00'.length;

export type CountedTest = Pick<
  TestRow,
  | 'livemode'
  | 'domain_id'
  | 'status'
  | 'completed_at'
  | 'score'
  | 'grade'
  | 'spf'
  | 'dkim'
  | 'dmarc'
  | 'checks'
>;

/**
 * Counts a completed test, or takes it out again; does nothing for others. To be called in the
 * transaction that stores, replaces or deletes the result. `issues` are the ids of the checks that
 * found something to fix, where they are known without reading all checks. A test whose hour is
 * no longer kept cannot be taken out of it, and need not be.
 */
export async function countTest(
  tx: Tx,
  row: CountedTest,
  by: 1 | -1,
  issues = issuesOf(row),
): Promise<void> {
  const { livemode, domain_id, status, completed_at } = row;
  if (status !== 'completed' || completed_at === null) return;
  const hour = `${completed_at.slice(0, HOUR)}:00:00.000Z`;
  const domains = domain_id === null ? [ALL_TESTS] : [ALL_TESTS, domain_id];
  const present = await tx
    .selectFrom('test_tallies')
    .selectAll()
    .where('livemode', '=', livemode)
    .where('domain_id', 'in', domains)
    .where('hour', '=', hour)
    .execute();
  const figures = figuresOf(row);
  const counted = domains.flatMap((domain) => {
    const before = present.find((tally) => tally.domain_id === domain);
    if (!before && by === -1) return [];
    const keys = { livemode, domain_id: domain, hour };
    const issuesThen = addIssues(before?.issues ?? '{}', issues, by);
    return [{ ...keys, ...added(before, figures, by), issues: issuesThen }];
  });
  await store(tx, counted);
}

/** An hour without tests has no row. */
async function store(tx: Tx, rows: TestTallyRow[]): Promise<void> {
  for (const { livemode, domain_id, hour } of rows.filter(({ tests }) => tests <= 0))
    await tx
      .deleteFrom('test_tallies')
      .where('livemode', '=', livemode)
      .where('domain_id', '=', domain_id)
      .where('hour', '=', hour)
      .execute();
  const left = rows.filter(({ tests }) => tests > 0);
  if (left.length === 0) return;
  await tx
    .insertInto('test_tallies')
    .values(left)
    .onConflict((conflict) =>
      conflict
        .columns(['livemode', 'domain_id', 'hour'])
        .doUpdateSet((eb) =>
          Object.fromEntries(
            [...TALLIED, 'issues' as const].map((column) => [column, eb.ref(`excluded.${column}`)]),
          ),
        ),
    )
    .execute();
}

function added(before: Tallied | undefined, figures: Tallied, by: 1 | -1): Tallied {
  const sums = { ...figures };
  for (const name of TALLIED) sums[name] = (before?.[name] ?? 0) + by * figures[name];
  return sums;
}

/** What one test counts for. */
function figuresOf({ score, grade, spf, dkim, dmarc }: CountedTest): Tallied {
  const has = (condition: boolean) => (condition ? 1 : 0);
  // What a temporary error kept back is no result.
  const known = (result: string | null) => has(result !== null && result !== 'temperror');
  const passes = (result: string | null) => has(result === 'pass');
  return {
    tests: 1,
    scored: has(score !== null),
    score_sum: score ?? 0,
    grade_a: has(grade === 'A'),
    grade_b: has(grade === 'B'),
    grade_c: has(grade === 'C'),
    grade_d: has(grade === 'D'),
    grade_f: has(grade === 'F'),
    spf_known: known(spf),
    spf_pass: passes(spf),
    dkim_known: known(dkim),
    dkim_pass: passes(dkim),
    dmarc_known: known(dmarc),
    dmarc_pass: passes(dmarc),
    // There are no seeds yet that could have settled.
    placement_samples: 0,
    placement_inbox: 0,
  };
}

function issuesOf({ status, checks }: CountedTest): string[] {
  if (status !== 'completed' || checks === null) return [];
  return toFix(JSON.parse(checks) as CheckResult[]).map(({ id }) => id);
}

function addIssues(before: string, issues: string[], by: 1 | -1): string {
  const counts: Record<string, number> = JSON.parse(before);
  for (const check of issues) {
    const count = (counts[check] ?? 0) + by;
    if (count > 0) counts[check] = count;
    else delete counts[check];
  }
  return JSON.stringify(counts);
}
