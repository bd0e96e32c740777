/** Addresses that turn out to belong to another source: one incident follows them, and nothing is reported twice. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newMember } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { FIRST, NETWORK, SECOND, SHOP, startWatching } from './watched.ts';

test('A failing network that gets a name keeps its incident, which is resolved under that name', async (t) => {
  const moving = await startWatching(t, 'source_failing');
  const { events, incidents, markNetwork, move, report, service, watch } = moving;
  await report(20, [FIRST, 50, true]);
  await markNetwork();
  await report(1, [FIRST, 50, false]);
  await watch();
  const [opened] = await incidents();
  assert.deepEqual([opened!.status, opened!.value.source], ['open', NETWORK]);
  assert.equal(opened!.value.reporters, 1);

  await move(FIRST);
  await watch();
  const [followed, ...others] = await incidents();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [followed!.id, followed!.status, followed!.value.source, followed!.value.earlier_source],
    [opened!.id, 'open', 'shop.example', NETWORK],
  );
  assert.notEqual(followed!.subject, opened!.subject);
  const { html } = await (await newMember(service, 'member')).get(`/incidents/${opened!.id}`);
  assert.match(mainOf(html), /sent through shop\.example fails DMARC/);
  assert.match(mainOf(html), /Named before.*203\.0\.114\.0\/24/s);
  assert.match(html, new RegExp(`/feedback/sources/${followed!.subject}`));

  await report(1, [FIRST, 50, true]);
  await watch();
  assert.deepEqual(
    (await incidents()).map(({ status, resolution, notified }) => [status, resolution, notified]),
    [['resolved', 'condition_ended', 2]],
  );
  assert.deepEqual(await events(), [
    `feedback.source_failing ${NETWORK}`,
    'feedback.source_recovered shop.example',
  ]);
});

test('The incident of a failing network follows the address that fails', async (t) => {
  const { incidents, markNetwork, move, report, watch } = await startWatching(t, 'source_failing');
  await report(20, [FIRST, 50, true], [SECOND, 50, true]);
  await markNetwork();
  await report(1, [FIRST, 50, true], [SECOND, 50, false]);
  await watch();
  const [opened] = await incidents();
  const where = async () => (await incidents()).map(({ status, value }) => [status, value.source]);
  // What is left still fails.
  await move(FIRST);
  await watch();
  assert.deepEqual(await where(), [['open', NETWORK]]);
  await move(SECOND, { ...SHOP, key: 'host mail.example', name: 'mail.example' });
  await watch();
  assert.deepEqual(await where(), [['open', 'mail.example']]);
  assert.equal((await incidents())[0]!.id, opened!.id);
});

test('A few failing messages that join a source that passes end their incident, and say where they went', async (t) => {
  const moving = await startWatching(t, 'source_failing');
  const { incidents, markNetwork, move, report, watch } = moving;
  await report(20, [FIRST, 50, true], [SECOND, 2000, true]);
  await move(SECOND);
  await markNetwork();
  await report(1, [FIRST, 50, false], [SECOND, 2000, true]);
  await watch();
  assert.deepEqual(
    (await incidents()).map(({ status }) => status),
    ['open'],
  );
  await move(FIRST);
  await watch();
  assert.deepEqual(
    (await incidents()).map(({ status, resolution, value, notified }) => [
      status,
      resolution,
      value.source,
      value.moved_to,
      notified,
    ]),
    [['resolved', 'no_longer_watched', NETWORK, 'shop.example', 2]],
  );
});

test('A new network that gets a name stays one new source; one that belongs to a known source is not new', async (t) => {
  const { events, incidents, move, report, watch } = await startWatching(t, 'new_source');
  await report(20);
  await report(1, [FIRST, 50, true]);
  await watch();
  await move(FIRST);
  await watch();
  assert.deepEqual(
    (await incidents()).map(({ status, value, notified }) => [status, value.source, notified]),
    [['open', 'shop.example', 1]],
  );
  assert.deepEqual(await events(), [`feedback.new_source ${NETWORK}`]);
  await move(FIRST, { key: 'network 192.0.2.0/24', name: '192.0.2.0/24', evidence: 'x' });
  const known = await incidents();
  assert.deepEqual(
    known.map(({ status, value }) => [status, value.moved_to ?? value.source]),
    [['resolved', '192.0.2.0/24']],
  );
});
