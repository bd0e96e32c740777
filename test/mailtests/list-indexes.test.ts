/** Lists of tests read only rows that can match, even among 100,000 tests. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely';
import { listTests } from '../../src/mailtests/queries.ts';
import type { TestFilters } from '../../src/mailtests/schemas/filter.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import { skipOnPostgres } from '../helpers/store.ts';

/** How SQLite would list the tests that match the filters. */
async function planOf(db: Db, filters: TestFilters): Promise<string> {
  const nodes: RootOperationNode[] = [];
  const recorder: KyselyPlugin = {
    transformQuery({ node }) {
      // The parts of a query before the whole.
      nodes.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await listTests(db.withPlugin(recorder) as Db, true, { limit: 50, ...filters });
  const { sql, parameters } = db.getExecutor().compileQuery(nodes.at(-1)!, { queryId: 'q' });
  const explain = CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, [...parameters]);
  const { rows } = await db.executeQuery<{ detail: string }>(explain);
  return rows.map(({ detail }) => detail).join('; ');
}

const SEARCHES: [TestFilters, RegExp][] = [
  [{}, /tests_listed \(livemode=\?\)$/],
  [{ status: 'failed' }, /tests_status \(livemode=\? AND status=\?\)$/],
  [{ status: 'waiting' }, /tests_status \(livemode=\? AND status=\?\)$/],
  [{ status: 'completed' }, /tests_listed \(livemode=\?\)$/],
  [{ from_domain: 'a.example' }, /tests_from_domain \(livemode=\? AND from_domain=\?\)$/],
  [{ domain_id: 'dom_1' }, /tests_domain \(livemode=\? AND domain_id=\?\)$/],
  [{ created_after: '2026-11-01T00:00:00.000Z' }, /tests_listed \(livemode=\? AND id>\?\)$/],
  [
    { tag: 'news' },
    /tests_listed \(livemode=\? AND id=\?\).*test_tags_listed \(livemode=\? AND tag=\?\)/,
  ],
  [{ max_score: 20 }, /tests_score \(livemode=\? AND score<\?\)/],
  [{ min_score: 20, max_score: 30 }, /tests_score \(livemode=\? AND score>\? AND score<\?\)/],
];

test('Lists of tests use an index for each filter but text', {
  skip: skipOnPostgres,
}, async (t) => {
  const store = await openStore(':memory:');
  t.after(() => store.close());
  for (const [filters, plan] of SEARCHES)
    assert.match(await planOf(store.db, filters), plan, JSON.stringify(filters));
});
