/** A mailbox with thousands of messages, and a connection that is interrupted repeatedly. */

// @one-database: about an IMAP server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import {
  contentOf,
  PRIVATE_MAIL,
  reportMail,
  startCuttingProxy,
  startMailboxes,
} from '../feedback/mailboxes/mailboxes.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

const MESSAGES = Number(process.env.REPORT_MAILBOX_MESSAGES ?? 5000);
const CUTS = 5;

test('The import of a large mailbox over an unreliable connection neither loses nor repeats a message', {
  skip: skipUnlessInstalled('dovecot'),
  timeout: 1_800_000,
}, async (t) => {
  const { add, until, start, get, client, dovecot, service } = await startMailboxes(t);
  await client.mailboxCreate('Done');
  for (let index = 0; index < MESSAGES; index++)
    await client.append('Reports', index % 10 === 9 ? PRIVATE_MAIL : reportMail(`m-${index}`));
  // The server sends about 6 MB.
  const proxy = await startCuttingProxy(t, dovecot.port, { count: CUTS, afterBytes: 500_000 });
  const startedAt = performance.now();
  const { id } = await add({ port: proxy.port, move_to: 'Done' });
  for (let cut = 0; cut < CUTS; cut++) {
    await until(id, 'failed');
    await start(id);
  }
  for (let shown = await get(id); shown.import.status !== 'completed'; shown = await get(id)) {
    assert.equal(shown.problem, null);
    await pause(500);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { import: result } = await get(id);
  t.diagnostic(`${MESSAGES} messages in ${seconds.toFixed(0)} s, ${proxy.connections} connections`);
  const expected = MESSAGES * 0.9;
  assert.deepEqual(result.reports, [{ status: 'counted', count: expected }]);
  assert.deepEqual(
    [result.read, result.not_reports, result.moved],
    [MESSAGES, MESSAGES / 10, expected],
  );
  const { count } = await service.app.db
    .selectFrom('feedback_reports')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  assert.equal(Number(count), expected);
  assert.equal((await contentOf(client, 'Reports')).length, MESSAGES / 10);
  assert.equal((await contentOf(client, 'Done')).length, expected);
  assert.ok(proxy.connections >= MESSAGES / 500);
});
