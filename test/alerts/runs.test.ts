/** Alert rules and monitor runs: listed, unknown, and delisted targets. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { evaluateRules } from '../../src/alerts/incidents.ts';
import { sweepIncidents } from '../../src/alerts/jobs.ts';
import type { App } from '../../src/app.ts';
import { observed } from '../../src/events/observations.ts';
import { isoTime } from '../../src/lib/clock.ts';
import {
  type BlocklistFinding,
  compareRuns,
  type Finding,
  type Outcome,
  unknownOutcome,
} from '../../src/monitors/findings.ts';
import { observeRun } from '../../src/monitors/observe.ts';
import { transact } from '../../src/store/open.ts';
import type { MonitorRow, MonitorRunRow } from '../../src/store/tables.generated.ts';
import { startAlerting } from './alerting.ts';

const listing = (target: string, tier: 1 | 2 | 3): BlocklistFinding => ({
  target,
  list: `tier${tier}.example`,
  list_name: `List ${tier}`,
  tier,
  codes: ['127.0.0.2'],
  meaning: null,
});

/** The form in which an incident stores it. */
const LISTED = (tier: number) => ({ zone: `tier${tier}.example`, name: `List ${tier}`, tier });

const outcome = (findings: Finding[], more: Partial<Outcome> = {}): Outcome => ({
  findings,
  unknown: [],
  targets: [],
  allUnknown: false,
  canPersist: () => false,
  ...more,
});

const ZONES = ['tier1.example', 'tier2.example', 'tier3.example', 'multi.surbl.org'];

/** Enabled lists, none of which is queried. */
function useLists(app: App, zones: string[]): void {
  const lists = zones.map((zone) => ({ list: { zone }, fault: null }));
  app.blocklists = { ...app.blocklists, snapshot: () => lists as never };
}

