/** Upgrades from the first schema, on both databases: what was stored stays, and older schemas are refused. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import type { Test } from '../../src/mailtests/schema.ts';
import { StoreError } from '../../src/store/errors.ts';
import { FIRST_VERSION, SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/open.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { onPostgres, TEST_SECRET_KEY } from '../helpers/store.ts';
import { firstRows, type Row, storeFirstDatabase } from './first-version.ts';

const sorted = (rows: Row[]): Row[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** What steps change on purpose: names prove nothing any more, so a person confirms reporters again. */
const CHANGED: Record<string, (row: Row) => Row> = {
  feedback_reporters: (row) => ({ ...row, trusted: 0 }),
};

for (let from = FIRST_VERSION; from < SCHEMA_VERSION; from++)
  test(`A filled database of schema ${from} keeps all values of all tables`, async (t) => {
    const store = await openStore(await storeFirstDatabase(temporaryFolder(t), from));
    t.after(() => store.close());
    assert.deepEqual([store.migration.from, store.migration.to], [from, SCHEMA_VERSION]);
    for (const [table, rows] of firstRows()) {
      assert.ok(rows.length > 0, `${table} has no rows`);
      const columns = Object.keys(rows[0]!).map((name) => sql.ref(name));
      const { rows: found } = await sql<Row>`
        select ${sql.join(columns)} from ${sql.table(table)}`.execute(store.db);
      assert.deepEqual(
        sorted(found.map((row) => ({ ...row }))),
        sorted(rows.map(CHANGED[table] ?? ((row) => row))),
        table,
      );
    }
  });

test('Upgrades plan the first look at domains that are verified or wait for it, and leave reports to be attributed', async (t) => {
  const store = await openStore(await storeFirstDatabase(temporaryFolder(t)));
  t.after(() => store.close());
  const domains = await store.db.selectFrom('domains').selectAll().execute();
  const expected = domains.map(({ status, next_check_at, created_at }) =>
    status === 'verified' ? next_check_at : status === 'pending' ? created_at : null,
  );
  assert.deepEqual(
    domains.map(({ next_look_at }) => next_look_at),
    expected,
  );
  assert.deepEqual(new Set(domains.map(({ watched }) => watched)), new Set([null]));
  assert.ok(expected.some((at) => at !== null) && expected.includes(null));
  const reports = await store.db.selectFrom('feedback_reports').selectAll().execute();
  for (const { status, attributed, identity, file_identity } of reports)
    assert.deepEqual([attributed, file_identity], [status === 'refused' ? 1 : 0, identity], status);
  assert.ok(new Set(reports.map(({ attributed }) => attributed)).size === 2);
});

/** Minutes after the last change of the filled database, so that nothing in it has expired. */
const LATER = Date.UTC(2026, 10, 22, 10, 15, 0);

test('A service that opens a filled database of the first schema shows its stored results', async (t) => {
  const folder = temporaryFolder(t);
  await storeFirstDatabase(folder);
  const service = await startTestService(t, {
    folder,
    clock: testClock(LATER),
    env: { DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY },
  });
  const stored = firstRows().get('tests')!;
  const live = stored.filter(({ livemode }) => livemode === 1);
  const { body: list } = await service.call<{ data: Test[] }>('GET', '/v1/tests?limit=100');
  assert.deepEqual(
    list.data.map(({ id, status, score }) => ({ id, status, score })),
    live.map(({ id, status, score }) => ({ id, status, score })).toReversed(),
  );
  const completed = live.filter(({ status }) => status === 'completed');
  assert.equal(completed.length, 2);
  for (const { id, checks, summary, providers } of completed) {
    const shown = await service.getTest(String(id));
    assert.deepEqual(shown.checks, JSON.parse(String(checks)));
    assert.deepEqual(shown.providers, JSON.parse(String(providers)));
    assert.equal(shown.summary, summary);
    for (const format of ['html', 'pdf']) {
      const report = await service.call('GET', `/v1/tests/${id}/report.${format}`);
      assert.equal(report.status, 200, report.text);
    }
  }
  const { body: reports } = await service.call<{ data: unknown[] }>('GET', '/v1/feedback/reports');
  assert.equal(reports.data.length, firstRows().get('feedback_reports')!.length);
  const errors = service.logged.filter(({ level }) => level === 'error');
  assert.deepEqual(errors, []);
});

for (const version of [1, FIRST_VERSION - 1])
  test(`A database of schema ${version} is refused with the commit that upgrades it, and stays unchanged`, async (t) => {
    const folder = temporaryFolder(t);
    const location = await storeFirstDatabase(folder);
    await setVersion(location, version);
    const files = readdirSync(folder);
    for (const mode of ['upgrade', 'require', 'create'] as const)
      await assert.rejects(openStore(location, mode), (error) => {
        assert.ok(error instanceof StoreError);
        assert.match(error.message, new RegExp(`schema version ${version}, but`));
        assert.match(error.message, /commit [0-9a-f]{8} once, .* to version 19\. Then start this/);
        return true;
      });
    assert.deepEqual(readdirSync(folder), files);
    assert.equal(await versionOf(location), version);
  });

