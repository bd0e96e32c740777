/** Copies of a report are found with one step into an index, however many reports there are. */

// @one-database: about the plans of SQLite.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledQuery } from 'kysely';
import { findOriginal } from '../../src/feedback/record/copies.ts';
import { type Db, openStore } from '../../src/store/open.ts';

/** Forwards all calls, and collects the queries. */
function spyOn(db: Db, queries: CompiledQuery[]): Db {
  return new Proxy(db, {
    get(target, name) {
      if (name === 'executeQuery')
        return (query: CompiledQuery) => {
          queries.push(query);
          return target.executeQuery(query);
        };
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

for (const source of ['upload', 'smtp', 'imap', 'https'])
  test(`A copy of a report by ${source} is found by an index on its identity`, async (t) => {
    const store = await openStore(':memory:');
    t.after(store.close);
    const queries: CompiledQuery[] = [];
    const report = {
      identity: 'i',
      file_identity: 'f',
      figures: 'x',
      source,
      domain_id: 'dom_1',
    };
    assert.equal(await findOriginal(spyOn(store.db, queries), report), undefined);
    const plans: string[] = [];
    for (const { sql, parameters } of queries) {
      const explain = CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, [...parameters]);
      const { rows } = await store.db.executeQuery<{ detail: string }>(explain);
      plans.push(rows[0]!.detail);
    }
    assert.deepEqual(plans, [
      'SEARCH feedback_reports USING INDEX feedback_reports_identity (identity=?)',
      'SEARCH feedback_reports USING INDEX feedback_reports_file (file_identity=?)',
    ]);
  });