/** Stores consecutive runs of a monitor, each compared with the previous one. */
async function startWatching(t: Parameters<typeof startAlerting>[0], monitor: Partial<MonitorRow>) {
  const alerting = await startAlerting(t);
  const { app } = alerting;
  useLists(app, ZONES);
  const row = await app.db
    .insertInto('monitors')
    .values({
      id: app.newId('mon'),
      name: 'Ours',
      type: 'blocklist',
      frequency: 'hourly',
      enabled: 1,
      status: 'unknown',
      created_at: isoTime(0),
      ...monitor,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  let previous: Finding[] = [];
  const run = (found: Outcome): Promise<MonitorRunRow> =>
    transact(app.db, async (tx) => {
      const all: string[] = JSON.parse(row.targets ?? '[]');
      const known = all.map((target) => ({ target, known: true }));
      const targets = found.targets.length > 0 ? found.targets : known;
      const { status, findings, changes } = compareRuns(previous, { ...found, targets });
      previous = findings;
      const time = isoTime(app.clock.now());
      const stored = {
        id: app.newId('run'),
        monitor_id: row.id,
        started_at: time,
        finished_at: time,
        status,
        findings: JSON.stringify(findings),
        changes: JSON.stringify(changes),
      };
      await tx.insertInto('monitor_runs').values(stored).execute();
      await app.subscribers.publish(observed, tx, await observeRun(tx, app.config, stored, row));
      return stored;
    });
  return { ...alerting, run, monitor: row };
}

test('Each listed monitor target has its own incident, resolved only by a clear result', async (t) => {
  const { run, makeAlert, complete, incidents, events } = await startWatching(t, {
    targets: '["192.0.2.1","example.com"]',
  });
  await makeAlert({ condition: 'blocklist_hit' });
  await makeAlert({ condition: 'auth_fail' });
  await makeAlert({ condition: 'score_below', threshold: 100 });
  await run(outcome([listing('example.com', 3)]));
  assert.deepEqual(await incidents(), []);
  const opener = await run(outcome([listing('192.0.2.1', 2), listing('example.com', 1)]));
  const open = await incidents('?status=open');
  assert.deepEqual(
    open.map(({ subject, run_id, value }) => [subject, run_id, value]),
    [
      ['example.com', opener.id, { lists: [{ ...LISTED(1), listed: ['example.com'] }] }],
      ['192.0.2.1', opener.id, { lists: [{ ...LISTED(2), listed: ['192.0.2.1'] }] }],
    ],
  );
  const silent = { unknown: [{ target: null, list: 'tier2.example' }], canPersist: () => true };
  await run(outcome([listing('example.com', 1)], silent));
  assert.equal((await incidents('?status=open')).length, 2);
  const dark = (target: string) => ({ target, known: false });
  await run(
    outcome([], {
      allUnknown: true,
      targets: ['192.0.2.1', 'example.com'].map(dark),
      unknown: [{ target: null, list: 'tier1.example' }],
    }),
  );
  assert.equal((await incidents('?status=open')).length, 2);
  // A test result can't confirm what a run found.
  const lists = [{ zone: 'tier1.example', name: 'List 1', tier: 1, status: 'not_listed' }];
  const checks = JSON.stringify([{ id: 'domain_blocklists', evidence: { lists } }]);
  await complete({ score: 100, checks });
  assert.equal((await incidents('?status=open')).length, 2);
  const closer = await run(outcome([]));
  assert.deepEqual(await incidents('?status=open'), []);
  assert.deepEqual(
    (await events()).map(({ type, data }) => [type, data.subject, data.monitor_run!.id]),
    [
      ['alert.triggered', '192.0.2.1', opener.id],
      ['alert.triggered', 'example.com', opener.id],
      ['alert.resolved', '192.0.2.1', closer.id],
      ['alert.resolved', 'example.com', closer.id],
    ],
  );
});

test('Domain health runs report blocklists by name and tier', async (t) => {
  const { service, app, makeAlert, incidents } = await startAlerting(t);
  useLists(app, ZONES);
  const made = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.org' },
  });
  const domain_id = made.body.id;
  await makeAlert({ condition: 'blocklist_hit', domain_id });
  await makeAlert({ condition: 'auth_fail', domain_id });
  const id = app.newId('mon');
  const monitor = {
    id,
    name: 'Ours',
    type: 'domain_health',
    frequency: 'daily',
    enabled: 1,
    status: 'ok',
    created_at: isoTime(0),
    domain_id,
    targets: null,
    token: null,
    last_run_at: null,
    next_run_at: null,
    lease: null,
    leased_until: null,
  } satisfies MonitorRow;
  await app.db.insertInto('monitors').values(monitor).execute();
  const run = (findings: Finding[], known = true) =>
    transact(app.db, async (tx) => {
      const time = isoTime(app.clock.now());
      const targets = [{ target: 'example.org', known }];
      const stored: MonitorRunRow = {
        id: app.newId('run'),
        monitor_id: id,
        started_at: time,
        finished_at: time,
        status: 'alerting',
        findings: JSON.stringify(findings),
        changes: JSON.stringify({ appeared: [], gone: [], unknown: [], targets }),
      };
      await app.subscribers.publish(
        observed,
        tx,
        await observeRun(tx, app.config, stored, monitor),
      );
    });
  const spf = { id: 'spf_record', selector: null, status: 'fail', severity: 'critical' } as const;
  await run([{ ...spf, title: 'There is no SPF record.' }, listing('example.org', 3)]);
  assert.deepEqual(await incidents(), []);
  await run([listing('example.org', 2), listing('example.org', 1)]);
  const [open, ...more] = await incidents();
  assert.deepEqual(more, []);
  assert.equal(open!.subject, 'example.org');
  const listed = ['example.org'];
  assert.deepEqual(open!.value, {
    lists: [
      { ...LISTED(2), listed },
      { ...LISTED(1), listed },
    ],
  });
  await run([], false);
  assert.equal((await incidents())[0]!.status, 'open');
  await run([]);
  assert.equal((await incidents())[0]!.status, 'resolved');
});

