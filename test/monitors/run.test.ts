/** Claims: each due monitor runs in one process, and a lost claim writes nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unknownOutcome } from '../../src/monitors/findings.ts';
import {
  claimDueMonitors,
  recordRun,
  rescheduleMonitors,
  runMonitorsJob,
} from '../../src/monitors/run.ts';
import { openStore } from '../../src/store/open.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { listIn } from '../helpers/blocklists.ts';
import { testClock } from '../helpers/clock.ts';
import { onPostgres } from '../helpers/store.ts';
import { ADDRESS, HOUR_MS, MONITORS, REVERSED, startMonitoring } from './monitoring.ts';

const NOTHING_KNOWN = unknownOutcome([ADDRESS]);

test('Two processes on one database claim each monitor once', async (t) => {
  const { service, create } = await startMonitoring(t);
  const ids: string[] = [];
  for (let made = 0; made < 30; made++) ids.push((await create({ name: `No ${made}` })).id);
  const other = await openStore(service.app.config.DATABASE_URL);
  t.after(() => other.close());
  const apps = [service.app, { ...service.app, db: other.db }];
  const claimed: string[] = [];
  for (let more = true; more; ) {
    const rounds = await Promise.all(
      [...apps, ...apps].map((app) => claimDueMonitors(app, 'blocklist', 4)),
    );
    const got = rounds.flat().map(({ id }) => id);
    claimed.push(...got);
    more = got.length > 0;
  }
  assert.deepEqual(claimed.toSorted(), ids.toSorted());
  assert.deepEqual(await claimDueMonitors(service.app, 'domain_health', 4), []);
});

test('An expired monitor lease is reclaimed and the late run is ignored', async (t) => {
  const { service, clock, create, runs } = await startMonitoring(t);
  const { app } = service;
  const { id } = await create();
  const [first] = await claimDueMonitors(app, 'blocklist', 10);
  assert.equal(first!.id, id);
  clock.advance(120_001);
  assert.deepEqual(await claimDueMonitors(app, 'blocklist', 10, [id]), []);
  const [second] = await claimDueMonitors(app, 'blocklist', 10);
  await recordRun(app, first!, NOTHING_KNOWN);
  assert.deepEqual(await runs(id), []);
  await recordRun(app, second!, NOTHING_KNOWN);
  await recordRun(app, second!, NOTHING_KNOWN);
  assert.equal((await runs(id)).length, 1);
});

test('A run of a changed, disabled or deleted monitor is discarded', async (t) => {
  const { service, create, runs, get } = await startMonitoring(t);
  const { app, call } = service;
  const { id } = await create();
  const path = `${MONITORS}/${id}`;
  const changes = [{ targets: ['203.0.114.9'] }, { enabled: false }, { enabled: true }];
  for (const json of changes) {
    const [claimed] = await claimDueMonitors(app, 'blocklist', 1);
    await call('PATCH', path, { json });
    if (claimed) await recordRun(app, claimed, NOTHING_KNOWN);
    assert.deepEqual(await runs(id), [], JSON.stringify(json));
  }
  assert.equal((await get(id)).last_run_at, null);
  const [claimed] = await claimDueMonitors(app, 'blocklist', 1);
  await call('DELETE', path);
  await recordRun(app, claimed!, NOTHING_KNOWN);
  assert.deepEqual(await app.db.selectFrom('monitor_runs').select('id').execute(), []);
});

test('A monitor claimed by a crashed process runs after the next start', async (t) => {
  const [clock, folder] = [testClock(), temporaryFolder(t)];
  const first = await startMonitoring(t, { clock, folder });
  const { id } = await first.create();
  const [claimed] = await claimDueMonitors(first.service.app, 'blocklist', 1);
  assert.equal(claimed!.id, id);
  await first.service.stop();
  const second = await startMonitoring(t, { clock, folder });
  // On SQLite, the start has freed the lease. On PostgreSQL, another node may hold it.
  if (onPostgres) clock.advance(120_001);
  await second.runDue();
  assert.equal((await second.runs(id)).length, 1);
});

test('Monitor runs are limited per type to 32 at a time', async (t) => {
  const { service, dns, create } = await startMonitoring(t, { dnsTimeoutMs: 300 });
  const { app } = service;
  for (let made = 0; made < 40; made++) await create({ name: `No ${made}` });
  dns.tamper = () => [];
  const job = runMonitorsJob(app);
  const leased = async () =>
    (await app.db.selectFrom('monitors').select('id').where('lease', 'is not', null).execute())
      .length;
  await job.run();
  assert.equal(await leased(), 32);
  await job.run();
  assert.equal(await leased(), 32);
  await job.idle!();
  await job.run();
  assert.equal(await leased(), 8);
  await job.idle!();
  const runs = await app.db.selectFrom('monitor_runs').select('status').execute();
  assert.deepEqual(
    [runs.length, new Set(runs.map(({ status }) => status))],
    [40, new Set(['unknown'])],
  );
});

test('A run without results marks every persisting finding as unknown', async (t) => {
  const { service, dns, create, runDue, runs } = await startMonitoring(t);
  Object.assign(dns.zone, listIn('bl.spamcop.net', REVERSED, '127.0.0.2'));
  const { id } = await create();
  await runDue();
  await service.call('POST', `${MONITORS}/${id}/run`);
  const [claimed] = await claimDueMonitors(service.app, 'blocklist', 1);
  await recordRun(service.app, claimed!, NOTHING_KNOWN);
  const { changes, targets } = (await runs(id)).at(-1)!;
  assert.deepEqual(changes.unknown, [{ target: ADDRESS, list: 'bl.spamcop.net' }]);
  assert.deepEqual(targets, [{ target: ADDRESS, known: false }]);
});

test('rescheduleMonitors leaves correctly scheduled weekly monitors untouched', async (t) => {
  const { service, clock, create, runDue, get } = await startMonitoring(t);
  const { app } = service;
  const { id } = await create({ frequency: 'weekly' });
  await runDue();
  let writes = 0;
  const db = new Proxy(app.db, {
    get(target, name) {
      if (name === 'transaction') writes++;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await rescheduleMonitors({ ...app, db });
  assert.equal(writes, 0);
  clock.advance(-30 * 24 * HOUR_MS);
  await rescheduleMonitors({ ...app, db });
  assert.equal(writes, 1);
  const wait = Date.parse((await get(id)).next_run_at!) - clock.now();
  assert.ok(wait > 0 && wait <= 7 * 24 * HOUR_MS);
});
