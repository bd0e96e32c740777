/** The history of a test: which tests belong to it, what changed, and that it is read from indexes. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type { App } from '../../src/app.ts';
import { findPreviousTests, findScoreChanges } from '../../src/mailtests/history.ts';
import { newTestRow } from '../../src/mailtests/queries.ts';
import type { HistoryEntry } from '../../src/mailtests/schemas/history.ts';
import type { Db } from '../../src/store/open.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';
import { startTestService } from '../helpers/app.ts';
import { skipOnPostgres } from '../helpers/store.ts';

interface HistoryList {
  data: HistoryEntry[];
  has_more: boolean;
}

type Target = Pick<App, 'clock' | 'newId' | 'db'>;

/** A completed test from news@example.com, with these problems. */
function completed(app: Target, columns: Partial<TestRow> = {}, problems: string[] = []): TestRow {
  const checks = ['spf', 'links', 'list_unsubscribe'].map((id) => ({
    id,
    label: id.toUpperCase(),
    title: `About ${id}`,
    gain: 5,
    points: 5,
    evidence: {},
    status: problems.includes(id) ? 'fail' : problems.includes(`${id}?`) ? 'error' : 'pass',
  }));
  const blank = newTestRow(app, { kind: 'auto', metadata: {}, expires_in: 3600, livemode: true });
  return {
    ...blank,
    status: 'completed',
    score: 90,
    grade: 'A',
    checks: JSON.stringify(checks),
    received_at: blank.created_at,
    completed_at: blank.created_at,
    ruleset: '1',
    from_address: 'news@example.com',
    from_domain: 'example.com',
    subject: 'Hello',
    ...columns,
  };
}

async function store(app: Target, rows: TestRow[]): Promise<string[]> {
  for (let start = 0; start < rows.length; start += 100)
    await app.db
      .insertInto('tests')
      .values(rows.slice(start, start + 100))
      .execute();
  return rows.map(({ id }) => id);
}

describe('The history of a test', () => {
  test('has the tests with its name, newest first, with the changes between them', async (t) => {
    const service = await startTestService(t);
    const { app } = service;
    const [a, b, , , , c, d] = await store(app, [
      completed(app, { name: 'Spring', score: 70 }, ['spf', 'links']),
      completed(app, { name: 'Spring', score: 80 }, ['links', 'spf?']),
      completed(app, { name: 'Autumn', score: 10 }),
      completed(app, { name: 'Spring', status: 'failed', score: null, checks: null }),
      completed(app, { name: 'Spring', livemode: 0, score: 11 }),
      completed(app, { name: 'Spring', score: 78 }, ['list_unsubscribe']),
      completed(app, { name: 'Spring', score: null, grade: null }, ['list_unsubscribe']),
    ]);
    const { body } = await service.call<HistoryList>('GET', `/v1/tests/${d}/history`);
    assert.deepEqual(
      body.data.map((entry) => [
        entry.id,
        entry.matched_by,
        entry.previous_id,
        entry.change,
        entry.new_findings.map(({ id }) => id),
        entry.resolved_findings.map(({ id }) => id),
      ]),
      [
        [d, 'name', c, null, [], []],
        [c, 'name', b, -2, ['list_unsubscribe'], ['links']],
        // SPF could not be checked, so its problem is not resolved.
        [b, 'name', a, 10, [], []],
        [a, 'name', null, null, [], []],
      ],
    );
    assert.equal(body.has_more, false);
    const { body: page } = await service.call<HistoryList>(
      'GET',
      `/v1/tests/${d}/history?limit=2&starting_after=${d}`,
    );
    assert.deepEqual(
      page.data.map(({ id, previous_id }) => [id, previous_id]),
      [
        [c, b],
        [b, a],
      ],
    );
    assert.equal(page.has_more, true);
  });

  test('without an earlier test of its name, has those from the same address only', async (t) => {
    const service = await startTestService(t);
    const { app } = service;
    const [a, , , b] = await store(app, [
      completed(app, { name: 'Other', score: 60 }),
      completed(app, { from_address: 'shop@example.com', score: 20 }),
      completed(app, { livemode: 2, score: 30, public_hash: 'h', public_client: 'c' }),
      completed(app, { name: 'New', score: 66 }),
    ]);
    const { body } = await service.call<HistoryList>('GET', `/v1/tests/${b}/history`);
    assert.deepEqual(
      body.data.map(({ id, matched_by, change }) => [id, matched_by, change]),
      [
        [b, 'sender', 6],
        [a, 'sender', null],
      ],
    );
  });

  test('has the same sender in other letter cases, and tests on both sides of a deleted one', async (t) => {
    const service = await startTestService(t);
    const { app } = service;
    const ids = await store(app, [
      completed(app, { from_address: 'News@Example.com', score: 60 }),
      completed(app, { score: 70 }),
      completed(app, { from_address: 'NEWS@example.com', score: 65 }),
    ]);
    const [a, b, c] = ids as [string, string, string];
    const changes = await findScoreChanges(app.db, [{ id: c, score: 65 }]);
    assert.deepEqual([...changes], [[c, -5]]);
    const { status } = await service.call('DELETE', `/v1/tests/${b}`);
    assert.equal(status, 200);
    const { body } = await service.call<HistoryList>('GET', `/v1/tests/${c}/history`);
    assert.deepEqual(
      body.data.map(({ id, change, previous_id }) => [id, change, previous_id]),
      [
        [c, 5, a],
        [a, null, null],
      ],
    );
    const { body: list } = await service.call<HistoryList>(
      'GET',
      '/v1/tests?from_address=nEWS%40example.com',
    );
    assert.deepEqual(
      list.data.map(({ id }) => id),
      [c, a],
    );
  });

  test('is empty for a test that waits for its message, and keeps live and test mode apart', async (t) => {
    const service = await startTestService(t);
    const waiting = await service.createTest();
    const { body } = await service.call<HistoryList>('GET', `/v1/tests/${waiting.id}/history`);
    assert.deepEqual(body, { object: 'list', data: [], has_more: false });
    const [sandbox] = await store(service.app, [completed(service.app, { livemode: 0 })]);
    const { status } = await service.call('GET', `/v1/tests/${sandbox}/history`);
    assert.equal(status, 404);
  });

  test('the list of tests filters by exactly one name or sender', async (t) => {
    const service = await startTestService(t);
    const { app } = service;
    const [a, b] = await store(app, [
      completed(app, { name: 'Spring 1' }),
      completed(app, { name: 'Spring 10', from_address: 'shop@example.com' }),
    ]);
    const list = async (query: string) => {
      const { body } = await service.call<HistoryList>('GET', `/v1/tests?${query}`);
      return body.data.map(({ id }) => id);
    };
    assert.deepEqual(await list('name=Spring%201'), [a]);
    assert.deepEqual(await list('from_address=shop%40example.com'), [b]);
    assert.deepEqual(await list('from_address=nobody'), []);
  });
});

