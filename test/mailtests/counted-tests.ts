/** Tests with random results, and their tallies calculated with plain SQL. */

import { sql } from 'kysely';
import type { App } from '../../src/app.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { countPlacements } from '../../src/mailtests/placement-counts.ts';
import { newTestRow } from '../../src/mailtests/queries.ts';
import { type Db, engineOf } from '../../src/store/open.ts';
import type { TestRow, TestTallyRow } from '../../src/store/tables.generated.ts';
import type { Random } from '../helpers/random.ts';

export const CHECK_IDS = Array.from(
  { length: 14 },
  (_, i) => `check_${String.fromCharCode(97 + i)}`,
);
const STATUSES = ['pass', 'warn', 'fail', 'info', 'error', 'skipped'];
const WORDS = [null, 'pass', 'pass', 'pass', 'fail', 'softfail', 'none', 'temperror', 'permerror'];

const oneOf = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;

/** A random result, sometimes without a score or with a temporary error. */
export function randomResult(random: Random) {
  const score = random.chance(0.1) ? null : random.below(101);
  const grade =
    score === null
      ? null
      : 'FFDCBA'[[55, 70, 80, 90].filter((limit) => score >= limit).length + 1]!;
  const word = () => oneOf(random, WORDS);
  const checks = CHECK_IDS.map((id) => ({
    id,
    status: oneOf(random, STATUSES),
    gain: 0,
    evidence: {},
    points: 1,
  }));
  return { score, grade, spf: word(), dkim: word(), dmarc: word(), checks: JSON.stringify(checks) };
}

const PLACES = ['inbox', 'inbox', 'promotions', 'spam', 'missing'] as const;

/** The figures of a random placement, of a few seed mailboxes at one or two providers; sometimes of none. */
export function randomPlacement(random: Random) {
  if (random.chance(0.4)) return {};
  const seeds = Array.from({ length: 1 + random.below(4) }, () => ({
    provider: oneOf(random, ['gmail', 'gmx']),
    placement: oneOf(random, PLACES),
  }));
  const inbox = seeds.filter(({ placement }) => !['spam', 'missing'].includes(placement));
  return {
    placement_status: 'settled' as const,
    placement_samples: seeds.length,
    placement_inbox: inbox.length,
    placement_counts: JSON.stringify(countPlacements(seeds)),
  };
}

/** A test completed at `at`, mostly live, with one of `domains`. */
export function randomTest(
  app: Pick<App, 'newId' | 'clock'>,
  random: Random,
  { at, domains }: { at: number; domains: readonly (string | null)[] },
): TestRow {
  const livemode = random.chance(0.8);
  const seed = { kind: 'auto', metadata: {}, expires_in: 3600, livemode } as const;
  const row = newTestRow(app, { ...seed, domain_id: oneOf(random, domains) });
  const completed_at = isoTime(at);
  const result = { ...randomResult(random), ...randomPlacement(random) };
  return { ...row, ...result, status: 'completed', completed_at } as TestRow;
}

/** The expected rows of `test_tallies`, in order. */
export async function recount(db: Db): Promise<TestTallyRow[]> {
  const { rows } = await sql<TestTallyRow>`
    WITH each_test AS (
      SELECT *, '' AS tallied FROM tests WHERE status = 'completed'
      UNION ALL
      SELECT *, domain_id FROM tests WHERE status = 'completed' AND domain_id IS NOT NULL
    )
    SELECT livemode, tallied AS domain_id, substr(completed_at, 1, 13) || ':00:00.000Z' AS hour,
      count(*) AS tests, count(score) AS scored, coalesce(sum(score), 0) AS score_sum,
      count(*) FILTER (WHERE grade = 'A') AS grade_a, count(*) FILTER (WHERE grade = 'B') AS grade_b,
      count(*) FILTER (WHERE grade = 'C') AS grade_c, count(*) FILTER (WHERE grade = 'D') AS grade_d,
      count(*) FILTER (WHERE grade = 'F') AS grade_f,
      count(*) FILTER (WHERE spf <> 'temperror') AS spf_known,
      count(*) FILTER (WHERE spf = 'pass') AS spf_pass,
      count(*) FILTER (WHERE dkim <> 'temperror') AS dkim_known,
      count(*) FILTER (WHERE dkim = 'pass') AS dkim_pass,
      count(*) FILTER (WHERE dmarc <> 'temperror') AS dmarc_known,
      count(*) FILTER (WHERE dmarc = 'pass') AS dmarc_pass,
      coalesce(sum(placement_samples), 0) AS placement_samples,
      coalesce(sum(placement_inbox), 0) AS placement_inbox, '' AS issues,
      string_agg(placement_counts, ' ') AS placement_counts
    FROM each_test GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`.execute(db);
  const isSqlite = engineOf(db) === 'sqlite';
  const each = isSqlite ? sql`json_each(t.checks)` : sql`json_array_elements(t.checks::json)`;
  for (const row of rows) {
    row.placement_samples = Number(row.placement_samples);
    row.placement_inbox = Number(row.placement_inbox);
    row.placement_counts = addedUp(row.placement_counts);
    const counts = await sql<{ id: string; n: number }>`
      SELECT c.value ->> 'id' AS id, count(DISTINCT t.id) AS n
      FROM tests t, ${each} c
      WHERE t.status = 'completed' AND t.livemode = ${row.livemode}
        AND (${row.domain_id} = '' OR t.domain_id = ${row.domain_id})
        AND substr(t.completed_at, 1, 13) = ${row.hour.slice(0, 13)}
        AND c.value ->> 'status' IN ('fail', 'warn')
      GROUP BY 1 ORDER BY 1`.execute(db);
    row.issues = JSON.stringify(Object.fromEntries(counts.rows.map(({ id, n }) => [id, n])));
  }
  return rows;
}

/** The sum of the counts in several JSON texts. */
function addedUp(texts: string | null): string {
  const sums: Record<string, number> = {};
  for (const [, key = '', count] of (texts ?? '').matchAll(/"([^"]+)":(\d+)/g))
    sums[key] = (sums[key] ?? 0) + Number(count);
  return inOrder(JSON.stringify(sums));
}

/** The actual rows of `test_tallies`, in the same order. */
export async function tallies(db: Db): Promise<TestTallyRow[]> {
  const rows = await db
    .selectFrom('test_tallies')
    .selectAll()
    .orderBy('livemode')
    .orderBy('domain_id')
    .orderBy('hour')
    .execute();
  return rows.map((row) => ({
    ...row,
    issues: inOrder(row.issues),
    placement_counts: inOrder(row.placement_counts),
  }));
}

const inOrder = (issues: string): string =>
  JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(issues)).toSorted()));
