/** The life cycle of incidents: opened once, unaffected by unknown results, resolved once, closed with the rule. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateRules } from '../../src/alerts/incidents.ts';
import { sweepIncidents } from '../../src/alerts/jobs.ts';
import type { App } from '../../src/app.ts';
import { observed } from '../../src/events/observations.ts';
import { openStore } from '../../src/store/open.ts';
import { createSubscribers, subscribe } from '../../src/store/subscribers.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { completeTest, startAlerting } from './alerting.ts';

test('A live test below the threshold opens an incident and event; a sandbox test does not', async (t) => {
  const { service, app, makeAlert, incidents, events } = await startAlerting(t);
  app.scheduler.start();
  const rule = await makeAlert({ threshold: 100, condition: 'auth_fail' });
  const submit = async (key: string) => {
    const sent = await service.call('POST', '/v1/tests?client_ip=192.0.2.1&helo=mx.example.org', {
      key,
      body: goodMessage(),
      headers: { 'content-type': 'message/rfc822' },
    });
    const { id } = sent.body as { id: string };
    const done = await service.call('GET', `/v1/tests/${id}?wait=50`, { key });
    assert.equal((done.body as { status: string }).status, 'completed', done.text);
    return id;
  };
  await submit(await service.makeKey('admin', false));
  assert.deepEqual(await incidents(), []);
  const id = await submit(service.key);
  const [incident, ...more] = await incidents();
  assert.deepEqual(more, []);
  assert.equal(incident!.alert_id, rule.id);
  assert.equal(incident!.test_id, id);
  assert.equal(incident!.status, 'open');
  assert.equal(incident!.opened_at, '2026-11-21T10:00:00.000Z');
  const [event] = await events();
  assert.equal(event!.type, 'alert.triggered');
  assert.equal(event!.data.id, incident!.id);
  assert.equal(event!.data.alert.id, rule.id);
  assert.equal(event!.data.alert.state, 'triggered');
  assert.equal(event!.data.test!.id, id);
  const now = await service.call<{ state: string }>('GET', `/v1/alerts/${rule.id}`);
  assert.equal(now.body.state, 'triggered');
  // A reanalysis doesn't count as a result.
  await service.call('POST', `/v1/tests/${id}/reanalyze`);
  await service.call('GET', `/v1/tests/${id}?wait=50`);
  assert.equal((await incidents()).length, 1);
});

test('An open incident is not reported again and is resolved once', async (t) => {
  const { clock, makeAlert, complete, incidents, events } = await startAlerting(t);
  await makeAlert();
  await complete({ score: 90 });
  assert.deepEqual(await incidents(), []);
  const opener = await complete({ score: 40 });
  await complete({ score: 30 });
  await complete({ score: null });
  clock.advance(60_000);
  // About another subject.
  await complete({ score: 90, from_domain: 'example.org' });
  const [open] = await incidents();
  assert.equal(open!.status, 'open');
  assert.equal(open!.test_id, opener.id);
  assert.deepEqual(open!.value, { score: 40, threshold: 70 });
  const closer = await complete({ score: 70 });
  await complete({ score: 71 });
  const [closed, ...others] = await incidents();
  assert.deepEqual(others, []);
  assert.equal(closed!.status, 'resolved');
  assert.equal(closed!.resolution, 'condition_ended');
  assert.equal(closed!.resolved_at, '2026-11-21T10:01:00.000Z');
  assert.deepEqual(
    (await events()).map(({ type, data }) => [type, data.test!.id, data.alert.state]),
    [
      ['alert.triggered', opener.id, 'triggered'],
      ['alert.resolved', closer.id, 'ok'],
    ],
  );
  await complete({ score: 10 });
  assert.equal((await incidents()).length, 2);
});

/** The same service with its own subscribers: those that evaluate the alert rules. */
const withRules = (app: App): App => ({
  ...app,
  subscribers: createSubscribers([subscribe(observed, evaluateRules(app))]),
});

test('Two processes open one incident per subject', async (t) => {
  const first = await startAlerting(t);
  const { makeAlert, complete, incidents, events } = first;
  await makeAlert();
  // A second connection to the same file stands for another process.
  const store = await openStore(first.app.config.DATABASE_URL);
  t.after(() => store.close());
  const second = { ...first.app, db: store.db };
  const both = [first.app, second].flatMap((app) => [1, 2, 3].map((score) => ({ app, score })));
  await Promise.all(both.map(({ app, score }) => completeTest(withRules(app), { score })));
  assert.equal((await incidents('?status=open')).length, 1);
  assert.equal((await events()).length, 1);
  const rows = await first.app.db.selectFrom('alert_notifications').select('id').execute();
  assert.equal(rows.length, 1);
  await Promise.all(both.map(({ app }) => completeTest(withRules(app), { score: 90 })));
  assert.deepEqual(
    (await events()).map(({ type }) => type),
    ['alert.triggered', 'alert.resolved'],
  );
  await complete({ score: 1, from_domain: 'example.org' });
  assert.equal((await incidents('?status=open')).length, 1);
});

