/** What the worst failure in the latest tests of a domain costs. The result of a test never changes, so it is read once. */

import type { App } from '../app.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import type { Db } from '../store/open.ts';
import { daysAgo, RECENT_DAYS } from './reading.ts';
import { findingsOf, latestIds, readTests, senderOf } from './tests.ts';

/** By the ID of the test and the time of its result: a reanalysis has another. */
const costsOf = memoizePerObject((_: Db) => new Map<string, number>());
const MAX_REMEMBERED = 20_000;

/** 0 without a failure. As in the report of all tests, the latest one of each sender counts. */
export async function worstOfTests(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  domainId: string,
): Promise<number> {
  const rows = await db
    .selectFrom('tests')
    .select(['id', 'name', 'from_address', 'completed_at'])
    .where('id', 'in', latestIds(db, domainId))
    .where('completed_at', '>=', daysAgo({ clock }, RECENT_DAYS))
    .where('checks', 'is not', null)
    .orderBy('id', 'desc')
    .execute();
  const costs = costsOf(db);
  const keyOf = ({ id, completed_at }: { id: string; completed_at: string | null }) =>
    `${id} ${completed_at}`;
  const latest = [...Map.groupBy(rows, senderOf).values()].map(([newest]) => newest!);
  const unread = latest.filter((row) => !costs.has(keyOf(row)));
  for (const test of await readTests(
    db,
    unread.map(({ id }) => id),
    '',
  )) {
    if (costs.size >= MAX_REMEMBERED) costs.clear();
    const failures = findingsOf([test]).filter(({ state }) => state === 'fail');
    costs.set(keyOf(test), Math.max(0, ...failures.map(({ problem }) => problem!.cost)));
  }
  return Math.max(0, ...latest.map((row) => costs.get(keyOf(row)) ?? 0));
}
