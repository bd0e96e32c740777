/** Rows that are written with SQL built once, against the ordinary queries. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { insertRow, updateRow } from '../../src/store/rows.ts';
import { startTestService } from '../helpers/app.ts';

test('Rows are written as the ordinary queries write them, whatever their values', async (t) => {
  const { db } = (await startTestService(t)).app;
  const events = [
    { id: 'evt_1', type: 'a', livemode: 1, created_at: '2026', data: 'null', position: null },
    {
      id: 'evt_2',
      type: "'; drop table events; --",
      livemode: 0,
      created_at: '',
      data: '\0\ud800',
    },
    // The same columns in another order.
    { type: 'b', id: 'evt_3', livemode: 1, created_at: 'é', data: '?' },
  ];
  for (const event of events) {
    await insertRow(db, 'events', event);
    await db
      .insertInto('events')
      .values({ ...event, id: `${event.id}x` })
      .execute();
  }
  await updateRow(db, 'events', 'evt_1', { type: 'c', data: '"' });
  await updateRow(db, 'events', 'evt_2', { data: '"', type: 'c' });
  await updateRow(db, 'events', 'evt_3', { type: sql`upper('d')`, data: 'x' });
  await db
    .updateTable('events')
    .set({ type: 'c', data: '"' })
    .where('id', 'in', ['evt_1x', 'evt_2x'])
    .execute();
  await db.updateTable('events').set({ type: 'D', data: 'x' }).where('id', '=', 'evt_3x').execute();
  const rows = await db.selectFrom('events').selectAll().orderBy('id').execute();
  assert.equal(rows.length, 6);
  for (let index = 0; index < rows.length; index += 2) {
    const { id, position, ...one } = rows[index]!;
    const { id: other, position: _, ...expected } = rows[index + 1]!;
    assert.equal(other, `${id}x`);
    assert.deepEqual(one, expected);
  }
});

test('An error of such a statement is an ordinary error, and the next one runs', async (t) => {
  const { db } = (await startTestService(t)).app;
  const event = { id: 'evt_1', type: 'a', livemode: 1, created_at: '', data: '' };
  await insertRow(db, 'events', event);
  await assert.rejects(insertRow(db, 'events', event));
  await insertRow(db, 'events', { ...event, id: 'evt_2' });
  const { count } = await db
    .selectFrom('events')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  assert.equal(Number(count), 2);
});
