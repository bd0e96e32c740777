/** The earlier tests of a test: those with its name, or from its sender, and how the score changed between them. */

import type { CheckResult } from '../analysis/result.ts';
import { checksToFix } from '../analysis/summary.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import type { Db } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { isSender } from './queries.ts';
import type { HistoryFinding } from './schemas/history.ts';

/** What the tests of a history have in common. */
export type HistoryMatch = 'name' | 'sender';

/** How many earlier tests with the name or of the domain are searched: that many rows are read in milliseconds. */
const MAX_SEARCHED_TESTS = 500;

type Series = Pick<TestRow, 'id' | 'livemode' | 'name' | 'from_domain' | 'from_address'>;

export interface PreviousTest {
  id: string;
  score: number | null;
  match: HistoryMatch;
}

/**
 * The completed test before each of these, by ID: the latest with the same name or, without one, the latest from the
 * same address, in any letter case. Tests that are the first of their kind are missing. Two queries, however many tests there are.
 */
export async function findPreviousTests(db: Db, ids: string[]): Promise<Map<string, PreviousTest>> {
  if (ids.length === 0) return new Map();
  const found = await db
    .selectFrom('tests as test')
    .where('test.id', 'in', ids)
    .select('test.id')
    .select(({ selectFrom }) => {
      const latest = (match: HistoryMatch) => {
        const earlier = selectFrom('tests as other')
          .select(['other.id', 'other.status', 'other.from_address as address'])
          .whereRef('other.livemode', '=', 'test.livemode')
          .whereRef('other.id', '<', 'test.id')
          .$if(match === 'name', (query) => query.whereRef('other.name', '=', 'test.name'))
          .$if(match === 'sender', (query) =>
            query.whereRef('other.from_domain', '=', 'test.from_domain'),
          )
          .orderBy('other.id', 'desc')
          .limit(MAX_SEARCHED_TESTS);
        return selectFrom(earlier.as('earlier'))
          .select('earlier.id')
          .where('earlier.status', '=', 'completed')
          .$if(match === 'sender', (query) =>
            query.where(({ eb, fn }) =>
              eb(fn('lower', ['earlier.address']), '=', fn('lower', ['test.from_address'])),
            ),
          )
          .orderBy('earlier.id', 'desc')
          .limit(1);
      };
      return [latest('name').as('by_name'), latest('sender').as('by_sender')];
    })
    .execute();
  const pairs = found.flatMap(({ id, by_name, by_sender }) => {
    const previous = by_name ?? by_sender;
    const match: HistoryMatch = by_name === null ? 'sender' : 'name';
    return previous === null ? [] : [{ id, previous, match }];
  });
  const scores = await scoresOf(
    db,
    pairs.map(({ previous }) => previous),
  );
  return new Map(
    pairs.flatMap(({ id, previous, match }) =>
      // Deleted in the meantime.
      scores.has(previous)
        ? [[id, { id: previous, score: scores.get(previous)!, match }] as const]
        : [],
    ),
  );
}

async function scoresOf(db: Db, ids: string[]): Promise<Map<string, number | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('tests')
    .select(['id', 'score'])
    .where('id', 'in', [...new Set(ids)])
    .execute();
  return new Map(rows.map(({ id, score }) => [id, score]));
}

/** A completed test of a history, and what changed since the previous one. */
export interface HistoryEntry {
  test: Pick<
    TestRow,
    | 'id'
    | 'name'
    | 'subject'
    | 'from_address'
    | 'received_at'
    | 'completed_at'
    | 'score'
    | 'grade'
    | 'ruleset'
  >;
  match: HistoryMatch;
  /** Null for the first test. */
  previousId: string | null;
  /** In points; null for the first test, and if one of the two has no score. */
  change: number | null;
  /** Problems that the previous test did not have, or had only as a warning. */
  newFindings: HistoryFinding[];
  /** Problems of the previous test that the checks no longer find. A check that did not run resolves nothing. */
  resolvedFindings: HistoryFinding[];
}

