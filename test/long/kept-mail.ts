/** What a database must hold after mail was sent to it: whole messages, each analysed exactly once. */

import assert from 'node:assert/strict';
import BetterSqlite from 'better-sqlite3';
import { findMessageOf, readMessage } from '../../src/mailtests/messages.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import type { Mail } from './mail-load.ts';

/** How many messages were answered with 250 and are there, and how many are there unanswered. */
export interface Figures {
  kept: number;
  unansweredButKept: number;
  /** Sent once more because the first 250 was lost, and known to be the same message. */
  recognised: number;
}

/** The service must have ended. Throws at the first message that is lost, half or analysed twice. */
export async function assertNothingLost(path: string, mails: Mail[]): Promise<Figures> {
  assertSound(path);
  const store = openStore(path);
  try {
    const { db } = store;
    const events = await eventsByTest(db);
    const figures: Figures = { kept: 0, unansweredButKept: 0, recognised: 0 };
    for (const mail of mails) {
      const receivedAt = await checkMail(db, mail, events.get(mail.testId) ?? []);
      if (receivedAt === null) continue;
      figures[mail.state === 'kept' ? 'kept' : 'unansweredButKept'] += 1;
      if (mail.state === 'kept' && receivedAt < mail.offeredAt) figures.recognised += 1;
    }
    const { rows } = await db
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow();
    assert.equal(rows, figures.kept + figures.unansweredButKept);
    return figures;
  } finally {
    await store.close();
  }
}

/** Milliseconds since the Unix epoch of its receipt; null where it is not there, and need not be. */
async function checkMail(db: Db, mail: Mail, events: string[]): Promise<number | null> {
  const { status, lease } = await db
    .selectFrom('tests')
    .select(['status', 'lease'])
    .where('id', '=', mail.testId)
    .executeTakeFirstOrThrow();
  const message = await findMessageOf(db, mail.testId);
  if (!message) {
    assert.notEqual(mail.state, 'kept', `${mail.testId} was answered with 250 and is lost`);
    assert.deepEqual([status, events], ['waiting', []]);
    return null;
  }
  assert.notEqual(mail.state, 'fresh');
  assert.ok(mail.raw.equals(await readMessage(db, message)), `${mail.testId} is not whole`);
  assert.deepEqual([status, lease, events], ['completed', null, ['test.completed']], mail.testId);
  // Whoever sends the same twice is told of the one message.
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

/** As SQLite sees it; no pieces are left of messages that never came to be. */
function assertSound(path: string): void {
  const sqlite = new BetterSqlite(path, { readonly: true });
  try {
    assert.deepEqual(sqlite.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
    assert.deepEqual(sqlite.pragma('foreign_key_check'), []);
    const orphans = sqlite
      .prepare('SELECT 1 FROM message_chunks WHERE message_id NOT IN (SELECT id FROM messages)')
      .all();
    assert.equal(orphans.length, 0);
  } finally {
    sqlite.close();
  }
}