describe('The changes of a page of tests', () => {
  test('come from two queries, which search indexes', { skip: skipOnPostgres }, async (t) => {
    const { app } = await startTestService(t);
    const ids = await store(app, [
      completed(app, { name: 'Spring', score: 70 }),
      completed(app, { name: 'Spring', score: 76 }),
      completed(app, { name: 'Summer', score: 76 }),
      completed(app, { name: null, score: 64 }),
    ]);
    const nodes: RootOperationNode[] = [];
    const recorder: KyselyPlugin = {
      transformQuery({ node }) {
        nodes.push(node);
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const db = app.db.withPlugin(recorder) as Db;
    const changes = await findScoreChanges(
      db,
      ids.map((id, index) => ({ id, score: [70, 76, 76, 64][index]! })),
    );
    assert.deepEqual([...changes].toSorted(), [
      [ids[1], 6],
      [ids[2], 0],
      [ids[3], -12],
    ]);
    const wholes = nodes.filter(
      (node) =>
        node.kind === 'SelectQueryNode' &&
        JSON.stringify(node).includes('"by_name"') !== JSON.stringify(node).includes('"score"'),
    );
    const plans = await Promise.all(
      wholes.map(async (node) => {
        const compiled = db.getExecutor().compileQuery(node, { queryId: 'q' });
        const explain = CompiledQuery.raw(`EXPLAIN QUERY PLAN ${compiled.sql}`, [
          ...compiled.parameters,
        ]);
        const { rows } = await app.db.executeQuery<{ detail: string }>(explain);
        return rows.map(({ detail }) => detail).join('; ');
      }),
    );
    const [previous = ''] = plans;
    assert.match(previous, /tests_name \(livemode=\? AND name=\? AND id<\?\)/);
    assert.match(previous, /tests_from_domain \(livemode=\? AND from_domain=\? AND id<\?\)/);
    for (const plan of plans) assert.doesNotMatch(plan, /SCAN (test|other|tests)\b/);
  });

  test('are read in a moment for 100 rows among 20,000 tests of one domain with 400 senders', {
    skip: skipOnPostgres,
  }, async (t) => {
    const { app } = await startTestService(t);
    const rows = Array.from({ length: 20_000 }, (_, index) =>
      completed(app, {
        name: index % 3 === 0 ? `Name ${index % 7}` : null,
        from_address: `user${index % 400}@example.com`,
      }),
    );
    const ids = await store(app, rows);
    const page = ids.slice(-100);
    await findPreviousTests(app.db, page);
    const startedAt = performance.now();
    const previous = await findPreviousTests(app.db, page);
    const ms = performance.now() - startedAt;
    assert.ok(previous.size > 90, `${previous.size} have a previous test`);
    assert.ok(ms < 300, `took ${Math.round(ms)} ms`);
  });
});
