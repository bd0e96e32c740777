/** Placement in the API: what tests, events, summaries and reports show. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { type ImapServer, startImapServer } from '../helpers/imap-server.ts';
import {
  mailWith,
  offsetClock,
  placementIn,
  placesOf,
  sendToTest,
  startSeeding,
  waitForPlacement,
} from './seeding.ts';

async function startMailbox(t: TestContext): Promise<ImapServer> {
  return startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
  });
}

/** Puts a message into the inbox, or with `isSpam` into the spam folder. */
function put({ script }: ImapServer, raw: string, { isSpam = false } = {}): void {
  const { messages } = script.folders[isSpam ? 1 : 0]!;
  messages.push({ uid: messages.length + 1, raw });
}

const isSettled = ({ placement }: Test): boolean => placement.every(({ settled }) => settled);

test('Capabilities and readiness follow the configuration of seed mailboxes', async (t) => {
  const { url } = await startMailbox(t);
  type State = { status: string; detail: string | null };
  for (const seeds of [[], [{ provider: 'one', address: 'a@b.example', imap: url }]]) {
    const service = await startSeeding(t, { seeds });
    const isAvailable = seeds.length > 0;
    const { body } = await service.call<{ capabilities: Record<string, { available: boolean }> }>(
      'GET',
      '/v1/capabilities',
    );
    assert.equal(body.capabilities.live_inbox_placement!.available, isAvailable);
    const ready = await service.call<{ dependencies: (State & { name: string })[] }>(
      'GET',
      '/readyz',
    );
    const { status } = ready.body.dependencies.find(({ name }) => name === 'seed_mailboxes')!;
    assert.equal(status, isAvailable ? 'up' : 'disabled');
  }
});

test('A test without placement settles with its result', async (t) => {
  const { url } = await startMailbox(t);
  const service = await startSeeding(t, {
    seeds: [{ provider: 'one', address: 'a@b.example', imap: url }],
  });
  const created = await service.createTest();
  assert.deepEqual(
    [created.placement_status, created.seed_addresses, created.placement],
    ['none', [], []],
  );
  await sendToTest(service, created);
  const done = await service.getTest(created.id, '?wait=20&for=placement');
  assert.equal(done.status, 'completed');
});

test('Messages that went to no seed mailbox count nowhere, and the report says so', async (t) => {
  const clock = offsetClock();
  const { url } = await startMailbox(t);
  const service = await startSeeding(t, {
    clock,
    seeds: [{ provider: 'one', address: 'a@b.example', imap: url }],
  });
  const created = await service.createTest({ placement: true });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  clock.advance(61 * 60_000);
  const done = await service.getTest(created.id, '?wait=20&for=placement');
  assert.deepEqual([done.placement_status, done.inbox_placement], ['settled', {}]);
  assert.equal(done.placement[0]!.placement, 'missing');
  const summary = await service.call('GET', '/v1/reports/summary?period=day');
  assert.equal(summary.body.placement_samples, 0);
  const { text } = await service.call('GET', `/v1/tests/${created.id}/report.html`);
  assert.match(text, /No seed mailbox received the message, so it was probably not sent to them/);
});

test('Without plus addresses, the message is recognized by its Message-ID, or by sender and subject', async (t) => {
  const [one, two] = [await startMailbox(t), await startMailbox(t)];
  const service = await startSeeding(t, {
    seeds: [one, two].map(({ url }, i) => ({
      provider: `p${i}`,
      address: `user${i}@b.example`,
      imap: url,
      plus_addresses: false,
    })),
  });
  const created = await service.createTest({ placement: true });
  assert.deepEqual(
    created.seed_addresses.map(({ address }) => address),
    ['user0@b.example', 'user1@b.example'],
  );
  put(one, mailWith({ To: 'user0@b.example' }));
  put(two, mailWith({ To: 'user1@b.example', 'Message-ID': '<own@example.com>' }), {
    isSpam: true,
  });
  // Of an earlier campaign.
  put(two, mailWith({ Subject: 'Winter news', 'Message-ID': '<old@example.com>' }));
  await sendToTest(service, created);
  const done = await waitForPlacement(service, created.id, isSettled);
  assert.deepEqual(
    done.placement.map(({ placement, match }) => [placement, match]),
    [
      ['inbox', 'message_id'],
      ['spam', 'probable'],
    ],
  );
});

test('Placement that is known before the test has a result settles after it', async (t) => {
  const mailbox = await startMailbox(t);
  const service = await startSeeding(t, {
    seeds: [{ provider: 'one', address: 'a@b.example', imap: mailbox.url }],
  });
  const created = await service.createTest({ placement: true });
  put(mailbox, mailWith({ To: created.seed_addresses[0]!.address }));
  const found = await waitForPlacement(service, created.id, isSettled);
  assert.deepEqual([found.status, found.placement_status], ['waiting', 'waiting']);
  assert.equal(placementIn(found, 'a').seconds, null);
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20&for=placement');
  const { body } = await service.call<{ data: { type: string; data: Test }[] }>(
    'GET',
    '/v1/events',
  );
  assert.deepEqual(
    body.data.map(({ type, data }) => [type, data.placement_status, data.inbox_placement]),
    [
      ['test.placement_settled', 'settled', { one: 'inbox' }],
      ['test.completed', 'waiting', { one: 'inbox' }],
    ],
  );
});

