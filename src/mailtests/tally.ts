/** Hourly tallies of completed tests, which summaries read instead of the tests. */

import type { CheckResult } from '../analysis/result.ts';
import { checksToFix } from '../analysis/summary.ts';
import {
  engineOf,
  inLockOrder,
  lockIn,
  type PreparedParameter,
  prepared,
  type Tx,
} from '../store/open.ts';
import type { TestRow, TestTallyRow } from '../store/tables.generated.ts';
import { addCounts, type PlacementCounts } from './placement-counts.ts';

/** The numeric columns, which are summed. `issues` and `placement_counts` are summed too, per key. */
export const TALLY_COLUMNS = [
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
export type TallyCounts = Record<(typeof TALLY_COLUMNS)[number], number>;

/** The domain id of the tallies of all tests. */
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
  | 'placement_samples'
  | 'placement_inbox'
  | 'placement_counts'
>;

/**
 * Adds a completed test to its tallies, or removes it with `delta` -1. Does nothing for other tests.
 * Call it in the transaction that stores, replaces or deletes the result. `issues` are the ids of the
 * checks that found something to fix, if they are known without parsing all checks. Removing a test
 * from a deleted hour does nothing.
 */
export async function countTest(
  tx: Tx,
  row: CountedTest,
  delta: 1 | -1,
  issues = issuesOf(row),
): Promise<void> {
  const { livemode, domain_id, status, completed_at } = row;
  if (status !== 'completed' || completed_at === null) return;
  const hour = `${completed_at.slice(0, HOUR)}:00:00.000Z`;
  // The sums of all tests change, whatever the caller sees.
  const whole = tx.withoutPlugins();
  const domains = domain_id === null ? [ALL_TESTS] : [ALL_TESTS, domain_id];
  const tallies = await lockTallies(whole, { livemode, domains, hour }, delta);
  const figures = figuresOf(row);
  const issueCounts = Object.fromEntries(issues.map((check) => [check, 1]));
  const placements = placementCountsOf(row);
  const updatedTallies = domains.flatMap((domain) => {
    const previous = tallies.find((tally) => tally.domain_id === domain);
    if (!previous && delta === -1) return [];
    const keys = { livemode, domain_id: domain, hour };
    return [
      {
        ...keys,
        ...addFigures(previous, figures, delta),
        issues: addCounts(previous?.issues ?? '{}', issueCounts, delta),
        placement_counts: addCounts(previous?.placement_counts ?? '{}', placements, delta),
      },
    ];
  });
  await storeTallies(whole, updatedTallies);
}

interface TallyKeys {
  livemode: number;
  domains: string[];
  hour: string;
}

/** Only existing rows can be locked, so those to add to are created first. SQLite needs neither. */
async function lockTallies(tx: Tx, keys: TallyKeys, delta: 1 | -1): Promise<TestTallyRow[]> {
  const { livemode, domains, hour } = keys;
  for (;;) {
    const tallies = await findTallies(tx, { livemode, hour, domain: domains.at(-1)! });
    if (delta === -1 || tallies.length === domains.length || engineOf(tx) === 'sqlite')
      return tallies;
    // They never existed, or a transaction that removed their last test has deleted them.
    await createMissingTallies(tx, keys);
  }
}

/** That of all tests, and that of one domain. */
const findTallies = prepared(
  (db, parameter: PreparedParameter<{ livemode: number; hour: string; domain: string }>) =>
    lockIn(
      db,
      inLockOrder(
        db,
        db
          .selectFrom('test_tallies')
          .selectAll()
          .where('livemode', '=', parameter('livemode'))
          .where('domain_id', 'in', [ALL_TESTS, parameter('domain')])
          .where('hour', '=', parameter('hour')),
        'domain_id',
      ),
    ),
);

async function createMissingTallies(tx: Tx, { livemode, domains, hour }: TallyKeys): Promise<void> {
  const counts = Object.fromEntries(TALLY_COLUMNS.map((column) => [column, 0])) as TallyCounts;
  await tx
    .insertInto('test_tallies')
    .values(
      domains.map((domain_id) => ({
        livemode,
        domain_id,
        hour,
        ...counts,
        issues: '{}',
        placement_counts: '{}',
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** An hour without tests has no row. */
async function storeTallies(tx: Tx, rows: TestTallyRow[]): Promise<void> {
  for (const { livemode, domain_id, hour } of rows.filter(({ tests }) => tests <= 0))
    await tx
      .deleteFrom('test_tallies')
      .where('livemode', '=', livemode)
      .where('domain_id', '=', domain_id)
      .where('hour', '=', hour)
      .execute();
  for (const row of rows) if (row.tests > 0) await storeTally(tx, row);
}

const STORED_COLUMNS = [...TALLY_COLUMNS, 'issues', 'placement_counts'] as const;
const KEY_COLUMNS = ['livemode', 'domain_id', 'hour'] as const;

const storeTally = prepared((db, parameter: PreparedParameter<TestTallyRow>) =>
  db
    .insertInto('test_tallies')
    .values(
      Object.fromEntries(
        [...KEY_COLUMNS, ...STORED_COLUMNS].map((column) => [column, parameter(column)]),
      ) as never,
    )
    .onConflict((conflict) =>
      conflict
        .columns([...KEY_COLUMNS])
        .doUpdateSet((eb) =>
          Object.fromEntries(
            STORED_COLUMNS.map((column) => [column, eb.ref(`excluded.${column}`)]),
          ),
        ),
    ),
);

function addFigures(
  previous: TallyCounts | undefined,
  figures: TallyCounts,
  delta: 1 | -1,
): TallyCounts {
  const sums = { ...figures };
  for (const name of TALLY_COLUMNS) sums[name] = (previous?.[name] ?? 0) + delta * figures[name];
  return sums;
}

/** The columns of a test that its figures depend on. */
export const FIGURE_COLUMNS = [
  'score',
  'grade',
  'spf',
  'dkim',
  'dmarc',
  'placement_samples',
  'placement_inbox',
] as const;

/** The figures of a test. */
export function figuresOf({
  score,
  grade,
  spf,
  dkim,
  dmarc,
  placement_samples,
  placement_inbox,
}: Pick<CountedTest, (typeof FIGURE_COLUMNS)[number]>): TallyCounts {
  const toCount = (condition: boolean) => (condition ? 1 : 0);
  // A temporary error is not a result.
  const countKnown = (result: string | null) => toCount(result !== null && result !== 'temperror');
  const countPass = (result: string | null) => toCount(result === 'pass');
  return {
    tests: 1,
    scored: toCount(score !== null),
    score_sum: score ?? 0,
    grade_a: toCount(grade === 'A'),
    grade_b: toCount(grade === 'B'),
    grade_c: toCount(grade === 'C'),
    grade_d: toCount(grade === 'D'),
    grade_f: toCount(grade === 'F'),
    spf_known: countKnown(spf),
    spf_pass: countPass(spf),
    dkim_known: countKnown(dkim),
    dkim_pass: countPass(dkim),
    dmarc_known: countKnown(dmarc),
    dmarc_pass: countPass(dmarc),
    // 0 until the placement has settled.
    placement_samples,
    placement_inbox,
  };
}

/** The IDs of the checks that found something to fix; none for a test without a result. */
export function issuesOf({ status, checks }: Pick<CountedTest, 'status' | 'checks'>): string[] {
  if (status !== 'completed' || checks === null) return [];
  return checksToFix(JSON.parse(checks) as CheckResult[]).map(({ id }) => id);
}

/** Its seed mailboxes by provider and placement; none until the placement has settled. */
export const placementCountsOf = ({
  placement_counts,
}: Pick<CountedTest, 'placement_counts'>): PlacementCounts =>
  placement_counts === null ? {} : JSON.parse(placement_counts);
