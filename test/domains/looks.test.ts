/** Hourly looks: what counts as a change, how it ends, who looks, and what a broken resolver does not cause. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf } from '../../src/alerts/conditions/index.ts';
import { lookJob } from '../../src/domains/look-job.ts';
import {
  compareLooks,
  type Found,
  lookUpSets,
  type Watched,
  watchedSets,
} from '../../src/domains/watched-records.ts';
import type { Observation, Observations } from '../../src/events/observations.ts';
import { observed } from '../../src/events/observations.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { runMonitorsJob } from '../../src/monitors/run.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { subscribe } from '../../src/store/subscribers.ts';
import { newMember } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { DAY, HOUR, MINUTE, startWatching } from './watching.ts';

const [SPF] = watchedSets('kiln.example', []);

function lookWith(before: Watched | null, values: string[] | null, now: number) {
  const found: Found = new Map([[SPF!, values]]);
  const { sets, changes } = compareLooks(before, found, now);
  return { watched: { sets, failures: 0 }, states: changes.map(({ state }) => state), changes };
}

test('A change is told once, and again if it changes further; it ends when undone or after a day', () => {
  const [a, b, c] = [['v=spf1 -all'], ['v=spf1 ~all'], [] as string[]];
  const steps: [values: string[] | null, hour: number, states: string[]][] = [
    [a, 0, []],
    [a, 1, []],
    [b, 2, ['changed']],
    [b, 3, []],
    [null, 4, []],
    [c, 5, ['changed']],
    [a, 6, ['restored']],
    [a, 7, []],
    [c, 8, ['changed']],
    [null, 31, []],
    [c, 32, ['settled']],
    [c, 33, []],
    [a, 34, ['changed']],
    // A lookup that fails says neither, but a day has passed.
    [null, 58, ['settled']],
  ];
  let watched: Watched | null = null;
  for (const [values, hour, states] of steps) {
    const look = lookWith(watched, values, hour * HOUR);
    assert.deepEqual(look.states, states, `hour ${hour}`);
    watched = look.watched;
  }
});

test('Several changes of a day are told with what was before the first of them', () => {
  const first = lookWith(null, ['v=spf1 -all'], 0);
  const second = lookWith(first.watched, ['v=spf1 mx -all'], HOUR);
  const [change] = lookWith(second.watched, ['v=spf1 +all'], 2 * HOUR).changes;
  assert.deepEqual([change!.was, change!.is], [['v=spf1 -all'], ['v=spf1 +all']]);
});

const ZONE: Zone = {
  'kiln.example': {
    TXT: ['verify=1', 'v=spf1 mx -all'],
    MX: ['20 B.kiln.example', '10 a.kiln.example'],
    NS: ['ns2.dns.example', 'ns1.dns.example'],
  },
  '_dmarc.kiln.example': { TXT: ['v=DMARC1; p=reject'] },
  's1._domainkey.kiln.example': { TXT: ['v=DKIM1; p=abc'] },
  's2._domainkey.kiln.example': { CNAME: ['s2.mailer.example'] },
  's2.mailer.example': { TXT: ['v=DKIM1; p=old'] },
};

async function found(zone: Zone, domain = 'kiln.example', resolver: Resolver = zoneResolver(zone)) {
  const sets = watchedSets(domain, ['s1', 's2']);
  const values = [...(await lookUpSets(resolver, domain, sets))];
  return Object.fromEntries(values.map(([{ label }, records]) => [label, records]));
}

test('Neither the order of records, nor other TXT records, nor a key behind an alias is a change', async () => {
  const before = await found(ZONE);
  assert.deepEqual(before, {
    'SPF record': ['v=spf1 mx -all'],
    'DMARC record': ['v=DMARC1; p=reject'],
    'MTA-STS record': [],
    'TLS-RPT record': [],
    'BIMI record': [],
    'DKIM key s1': ['v=DKIM1; p=abc'],
    'DKIM key s2': ['CNAME s2.mailer.example'],
    'MX records': ['10 a.kiln.example', '20 b.kiln.example'],
    'NS records': ['ns1.dns.example', 'ns2.dns.example'],
    'DS records': [],
  });
  const same: Zone = {
    ...ZONE,
    'kiln.example': {
      TXT: ['v=spf1 mx -all', 'verify=2'],
      MX: ['10 a.kiln.example', '20 b.kiln.example'],
      NS: ['ns1.dns.example', 'ns2.dns.example'],
    },
    's2.mailer.example': { TXT: ['v=DKIM1; p=new'] },
  };
  assert.deepEqual(await found(same), before);
  const { 's2.mailer.example': _, ...without } = ZONE;
  assert.deepEqual((await found(without))['DKIM key s2'], [
    'CNAME s2.mailer.example (without a key)',
  ]);
});

test('A subdomain without a DMARC record has that of its organizational domain; a failure is unknown', async () => {
  const label = 'DMARC record';
  assert.deepEqual((await found(ZONE, 'news.kiln.example'))[label], [
    'v=DMARC1; p=reject (at _dmarc.kiln.example)',
  ]);
  const own = { ...ZONE, '_dmarc.news.kiln.example': { TXT: ['v=DMARC1; p=none'] } };
  assert.deepEqual((await found(own, 'news.kiln.example'))[label], ['v=DMARC1; p=none']);
  const failing: Zone = { ...ZONE, '_dmarc.kiln.example': { fails: 'servfail' } };
  assert.equal((await found(failing, 'news.kiln.example'))[label], null);
});

const FAILS: Resolver = async () => ({ status: 'error', reason: 'timeout' });
const DENIES: Resolver = async () => ({ status: 'nxdomain' });

/** All observations of verified domains. */
function observe({ app }: Awaited<ReturnType<typeof startWatching>>): Observation[] {
  const all: Observation[] = [];
  app.subscribers.add(subscribe(observed, async (_, some) => void all.push(...some)));
  return all;
}

