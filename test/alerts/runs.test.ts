/** Rules and the runs of monitors: what is listed, what is silent, and what is listed no more. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishResult } from '../../src/events/results.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { compare } from '../../src/monitors/changes.ts';
import type { BlocklistFinding, Finding, Outcome } from '../../src/monitors/findings.ts';
import { transact } from '../../src/store/after-commit.ts';
import type { MonitorRow, MonitorRunRow } from '../../src/store/watching-tables.ts';
import { startAlerting } from './alerting.ts';

const listing = (target: string, tier: 1 | 2 | 3): BlocklistFinding => ({
  ...{ target, list: `tier${tier}.example`, list_name: `List ${tier}`, tier },
  ...{ codes: ['127.0.0.2'], meaning: null },
});

const outcome = (findings: Finding[], more: Partial<Outcome> = {}): Outcome => ({
  findings,
  unknown: [],
  inTheDark: false,
  mayStand: () => false,
  ...more,
});

/** Stores runs of a monitor one after another, as the monitors' part holds them against the last. */
async function startWatching(t: Parameters<typeof startAlerting>[0], monitor: Partial<MonitorRow>) {
  const alerting = await startAlerting(t);
  const { app } = alerting;
  const row = await app.db
    .insertInto('monitors')
    .values({
      ...{ id: app.newId('mon'), name: 'Ours', type: 'blocklist', frequency: 'hourly', enabled: 1 },
      ...{ status: 'unknown', created_at: isoTime(0), ...monitor },
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  let former: Finding[] = [];
  const run = (found: Outcome): Promise<MonitorRunRow> =>
    transact(app.db, async (tx) => {
      const { status, findings, changes } = compare(former, found);
      former = findings;
      const time = isoTime(app.clock.now());
      const stored = {
        ...{
          id: app.newId('run'),
          monitor_id: row.id,
          started_at: time,
          finished_at: time,
          status,
        },
        ...{ findings: JSON.stringify(findings), changes: JSON.stringify(changes) },
      };
      await tx.insertInto('monitor_runs').values(stored).execute();
      await publishResult(tx, { kind: 'run', run: stored, monitor: row }, app);
      return stored;
    });
  return { ...alerting, run };
}

test('each target that is listed has its incident; a silent list leaves it open, a no closes it', async (t) => {
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
      ['example.com', opener.id, { lists: [{ zone: 'tier1.example', name: 'List 1', tier: 1 }] }],
      ['192.0.2.1', opener.id, { lists: [{ zone: 'tier2.example', name: 'List 2', tier: 2 }] }],
    ],
  );
  const silent = { unknown: [{ target: null, list: 'tier2.example' }], mayStand: () => true };
  await run(outcome([listing('example.com', 1)], silent));
  assert.equal((await incidents('?status=open')).length, 2);
  await run(outcome([], { inTheDark: true, unknown: [{ target: null, list: 'tier1.example' }] }));
  assert.equal((await incidents('?status=open')).length, 2);
  // What a test finds is no answer to what a run has found.
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

test('a run that looks at a domain tells of its blocklists, under the name of the domain', async (t) => {
  const alerting = await startAlerting(t);
  const { service, app, makeAlert, incidents } = alerting;
  const made = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.org' },
  });
  const domain_id = made.body.id;
  await makeAlert({ condition: 'blocklist_hit', domain_id });
  await makeAlert({ condition: 'auth_fail', domain_id });
  const id = app.newId('mon');
  const monitor = {
    ...{ id, name: 'Ours', type: 'domain_health', frequency: 'daily', enabled: 1 },
    ...{ status: 'ok', created_at: isoTime(0), domain_id, targets: null, token: null },
    ...{ last_run_at: null, next_run_at: null, lease: null, leased_until: null },
  } satisfies MonitorRow;
  await app.db.insertInto('monitors').values(monitor).execute();
  const run = (status: MonitorRunRow['status'], findings: object[], unknown: object[] = []) =>
    transact(app.db, async (tx) => {
      const time = isoTime(app.clock.now());
      const stored = {
        ...{ id: app.newId('run'), monitor_id: id, started_at: time, finished_at: time, status },
        findings: JSON.stringify(findings),
        changes: JSON.stringify({ appeared: [], gone: [], unknown }),
      };
      await publishResult(tx, { kind: 'run', run: stored, monitor }, app);
    });
  const check = { id: 'domain_blocklists', selector: null };
  const title = 'example.org is listed by List 1.';
  await run('alerting', [
    { ...check, id: 'spf_record', status: 'fail', severity: 'critical', title },
  ]);
  assert.deepEqual(await incidents(), []);
  await run('alerting', [{ ...check, status: 'fail', severity: 'critical', title }]);
  const [open] = await incidents();
  assert.equal(open!.subject, 'example.org');
  await run('ok', [], [check]);
  await run('unknown', []);
  assert.equal((await incidents())[0]!.status, 'open');
  await run('ok', []);
  const all = await incidents();
  assert.deepEqual(
    all.map(({ status }) => status),
    ['resolved'],
  );
});
