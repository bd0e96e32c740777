/** Monitors of a domain: its health, its blocklist status, and its deletion. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { blocklistZone, listIn } from '../helpers/blocklists.ts';
import { ADDRESS, HOUR_MS, type Monitoring, startMonitoring } from './monitoring.ts';

/** Accepts no mail, so that no mail server is contacted. */
const domainZone = (spf: string): Zone => ({
  ...blocklistZone(),
  'shop.example': {
    SOA: ['ns.shop.example hostmaster.shop.example 1 3600 600 86400 300'],
    MX: ['10 mx.shop.example'],
    TXT: [spf],
  },
  'mx.shop.example': { A: ['192.0.2.1'] },
  '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@shop.example'] },
});

async function insertDomain({ service, clock }: Monitoring): Promise<string> {
  const { app } = service;
  const id = app.newId('dom');
  const now = isoTime(clock.now());
  await app.db
    .insertInto('domains')
    .values({
      id,
      name: 'shop.example',
      status: 'verified',
      token: 'x',
      created_at: now,
      pending_since: now,
      given_selectors: '["s1"]',
      learnt_selectors: '[]',
      badge_enabled: 0,
      health_status: 'unknown',
      health_checks: '[]',
      tags: '[]',
    })
    .execute();
  return id;
}

const ofSpf = (items: Record<string, unknown>[]) =>
  items.filter(({ id }) => id === 'spf_record').map(({ status, severity }) => [status, severity]);

test('Domain health monitor alerts once on degradation; DNS failure changes nothing', async (t) => {
  const here = await startMonitoring(t);
  const { dns, clock, create, runDue, runs, alerts } = here;
  dns.zone = domainZone('v=spf1 -all');
  const domain_id = await insertDomain(here);
  const { id } = await create({ type: 'domain_health', domain_id });
  const next = async () => {
    clock.advance(HOUR_MS);
    await runDue();
    return (await runs(id)).at(-1)!;
  };
  const first = await next();
  assert.deepEqual(ofSpf(first.findings), []);
  assert.ok(first.findings.some((one) => one.id === 'dkim_selector' && one.selector === 's1'));
  const alertCount = (await alerts()).length;
  dns.zone = domainZone('v=spf1 +all');
  const worse = await next();
  assert.equal(worse.status, 'alerting');
  assert.deepEqual(ofSpf(worse.changes.appeared), [['fail', 'critical']]);
  assert.equal((await alerts()).length, alertCount + 1);
  dns.zone = { ...domainZone(''), 'shop.example': { fails: 'servfail' } };
  const silent = await next();
  assert.equal(ofSpf(silent.findings).length, 1);
  assert.ok(silent.changes.unknown.some((part) => part.id === 'spf_record'));
  assert.deepEqual(
    silent.changes.gone.filter((one) => one.id === 'spf_record'),
    [],
  );
  dns.zone = domainZone('v=spf1 -all');
  assert.equal(ofSpf((await next()).changes.gone).length, 1);
  assert.equal((await alerts()).length, alertCount + 1);
});

test('Blocklist monitor of a domain checks its name and is deleted with the domain', async (t) => {
  const here = await startMonitoring(t);
  const { dns, service, create, runDue, runs } = here;
  dns.zone['shop.example.dbl.spamhaus.org'] = { A: ['127.0.1.2'] };
  const domain_id = await insertDomain(here);
  const { id, targets } = await create({ type: 'blocklist', domain_id });
  assert.equal(targets, null);
  await runDue();
  assert.deepEqual(
    (await runs(id))[0]!.findings.map(({ target, list }) => [target, list]),
    [['shop.example', 'dbl.spamhaus.org']],
  );
  const { db } = service.app;
  await db.deleteFrom('domains').where('id', '=', domain_id).execute();
  for (const table of ['monitors', 'monitor_runs'] as const)
    assert.deepEqual(await db.selectFrom(table).select('id').execute(), []);
  await runDue();
});

const DBL = 'dbl.spamhaus.org';
const URIBL = 'multi.uribl.com';
const TWO_LISTS = { env: { DELIVERABILITY_BLOCKLISTS: `-all,+${DBL},+${URIBL}` } };

