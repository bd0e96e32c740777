/** The views of a limited caller: every way to read a table goes through its condition, and an unknown table is empty. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { isLimited, limitedTo, prepared, type Tx, transact } from '../../src/store/open.ts';
import { TABLES } from '../../src/store/tables.generated.ts';
import { openTestStore } from '../helpers/store.ts';

const DOMAIN = {
  status: 'verified' as const,
  token: '',
  created_at: '',
  pending_since: '',
  given_selectors: '[]',
  learnt_selectors: '[]',
  health_status: 'unknown' as const,
  health_checks: '[]',
  badge_enabled: 0,
};

async function open(t: Parameters<typeof openTestStore>[0]) {
  const { db } = await openTestStore(t);
  const tags: [string, string[]][] = [
    ['a', ['client:a']],
    ['both', ['client:a', 'client:b']],
    ['b', ['client:b']],
    ['none', []],
    // Texts that contain the tag without being it.
    ['quoted', ['x"client:a']],
    ['longer', ['client:ab', 'xclient:a']],
    ['pattern', ['client_a']],
  ];
  for (const [name, list] of tags)
    await db
      .insertInto('domains')
      .values({ ...DOMAIN, id: `dom_${name}`, name, tags: JSON.stringify(list) })
      .execute();
  return { db, limited: limitedTo(db, { memberId: 'mem_a', tags: ['client:a'] }) };
}

const namesIn = (rows: { name: string }[]) => rows.map(({ name }) => name).toSorted();

const findPrepared = prepared((db, parameter) =>
  db
    .selectFrom('domains')
    .select('name')
    .where('id', '!=', parameter('id' as never)),
);

test('Every kind of query reads the same view', async (t) => {
  const { db, limited } = await open(t);
  const seen = ['a', 'both'];
  assert.deepEqual(namesIn(await limited.selectFrom('domains').select('name').execute()), seen);
  assert.deepEqual(
    namesIn(await limited.selectFrom('domains as d').select('d.name').execute()),
    seen,
  );
  const raw = await sql<{ name: string }>`select name from domains`.execute(limited);
  assert.deepEqual(namesIn(raw.rows), seen);
  const withRaw = await sql<{
    name: string;
  }>`with x as (select * from domains) select name from x`.execute(limited);
  assert.deepEqual(namesIn(withRaw.rows), seen);
  const nested = db.selectFrom('domains').select('name');
  assert.equal((await nested.execute()).length, 7);
  const inside = limited
    .selectFrom('service_facts')
    .select('name')
    .where('name', 'in', limited.selectFrom('domains').select('name'));
  await db
    .insertInto('service_facts')
    .values([
      { name: 'a', value: '' },
      { name: 'b', value: '' },
    ])
    .execute();
  assert.deepEqual(namesIn(await inside.execute()), ['a']);
  const own = await limited
    .with('x', (qb) => qb.selectFrom('domains').selectAll())
    .selectFrom('x')
    .select('name')
    .execute();
  assert.deepEqual(namesIn(own), seen);
  // The compiled text is not shared with callers without a limit, in either order.
  for (const [one, count] of [
    [db, 7],
    [limited, 2],
    [db, 7],
  ] as const)
    assert.equal((await findPrepared(one, { id: 'x' } as never)).length, count);
  const none = limitedTo(db, { memberId: 'mem_a', tags: [] });
  assert.deepEqual(await none.selectFrom('domains').select('name').execute(), []);
});

/** Tags that mean something to SQL, to patterns, to JSON or to the code that builds the conditions. */
const HOSTILE = [
  "x' or 1=1 --",
  "');delete from domains;--",
  "\\' or 1=1 --",
  '\\',
  '"',
  'x"client:a',
  '%',
  '_',
  '?',
  '$1',
  ':a',
  '@',
  '@.id',
  'ann@acme',
  '$&',
  "$'",
  '/*',
  '[]',
  'ä\u202e\ud83d\ude00',
];

test('Any tag limits to itself', async (t) => {
  const { db } = await openTestStore(t);
  for (const [i, tag] of HOSTILE.entries()) {
    const id = `dom_${i}`;
    const tags = JSON.stringify(['first', tag]);
    await db
      .insertInto('domains')
      .values({ ...DOMAIN, id, name: tag, tags })
      .execute();
    await db
      .insertInto('shared_reports')
      .values({
        id: `rpt_${i}`,
        livemode: 1,
        token_hash: id,
        token: '',
        created_at: '',
        expires_at: '',
        view_count: 0,
        preview: 'none',
        tags: JSON.stringify([tag]),
      })
      .execute();
  }
  for (const [i, tag] of HOSTILE.entries()) {
    const limited = limitedTo(db, { memberId: "mem_' or 1=1", tags: [tag] });
    const rows = await limited.selectFrom('domains').select('name').execute();
    assert.deepEqual(namesIn(rows), [tag], tag);
    // Other tables have conditions of their own for the tags.
    for (const table of ['tests', 'inboxes', 'members', 'api_keys'] as const)
      assert.deepEqual(await limited.selectFrom(table).select('id').execute(), []);
    const shares = await limited.selectFrom('shared_reports').select('id').execute();
    assert.deepEqual(shares, [{ id: `rpt_${i}` }], tag);
    await limited.updateTable('domains').set({ token: tag }).execute();
  }
  const changed = await db.selectFrom('domains').select(['name', 'token']).execute();
  assert.deepEqual(
    changed.filter(({ name, token }) => name !== token),
    [],
  );
  const two = limitedTo(db, { memberId: '', tags: HOSTILE.slice(0, 2) });
  assert.equal((await two.selectFrom('shared_reports').select('id').execute()).length, 2);
});

test('Transactions lock, change and delete only what is visible', async (t) => {
  const { db, limited } = await open(t);
  const inTransaction = <T>(work: (tx: Tx) => Promise<T>) => transact(limited, work);
  const locked = (id: string) =>
    inTransaction((tx) =>
      tx.selectFrom('domains').select('name').where('id', '=', id).forUpdate().execute(),
    );
  assert.equal((await locked('dom_a')).length, 1);
  assert.equal((await locked('dom_b')).length, 0);
  await inTransaction(async (tx) => {
    assert.equal(isLimited(tx), true);
    await tx.updateTable('domains').set({ token: 'changed' }).execute();
    await tx.deleteFrom('domains').where('name', 'in', ['b', 'both']).execute();
    assert.equal(
      (await tx.withoutPlugins().selectFrom('domains').select('id').execute()).length,
      6,
    );
  });
  const changed = await db
    .selectFrom('domains')
    .select('name')
    .where('token', '=', 'changed')
    .execute();
  assert.deepEqual(namesIn(changed), ['a']);
});

test('A table without a condition is empty', async (t) => {
  const { db, limited } = await open(t);
  await db
    .insertInto('audit_log')
    .values({
      id: 'aud_1',
      created_at: '',
      action: '',
      object_type: '',
      object_id: '',
      details: '{}',
    })
    .execute();
  assert.deepEqual(await limited.selectFrom('audit_log').selectAll().execute(), []);
  const { rows } = await sql`select * from audit_log`.execute(limited);
  assert.deepEqual(rows, []);
  // Every table can be read: each condition is valid.
  for (const table of TABLES)
    await limited
      .selectFrom(table as 'events')
      .selectAll()
      .limit(1)
      .execute();
  await assert.rejects(
    sql`with recursive x as (select name from domains) select * from x`.execute(limited),
    /WITH RECURSIVE/,
  );
});
