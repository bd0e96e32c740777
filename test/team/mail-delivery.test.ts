/** The team's mails on their way: queued with the change, sent by SMTP, and taken back with their link. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../src/analysis/parse-message.ts';
import { startTestService } from '../helpers/app.ts';
import { startMailSink, type TakenMail } from '../outbox/mail-sink.ts';
import { type OutboxService, startOutbox } from '../outbox/outbox.ts';
import { accept, type Invitation, invite, tokenOf } from './team-service.ts';

const INVITATIONS = '/v1/team/invitations';

const textOf = async ({ raw }: TakenMail) => (await parseMessage(raw)).text ?? '';
const emailStatusOf = async ({ service }: OutboxService, { id }: { id: string }) =>
  (await service.call<Invitation>('GET', `${INVITATIONS}/${id}`)).body.email_status;

test('an invitation is sent at once, and its mail holds the link', async (t) => {
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    },
  });
  const made = await invite(service, { email: 'bob@example.com' });
  assert.equal(made.body.email_status, 'queued');
  // Ends what is under way: it was woken when the answer came.
  await service.app.scheduler.stop();
  assert.deepEqual(
    sink.taken.map(({ to }) => to),
    [['bob@example.com']],
  );
  assert.ok((await textOf(sink.taken[0]!)).includes(made.body.accept_url));
  const { body } = await service.call<Invitation>('GET', `${INVITATIONS}/${made.body.id}`);
  assert.equal(body.email_status, 'sent');
  const listed = await service.call<{ data: Invitation[] }>('GET', INVITATIONS);
  assert.equal(listed.body.data[0]!.email_status, 'sent');
});

test('a mail that its server refuses has failed; sent again, the new link goes out', async (t) => {
  const outbox = await startOutbox(t);
  const { service, sink, run } = outbox;
  sink.refuse = { at: 'rcpt', code: 550, text: 'no such user' };
  const made = await invite(service, { email: 'bob@example.com' });
  await run();
  assert.equal(await emailStatusOf(outbox, made.body), 'failed');
  sink.refuse = null;
  const resent = await service.call<Invitation>('POST', `${INVITATIONS}/${made.body.id}/resend`);
  assert.equal(resent.body.email_status, 'queued');
  await run();
  assert.equal(await emailStatusOf(outbox, made.body), 'sent');
  const text = await textOf(sink.taken[0]!);
  assert.ok(text.includes(resent.body.accept_url) && !text.includes(made.body.accept_url));
  assert.equal((await accept(service, tokenOf(resent))).status, 201);
});

test('no mail goes out with a link that works no more', async (t) => {
  const outbox = await startOutbox(t);
  const { service, sink, run } = outbox;
  const { call, makeMember } = service;
  const resent = await invite(service, { email: 'resent@example.com' });
  const second = await call<Invitation>('POST', `${INVITATIONS}/${resent.body.id}/resend`);
  const revoked = await invite(service, { email: 'revoked@example.com' });
  await call('DELETE', `${INVITATIONS}/${revoked.body.id}`);
  const admin = await makeMember('admin');
  const orphan = await invite(service, { email: 'orphan@example.com' }, admin.key);
  await call('DELETE', `/v1/team/members/${admin.id}`);
  await run();
  assert.equal(sink.taken.length, 1);
  assert.ok((await textOf(sink.taken[0]!)).includes(second.body.accept_url));
  assert.equal(await emailStatusOf(outbox, revoked.body), 'failed');
  assert.equal(await emailStatusOf(outbox, orphan.body), 'failed');
});

test('a refused invitation leaves no mail', async (t) => {
  const { service, app } = await startOutbox(t);
  await invite(service, { email: 'bob@example.com' });
  assert.equal((await invite(service, { email: 'bob@example.com' })).status, 409);
  const mails = await app.db.selectFrom('outbox').select('recipient').execute();
  assert.deepEqual(mails, [{ recipient: 'bob@example.com' }]);
});

test('both sides of a transfer get a mail', async (t) => {
  const { service, sink, run } = await startOutbox(t);
  const { id, email } = await service.makeMember('admin');
  await service.call('POST', '/v1/team/transfer-ownership', { json: { new_owner_id: id } });
  await run();
  const texts = new Map<string, string>();
  for (const mail of sink.taken) texts.set(mail.to.join(), await textOf(mail));
  assert.deepEqual([...texts.keys()].sort(), [email, 'owner@example.com']);
  assert.match(texts.get(email)!, /^You are now the owner of the team/);
  assert.match(texts.get('owner@example.com')!, /^You have transferred the ownership/);
});
