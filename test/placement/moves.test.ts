/** Messages that are moved after they were found: a placement is final only once it was checked again. */

// @one-database: about mailboxes; `api` stores their results in both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LOOK_JOB } from '../../src/mailtests/placement.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { SeedPlacement } from '../../src/mailtests/schemas/placement.ts';
import type { TestService } from '../helpers/app.ts';
import { type ImapServer, startImapServer } from '../helpers/imap-server.ts';
import { mailTo, startScene as startGraphScene } from './graph-scene.ts';
import {
  mailWith,
  type OffsetClock,
  offsetClock,
  placementIn,
  type SeedingOptions,
  sendToTest,
  startSeeding,
  waitForPlacement,
} from './seeding.ts';

const RECHECK = { DELIVERABILITY_PLACEMENT_RECHECK: '2m' };

interface Scene {
  clock: OffsetClock;
  server: ImapServer;
  options: SeedingOptions;
  service: TestService;
  created: Test;
  inbox: ImapServer['script']['folders'][0];
  junk: ImapServer['script']['folders'][0];
}

/** A test whose message is in the inbox, and a second mailbox without one. */
async function startScene(
  t: TestContext,
  { tab, ...seed }: { tab?: string; capabilities?: string[] } = {},
): Promise<Scene> {
  const clock = offsetClock();
  const folders = () => [
    { name: 'INBOX', messages: [] },
    { name: 'Junk', flags: ['\\Junk'], messages: [] },
  ];
  const server = await startImapServer(t, {
    folders: folders(),
    ...(seed.capabilities ? { capabilities: seed.capabilities } : {}),
  });
  const options = {
    clock,
    env: RECHECK,
    seeds: [{ provider: 'scripted', address: 'seed@mail.example', imap: server.url }],
  };
  const service = await startSeeding(t, options);
  const created = await service.createTest({ placement: true });
  const [inbox, junk] = server.script.folders as [Scene['inbox'], Scene['junk']];
  inbox.messages.push({
    uid: 1,
    raw: mailWith({ To: placementIn(created, 'seed').address }),
    ...(tab === undefined ? {} : { tab }),
  });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  return { clock, server, options, service, created, inbox, junk };
}

const FIRST_CHECK_MS = 31_000;

/** Until it is as wanted, while time passes in steps. */
async function wait(
  { service, created, clock }: Pick<Scene, 'service' | 'created' | 'clock'>,
  isDone: (seed: SeedPlacement) => boolean,
  stepMs = 5000,
): Promise<SeedPlacement> {
  const done = await waitForPlacement(service, created.id, (now) => {
    if (isDone(placementIn(now, 'seed'))) return true;
    clock.advance(stepMs);
    // As the ticks of the next seconds.
    service.app.scheduler.wakeHere(LOOK_JOB);
    return false;
  });
  return placementIn(done, 'seed');
}

const isFound = ({ placement }: SeedPlacement): boolean => placement !== 'pending';
const isFinal = ({ settled }: SeedPlacement): boolean => settled;

/** How many times the message with UID 1 was checked again. */
const checksIn = ({ server }: Scene): number =>
  server.commands.filter((line) => /^UID SEARCH UID 1$/.test(line)).length;

/** As a server moves a message: with another UID, and the same time of arrival. */
function move(from: Scene['inbox'], to: Scene['inbox']): void {
  const [message] = from.messages.splice(0);
  to.messages.push({ ...message!, uid: 10 + to.messages.length });
}

test('A message is shown when it is found, and final two minutes later', async (t) => {
  const scene = await startScene(t);
  const found = await wait(scene, isFound, 0);
  const foundAt = scene.clock.now();
  assert.deepEqual([found.placement, found.settled, found.folder], ['inbox', false, 'INBOX']);
  const shown = await scene.service.getTest(scene.created.id);
  assert.deepEqual(
    [shown.status, shown.placement_status, shown.inbox_placement],
    ['completed', 'waiting', { scripted: 'inbox' }],
  );
  const html = (await scene.service.call('GET', `/v1/tests/${scene.created.id}/report.html`)).text;
  assert.match(html, /In INBOX so far/);
  assert.match(html, /They are checked again, because providers can move messages/);
  // Time stands still until the first check is done. A slow machine would skip it otherwise.
  scene.clock.advance(FIRST_CHECK_MS);
  await wait(scene, () => checksIn(scene) === 1, 0);
  const final = await wait(scene, isFinal);
  assert.ok(scene.clock.now() - foundAt >= 110_000, `${scene.clock.now() - foundAt} ms`);
  assert.deepEqual([final.placement, final.reasons], ['inbox', []]);
  assert.equal(checksIn(scene), 2);
});