async function setVersion(location: string, version: number): Promise<void> {
  if (onPostgres) await query(location, `UPDATE schema_version SET version = ${version}`);
  else {
    const sqlite = new BetterSqlite(location);
    sqlite.pragma(`user_version = ${version}`);
    sqlite.close();
  }
}

async function versionOf(location: string): Promise<number> {
  if (onPostgres)
    return Number((await query(location, 'SELECT version FROM schema_version')).rows[0].version);
  const sqlite = new BetterSqlite(location, { readonly: true });
  try {
    return sqlite.pragma('user_version', { simple: true }) as number;
  } finally {
    sqlite.close();
  }
}

async function query(location: string, text: string) {
  const client = new pg.Client({ connectionString: location });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

test('Messages that another customer of a service signed move to it with all sums, as they count from version 22 on', async (t) => {
  const folder = temporaryFolder(t);
  const location = await storeFirstDatabase(folder, 21);
  const row = (position: number, address: string, count: number, results: string) =>
    `INSERT INTO dmarc_rows (report_id, position, domain_id, day, address, count, outcome, dkim, spf, disposition,
      dkim_domain, dkim_result, reasons, counted) VALUES ('fbr_t', ${position}, 'dom_t', '2026-11-20', '${address}', ${count}, ${results}, 1);`;
  const tenant = `'fail', 'fail', 'fail', 'reject', 'other.onmicrosoft.com', 'pass', '[{"type":"forwarded"}]'`;
  const address = (name: string, messages: number, passed: number, source: string) =>
    `INSERT INTO feedback_addresses (id, domain_id, address, first_day, last_day, messages, passed, source_id, look_up_at)
      VALUES ('dom_t ${name}', 'dom_t', '${name}', '2026-11-20', '2026-11-20', ${messages}, ${passed}, '${source}', '2026-12-01');`;
  const sums = (source: string, messages: number, passed: number, rejected: number) =>
    [
      ['days', 'day', '2026-11-20'],
      ['months', 'month', '2026-11'],
    ].map(
      ([table, column, at]) =>
        `INSERT INTO feedback_source_${table} (source_id, domain_id, ${column}, messages, passed, dkim, spf, quarantined, rejected, forwarded)
          VALUES ('${source}', 'dom_t', '${at}', ${messages}, ${passed}, ${passed}, 0, 0, ${rejected}, ${rejected});`,
    );
  await execute(
    location,
    [
      row(0, '192.0.2.1', 7, tenant),
      row(1, '192.0.2.1', 5, `'pass', 'pass', 'fail', 'none', 'example.com', 'pass', NULL`),
      row(2, '192.0.2.2', 3, tenant),
      // A signature that does not verify shows nobody.
      row(3, '192.0.2.3', 2, tenant.replace("'pass'", "'fail'").replace("'reject'", "'none'")),
      address('192.0.2.1', 12, 5, 'src_a'),
      address('192.0.2.2', 3, 0, 'src_b'),
      address('192.0.2.3', 2, 0, 'src_b'),
      ...sums('src_a', 12, 5, 7),
      ...sums('src_b', 5, 0, 3),
    ].join('\n'),
  );
  const store = await openStore(location);
  t.after(() => store.close());
  const { db } = store;
  const addresses = await db
    .selectFrom('feedback_addresses')
    .select(['address', 'messages', 'passed', 'source_id'])
    .where('domain_id', '=', 'dom_t')
    .orderBy('address')
    .execute();
  assert.deepEqual(
    addresses.map((one) => Object.values(one)),
    [
      ['192.0.2.1', 5, 5, 'src_a'],
      ['192.0.2.3', 2, 0, 'src_b'],
      ['other.onmicrosoft.com', 10, 0, null],
    ],
  );
  for (const table of ['feedback_source_days', 'feedback_source_months'] as const) {
    const found = await db
      .selectFrom(table)
      .select(['source_id', 'messages', 'passed', 'dkim', 'rejected', 'forwarded'])
      .where('domain_id', '=', 'dom_t')
      .orderBy('source_id')
      .execute();
    assert.deepEqual(
      found.map((one) => Object.values(one)),
      [
        ['src_a', 5, 5, 5, 0, 0],
        ['src_b', 2, 0, 0, 0, 0],
      ],
      table,
    );
  }
});

async function execute(location: string, statements: string): Promise<void> {
  if (onPostgres) await query(location, statements);
  else {
    const sqlite = new BetterSqlite(location);
    sqlite.exec(statements);
    sqlite.close();
  }
}