test('A monitor run without results opens no incident', async (t) => {
  const { run, makeAlert, incidents } = await startWatching(t, { targets: '["192.0.2.1"]' });
  await run(outcome([listing('192.0.2.1', 1)]));
  await makeAlert({ condition: 'blocklist_hit' });
  const dark = await run(unknownOutcome(['192.0.2.1']));
  // The finding is kept, and the run itself is unknown.
  assert.equal(JSON.parse(dark.findings).length, 1);
  assert.deepEqual(await incidents(), []);
  await run(outcome([listing('192.0.2.1', 1)]));
  assert.equal((await incidents()).length, 1);
});

test('A blocklist that answers intermittently causes one lasting incident', async (t) => {
  const { run, makeAlert, events } = await startWatching(t, { targets: '["example.com"]' });
  await makeAlert({ condition: 'blocklist_hit' });
  const list = { list: 'multi.surbl.org', list_name: 'SURBL' };
  for (let i = 0; i < 6; i++) {
    await run(outcome([{ ...listing('example.com', 2), ...list }]));
    const unknown = [{ target: null, list: list.list }];
    await run(outcome([], { unknown, canPersist: () => true }));
  }
  assert.deepEqual(
    (await events()).map(({ type }) => type),
    ['alert.triggered'],
  );
});

test('A blocklist no longer in use keeps no incident open', async (t) => {
  const { app, run, makeAlert, incidents } = await startWatching(t, { targets: '["192.0.2.1"]' });
  await makeAlert({ condition: 'blocklist_hit' });
  const opener = await run(outcome([listing('192.0.2.1', 1)]));
  const silent = { unknown: [{ target: null, list: 'tier1.example' }], canPersist: () => true };
  await run(outcome([], silent));
  assert.equal((await incidents())[0]!.status, 'open');
  useLists(app, ['tier2.example']);
  await run(outcome([], silent));
  const [ended] = await incidents();
  assert.deepEqual([ended!.status, ended!.run_id], ['resolved', opener.id]);
});

const ENDS: [what: string, json: object | null, ended: string[]][] = [
  ['target removed', { targets: ['203.0.114.2'] }, ['203.0.114.1']],
  ['disabled', { enabled: false }, ['203.0.114.1', '203.0.114.2']],
  ['deleted', null, ['203.0.114.1', '203.0.114.2']],
  ['renamed', { name: 'Other' }, []],
];
for (const [what, json, ended] of ENDS)
  test(`Monitor change (${what}) resolves ${ended.length} incidents of unwatched targets`, async (t) => {
    const { app, service, run, monitor, makeAlert, incidents, events, slack, sendDue } =
      await startWatching(t, { targets: '["203.0.114.1","203.0.114.2"]' });
    await makeAlert({ condition: 'blocklist_hit', channels: ['slack'] });
    const { id } = await run(outcome([listing('203.0.114.1', 1), listing('203.0.114.2', 1)]));
    await sendDue();
    await sweepIncidents(app);
    assert.equal((await incidents('?status=open')).length, 2);
    const path = `/v1/monitors/${monitor.id}`;
    const method = json ? 'PATCH' : 'DELETE';
    const { status, text } = await service.call(method, path, json ? { json } : {});
    assert.equal(status, 200, text);
    await sweepIncidents(app);
    await sweepIncidents(app);
    await sendDue();
    const over = await incidents('?status=resolved');
    assert.deepEqual(over.map(({ subject }) => subject).sort(), ended);
    for (const one of over) assert.equal(one.resolution, 'no_longer_watched');
    const resolved = (await events()).slice(2);
    assert.deepEqual(
      resolved.map(({ type, data }) => [type, data.resolution, data.alert.name]),
      ended.map(() => ['alert.resolved', 'no_longer_watched', 'Low score']),
    );
    // Deleting a monitor deletes its runs.
    for (const { data } of resolved) assert.equal(data.monitor_run?.id, json ? id : undefined);
    const texts = slack.requests.slice(2).map(({ body }) => JSON.parse(body).text as string);
    assert.equal(texts.length, ended.length);
    for (const one of texts)
      assert.match(one, /^Resolved: 203\.0\.114\.\d is no longer monitored\. /);
  });

