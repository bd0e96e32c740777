/** Addresses that turn out to belong to another source: one incident follows them, and nothing is reported twice. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AlertIncident } from '../../src/alerts/schema.ts';
import { assignSource } from '../../src/feedback/sources/assign.ts';
import { watchFeedback } from '../../src/feedback/watch/watch-job.ts';
import { newMember } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { BEGIN, dmarc, record } from './reading/builders.ts';
import { named, startFeedback } from './start.ts';

const DAY_S = 86_400;
const FIRST = '203.0.114.9';
const SECOND = '203.0.114.10';
const SHOP = { key: 'host shop.example', name: 'shop.example', evidence: 'The host name.' };

/** Messages of an address on a day: all pass, or all fail. */
type Sent = [address: string, count: number, passes: boolean];

async function startMoving(t: TestContext, condition: 'source_failing' | 'new_source') {
  const feedback = await startFeedback(t, {}, (BEGIN - 30 * DAY_S) * 1000);
  const { clock, domain, service, upload } = feedback;
  const rule = { name: 'Watch', condition, channels: ['webhook'] };
  await service.call('POST', '/v1/alerts', { json: rule });
  let day = -30;
  return {
    ...feedback,
    /** Reports of some days, each with the base of what a server of the domain sends. */
    async report(days: number, ...sent: Sent[]) {
      for (let i = 0; i < days; i++, day++) {
        const begin = BEGIN + day * DAY_S;
        // All reports about the day have arrived.
        clock.set((begin + 3 * DAY_S) * 1000);
        const records = [['192.0.2.10', 10, true] as Sent, ...sent].map(
          ([source, count, passes]) => {
            const result = passes ? 'pass' : 'fail';
            return record({ source, count: String(count), dkim: result, spf: result });
          },
        );
        const [report] = await upload(
          dmarc({
            ...{ id: `d${day}`, begin: String(begin), end: String(begin + DAY_S - 1) },
            records: records.join(''),
          }),
        );
        assert.equal(report!.status, 'counted');
      }
      await named(feedback);
    },
    watch: () => Promise.all([watchFeedback(service.app), watchFeedback(service.app)]),
    move: (address: string, name = SHOP) =>
      assignSource(service.app, { id: `${domain.id} ${address}` }, { host: null, name }),
    async markNetwork(label: string | null = null) {
      await service.app.db
        .updateTable('feedback_sources')
        .set({ mark: 'own', label })
        .where('key', 'like', 'network 203%')
        .execute();
    },
    async incidents() {
      const { body } = await service.call<{ data: AlertIncident[] }>('GET', '/v1/alert_incidents');
      return body.data.map(({ status, resolution, value, notifications, subject, id }) => ({
        ...{ id, subject, status, resolution, value, notified: notifications.length },
      }));
    },
    async events() {
      const { body } = await service.call<{ data: { type: string; data: { name: string } }[] }>(
        'GET',
        '/v1/events?limit=100',
      );
      return body.data
        .filter(({ type }) => type.startsWith('feedback.'))
        .map(({ type, data }) => `${type} ${data.name}`)
        .toReversed();
    },
  };
}

const NETWORK = '203.0.114.0/24';

test('A failing network that gets a name keeps its incident, which is resolved under that name', async (t) => {
  const moving = await startMoving(t, 'source_failing');
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

test('Of a failing network, the incident goes with the address that fails', async (t) => {
  const { incidents, markNetwork, move, report, watch } = await startMoving(t, 'source_failing');
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
  const moving = await startMoving(t, 'source_failing');
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
      ...[status, resolution, value.source, value.moved_to, notified],
    ]),
    [['resolved', 'no_longer_watched', NETWORK, 'shop.example', 2]],
  );
});

test('A new network that gets a name stays one new source; one that belongs to a known source is not new', async (t) => {
  const { events, incidents, move, report, watch } = await startMoving(t, 'new_source');
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
