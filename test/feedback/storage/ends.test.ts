/** What ends: bounces with their sums, originals about people, chunks behind the end of a message, and locks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { expire } from '../../../src/feedback/expire.ts';
import { readMail } from '../../../src/feedback/read-mail.ts';
import { lockCopies } from '../../../src/feedback/record/copies.ts';
import { followTrust } from '../../../src/feedback/record/trust.ts';
import { forgetStored, storageUsage } from '../../../src/feedback/storage/usage.ts';
import { deleteOrphanedChunks } from '../../../src/store/chunks.ts';
import { lockName, transact } from '../../../src/store/open.ts';
import { onPostgres } from '../../helpers/store.ts';
import { bounce, complaint, GMAIL } from '../messages.ts';
import { dmarc as dmarcXml, gzip, mail } from '../reading/builders.ts';
import { startFeedback } from '../start.ts';
import { EVIL, mailFrom, SIGNER_ZONE } from '../strangers.ts';

const DAY_MS = 86_400_000;

const dmarc = ({ id }: { id: string }) =>
  mail([{ type: 'application/gzip', content: gzip(dmarcXml({ id })) }]);

test('After their retention, bounces and the sums of bounces and complaints are deleted, and copies after 90 days', async (t) => {
  const feedback = await startFeedback(t);
  const { service, send, clock } = feedback;
  const { db } = service.app;
  const left = async () => ({
    sums: (await db.selectFrom('feedback_message_sums').select('subject').execute()).length,
    bounces: (await db.selectFrom('bounces').select('id').execute()).length,
    reports: (await db.selectFrom('feedback_reports').select('type').execute()).map(
      ({ type }) => type,
    ),
  });
  const unsigned = { sign: false };
  await send(bounce(GMAIL), unsigned);
  await send(bounce(GMAIL), unsigned);
  await send(complaint('abuse', '192.0.2.7'));
  const before = await left();
  assert.deepEqual(before.reports, ['bounce', 'bounce', 'complaint']);
  assert.ok(before.sums > 0 && before.bounces === 1);
  clock.advance(90 * DAY_MS);
  await expire(service.app);
  assert.deepEqual(await left(), before);
  clock.advance(309 * DAY_MS);
  await expire(service.app);
  assert.deepEqual(await left(), { ...before, reports: ['bounce', 'complaint'] });
  // The sums of the month end with it.
  clock.advance(12 * DAY_MS);
  await expire(service.app);
  assert.deepEqual(await left(), { sums: 0, bounces: 0, reports: ['complaint'] });
  forgetStored(service.app);
  assert.equal((await storageUsage(service.app)).all.used.unverified, 0);
});

test('Reports of a stranger are deleted after 90 days, and then the stranger; a confirmed reporter stays', async (t) => {
  const feedback = await startFeedback(t, { zone: SIGNER_ZONE });
  const { service, clock, reports } = feedback;
  await mailFrom(feedback, dmarc({ id: 's-1' }), { from: EVIL });
  await mailFrom(feedback, dmarc({ id: 's-2' }), { from: 'reports@honest.example' });
  const stored = service.app.db.selectFrom('feedback_reporters').selectAll();
  const list = () => stored.where('title', 'in', ['evil.example', 'honest.example']).execute();
  const honest = (await list()).find(({ title }) => title === 'honest.example')!;
  const json = { confirmed: true };
  await service.call('PATCH', `/v1/feedback/reporters/${honest.id}`, { json });
  await followTrust(service.app);
  clock.advance(89 * DAY_MS);
  await expire(service.app);
  assert.equal((await list()).length, 2);
  clock.advance(2 * DAY_MS);
  await expire(service.app);
  assert.deepEqual(
    (await list()).map(({ title }) => title),
    ['honest.example'],
  );
  assert.deepEqual(
    (await reports()).map(({ status }) => status),
    ['counted'],
  );
});

test('A crash while the original of a complaint is deleted leaves it to be read again, and then deleted', {
  skip: onPostgres && 'the crash is a trigger of SQLite',
}, async (t) => {
  const feedback = await startFeedback(t);
  const { service, clock, send, settled, reports } = feedback;
  const { db } = service.app;
  const mails = () => db.selectFrom('feedback_mails').selectAll().execute();
  const chunks = async () =>
    (await db.selectFrom('message_chunks').select('position').execute()).length;
  await sql`create trigger crash before delete on message_chunks begin select raise(abort, 'crash'); end`.execute(
    db,
  );
  await send(complaint('abuse', '192.0.2.7'), { wait: false });
  const [mail] = await mails();
  await assert.rejects(readMail(service.app, mail!), /crash/);
  assert.equal((await reports()).length, 1);
  const [unfinished] = await mails();
  assert.ok(unfinished!.due_at !== null && unfinished!.size > 0);
  await sql`drop trigger crash`.execute(db);
  // The lease of the attempt that failed.
  clock.advance(130_000);
  await settled();
  const [finished] = await mails();
  assert.deepEqual([finished!.due_at, finished!.size, await chunks()], [null, 0, 0]);
  assert.equal((await reports()).length, 1);
  // A crash right after that transaction leaves the later chunks of a large one.
  const message_id = finished!.id;
  await db
    .insertInto('message_chunks')
    .values({ message_id, position: 1, bytes: Buffer.from('x') })
    .execute();
  clock.advance(2 * 3_600_000);
  await deleteOrphanedChunks(service.app);
  assert.equal(await chunks(), 0);
});

test('Those who lock the same name take turns, and leave no row', async (t) => {
  const { service, send } = await startFeedback(t);
  const { db } = service.app;
  const order: string[] = [];
  const inFirst = Promise.withResolvers<void>();
  const first = transact(db, async (tx) => {
    await lockName(tx, 'a name');
    inFirst.resolve();
    await new Promise(setImmediate);
    order.push('first');
  });
  await inFirst.promise;
  const others = ['second', 'third'].map((name) =>
    transact(db, async (tx) => {
      await lockName(tx, 'a name');
      // Once more, as for copies of which one is read again.
      await lockName(tx, 'a name');
      order.push(name);
      await new Promise(setImmediate);
      order.push(name);
    }),
  );
  await Promise.all([first, ...others]);
  assert.equal(order[0], 'first');
  assert.ok(order[1] === order[2] && order[3] === order[4], String(order));
  await transact(db, (tx) => lockCopies(tx, { identity: 'i', file_identity: 'f' }));
  await send(complaint('abuse', '192.0.2.7'));
  // An earlier program left them.
  await db
    .insertInto('service_facts')
    .values({ name: 'lock: feedback file 1', value: '' })
    .execute();
  await expire(service.app);
  const names = await db.selectFrom('service_facts').select('name').execute();
  assert.deepEqual(
    names.filter(({ name }) => name.startsWith('lock: ') && onPostgres),
    [],
  );
});
