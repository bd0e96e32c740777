/** Comparison of consecutive runs: new, resolved, and unknown findings, and when they send an alert. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import {
  adviceFor,
  type BlocklistFinding,
  compareRuns,
  type DomainFinding,
  type Finding,
} from '../../src/monitors/findings.ts';
import { expireRuns } from '../../src/monitors/run.ts';
import { blocklistZone, listIn } from '../helpers/blocklists.ts';
import { ADDRESS, HOUR_MS, type Monitoring, REVERSED, startMonitoring } from './monitoring.ts';

const ZEN = 'zen.spamhaus.org';
const SPAMCOP = 'bl.spamcop.net';

async function nextRun({ clock, runDue, runs }: Monitoring, id: string) {
  clock.advance(HOUR_MS);
  await runDue();
  return (await runs(id)).at(-1)!;
}

const listsOf = (items: Record<string, unknown>[]) => items.map(({ list }) => list);

test('The first monitor run reports all findings; later runs only what is worse', async (t) => {
  const here = await startMonitoring(t);
  const { dns, create, runDue, runs, alerts, get } = here;
  Object.assign(dns.zone, listIn(ZEN, REVERSED, '127.0.0.2', 'See example.net'));
  const { id, status, next_run_at, last_run_at } = await create();
  assert.deepEqual(
    [status, next_run_at, last_run_at],
    ['unknown', isoTime(here.clock.now()), null],
  );
  await runDue();
  const [first] = await runs(id);
  const finding = {
    target: ADDRESS,
    list: ZEN,
    list_name: 'Spamhaus ZEN',
    tier: 1,
    codes: ['127.0.0.2'],
    meaning: 'a source of spam (SBL)',
  };
  assert.deepEqual(first!.findings, [finding]);
  assert.deepEqual(first!.changes, { appeared: [finding], gone: [], unknown: [] });
  const [alert] = await alerts();
  const { monitor, ...run } = alert!;
  assert.deepEqual(run, first);
  assert.deepEqual(monitor, await get(id));
  assert.equal(monitor.status, 'alerting');
  await nextRun(here, id);
  assert.equal((await alerts()).length, 1);
});

test('A blocklist that does not respond is unknown and its previous listing persists', async (t) => {
  const here = await startMonitoring(t, { dnsTimeoutMs: 300 });
  const { dns, create, runDue, alerts, get } = here;
  Object.assign(dns.zone, listIn(SPAMCOP, REVERSED, '127.0.0.2'));
  const { id } = await create();
  await runDue();
  dns.zone = {
    ...blocklistZone(),
    [`${REVERSED}.${SPAMCOP}`]: { fails: 'servfail' },
  };
  const silent = await nextRun(here, id);
  assert.deepEqual(listsOf(silent.findings), [SPAMCOP]);
  assert.deepEqual(silent.changes, {
    appeared: [],
    gone: [],
    unknown: [{ target: null, list: SPAMCOP }],
  });
  assert.equal(silent.status, 'alerting');
  // The most important list doesn't answer either, so the status is unknown.
  dns.zone[`${REVERSED}.${ZEN}`] = { fails: 'timeout' };
  const dark = await nextRun(here, id);
  assert.deepEqual([dark.status, listsOf(dark.findings)], ['unknown', [SPAMCOP]]);
  assert.equal((await get(id)).status, 'unknown');
  dns.zone = { ...blocklistZone(), ...listIn(SPAMCOP, REVERSED, '127.0.0.2') };
  const back = await nextRun(here, id);
  assert.deepEqual([back.status, back.changes.appeared], ['alerting', []]);
  assert.equal((await alerts()).length, 1);
  dns.zone = blocklistZone();
  const clean = await nextRun(here, id);
  assert.deepEqual([clean.status, listsOf(clean.changes.gone)], ['ok', [SPAMCOP]]);
  assert.equal((await alerts()).length, 1);
});

test('Monitor run lists unknown results per target', async (t) => {
  const here = await startMonitoring(t);
  const { dns, create, runDue, runs } = here;
  dns.zone['bad.example.dbl.spamhaus.org'] = { A: ['127.0.1.2'] };
  dns.zone['quiet.example.dbl.spamhaus.org'] = { fails: 'refused' };
  const { id } = await create({ targets: ['bad.example', 'quiet.example'] });
  await runDue();
  const [run] = await runs(id);
  assert.deepEqual(
    run!.findings.map(({ target, list }) => [target, list]),
    [['bad.example', 'dbl.spamhaus.org']],
  );
  assert.deepEqual(run!.changes.unknown, [{ target: 'quiet.example', list: 'dbl.spamhaus.org' }]);
});

test('Changing a monitor’s targets triggers a run and resolves findings of removed targets', async (t) => {
  const { dns, service, create, runDue, runs, get } = await startMonitoring(t);
  Object.assign(dns.zone, listIn(ZEN, REVERSED, '127.0.0.2'));
  const { id } = await create();
  await runDue();
  await service.call('PATCH', `/v1/monitors/${id}`, { json: { targets: ['203.0.114.8'] } });
  assert.equal((await get(id)).status, 'unknown');
  await runDue();
  const last = (await runs(id)).at(-1)!;
  assert.deepEqual([last.status, last.findings, listsOf(last.changes.gone)], ['ok', [], [ZEN]]);
});

test('expireRuns deletes old monitor runs but keeps the latest for comparison', async (t) => {
  const here = await startMonitoring(t, { env: { DELIVERABILITY_EVENT_RETENTION: '1d' } });
  const { dns, clock, service, create, runDue, runs, alerts } = here;
  Object.assign(dns.zone, listIn(ZEN, REVERSED, '127.0.0.2'));
  const { id } = await create({ frequency: 'weekly' });
  await runDue();
  await service.call('POST', `/v1/monitors/${id}/run`);
  await runDue();
  assert.equal((await runs(id)).length, 2);
  clock.advance(30 * 24 * HOUR_MS);
  await expireRuns(service.app);
  assert.equal((await runs(id)).length, 1);
  await runDue();
  assert.deepEqual((await runs(id)).at(-1)!.changes.appeared, []);
  assert.equal((await alerts()).length, 1);
});

const listing = (tier: BlocklistFinding['tier']): Finding => ({
  target: ADDRESS,
  list: `tier-${tier}.example`,
  list_name: 'A list',
  tier,
  codes: ['127.0.0.2'],
  meaning: null,
});
const check = (severity: DomainFinding['severity']): Finding => ({
  id: 'spf_record',
  selector: null,
  status: 'fail',
  severity,
  title: 'No.',
});
const known = (findings: Finding[]) => ({
  findings,
  unknown: [],
  targets: [],
  allUnknown: false,
  canPersist: () => false,
});

test('compare treats new or more severe findings as worse and ignores minor ones', () => {
  const cases: [before: Finding[], now: Finding[], status: string, worse: boolean][] = [
    [[], [], 'ok', false],
    [[], [listing(3)], 'ok', false],
    [[], [listing(2)], 'alerting', true],
    [[listing(2)], [listing(2), listing(1)], 'alerting', true],
    [[listing(1)], [listing(1)], 'alerting', false],
    [[listing(1), listing(2)], [listing(2)], 'alerting', false],
    [[check('warning')], [check('critical')], 'alerting', true],
    [[check('critical')], [check('warning')], 'alerting', false],
    [[check(null)], [check('warning')], 'alerting', true],
    [[], [check(null)], 'ok', false],
  ];
  for (const [before, now, status, worse] of cases) {
    const found = compareRuns(before, known(now));
    assert.deepEqual(
      [found.status, found.hasWorsened],
      [status, worse],
      JSON.stringify([before, now]),
    );
  }
});

test('compare keeps findings that could not be rechecked and does not report them again', () => {
  const before = [listing(1), check('critical')];
  const unknown = {
    findings: [],
    unknown: [],
    targets: [],
    allUnknown: false,
    canPersist: (one: Finding) => 'list' in one,
  };
  const { status, findings, changes, hasWorsened: worse } = compareRuns(before, unknown);
  assert.deepEqual([status, worse, findings], ['alerting', false, [listing(1)]]);
  assert.deepEqual([changes.appeared, changes.gone], [[], [check('critical')]]);
  assert.deepEqual(changes.unknown, [{ target: ADDRESS, list: 'tier-1.example' }]);
  assert.equal(compareRuns(findings, known([listing(1)])).hasWorsened, false);
});

test('A placement problem that a newer version stored has advice, too', () => {
  for (const problem of ['quarantine_delay', 'constructor']) {
    const { meaning, advice } = adviceFor(problem);
    assert.match(`${meaning} ${advice}`, /report/);
  }
});
