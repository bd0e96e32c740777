/** Expiry and retention of emails in the outbox. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import { expireMail } from '../../src/outbox/expire.ts';
import { type Invitation, invite } from '../team/team-service.ts';
import { startOutbox } from './outbox.ts';

const DAY_MS = 86_400_000;

test('The outbox stops sending mail after 7 days and deletes it after 30', async (t) => {
  const { app, queue, run, row, clock, sink } = await startOutbox(t);
  const sent = await queue();
  await run();
  const old = await queue();
  clock.advance(7 * DAY_MS);
  await expireMail(app);
  assert.equal((await row(old))?.status, 'queued');
  clock.advance(1);
  await run();
  assert.equal(sink.taken.length, 1, 'it is too old');
  await expireMail(app);
  const { status, content, due_at, error } = (await row(old))!;
  assert.deepEqual(
    { status, content, due_at, error },
    {
      status: 'failed',
      content: null,
      due_at: null,
      error: 'it could not be sent within 7 days',
    },
  );
  clock.advance(23 * DAY_MS - 1);
  await expireMail(app);
  assert.equal((await row(sent))?.status, 'sent');
  assert.equal((await row(old))?.status, 'failed');
  clock.advance(1);
  await expireMail(app);
  assert.deepEqual([await row(sent), await row(old)], [undefined, undefined]);
});

test('An invitation’s email_status stays correct after its outbox entry is deleted', async (t) => {
  const { app, service, run, clock, sink } = await startOutbox(t);
  const sent = await invite(service, { email: 'sent@example.com' });
  await run();
  sink.refuse = { at: 'rcpt', code: 550, text: 'no such user' };
  const refused = await invite(service, { email: 'refused@example.com' });
  await run();
  const waited = await invite(service, { email: 'waited@example.com' });
  for (const days of [8, 400]) {
    clock.advance(days * DAY_MS);
    await expireMail(app);
  }
  const told: string[] = [];
  for (const { body } of [sent, refused, waited]) {
    const path = `/v1/team/invitations/${body.id}`;
    told.push((await service.call<Invitation>('GET', path)).body.email_status);
  }
  assert.deepEqual(told, ['sent', 'failed', 'failed']);
  assert.equal((await app.db.selectFrom('outbox').select('id').execute()).length, 2);
});

test('expireMail fails mail past its useful time, even without outgoing mail', async (t) => {
  const { app, queue, row, clock } = await startOutbox(t);
  const id = await queue({}, isoTime(clock.now() + 1000));
  const claimed = await queue({}, isoTime(clock.now() + 1000));
  await app.db
    .updateTable('outbox')
    .set({ leased_until: isoTime(clock.now() + 2000) })
    .where('id', '=', claimed)
    .execute();
  clock.advance(999);
  await expireMail(app);
  assert.equal((await row(id))?.status, 'queued');
  clock.advance(1);
  await expireMail(app);
  const { status, content, due_at } = (await row(id))!;
  assert.deepEqual({ status, content, due_at }, { status: 'failed', content: null, due_at: null });
  assert.equal((await row(claimed))?.status, 'queued', 'it is being sent');
});

test('expireMail keeps recently queued mail', async (t) => {
  const { app, queue, row } = await startOutbox(t);
  const id = await queue();
  await expireMail(app);
  assert.equal((await row(id))?.status, 'queued');
});
