/** What the outbox lets go of, and when. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expireMail } from '../../src/outbox/expire.ts';
import { emailStatus } from '../../src/outbox/queue.ts';
import { startOutbox } from './outbox.ts';

const DAY_MS = 86_400_000;

test('after seven days mail is not sent any more, after thirty what was sent is forgotten', async (t) => {
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
  clock.advance(1);
  await expireMail(app);
  assert.equal(await row(sent), undefined);
  assert.equal((await row(old))?.status, 'failed');
});

test('what became of a mail is told truly however long ago it was', async (t) => {
  const { app, queue, run, row, clock, sink } = await startOutbox(t);
  const sent = await queue();
  await run();
  sink.refuse = { at: 'rcpt', code: 550, text: 'no such user' };
  const refused = await queue();
  await run();
  const waited = await queue();
  for (const days of [8, 400]) {
    clock.advance(days * DAY_MS);
    await expireMail(app);
  }
  const told = async (id: string) => emailStatus(id, await row(id));
  assert.deepEqual(
    [await told(sent), await told(refused), await told(waited)],
    ['sent', 'failed', 'failed'],
  );
});

test('mail that still waits after a short while stays', async (t) => {
  const { app, queue, row } = await startOutbox(t);
  const id = await queue();
  await expireMail(app);
  assert.equal((await row(id))?.status, 'queued');
});
