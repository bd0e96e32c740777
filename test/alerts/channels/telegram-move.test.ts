/** A Telegram group becomes a supergroup, which has another chat ID (Bot API, “ResponseParameters”). */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Alert } from '../../../src/alerts/schema.ts';
import type { Reply } from '../../helpers/receiver.ts';
import { startAlerting } from '../alerting.ts';
import { telegramService } from './services.ts';

const OLD = '-4567890';
const NEW = '-1009876543210';

/** Knows only the new chat, and says so to whoever writes to the old one. */
async function startMoved(t: TestContext, chat = OLD) {
  const telegram = telegramService();
  const alerting = await startAlerting(t);
  const { slack: receiver, makeAlert, service } = alerting;
  const chats: string[] = [];
  const moved: Reply = {
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ok: false,
      error_code: 400,
      description: 'Bad Request: group chat was upgraded to a supergroup chat',
      parameters: { migrate_to_chat_id: Number(NEW) },
    }),
  };
  receiver.respond = (request) => {
    const { chat_id } = JSON.parse(request.body);
    chats.push(chat_id);
    return chat_id === NEW ? telegram.respond(request) : moved;
  };
  const settings = telegram.settings(new URL(receiver.url).origin);
  const rule = { channels: ['telegram'], reminder_hours: 24, ...settings };
  const { id } = await makeAlert({ ...rule, telegram_chat_id: chat });
  const path = `/v1/alerts/${id}`;
  const chatOf = async () =>
    (await service.call<Alert & { telegram_chat_id: string }>('GET', path)).body.telegram_chat_id;
  return { ...alerting, telegram, chats, moved, receiver, path, chatOf };
}

test('The rule gets the new chat ID, and the alert arrives there once', async (t) => {
  const moved = await startMoved(t);
  const { app, telegram, chats, complete, sendDue, chatOf, clock, remind } = moved;
  await complete({ score: 10 });
  await sendDue();
  await sendDue();
  assert.deepEqual(chats, [OLD, NEW]);
  assert.equal(telegram.shown.length, 1);
  assert.equal(await chatOf(), NEW);
  const rows = await app.db.selectFrom('alert_notifications').selectAll().execute();
  assert.deepEqual([rows.length, rows[0]!.status, rows[0]!.error], [1, 'sent', null]);
  const audited = await app.db
    .selectFrom('audit_log')
    .select(['action', 'member_id', 'details'])
    .where('action', '=', 'alert.changed')
    .execute();
  assert.deepEqual(
    audited.map(({ details, ...entry }) => ({ ...entry, details: JSON.parse(details) })),
    [
      {
        action: 'alert.changed',
        member_id: null,
        details: { telegram_chat_id: { from: OLD, to: NEW } },
      },
    ],
  );
  // What follows goes there too, as an answer.
  clock.advance(24 * 3_600_000);
  await remind();
  await sendDue();
  assert.deepEqual(chats, [OLD, NEW, NEW]);
  assert.equal(telegram.shown[1]!.joins, '1');
});

test('Messages in the old group are not answered in the new one', async (t) => {
  const { telegram, receiver, complete, sendDue, chats } = await startMoved(t);
  const later = receiver.respond;
  receiver.respond = (request) => telegram.respond(request);
  await complete({ score: 10 });
  await sendDue();
  receiver.respond = later;
  await complete({ score: 95 });
  await sendDue();
  await sendDue();
  assert.deepEqual(chats, [OLD, NEW]);
  assert.deepEqual(
    telegram.shown.map(({ joins }) => joins),
    [null, null],
  );
});

test('A sample follows the group at once', async (t) => {
  const { service, path, chats, telegram, chatOf } = await startMoved(t);
  const { body } = await service.call<{ notifications: object[] }>('POST', `${path}/test`);
  assert.partialDeepStrictEqual(body.notifications, [{ status: 'sent', error: null }]);
  assert.deepEqual(chats, [OLD, NEW]);
  assert.equal(telegram.shown.length, 1);
  assert.equal(await chatOf(), NEW);
});

test('A sample follows a group that moves twice', async (t) => {
  const { service, path, receiver, moved, chats, chatOf } = await startMoved(t);
  const respond = receiver.respond;
  const between = '-1001';
  receiver.respond = (request, response) => {
    if (JSON.parse(request.body).chat_id !== OLD) return respond(request, response);
    chats.push(OLD);
    return { ...moved, body: moved.body!.toString().replace(NEW, between) };
  };
  const { body } = await service.call<{ notifications: object[] }>('POST', `${path}/test`);
  assert.partialDeepStrictEqual(body.notifications, [{ status: 'sent', error: null }]);
  assert.deepEqual(chats, [OLD, between, NEW]);
  assert.equal(await chatOf(), NEW);
});

test('A chat ID that a member enters meanwhile is kept', async (t) => {
  const { service, path, receiver, moved, telegram, complete, sendDue, chatOf } =
    await startMoved(t);
  receiver.respond = async (request) => {
    if (JSON.parse(request.body).chat_id !== OLD) return telegram.respond(request);
    await service.call('PATCH', path, { json: { telegram_chat_id: '-42' } });
    return moved;
  };
  await complete({ score: 10 });
  await sendDue();
  await sendDue();
  assert.equal(await chatOf(), '-42');
  assert.equal(telegram.shown.length, 1);
});

test('A group whose chat ID changes at each attempt fails, with the reason', async (t) => {
  const { receiver, moved, complete, sendDue, app, chats } = await startMoved(t);
  receiver.respond = ({ body }) => {
    chats.push(JSON.parse(body).chat_id);
    return moved;
  };
  await complete({ score: 10 });
  for (let round = 0; round < 10; round++) await sendDue();
  const [row] = await app.db.selectFrom('alert_notifications').selectAll().execute();
  assert.deepEqual([row!.status, row!.attempts, chats.length], ['failed', 6, 6]);
  assert.match(row!.error!, /the group became a supergroup with a new chat ID/);
});
