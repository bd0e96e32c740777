/** When a listing is resolved although some lists are silent: real runs with a DNS server on loopback. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocklistHit } from '../../src/alerts/conditions/blocklist-hit.ts';
import type { AlertIncident } from '../../src/alerts/schema.ts';
import { observeTest } from '../../src/mailtests/observe.ts';
import type { RunObservation } from '../../src/monitors/observe.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';
import { listIn } from '../helpers/blocklists.ts';
import {
  ADDRESS,
  HOUR_MS,
  type Monitoring,
  REVERSED,
  serveLists,
  startMonitoring,
} from '../monitors/monitoring.ts';
import type { List } from '../team/team-service.ts';

const ZEN = 'zen.spamhaus.org';
const SPAMCOP = 'bl.spamcop.net';
const LISTED = listIn(SPAMCOP, REVERSED, '127.0.0.2');
/** The answers of Spamhaus to queries through a public resolver, including its test point. */
const REFUSED = {
  [`2.0.0.127.${ZEN}`]: { A: ['127.255.255.254'] },
  [`${REVERSED}.${ZEN}`]: { A: ['127.255.255.254'] },
};

async function watch(t: Parameters<typeof startMonitoring>[0], refused: object = REFUSED) {
  const dns = await serveLists(t);
  const working = { ...dns.zone, ...refused };
  dns.zone = { ...working, ...LISTED };
  const here = await startMonitoring(t, { dns });
  const { call } = here.service;
  const json = { name: 'Listed', condition: 'blocklist_hit', channels: ['webhook'] };
  assert.equal((await call('POST', '/v1/alerts', { json })).status, 201);
  const { id } = await here.create({ targets: [ADDRESS] });
  await here.runDue();
  const next = async (zone: typeof dns.zone) => {
    dns.zone = { ...working, ...zone };
    here.clock.advance(2 * HOUR_MS);
    await here.runDue();
    return incident(here);
  };
  assert.equal((await incident(here)).status, 'open');
  return { ...here, id, next };
}

async function incident({ service }: Pick<Monitoring, 'service'>): Promise<AlertIncident> {
  const path = '/v1/alert_incidents';
  const { data } = (await service.call<List<AlertIncident>>('GET', path)).body;
  assert.equal(data.length, 1);
  return data[0]!;
}

test('A listing is resolved when its list answers, though another list refuses', async (t) => {
  const { id, runs, next } = await watch(t);
  // Its own silence changes nothing.
  const silent = { [`${REVERSED}.${SPAMCOP}`]: { fails: 'servfail' as const } };
  assert.equal((await next(silent)).status, 'open');
  const { status, resolution } = await next({});
  assert.deepEqual([status, resolution], ['resolved', 'condition_ended']);
  // The run itself is unknown, because too few lists answered.
  const last = (await runs(id)).at(-1)!;
  assert.deepEqual([last.status, last.targets], ['unknown', [{ target: ADDRESS, known: false }]]);
});

test('An incident stays open while a list with a later listing does not respond', async (t) => {
  const { next } = await watch(t, {});
  await next({ ...LISTED, ...listIn(ZEN, REVERSED, '127.0.0.2') });
  assert.equal((await next({ [`${REVERSED}.${ZEN}`]: { fails: 'servfail' } })).status, 'open');
  assert.equal((await next({})).status, 'resolved');
});

test('Disabling all blocklists resolves their incidents', async (t) => {
  const { service, next } = await watch(t);
  const { blocklists } = service.app;
  service.app.blocklists = { ...blocklists, snapshot: () => [], inUse: async () => [] };
  const { status, resolution } = await next(LISTED);
  assert.deepEqual([status, resolution], ['resolved', 'no_longer_watched']);
});

test('A run without results, even of another monitor, resolves nothing', async (t) => {
  const { service, create, runDue, runs } = await watch(t);
  service.app.blocklists = {
    ...service.app.blocklists,
    inUse: () => Promise.reject(new Error('the lists cannot be read')),
  };
  const { id } = await create({ targets: [ADDRESS] });
  await runDue();
  assert.equal((await runs(id)).length, 1);
  assert.equal((await incident({ service })).status, 'open');
});

test('resolutionOf resolves a test’s listing once its lists respond', () => {
  const value = { lists: [{ zone: 'a.example', name: 'A', tier: 1, listed: ['192.0.2.1'] }] };
  const opened = { subject: 'example.com', value, foundByRun: false };
  const end = (status: string, inUse: string[]) => {
    const lists = [{ zone: 'a.example', name: 'A', tier: 1, status }];
    const checks = [{ id: 'ip_blocklists', evidence: { lists } }];
    const [observation] = observeTest({
      from_domain: 'example.com',
      livemode: 1,
      domain_id: null,
      checks: JSON.stringify(checks),
    } as TestRow);
    const context = { answer: 'unknown', blocklistsInUse: new Set(inUse) } as const;
    return blocklistHit.resolutionOf!(opened, observation!, context);
  };
  assert.equal(end('not_listed', ['a.example', 'b.example']), 'condition_ended');
  assert.equal(end('error', ['a.example', 'b.example']), null);
  assert.equal(end('error', ['b.example']), 'no_longer_watched');
  // A run in which another list, which listed the domain before, is silent.
  const [finding] = [
    { target: 'example.com', list: 'b.example', list_name: 'B', tier: 1, codes: [] },
  ];
  const run = {
    kind: 'run',
    subject: 'example.com',
    findings: [finding],
    changes: {
      appeared: [],
      gone: [],
      unknown: [{ target: 'example.com', list: 'b.example' }],
      targets: [{ target: 'example.com', known: true }],
    },
  } as unknown as RunObservation;
  const ofDomain = {
    subject: 'example.com',
    foundByRun: true,
    value: { lists: [{ zone: 'a.example', name: 'A', tier: 1, listed: ['example.com'] }] },
  };
  const endOfRun = (inUse: string[]) =>
    blocklistHit.resolutionOf!(ofDomain, run, { answer: 'no', blocklistsInUse: new Set(inUse) });
  assert.equal(endOfRun(['a.example', 'b.example']), null);
  assert.equal(endOfRun(['a.example']), 'condition_ended');
});
