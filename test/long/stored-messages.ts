/** Verifies the database after a load of messages: each is complete and analyzed exactly once. */

import assert from 'node:assert/strict';
import BetterSqlite from 'better-sqlite3';
import { systemClock } from '../../src/lib/clock.ts';
import { isPostgresUrl } from '../../src/lib/database-url.ts';
import { findMessageOf } from '../../src/mailtests/messages.ts';
import { deleteOrphanedChunks, readMessage } from '../../src/store/chunks.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import type { Mail } from './mail-load.ts';

const HOUR_MS = 3_600_000;

/** The number of stored messages: accepted with 250, and without a reply. */
export interface StoredFigures {
  kept: number;
  unansweredButKept: number;
  /** Sent again because the first 250 was lost, and recognized as the same message. */
  recognized: number;
}

/** The service must have stopped. Throws for a message that is lost, incomplete or analyzed twice. */
export async function assertNothingLost(location: string, mails: Mail[]): Promise<StoredFigures> {
  // PostgreSQL checks its files and foreign keys itself.
  if (!isPostgresUrl(location)) assertConsistent(location);
  const store = await openStore(location);
  try {
    return await assertAllStored(store.db, mails);
  } finally {
    await store.close();
  }
}

/** The same for either database: `mails` are all messages that may be in it. */
export async function assertAllStored(db: Db, mails: Mail[]): Promise<StoredFigures> {
  const events = await eventsByTest(db);
  const figures: StoredFigures = { kept: 0, unansweredButKept: 0, recognized: 0 };
  for (const mail of mails) {
    const receivedAt = await checkMail(db, mail, events.get(mail.testId) ?? []);
    if (receivedAt === null) continue;
    figures[mail.state === 'kept' ? 'kept' : 'unansweredButKept'] += 1;
    if (mail.state === 'kept' && receivedAt < mail.sentAt) figures.recognized += 1;
  }
  // What a crash between the transactions of a large message leaves behind is deleted after an hour.
  await deleteOrphanedChunks({ db, clock: { now: () => systemClock.now() + 2 * HOUR_MS } });
  const { rows } = await db
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  assert.equal(rows, figures.kept + figures.unansweredButKept);
  const orphans = await db
    .selectFrom('message_chunks')
    .select('message_id')
    .where('message_id', 'not in', db.selectFrom('messages').select('id'))
    .where('message_id', 'not in', db.selectFrom('feedback_mails').select('id'))
    .execute();
  assert.deepEqual(orphans, []);
  return figures;
}

/** The time of receipt in milliseconds since the Unix epoch; null if the message is rightly absent. */
async function checkMail(db: Db, mail: Mail, events: string[]): Promise<number | null> {
  const { status, lease } = await db
    .selectFrom('tests')
    .select(['status', 'lease'])
    .where('id', '=', mail.testId)
    .executeTakeFirstOrThrow();
  const message = await findMessageOf(db, mail.testId);
  if (!message) {
    assert.notEqual(mail.state, 'kept', `${mail.testId} was accepted with 250 but is lost`);
    assert.deepEqual([status, events], ['waiting', []]);
    return null;
  }
  assert.notEqual(mail.state, 'fresh');
  assert.ok(mail.raw.equals(await readMessage(db, message)), `${mail.testId} is incomplete`);
  const expected = ['test.completed', ...(mail.isPlaced ? ['test.placement_settled'] : [])];
  assert.deepEqual([status, lease, events.sort()], ['completed', null, expected], mail.testId);
  // A duplicate gets the ID of the first message.
  if (mail.keptAs !== null) assert.equal(mail.keptAs, message.id);
  return Date.parse(message.received_at);
}

async function eventsByTest(db: Db): Promise<Map<string, string[]>> {
  const events = await db.selectFrom('events').select(['type', 'data']).execute();
  const byTest = new Map<string, string[]>();
  for (const { type, data } of events) {
    const { id } = JSON.parse(data) as { id: string };
    byTest.set(id, [...(byTest.get(id) ?? []), type]);
  }
  return byTest;
}

/** SQLite finds no errors. */
export function assertConsistent(path: string): void {
  const sqlite = new BetterSqlite(path, { readonly: true });
  try {
    assert.deepEqual(sqlite.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
    assert.deepEqual(sqlite.pragma('foreign_key_check'), []);
  } finally {
    sqlite.close();
  }
}