test('An incident and its event are rolled back with the test result', async (t) => {
  const { app, makeAlert, complete, incidents, events } = await startAlerting(t);
  await makeAlert();
  app.subscribers.add(
    subscribe(observed, async () => {
      throw new Error('the end of it');
    }),
  );
  await assert.rejects(complete({ score: 1 }), /the end of it/);
  assert.deepEqual(await incidents(), []);
  assert.deepEqual(await events(), []);
  const outbox = await app.db.selectFrom('outbox').select('id').execute();
  assert.deepEqual(outbox, []);
});

const CHANGES: [what: string, json: object, resolution: string | null][] = [
  ['enabled set to false', { enabled: false }, 'alert_disabled'],
  ['a new condition', { condition: 'auth_fail' }, 'alert_changed'],
  ['a new threshold', { threshold: 50 }, 'alert_changed'],
  ['an unchanged threshold', { threshold: 70, condition: 'score_below' }, null],
  ['a new name and channels', { name: 'Other', channels: ['slack'] }, null],
];
for (const [what, json, resolution] of CHANGES)
  test(`A rule with ${what} ${resolution ? 'resolves' : 'keeps'} its incidents`, async (t) => {
    const { app, service, makeAlert, complete, incidents, events } = await startAlerting(t);
    const { id } = await makeAlert();
    await complete({ score: 1 });
    const before = await app.db.selectFrom('alert_notifications').select('id').execute();
    const { status } = await service.call('PATCH', `/v1/alerts/${id}`, { json });
    assert.equal(status, 200);
    const [incident] = await incidents();
    assert.equal(incident!.resolution, resolution);
    assert.equal(incident!.status, resolution ? 'resolved' : 'open');
    assert.equal((await events()).length, resolution ? 2 : 1);
    // The user who changed the rule knows, so nobody is notified.
    const after = await app.db.selectFrom('alert_notifications').select('id').execute();
    assert.deepEqual(after, before);
  });

test('Deleting a rule resolves its incidents, which remain listed', async (t) => {
  const { service, makeAlert, complete, incidents, events } = await startAlerting(t);
  const { id } = await makeAlert();
  const { id: testId } = await complete({ score: 1 });
  assert.equal((await service.call('DELETE', `/v1/alerts/${id}`)).status, 200);
  const [incident] = await incidents(`?alert_id=${id}&status=resolved`);
  assert.equal(incident!.resolution, 'alert_deleted');
  const { type, data } = (await events()).at(-1)!;
  assert.deepEqual([type, data.alert.id, data.test!.id], ['alert.resolved', id, testId]);
  assert.equal((await service.call('GET', `/v1/alerts/${id}/incidents`)).status, 404);
});

test('A domain’s rule covers only its tests; its incidents end with the domain', async (t) => {
  const { app, service, slack, makeAlert, complete, incidents } = await startAlerting(t);
  const domain = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const domain_id = domain.body.id;
  const refused = await service.call('POST', '/v1/alerts', {
    json: { name: 'x', condition: 'auth_fail', channels: ['email'], domain_id: 'dom_none' },
  });
  assert.equal(refused.status, 422);
  const rule = await makeAlert({ domain_id, channels: ['email', 'webhook'] });
  assert.equal(rule.domain_id, domain_id);
  await complete({ score: 1 });
  assert.deepEqual(await incidents(), []);
  await complete({ score: 1, domain_id });
  assert.equal((await incidents('?status=open')).length, 1);
  await service.call('POST', '/v1/webhooks/endpoints', {
    json: { url: slack.url, events: ['alert.resolved'] },
  });
  assert.equal((await service.call('DELETE', `/v1/domains/${domain_id}`)).status, 200);
  const [incident] = await incidents();
  assert.equal(incident!.resolution, 'alert_deleted');
  assert.deepEqual(
    incident!.notifications.map(({ channel, status }) => [channel, status]),
    [
      ['email', 'suppressed'],
      ['webhook', 'unconfigured'],
      ['webhook', 'queued'],
    ],
  );
  const delivery = await app.db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.id', 'event_id')
    .select('data')
    .executeTakeFirstOrThrow();
  const { alert, id } = JSON.parse(delivery.data);
  assert.deepEqual([alert.id, alert.domain_id, id], [rule.id, domain_id, incident!.id]);
  const log = await service.call<{ data: { action: string; object: { id: string } }[] }>(
    'GET',
    '/v1/audit_log',
  );
  assert.deepEqual(
    log.body.data.filter(({ action }) => action.endsWith('.deleted')).map(({ action }) => action),
    ['domain.deleted', 'alert.deleted'],
  );
  assert.equal((await service.call('GET', `/v1/alerts/${rule.id}`)).status, 404);
});

test('sweepIncidents resolves incidents left without a rule', async (t) => {
  const { app, makeAlert, complete, incidents } = await startAlerting(t);
  const { id } = await makeAlert();
  for (let i = 0; i < 15; i++) await complete({ score: 1, from_domain: `d${i}.example` });
  await app.db.deleteFrom('alerts').where('id', '=', id).execute();
  await sweepIncidents(app);
  const all = await incidents();
  assert.equal(all.length, 15);
  for (const { resolution } of all) assert.equal(resolution, 'alert_deleted');
  const ends = app.db.selectFrom('events').select('id').where('type', '=', 'alert.resolved');
  assert.equal((await ends.execute()).length, 15);
});
