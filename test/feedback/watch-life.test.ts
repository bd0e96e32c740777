/** The watch when things go wrong: crashes, two nodes, repeated and late reports, changed rules and removed domains. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweepIncidents } from '../../src/alerts/jobs.ts';
import { observed } from '../../src/events/observations.ts';
import { deleteRemoved } from '../../src/feedback/expire.ts';
import { watchFeedback } from '../../src/feedback/watch/watch-job.ts';
import { subscribe } from '../../src/store/subscribers.ts';
import { BEGIN, dmarc, record } from './reading/builders.ts';
import { DAY_S, FIRST, NETWORK, startWatching } from './watched.ts';

const FAILING = [`feedback.source_failing ${NETWORK}`];

test('A crash between the event and the incident leaves neither, and the next run makes both once', async (t) => {
  const watching = await startWatching(t, 'source_failing');
  const { events, incidents, markNetwork, report, service, watch } = watching;
  await report(20, [FIRST, 50, true]);
  await markNetwork();
  await report(1, [FIRST, 50, false]);
  let crashes = true;
  service.app.subscribers.add(
    subscribe(observed, async (_tx, observations) => {
      if (crashes && observations.some(({ kind }) => kind === 'source')) throw new Error('crash');
    }),
  );
  await assert.rejects(watchFeedback(service.app), /crash/);
  const since = () => service.app.db.selectFrom('feedback_sources').select('failing_since');
  const flagged = async () =>
    (await since().where('failing_since', 'is not', null).execute()).length;
  assert.deepEqual([await events(), await incidents(), await flagged()], [[], [], 0]);
  crashes = false;
  await watch();
  await watch();
  assert.deepEqual([await events(), await flagged()], [FAILING, 1]);
  assert.deepEqual(
    (await incidents()).map(({ status, notified }) => [status, notified]),
    [['open', 1]],
  );
});

test('A report that arrives twice or days too late changes nothing', async (t) => {
  const { events, incidents, markNetwork, report, upload, watch } = await startWatching(
    t,
    'source_failing',
  );
  await report(20, [FIRST, 50, true]);
  await markNetwork();
  const fails = (id: string, day: number) =>
    dmarc({
      id,
      orgName: 'Late',
      begin: String(BEGIN + day * DAY_S),
      end: String(BEGIN + (day + 1) * DAY_S - 1),
      records: record({ source: FIRST, count: '8', dkim: 'fail', spf: 'fail' }),
    });
  // Eight failing messages are too few, however often they are reported.
  for (const status of ['counted', 'duplicate', 'duplicate'])
    assert.equal((await upload(fails('twice', -11)))[0]!.status, status);
  await watch();
  // Of these, there are enough, about a day that is long over.
  for (const id of ['late-1', 'late-2', 'late-3']) await upload(fails(id, -22));
  await watch();
  assert.deepEqual([await events(), await incidents()], [[], []]);
  await upload(fails('in-time', -11));
  await watch();
  assert.deepEqual(await events(), FAILING);
});

test('An incident about a source ends when its rule changes, and when the domain is removed', async (t) => {
  const watching = await startWatching(t, 'source_failing');
  const { domain, incidents, markNetwork, report, rule, service, watch } = watching;
  await report(20, [FIRST, 50, true]);
  await markNetwork();
  await report(1, [FIRST, 50, false]);
  await watch();
  const states = async () =>
    (await incidents()).map(({ status, resolution }) => [status, resolution]);
  assert.deepEqual(await states(), [['open', null]]);
  const path = `/v1/alerts/${rule.id}`;
  await service.call('PATCH', path, { json: { condition: 'new_source' } });
  assert.deepEqual(await states(), [['resolved', 'alert_changed']]);
  await service.call('PATCH', path, { json: { condition: 'source_failing' } });
  await watch();
  assert.deepEqual(await states(), [
    ['open', null],
    ['resolved', 'alert_changed'],
  ]);
  assert.equal((await service.call('DELETE', `/v1/domains/${domain.id}`)).status, 200);
  await deleteRemoved(service.app);
  await sweepIncidents(service.app);
  assert.deepEqual(await states(), [
    ['resolved', 'no_longer_watched'],
    ['resolved', 'alert_changed'],
  ]);
});