test('A message that is moved to spam is spam, in the test, the event, the report and the figures', async (t) => {
  const scene = await startScene(t);
  await wait(scene, isFound, 0);
  move(scene.inbox, scene.junk);
  scene.clock.advance(FIRST_CHECK_MS);
  const moved = await wait(scene, ({ placement }) => placement === 'spam', 0);
  assert.deepEqual([moved.settled, moved.folder], [false, 'Junk']);
  const final = await wait(scene, isFinal);
  assert.deepEqual([final.placement, final.match, final.folder], ['spam', 'address', 'Junk']);
  assert.deepEqual(final.reasons, [
    {
      field: 'folder',
      name: 'moved_from',
      value: 'inbox',
      text: 'Moved from the inbox to spam after delivery.',
    },
  ]);
  const done = await scene.service.getTest(scene.created.id, '?wait=20&for=placement');
  assert.deepEqual(done.inbox_placement, { scripted: 'spam' });
  const events = await scene.service.app.db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('type', '=', 'test.placement_settled')
    .execute();
  assert.deepEqual(
    events.map(({ data }) => (JSON.parse(data) as Test).inbox_placement),
    [{ scripted: 'spam' }],
  );
  const { body } = await scene.service.call('GET', '/v1/reports/summary?period=day');
  assert.deepEqual([body.placement_samples, body.inbox_rate], [1, 0]);
  const html = (await scene.service.call('GET', `/v1/tests/${scene.created.id}/report.html`)).text;
  assert.match(html, /In Junk\. Moved from the inbox to spam after delivery</);
});

test('A message that is moved while the service restarts is found where it is now', async (t) => {
  const scene = await startScene(t);
  await wait(scene, isFound, 0);
  await scene.service.stop();
  move(scene.inbox, scene.junk);
  const service = await startSeeding(t, { ...scene.options, folder: scene.service.folder });
  const final = await wait({ ...scene, service }, isFinal);
  assert.deepEqual([final.placement, final.folder], ['spam', 'Junk']);
  assert.equal(final.reasons[0]!.text, 'Moved from the inbox to spam after delivery.');
});

test('A message that is in the inbox again is in the inbox, with both moves', async (t) => {
  const scene = await startScene(t);
  await wait(scene, isFound, 0);
  move(scene.inbox, scene.junk);
  scene.clock.advance(FIRST_CHECK_MS);
  await wait(scene, ({ placement }) => placement === 'spam', 0);
  move(scene.junk, scene.inbox);
  const final = await wait(scene, isFinal);
  assert.equal(final.placement, 'inbox');
  assert.deepEqual(
    final.reasons.map(({ value }) => value),
    ['inbox', 'spam'],
  );
});

test('A message that disappears is unknown, and counts in no rate', async (t) => {
  const scene = await startScene(t);
  await wait(scene, isFound, 0);
  scene.inbox.messages.length = 0;
  const final = await wait(scene, isFinal);
  assert.deepEqual(
    [final.placement, final.problem, final.folder],
    ['unknown', 'message_gone', null],
  );
  const { body } = await scene.service.call('GET', '/v1/reports/summary?period=day');
  assert.equal(body.placement_samples, 0);
});

test('A message that is on its way between two folders at one check is not lost', async (t) => {
  const scene = await startScene(t);
  await wait(scene, isFound, 0);
  const [message] = scene.inbox.messages.splice(0);
  const before = checksIn(scene);
  await wait(scene, () => checksIn(scene) > before);
  scene.junk.messages.push({ ...message!, uid: 7 });
  assert.equal((await wait(scene, isFinal)).placement, 'spam');
});

test('A message that Gmail puts into a tab later is in this tab', async (t) => {
  const scene = await startScene(t, { capabilities: ['X-GM-EXT-1', 'IDLE'] });
  assert.equal((await wait(scene, isFound, 0)).placement, 'inbox');
  scene.inbox.messages[0]!.tab = 'promotions';
  const final = await wait(scene, isFinal);
  assert.equal(final.placement, 'promotions');
  assert.equal(
    final.reasons[0]!.text,
    'Moved from the inbox to the Promotions tab after delivery.',
  );
});

test('A folder whose UIDs change is read again, which is no move', async (t) => {
  const scene = await startScene(t);
  await wait(scene, isFound, 0);
  scene.inbox.uidValidity = 2;
  scene.inbox.messages[0]!.uid = 5;
  const final = await wait(scene, isFinal);
  assert.deepEqual([final.placement, final.reasons], ['inbox', []]);
});

test('A mailbox that can no longer be read keeps what was seen', async (t) => {
  const scene = await startScene(t);
  await wait(scene, isFound, 0);
  scene.server.script.on = ({ socket }) => {
    socket.destroy();
    return true;
  };
  scene.clock.advance(61 * 60_000);
  const final = await wait(scene, isFinal);
  assert.deepEqual([final.placement, final.folder], ['inbox', 'INBOX']);
});

test('Another message with the same token is not taken for one that disappeared', async (t) => {
  const scene = await startScene(t);
  await wait(scene, isFound, 0);
  scene.inbox.messages.length = 0;
  const to = placementIn(scene.created, 'seed').address;
  scene.junk.messages.push({
    uid: 1,
    raw: mailWith({ To: to, 'Message-ID': '<next@example.com>', Subject: 'Next issue' }),
  });
  assert.equal((await wait(scene, isFinal)).problem, 'message_gone');
});

test('Microsoft Graph: a message that is moved to Junk Email is spam', async (t) => {
  const scene = await startGraphScene(t, { env: RECHECK });
  const { graph, service, created } = scene;
  graph.inbox.push(mailTo(scene));
  await sendToTest(service, created);
  assert.equal((await wait(scene, isFound, 0)).placement, 'inbox');
  graph.junkemail.push(...graph.inbox.splice(0));
  const { placement, folder, reasons } = await wait(scene, isFinal);
  assert.deepEqual([placement, folder], ['spam', 'Junk Email']);
  assert.equal(reasons[0]!.text, 'Moved from the inbox to spam after delivery.');
});