test('Domain health monitor tracks each blocklist separately; timeouts neither resolve nor alert', async (t) => {
  const here = await startMonitoring(t, TWO_LISTS);
  const { dns, clock, create, runDue, runs, alerts } = here;
  const clean = domainZone('v=spf1 -all');
  const listed = listIn(URIBL, 'shop.example', '127.0.0.2');
  dns.zone = { ...clean, ...listed };
  const { id } = await create({ type: 'domain_health', domain_id: await insertDomain(here) });
  const next = async (zone: Zone) => {
    dns.zone = { ...clean, ...zone };
    clock.advance(HOUR_MS);
    await runDue();
    return (await runs(id)).at(-1)!;
  };
  const lists = (items: Record<string, unknown>[]) =>
    items.filter((one) => 'list' in one).map(({ target, list }) => [target, list]);
  const first = await next(listed);
  assert.deepEqual(lists(first.findings), [['shop.example', URIBL]]);
  assert.deepEqual(first.targets, [{ target: 'shop.example', known: true }]);
  assert.ok(!first.findings.some((one) => one.id === 'domain_blocklists'));
  const alertCount = (await alerts()).length;
  const silent = await next({ [`shop.example.${URIBL}`]: { fails: 'servfail' } });
  assert.deepEqual(lists(silent.findings), [['shop.example', URIBL]]);
  assert.deepEqual(lists(silent.changes.unknown), [[null, URIBL]]);
  assert.deepEqual(silent.changes.gone, []);
  const dark = await next({
    [`shop.example.${URIBL}`]: { fails: 'servfail' },
    [`shop.example.${DBL}`]: { fails: 'servfail' },
  });
  assert.deepEqual(dark.targets, [{ target: 'shop.example', known: false }]);
  assert.deepEqual(lists((await next(listed)).changes.appeared), []);
  assert.equal((await alerts()).length, alertCount);
  // A listing by another list is new.
  const more = await next({ ...listed, ...listIn(DBL, 'shop.example', '127.0.1.2') });
  assert.deepEqual(lists(more.changes.appeared), [['shop.example', DBL]]);
  assert.equal((await alerts()).length, alertCount + 1);
  assert.equal(lists((await next({})).changes.gone).length, 2);
});

test('GET /v1/domains/{id}/health shows test-mode keys the stored result', async (t) => {
  const here = await startMonitoring(t);
  const id = await insertDomain(here);
  const key = await here.service.makeKey('admin', false);
  const { status, body } = await here.service.call('GET', `/v1/domains/${id}/health`, { key });
  assert.equal(status, 200);
  assert.equal(body.checked_at, null);
});

test('Domain health monitor without blocklists reports the listing as unknown', async (t) => {
  const here = await startMonitoring(t, { env: { DELIVERABILITY_BLOCKLISTS: '-all' } });
  here.dns.zone = domainZone('v=spf1 -all');
  const domain_id = await insertDomain(here);
  const { id, detail } = await here.create({ type: 'domain_health', domain_id });
  assert.match(detail!, /^Cannot determine whether the domain name is listed: /);
  await here.runDue();
  const [run] = await here.runs(id);
  assert.deepEqual(run!.targets, [{ target: 'shop.example', known: false }]);
  assert.ok(run!.changes.unknown.some((part) => part.id === 'domain_blocklists'));
});

test('Blocklist monitor names targets no list covers and still checks the others', async (t) => {
  const env = { DELIVERABILITY_BLOCKLISTS: '-all,+zen.spamhaus.org' };
  const { create, runDue, runs } = await startMonitoring(t, { env });
  const { id, detail } = await create({ targets: [ADDRESS, 'shop.example'] });
  assert.match(
    detail!,
    /^Cannot determine whether shop\.example is listed: no enabled tier 1 or 2 blocklist/,
  );
  const other = await create({ targets: ['shop.example'] });
  await runDue();
  const [run] = await runs(id);
  assert.equal(run!.status, 'ok');
  assert.deepEqual(run!.targets, [
    { target: ADDRESS, known: true },
    { target: 'shop.example', known: false },
  ]);
  assert.equal((await runs(other.id))[0]!.status, 'unknown');
  assert.equal((await create()).detail, null);
});