test('A resolver that fails, or denies everything, for a day raises nothing and loses nothing', async (t) => {
  const watching = await startWatching(t);
  const { app, dns, pass, domain, clock } = watching;
  await pass(HOUR);
  const stored = async () =>
    (await app.db.selectFrom('domains').select('watched').executeTakeFirstOrThrow()).watched;
  const before = await stored();
  const health = (await watching.get(domain.id)).health;
  const observations = observe(watching);
  const works = app.backgroundResolver;
  for (const broken of [FAILS, DENIES]) {
    app.backgroundResolver = broken;
    await pass(DAY, HOUR);
    assert.equal(await stored(), before);
    assert.deepEqual((await watching.get(domain.id)).health, health);
  }
  assert.equal(observations.length, 0);
  // What changed meanwhile is found by the first look after it.
  dns.zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=none'] };
  app.backgroundResolver = works;
  const since = clock.now();
  await pass(HOUR);
  const [change, ...others] = observations.filter((one) => one.kind === 'record');
  assert.deepEqual(change?.was, ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com']);
  assert.deepEqual(others, []);
  assert.ok(Date.parse((await watching.get(domain.id)).health.checked_at!) > since);
});

test('Two nodes look once', async (t) => {
  const { app, clock } = await startWatching(t);
  let looks = 0;
  const { backgroundResolver } = app;
  app.backgroundResolver = async (name, type) => {
    if (name === '_smtp._tls.example.com') looks += 1;
    return backgroundResolver(name, type);
  };
  for (let hour = 1; hour <= 5; hour++) {
    clock.advance(HOUR);
    const nodes = [lookJob(app), lookJob(app)];
    await Promise.all(nodes.map((job) => job.run()));
    await Promise.all(nodes.map((job) => job.idle!()));
    assert.equal(looks, hour);
  }
});

test('A run of a monitor is a check of the domain, and a check of the domain is a run of its monitor', async (t) => {
  const { app, call, dns, clock, domain, get, work } = await startWatching(t);
  const { body } = await call<{ id: string }>('POST', '/v1/monitors', {
    json: { name: 'Own', type: 'domain_health', domain_id: domain.id },
  });
  await work();
  const runs = async () =>
    (await app.db.selectFrom('monitor_runs').select('status').orderBy('id').execute()).map(
      ({ status }) => status,
    );
  assert.deepEqual(await runs(), ['ok']);
  const dmarc = dns.zone['_dmarc.example.com']!;
  delete dns.zone['_dmarc.example.com'];
  clock.advance(2 * MINUTE);
  await call('POST', `/v1/monitors/${body.id}/run`);
  const job = runMonitorsJob(app);
  await job.run();
  await job.idle!();
  assert.deepEqual(await runs(), ['ok', 'alerting']);
  const { health } = await get(domain.id);
  assert.equal(health.checked_at, isoTime(clock.now()));
  assert.notEqual(health.status, 'healthy');
  dns.zone['_dmarc.example.com'] = dmarc;
  clock.advance(2 * MINUTE);
  // A user's check, of which the monitor's own schedule knows nothing.
  await call('GET', `/v1/domains/${domain.id}/health`);
  assert.deepEqual(await runs(), ['ok', 'alerting', 'ok']);
  await call('GET', `/v1/domains/${domain.id}/health`);
  assert.deepEqual(await runs(), ['ok', 'alerting', 'ok']);
});

test('Without a change, a look leads to no health check', async (t) => {
  const { app, clock, pass, get, domain } = await startWatching(t);
  const { checked_at } = (await get(domain.id)).health;
  // The daily check is at a time that depends on the ID.
  const next_check_at = isoTime(clock.now() + 11 * HOUR);
  await app.db.updateTable('domains').set({ next_check_at }).execute();
  await pass(10 * HOUR, HOUR);
  assert.equal((await get(domain.id)).health.checked_at, checked_at);
});

test('A domain without any answer for three hours is unreachable until there is one', async (t) => {
  const watching = await startWatching(t);
  const { app, call, pass } = watching;
  await call('POST', '/v1/alerts', {
    json: { name: 'DNS', condition: 'domain_unreachable', channels: ['webhook'] },
  });
  const states = async () =>
    (await app.db.selectFrom('alert_incidents').select(['status', 'value']).execute()).map(
      ({ status, value }) => `${status}: ${JSON.parse(value).problem}`,
    );
  const works = app.backgroundResolver;
  app.backgroundResolver = async (name, type) =>
    name.endsWith('example.com') ? { status: 'error', reason: 'servfail' } : works(name, type);
  await pass(2 * HOUR, HOUR);
  assert.deepEqual(await states(), []);
  await pass(HOUR, HOUR);
  const problem = 'DNS lookups of example.com have failed for 3 hours.';
  assert.deepEqual(await states(), [`open: ${problem}`]);
  await pass(3 * HOUR, HOUR);
  assert.deepEqual(await states(), [`open: ${problem}`]);
  app.backgroundResolver = works;
  await pass(HOUR, HOUR);
  assert.deepEqual(await states(), [`resolved: ${problem}`]);
});

const recordsAt = (zone: Zone, name: string) => zone[name] as { TXT?: string[]; MX?: string[] };

/** The data of the events of the type, in order. */
async function eventsOf({ app }: Awaited<ReturnType<typeof startWatching>>, type: string) {
  const rows = await app.db
    .selectFrom('events')
    .select('data')
    .where('type', '=', type)
    .orderBy('id')
    .execute();
  return rows.map(({ data }) => JSON.parse(data));
}

test('An event says which records changed between two looks, by name and type, with the values before and after', async (t) => {
  const watching = await startWatching(t);
  const { dns, pass, domain } = watching;
  const name = '_dmarc.example.com';
  const [strict] = recordsAt(dns.zone, name).TXT!;
  const own = recordsAt(dns.zone, 'example.com');
  const mx = own.MX!;
  const changesAfter = async (change: () => void) => {
    const { length } = await eventsOf(watching, 'domain.records_changed');
    change();
    await pass(HOUR);
    const events = (await eventsOf(watching, 'domain.records_changed')).slice(length);
    assert.ok(events.every(({ id, object }) => id === domain.id && object === 'domain'));
    return events.map(({ changes }) => changes);
  };
  const dmarc = (before: string[], after: string[]) => ({
    name,
    type: 'TXT',
    before,
    after,
    dns_change_id: null,
  });
  const none = 'v=DMARC1; p=none';
  assert.deepEqual(await changesAfter(() => {}), []);
  assert.deepEqual(
    await changesAfter(() => {
      dns.zone[name] = { TXT: [none] };
      own.MX = ['10 other.example.net'];
    }),
    [
      [
        dmarc([strict!], [none]),
        {
          name: 'example.com',
          type: 'MX',
          before: mx.toSorted(),
          after: ['10 other.example.net'],
          dns_change_id: null,
        },
      ],
    ],
  );
  // A second change of the day is told from the first, not from the beginning.
  assert.deepEqual(await changesAfter(() => delete dns.zone[name]), [[dmarc([none], [])]]);
  assert.deepEqual(await changesAfter(() => (dns.zone[name] = { fails: 'timeout' })), []);
  assert.deepEqual(await changesAfter(() => (dns.zone[name] = { TXT: [strict!] })), [
    [dmarc([], [strict!])],
  ]);
  assert.deepEqual(await changesAfter(() => {}), []);
  // After a day without a change, the MX records are the usual ones.
  await pass(DAY, HOUR);
  assert.equal((await eventsOf(watching, 'domain.records_changed')).length, 3);
});

test('The values in an event about changed records are bounded, and are only data', async (t) => {
  const watching = await startWatching(t);
  const { dns, pass } = watching;
  const hostile = Array.from(
    { length: 25 },
    (_, i) => `v=spf1 ${i}\u001b[2J<script>${'x'.repeat(1200)}`,
  );
  const own = recordsAt(dns.zone, 'example.com');
  own.TXT = [...own.TXT!, ...hostile];
  await pass(HOUR);
  const [{ changes }] = await eventsOf(watching, 'domain.records_changed');
  assert.equal(changes.length, 1);
  assert.equal(changes[0].after.length, 20);
  assert.ok(changes[0].after.every((text: string) => text.length <= 1000));
  assert.ok(changes[0].after.some((text: string) => text.endsWith('x…')));
});

const OWN_CHANGE = {
  id: 'chg_1',
  server_id: 'dns_1',
  zone: 'example.com',
  type: 'TXT',
  before: '{"values":[]}',
  reason: 'a test',
  status: 'applied',
  error: null,
  undoes: null,
  created_at: '2026-11-21T10:00:00.000Z',
  finished_at: null,
  leased_until: null,
} as const;

test('A change that was made with this service is named in the event', async (t) => {
  const watching = await startWatching(t);
  const { app, dns, pass, domain } = watching;
  const name = '_dmarc.example.com';
  const values = ['v=DMARC1; p=none'];
  await app.db
    .insertInto('dns_changes')
    .values({ ...OWN_CHANGE, domain_id: domain.id, name, after: JSON.stringify({ values }) })
    .execute();
  dns.zone[name] = { TXT: values };
  await pass(HOUR);
  const [{ changes }] = await eventsOf(watching, 'domain.records_changed');
  assert.equal(changes[0].dns_change_id, OWN_CHANGE.id);
});

test('The health of a domain without any answer for three hours is unknown, until a check knows it again', async (t) => {
  const watching = await startWatching(t);
  const { app, call, pass, domain, get, dns, clock } = watching;
  const known = (await get(domain.id)).health;
  assert.equal(known.unanswered_since, null);
  const works = app.backgroundResolver;
  app.backgroundResolver = async (name, type) =>
    name.endsWith('example.com') ? { status: 'error', reason: 'servfail' } : works(name, type);
  await pass(2 * HOUR, HOUR);
  assert.deepEqual((await get(domain.id)).health, known);
  await pass(HOUR, HOUR);
  const { health } = await get(domain.id);
  assert.deepEqual([health.status, health.score], ['unknown', null]);
  assert.deepEqual([health.checked_at, health.checks], [known.checked_at, known.checks]);
  const since = Date.parse(health.unanswered_since!);
  assert.ok(clock.now() - since > HOUR && clock.now() - since <= 3 * HOUR);
  const list = await call<{ data: unknown[] }>('GET', '/v1/domains?health=unknown');
  assert.equal(list.body.data.length, 1);
  const member = await newMember(watching, 'member');
  const page = mainOf((await member.get(`/domains/${domain.id}`)).html);
  assert.match(page, /DNS lookups for this domain have gone unanswered since 21 Nov 2026, 1\d:00/);
  assert.doesNotMatch(page, /is healthy/);
  const picture = await call('GET', `/v1/domains/${domain.id}/picture`);
  assert.doesNotMatch(JSON.stringify(picture.body), /"source":"dns","state":"pass"/);
  await pass(3 * HOUR, HOUR);
  assert.equal((await get(domain.id)).health.unanswered_since, health.unanswered_since);
  // What changed meanwhile is compared with what was known before.
  dns.zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=none'] };
  app.backgroundResolver = works;
  await pass(HOUR, HOUR);
  const after = (await get(domain.id)).health;
  assert.equal(after.unanswered_since, null);
  assert.notEqual(after.status, 'unknown');
  const events = await eventsOf(watching, 'domain.health_changed');
  assert.deepEqual(
    events.map((event) => [event.previous_health, event.health.status]),
    [[known.status, after.status]],
  );
});

test('A domain that is not looked up because of its name servers stays critical', async (t) => {
  const watching = await startWatching(t);
  const { app, pass, domain, get } = watching;
  const dead = [
    {
      id: 'name_servers',
      label: 'DNS',
      category: 'authentication',
      status: 'fail',
      severity: 'critical',
      title: 'Dead.',
      detail: '',
      evidence: {},
      points: 4,
      reference: { name: 'RFC', url: 'https://www.rfc-editor.org/rfc/rfc1035' },
      fix: null,
    },
  ];
  await app.db
    .updateTable('domains')
    .set({ health_status: 'critical', health_score: 0, health_checks: JSON.stringify(dead) })
    .execute();
  const works = app.backgroundResolver;
  app.backgroundResolver = async (name, type) =>
    name.endsWith('example.com') ? { status: 'error', reason: 'servfail' } : works(name, type);
  await pass(5 * HOUR, HOUR);
  const { health } = await get(domain.id);
  assert.deepEqual([health.status, health.unanswered_since], ['critical', null]);
});

test('A domain that is no longer verified is not looked at, and has a first look later', async (t) => {
  const watching = await startWatching(t);
  const { app, pass, domain, dns } = watching;
  const looks = () =>
    app.db.selectFrom('domains').select(['next_look_at', 'watched']).executeTakeFirst();
  assert.ok((await looks())!.watched);
  watching.withdraw(domain);
  await pass(5 * DAY, 6 * HOUR);
  assert.equal((await watching.get(domain.id)).status, 'failed');
  assert.deepEqual(await looks(), { next_look_at: null, watched: null });
  const observations = observe(watching);
  dns.zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=none'] };
  watching.publish(domain);
  await watching.verify(domain.id);
  await pass(2 * HOUR);
  assert.ok((await looks())!.watched);
  assert.deepEqual(
    observations.filter(({ kind }) => kind === 'record'),
    [],
  );
});

const finding = (id: string, severity: 'critical' | 'warning') =>
  ({ id, severity, title: `${id} is wrong.`, status: 'fail', fix: null, evidence: {} }) as never;

const healthWith = (
  status: 'healthy' | 'warning' | 'critical' | 'unknown',
  ...checks: never[]
): Observations['health'] => ({
  kind: 'health',
  subject: 'kiln.example',
  domainId: 'dom_1',
  health: { name: 'kiln.example', status, score: 80, summary: 'As it is.', checks },
});

test('domain_health is met at or below the status of the rule; unknown says neither', () => {
  const condition = conditionOf({ condition: 'domain_health' });
  const answers = (threshold: number) =>
    (['healthy', 'warning', 'critical', 'unknown'] as const).map(
      (status) => condition.evaluate(healthWith(status), threshold).answer,
    );
  assert.deepEqual(answers(1), ['no', 'no', 'yes', 'unknown']);
  assert.deepEqual(answers(2), ['no', 'yes', 'yes', 'unknown']);
});

test('A further critical problem is news of an open incident; a warning, or one less, is not', () => {
  const condition = conditionOf({ condition: 'domain_health' });
  const valueWith = (...checks: never[]) => {
    const verdict = condition.evaluate(healthWith('critical', ...checks), 2);
    return verdict.answer === 'yes' ? verdict.value : null;
  };
  const [spf, mx] = [finding('spf_record', 'critical'), finding('mx', 'critical')];
  const tlsRpt = finding('tls_rpt', 'warning');
  assert.equal(condition.isSignificantChange!(valueWith(spf), valueWith(spf, mx)), true);
  assert.equal(condition.isSignificantChange!(valueWith(tlsRpt), valueWith(tlsRpt, mx)), true);
  assert.equal(condition.isSignificantChange!(valueWith(spf), valueWith(spf, tlsRpt)), false);
  assert.equal(condition.isSignificantChange!(valueWith(spf, mx), valueWith(mx)), false);
});

test('domain_unreachable is met by a dead delegation or DNSSEC, not by another critical problem', () => {
  const { evaluate } = conditionOf({ condition: 'domain_unreachable' });
  const dead = healthWith('critical', finding('name_servers', 'critical'));
  assert.equal(evaluate(dead, 0).answer, 'yes');
  assert.equal(evaluate(healthWith('critical', finding('mx', 'critical')), 0).answer, 'no');
  assert.equal(evaluate(healthWith('warning', finding('name_servers', 'warning')), 0).answer, 'no');
  assert.equal(evaluate(healthWith('unknown'), 0).answer, 'unknown');
});
