/** The tags of tests: labels by which people find and filter them. */

import { sql } from 'kysely';
import { type Db, isLimited, type PreparedParameter, prepared, type Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';

/** The tags of each of these tests, in alphabetical order. Tests without tags are missing. */
export async function readTags(db: Db | Tx, testIds: string[]): Promise<Map<string, string[]>> {
  const tags = new Map<string, string[]>();
  if (testIds.length === 0) return tags;
  const rows = await db
    .selectFrom('test_tags')
    .select(['test_id', 'tag'])
    .where('test_id', 'in', testIds)
    .execute();
  for (const { test_id, tag } of rows) tags.set(test_id, [...(tags.get(test_id) ?? []), tag]);
  // Not sorted by the databases, whose orders differ.
  for (const list of tags.values()) list.sort();
  return tags;
}

const findTags = prepared((db, parameter: PreparedParameter<{ testId: string }>) =>
  db.selectFrom('test_tags').select('tag').where('test_id', '=', parameter('testId')),
);

/** The tags of one test. */
export async function tagsOf(db: Db | Tx, testId: string): Promise<string[]> {
  const rows = await findTags(db, { testId });
  return rows.map(({ tag }) => tag).sort();
}

type TaggedTest = Pick<TestRow, 'id' | 'livemode'>;

/** Stores the tags of a new test. */
export async function insertTags(tx: Tx, test: TaggedTest, tags: string[]): Promise<void> {
  if (tags.length === 0) return;
  const { id: test_id, livemode } = test;
  await tx
    .insertInto('test_tags')
    .values(tags.map((tag) => ({ test_id, livemode, tag })))
    .execute();
}

/** Lock the test before. */
export async function replaceTags(tx: Tx, test: TaggedTest, tags: string[]): Promise<void> {
  await tx.deleteFrom('test_tags').where('test_id', '=', test.id).execute();
  await insertTags(tx, test, tags);
}

/**
 * The first tags in use in this mode, in alphabetical order, for suggestions. Skips from tag to tag in the index
 * instead of reading every tagged test.
 */
export async function listTags(db: Db, livemode: boolean, limit: number): Promise<string[]> {
  const mode = livemode ? 1 : 0;
  if (isLimited(db)) {
    const own = db.selectFrom('test_tags').select('tag').distinct().where('livemode', '=', mode);
    return (await own.orderBy('tag').limit(limit).execute()).map(({ tag }) => tag);
  }
  const { rows } = await sql<{ tag: string }>`
    WITH RECURSIVE used (tag) AS (
      SELECT (SELECT min(tag) FROM test_tags WHERE livemode = ${mode})
      UNION ALL
      SELECT (SELECT min(t.tag) FROM test_tags t WHERE t.livemode = ${mode} AND t.tag > used.tag)
      FROM used WHERE used.tag IS NOT NULL
    )
    SELECT tag FROM used WHERE tag IS NOT NULL LIMIT ${limit}`.execute(db);
  return rows.map(({ tag }) => tag);
}