test('Matching fifty targets against a hundred rules needs few queries', async (t) => {
  const targets = Array.from({ length: 50 }, (_, i) => `203.0.114.${i + 1}`);
  const { app, run, monitor, makeAlert, incidents } = await startWatching(t, {
    targets: JSON.stringify(targets),
  });
  for (let i = 0; i < 100; i++) await makeAlert({ condition: 'blocklist_hit' });
  await run(outcome([listing(targets[0]!, 1)]));
  assert.equal((await incidents('?limit=100')).length, 100);
  const last = await run(outcome([listing(targets[0]!, 1)]));
  let questions = 0;
  const counted: KyselyPlugin = {
    transformQuery({ node }) {
      questions++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await app.db.transaction().execute(async (tx) => {
    const counting = tx.withPlugin(counted);
    await evaluateRules(app)(counting, await observeRun(counting, app.config, last, monitor));
  });
  assert.ok(questions > 0 && questions <= 3, `${questions} questions`);
});

test('A domain’s blocklist rule considers only monitors of that domain', async (t) => {
  const { app, service, makeAlert, incidents } = await startAlerting(t);
  const made = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.org' },
  });
  const { id: alert_id } = await makeAlert({
    condition: 'blocklist_hit',
    domain_id: made.body.id,
  });
  const monitor = (json: object) =>
    service.call<{ id: string }>('POST', '/v1/monitors', {
      json: { name: 'Ours', type: 'blocklist', frequency: 'daily', ...json },
    });
  const own = await monitor({ domain_id: made.body.id });
  await monitor({ targets: ['example.org'] });
  const incident = {
    id: app.newId('inc'),
    alert_id,
    subject: 'example.org',
    status: 'open' as const,
    value: '{"lists":[]}',
    run_id: 'run_1',
    opened_at: isoTime(app.clock.now()),
    condition: 'blocklist_hit' as const,
  };
  await app.db.insertInto('alert_incidents').values(incident).execute();
  await sweepIncidents(app);
  assert.equal((await incidents())[0]!.status, 'open');
  assert.equal((await service.call('DELETE', `/v1/monitors/${own.body.id}`)).status, 200);
  await sweepIncidents(app);
  assert.equal((await incidents())[0]!.resolution, 'no_longer_watched');
});

test('Slack posts name the monitor and the delisting page', async (t) => {
  const { run, makeAlert, slack, sendDue, app, service, incidents } = await startWatching(t, {
    targets: '["203.0.113.9"]',
  });
  await makeAlert({ condition: 'blocklist_hit', channels: ['slack'] });
  const spamcop = { ...listing('203.0.113.9', 2), list: 'bl.spamcop.net', list_name: 'SpamCop' };
  const { monitor_id } = await run(outcome([spamcop]));
  await sendDue();
  await run(outcome([]));
  await sendDue();
  const [opened, over] = slack.requests.map(({ body }) => JSON.parse(body));
  assert.match(opened.text, /^Alert: 203\.0\.113\.9 is listed by SpamCop\. /);
  assert.match(over.text, /^Resolved: 203\.0\.113\.9 is no longer listed\. /);
  for (const words of ['*Monitor*', 'Ours', 'https://www.spamcop.net/bl.shtml (SpamCop)'])
    assert.ok(JSON.stringify(opened).includes(words), words);
  const runs = `<${app.config.APP_URL}/monitors/${monitor_id}|View monitor runs>`;
  for (const message of [opened, over]) assert.ok(JSON.stringify(message).includes(runs));
  const [incident] = await incidents();
  const { body } = await service.call('GET', `/v1/alert_incidents/${incident!.id}`);
  assert.deepEqual([body.monitor_id, body.test_id], [monitor_id, null]);
});
