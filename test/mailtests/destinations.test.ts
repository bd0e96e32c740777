/** Tests, inboxes and postmaster as recipients of one message. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Inbox } from '../../src/mailtests/schemas/inbox.ts';
import { startTestService } from '../helpers/app.ts';
import { sendMail } from '../helpers/send.ts';

const RAW = 'From: a@example.com\r\nSubject: Both\r\n\r\nText\r\n';

test('A message to a test and to postmaster arrives at both, and again only at postmaster', async (t) => {
  const service = await startTestService(t);
  const { id, address } = await service.createTest();
  const send = (raw: string) =>
    sendMail({ port: service.smtp.port, to: [address, 'Postmaster@inbox.test'], raw });
  const stored = () =>
    service.app.db.selectFrom('messages').select(['test_id', 'recipient']).orderBy('id').execute();
  assert.match(await send(RAW), /^250 2\.6\.0 Accepted as msg_\w+, Accepted as msg_\w+$/);
  const both = [
    { test_id: id, recipient: address },
    { test_id: null, recipient: 'postmaster@inbox.test' },
  ];
  assert.deepEqual(await stored(), both);
  // The same bytes, as from a sender that missed the reply; the test knows them.
  await send(RAW);
  assert.deepEqual(await stored(), [...both, both[1]]);
  // Other bytes are too many for the test, so postmaster does not get them either.
  await assert.rejects(send(`${RAW}More\r\n`), { responseCode: 550, message: /already received/ });
  assert.equal((await stored()).length, 3);
  const { values } = await service.app.metrics.smtpMessages.get();
  assert.deepEqual(
    values.map(({ labels, value }) => [labels.for, value]),
    [
      ['test', 2],
      ['postmaster', 2],
    ],
  );
});

test('A message has one address of a test or an inbox; the others get 452', async (t) => {
  const service = await startTestService(t);
  const { address } = await service.createTest();
  const { body: inbox } = await service.call<Inbox>('POST', '/v1/tests', {
    json: { reusable: true },
  });
  for (const to of [
    [address, inbox.address],
    [inbox.address, address],
    [inbox.address, 'postmaster@inbox.test', address],
  ]) {
    // Nodemailer continues with the recipients that were accepted.
    assert.match(
      await sendMail({ port: service.smtp.port, to, raw: `X: ${to}\r\n${RAW}` }),
      /^250/,
    );
  }
  const stored = await service.app.db
    .selectFrom('messages')
    .select('recipient')
    .orderBy('id')
    .execute();
  assert.deepEqual(
    stored.map(({ recipient }) => recipient),
    [address, inbox.address, inbox.address, 'postmaster@inbox.test'],
  );
});