test('A deleted test is no longer looked for, and its mailbox is left alone', async (t) => {
  const mailbox = await startMailbox(t);
  const service = await startSeeding(t, {
    seeds: [{ provider: 'one', address: 'a@b.example', imap: mailbox.url }],
  });
  const { id } = await service.createTest({ placement: true });
  while (mailbox.open === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await service.call('DELETE', `/v1/tests/${id}`)).status, 200);
  const rows = await service.app.db.selectFrom('placements').selectAll().execute();
  assert.deepEqual(rows, []);
  const other = await service.createTest({ placement: true });
  put(mailbox, mailWith({ To: other.seed_addresses[0]!.address }));
  await waitForPlacement(service, other.id, isSettled);
  // Nobody needs the connections now.
  while (mailbox.open > 0) await new Promise((resolve) => setTimeout(resolve, 20));
});

test('A test whose seed mailbox was removed from the configuration settles as unknown', async (t) => {
  const clock = offsetClock();
  const { url } = await startMailbox(t);
  const service = await startSeeding(t, {
    clock,
    seeds: [{ provider: 'one', address: 'a@b.example', imap: url }],
  });
  const created = await service.createTest({ placement: true });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  await service.stop();
  const restarted = await startSeeding(t, { clock, seeds: [], folder: service.folder });
  clock.advance(69 * 60_000);
  assert.equal((await restarted.getTest(created.id)).placement_status, 'waiting');
  clock.advance(2 * 60_000);
  const done = await restarted.getTest(created.id, '?wait=20&for=placement');
  assert.deepEqual(
    [done.placement_status, done.placement[0]!.placement, done.placement[0]!.problem],
    ['settled', 'unknown', 'not_read'],
  );
});

test('After hours without the service, each mailbox is read once before its placement is final', async (t) => {
  const clock = offsetClock();
  const [found, empty] = [await startMailbox(t), await startMailbox(t)];
  const seeds = [
    { provider: 'one', address: 'a@b.example', imap: found.url },
    { provider: 'two', address: 'c@d.example', imap: empty.url },
  ];
  const service = await startSeeding(t, { clock, seeds });
  const created = await service.createTest({ placement: true });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  await service.stop();
  const raw = mailWith({ To: created.seed_addresses[0]!.address });
  found.script.folders[0]!.messages.push({ uid: 1, raw });
  clock.advance(5 * 60 * 60_000);
  const restarted = await startSeeding(t, { clock, seeds, folder: service.folder });
  const done = await restarted.getTest(created.id, '?wait=20&for=placement');
  assert.deepEqual(placesOf(done), { a: 'inbox', c: 'missing' });
});

test('A mailbox that no node reads does not keep a test from settling', async (t) => {
  const clock = offsetClock();
  const mailbox = await startMailbox(t);
  const seeds = [{ provider: 'one', address: 'a@b.example', imap: mailbox.url }];
  const service = await startSeeding(t, { clock, seeds });
  const never = { next_look_at: '2100-01-01T00:00:00.000Z' };
  await service.app.db.updateTable('seed_mailboxes').set(never).execute();
  const created = await service.createTest({ placement: true });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  clock.advance(71 * 60_000);
  const done = await waitForPlacement(service, created.id, (now) => {
    clock.advance(10_000);
    return now.placement_status === 'settled';
  });
  assert.equal(done.placement[0]!.problem, 'not_read');
});

test('The report shows what the provider says; a shared report shows no address and no folder', async (t) => {
  const mailbox = await startMailbox(t);
  const service = await startSeeding(t, {
    seeds: [{ provider: 'fastmail', address: 'secret-seed@b.example', imap: mailbox.url }],
  });
  const created = await service.createTest({ placement: true });
  const results = 'mx1.messagingengine.com; spf=fail smtp.mailfrom=example.com';
  const to = created.seed_addresses[0]!.address;
  put(mailbox, mailWith({ 'Authentication-Results': results, To: to }), { isSpam: true });
  await sendToTest(service, created);
  const done = await service.getTest(created.id, '?wait=30&for=placement');
  assert.deepEqual(done.placement[0]!.reasons, [
    {
      field: 'Authentication-Results',
      name: 'spf',
      value: 'fail',
      text: 'SPF fails at Fastmail.',
    },
  ]);
  const report = (await service.call('GET', `/v1/tests/${created.id}/report.html`)).text;
  for (const shown of [
    'secret-seed',
    'SPF fails at Fastmail',
    'In Junk',
    'Seed mailboxes are a sample',
    'SPF is “fail” at Fastmail, but “none” in this report',
  ])
    assert.ok(report.includes(shown), shown);
  const shared = await service.call<{ url: string }>('POST', '/v1/reports/share', {
    json: { test_ids: [created.id] },
  });
  const { pathname } = new URL(shared.body.url);
  const page = (await service.call('GET', pathname, { key: null })).text;
  assert.ok(page.includes('Inbox placement') && page.includes('Fastmail'));
  const json = (
    await service.call('GET', pathname, { key: null, headers: { accept: 'application/json' } })
  ).text;
  assert.ok(json.includes('"placement":"spam"'));
  for (const text of [page, json])
    for (const hidden of ['secret-seed', 'SPF fails at Fastmail', 'In Junk', created.token])
      assert.ok(!text.includes(hidden), hidden);
});
