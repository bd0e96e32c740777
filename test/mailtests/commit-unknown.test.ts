/** The connection to PostgreSQL is lost during a commit: the client retries, and there is one message. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { readMessage } from '../../src/store/chunks.ts';
import type { MessageRow } from '../../src/store/tables.generated.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { startTestService, type TestService, temporaryFolder } from '../helpers/app.ts';
import { startDatabaseProxy } from '../helpers/database-proxy.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { postgresDatabase, skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { sendMail } from '../helpers/send.ts';
import { TEST_SECRET_KEY } from '../helpers/store.ts';

const skip = skipUnlessOnPostgres();

/** The transaction that accepts a message. */
const INSERT_MESSAGE = 'insert into "messages"';

/** Stored in several chunks. */
const LARGE_MESSAGE = goodMessage({}, 'A line of a large message.\n'.repeat(60_000)).replaceAll(
  '\n',
  '\r\n',
);

async function start(t: TestContext) {
  const folder = temporaryFolder(t);
  const proxy = await startDatabaseProxy(t, await postgresDatabase(folder));
  const service = await startTestService(t, {
    folder,
    zone: SENDER_ZONE,
    env: { DELIVERABILITY_DATABASE_URL: proxy.url, DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY },
  });
  return { proxy, service };
}

/** There is one message, and it is complete. */
async function assertOneWhole({ app: { db } }: TestService): Promise<MessageRow> {
  const messages = await db.selectFrom('messages').selectAll().execute();
  assert.equal(messages.length, 1);
  const raw = await readMessage(db, messages[0]!);
  assert.ok(Buffer.from(LARGE_MESSAGE).equals(raw), 'the message is incomplete');
  return messages[0]!;
}

test('A message whose commit is unknown gets 451, and the retry gets 250 for the same message', {
  skip,
}, async (t) => {
  const { proxy, service } = await start(t);
  const { id, address } = await service.createTest();
  const mail = { port: service.smtp.port, to: address, raw: LARGE_MESSAGE };
  const cut = proxy.cutAtCommitOf(INSERT_MESSAGE);
  await assert.rejects(sendMail(mail), { responseCode: 451 });
  await cut;
  const reply = await sendMail(mail);
  const message = await assertOneWhole(service);
  assert.match(reply, new RegExp(`Accepted as ${message.id}`));
  const ended = await service.getTest(id, '?wait=50');
  assert.equal(ended.status, 'completed');
});

test('A submission whose commit is unknown gets 503, and the retry with its Idempotency-Key the same test', {
  skip,
}, async (t) => {
  const { proxy, service } = await start(t);
  const submit = () =>
    service.call<Test>('POST', '/v1/tests/raw', {
      body: LARGE_MESSAGE,
      headers: { 'content-type': 'message/rfc822', 'idempotency-key': 'build-1' },
    });
  const cut = proxy.cutAtCommitOf(INSERT_MESSAGE);
  const lost = await submit();
  assert.deepEqual([lost.status, lost.headers.get('retry-after')], [503, '5']);
  await cut;
  const retried = await submit();
  assert.deepEqual([retried.status, retried.headers.get('idempotent-replayed')], [201, 'true']);
  const tests = await service.app.db.selectFrom('tests').select('id').execute();
  assert.deepEqual(tests, [{ id: retried.body.id }]);
  await assertOneWhole(service);
  const ended = await service.getTest(retried.body.id, '?wait=50');
  assert.equal(ended.status, 'completed');
});