/** One page of the history of a test: the test itself, if it is completed, and the tests before it, newest first. */
export async function readHistory(
  db: Db,
  test: Series,
  page: Page,
): Promise<{ entries: HistoryEntry[]; hasMore: boolean }> {
  const match = await matchOf(db, test);
  const series = seriesOf(db, test, match).select('id');
  const { rows, hasMore } = await fetchPage(series, page);
  const last = rows.at(-1);
  if (!last) return { entries: [], hasMore };
  const before = await seriesOf(db, test, match)
    .select('id')
    .where('id', '<', last.id)
    .orderBy('id', 'desc')
    .limit(1)
    .execute();
  const ids = [...rows, ...before].map(({ id }) => id);
  const results = await db
    .selectFrom('tests')
    .select(['id', 'name', 'subject', 'from_address', 'received_at', 'completed_at'])
    .select(['score', 'grade', 'ruleset', 'checks'])
    .where('id', 'in', ids)
    .orderBy('id', 'desc')
    .execute();
  const read = results.map(({ checks, ...row }) => ({
    row,
    checks: checks === null ? [] : (JSON.parse(checks) as CheckResult[]),
  }));
  const entries = read.slice(0, rows.length).map(({ row, checks }, index): HistoryEntry => {
    const earlier = read[index + 1];
    return {
      test: row,
      match,
      previousId: earlier?.row.id ?? null,
      change: changeOf(row.score, earlier?.row.score),
      newFindings: earlier ? findingsOf(checks, unlessAsBadIn(earlier.checks)) : [],
      resolvedFindings: earlier ? findingsOf(earlier.checks, onlyIfFineIn(checks)) : [],
    };
  });
  return { entries, hasMore };
}

/** The difference in points; null unless both scores are known. */
export const changeOf = (
  score: number | null,
  previous: number | null | undefined,
): number | null => (score === null || previous == null ? null : score - previous);

async function matchOf(db: Db, test: Series): Promise<HistoryMatch> {
  const previous = await findPreviousTests(db, [test.id]);
  return previous.get(test.id)?.match ?? (test.from_address === null ? 'name' : 'sender');
}

/** The completed tests up to this one. The large columns are left out of the search. */
function seriesOf(
  db: Db,
  { id, livemode, name, from_domain, from_address }: Series,
  match: HistoryMatch,
) {
  const candidates = db
    .selectFrom('tests')
    .select(['id', 'status', 'from_address'])
    .where('livemode', '=', livemode)
    .where('id', '<=', id)
    // Without a name or a sender, the column is null and equals nothing.
    .where(match === 'name' ? 'name' : 'from_domain', '=', match === 'name' ? name : from_domain)
    .orderBy('id', 'desc')
    // The test itself is one of them.
    .limit(MAX_SEARCHED_TESTS + 1);
  const completed = db
    .selectFrom(candidates.as('candidates'))
    .where('candidates.status', '=', 'completed');
  return match === 'name'
    ? completed
    : completed.where(isSender('candidates.from_address', from_address));
}

const isProblem = ({ status }: CheckResult): boolean => status === 'fail' || status === 'warn';

const unlessAsBadIn = (others: CheckResult[]) => {
  const problems = new Map(others.filter(isProblem).map(({ id, status }) => [id, status]));
  return ({ id, status }: CheckResult) =>
    !problems.has(id) || (status === 'fail' && problems.get(id) === 'warn');
};

const onlyIfFineIn = (others: CheckResult[]) => {
  const fine = new Set(
    others.filter(({ status }) => status === 'pass' || status === 'info').map(({ id }) => id),
  );
  return ({ id }: CheckResult) => fine.has(id);
};

/** The problems that pass the filter, those that cost most first. */
const findingsOf = (
  checks: CheckResult[],
  isChange: (check: CheckResult) => boolean,
): HistoryFinding[] =>
  checksToFix(checks)
    .filter(isChange)
    .map(({ id, label, title, status }) => ({
      id,
      label,
      title,
      status: status as HistoryFinding['status'],
    }));

/** The change of the score since the previous test, for those of a list that have a score and a previous test. */
export async function findScoreChanges(
  db: Db,
  tests: Pick<TestRow, 'id' | 'score'>[],
): Promise<Map<string, number>> {
  const scored = tests.filter(({ score }) => score !== null);
  const previous = await findPreviousTests(
    db,
    scored.map(({ id }) => id),
  );
  return new Map(
    scored.flatMap(({ id, score }) => {
      const change = changeOf(score, previous.get(id)?.score);
      return change === null ? [] : [[id, change] as const];
    }),
  );
}
