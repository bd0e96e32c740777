/** Lookups of domains that nobody has verified: within 5 seconds, shared for a minute, and repeated after a crash. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { firstLookupJob } from '../../src/domains/first-lookup.ts';
import { lookJob } from '../../src/domains/look-job.ts';
import type { Domain } from '../../src/domains/schema.ts';
import { teamDomains } from '../../src/domains/team-domains.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { newLease } from '../../src/store/leases.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { SAME_NODE } from '../helpers/store.ts';
import { HOUR, MINUTE, startDomainService } from './domain-service.ts';

interface Lookup {
  name: string;
  status: string;
  score: number | null;
  is_complete: boolean;
  checks: { id: string; status: string }[];
  errors?: { param: string; message: string }[];
}

test('A new domain gets its health without verification, and no event, alert, badge or ownership', async (t) => {
  const service = await startDomainService(t, {
    ...structuredClone(GOOD_ZONE),
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=none'] },
  });
  const { app, call, url } = service;
  const { id } = await service.add('https://www.example.com/', { badge_enabled: true });
  await service.lookUpFirst();
  const domain = await service.get(id);
  assert.deepEqual(
    [domain.name, domain.status, domain.health.status],
    ['example.com', 'pending', 'warning'],
  );
  assert.ok(domain.health.score! > 0);
  assert.ok(domain.health.checks.some(({ title }) => /p=none/.test(title)));
  assert.deepEqual(await service.domainEvents(), []);
  assert.deepEqual((await call<{ data: unknown[] }>('GET', '/v1/incidents')).body.data ?? [], []);
  assert.notEqual((await fetch(`${url}/badges/example.com.svg`)).status, 200);
  assert.equal((await teamDomains(app))['example.com']!.isVerified, false);
  // The hourly comparison of records is for verified domains.
  const looks = lookJob(app);
  service.clock.advance(2 * HOUR);
  await looks.run();
  await looks.idle!();
  const row = await app.db
    .selectFrom('domains')
    .select(['watched', 'next_look_at'])
    .executeTakeFirst();
  assert.deepEqual(row, { watched: null, next_look_at: null });
});

test('A first lookup without an answer is repeated after an hour', async (t) => {
  const service = await startDomainService(t, structuredClone(GOOD_ZONE));
  const { app } = service;
  const { id } = await service.add('example.com');
  const { backgroundResolver } = app;
  app.backgroundResolver = async () => ({ status: 'error', reason: 'refused' });
  await service.lookUpFirst();
  assert.equal((await service.get(id)).health.status, 'unknown');
  app.backgroundResolver = backgroundResolver;
  service.clock.advance(HOUR + MINUTE);
  await service.lookUpFirst();
  assert.equal((await service.get(id)).health.status, 'healthy');
});

test('GET /v1/domain_lookup returns within 5 seconds what DNS has answered, and the rest later', async (t) => {
  const answers = zoneResolver(structuredClone(GOOD_ZONE));
  const waiting: (() => void)[] = [];
  let isSilent = true;
  const resolver: Resolver = async (name, type) => {
    if (isSilent && name.startsWith('_dmarc.'))
      await new Promise<void>((resolve) => waiting.push(resolve));
    return answers(name, type);
  };
  const { call, app } = await startTestService(t, { resolver });
  await app.scheduler.stop();
  const began = performance.now();
  const first = await call<Lookup>('GET', '/v1/domain_lookup?name=example.com');
  const took = performance.now() - began;
  assert.ok(took < 5_500, `${took} ms`);
  assert.equal(first.status, 200, first.text);
  const statusOf = ({ checks }: Lookup, id: string) =>
    checks.find((check) => check.id === id)!.status;
  assert.equal(first.body.is_complete, false);
  assert.equal(first.body.status, 'unknown');
  assert.deepEqual(
    [statusOf(first.body, 'dmarc_policy'), statusOf(first.body, 'spf_record')],
    ['error', 'pass'],
  );
  // It still waits, and asking again returns at once.
  assert.equal(
    (await call<Lookup>('GET', '/v1/domain_lookup?name=example.com')).body.is_complete,
    false,
  );
  isSilent = false;
  for (const go of waiting) go();
  for (;;) {
    const { body } = await call<Lookup>('GET', '/v1/domain_lookup?name=example.com');
    if (body.is_complete) {
      assert.equal(statusOf(body, 'dmarc_policy'), 'pass');
      break;
    }
    await delay(20);
  }
});

test('A lookup is shared for a minute, however it is spelled, and stores nothing', async (t) => {
  const clock = testClock();
  let queries = 0;
  const answers = zoneResolver(structuredClone(GOOD_ZONE));
  const { call, app } = await startTestService(t, {
    clock,
    resolver: async (...question) => {
      queries += 1;
      return answers(...question);
    },
  });
  await app.scheduler.stop();
  const lookUp = async (name: string) =>
    (await call<Lookup>('GET', `/v1/domain_lookup?name=${encodeURIComponent(name)}`)).body;
  const { is_complete, status, name } = await lookUp('https://www.Example.com/x');
  assert.deepEqual([is_complete, status, name], [true, 'healthy', 'example.com']);
  const asked = queries;
  assert.ok(asked > 10);
  await Promise.all(['example.com', 'ann@example.com', 'EXAMPLE.COM.'].map(lookUp));
  assert.equal(queries, asked);
  clock.advance(MINUTE);
  await Promise.all([lookUp('example.com'), lookUp('example.com')]);
  assert.ok(queries > asked && queries <= 2 * asked);
  assert.deepEqual(await app.db.selectFrom('domains').select('id').execute(), []);
});

test('Lookups reject names outside of public DNS, are limited per minute, and allow viewers and test-mode keys', async (t) => {
  const service = await startTestService(t, { clock: testClock(), resolver: zoneResolver({}) });
  const { call, makeMember } = service;
  for (const [name, reason] of [
    ['', /is empty/],
    ['localhost', /single label/],
    ['http://169.254.169.254/', /IP address/],
    ['db.corp.internal', /a name in a private network/],
    ['printer.local', /a name in a private network/],
    ['1.0.0.127.in-addr.arpa', /private network/],
    ['_dmarc.example.com', /name of a DNS record/],
    ['a.example\r\nb.example', /not a domain name/],
    [`${'x'.repeat(900)}.example`, /not a domain name|too long/],
    ['x'.repeat(2_000), /too long/],
  ] as const) {
    const { status, body } = await call<Lookup>(
      'GET',
      `/v1/domain_lookup?name=${encodeURIComponent(name)}`,
    );
    assert.equal(status, 422, name);
    assert.match(body.errors![0]!.message, reason);
  }
  assert.equal((await call('GET', '/v1/domain_lookup')).status, 422);
  const viewer = await makeMember('viewer');
  const path = '/v1/domain_lookup?name=example.com';
  assert.equal((await call('GET', path, { key: viewer.key })).status, 200);
  assert.equal((await call('GET', path, { key: null })).status, 401);
  let limited = 0;
  for (let i = 0; i < 60; i++) limited = (await call('GET', path)).status;
  assert.equal(limited, 429);
});

test('A first lookup is not lost if the service stops after the domain was stored, or during the lookup', async (t) => {
  const service = await startDomainService(t, {}, SAME_NODE);
  const { app, folder, clock } = service;
  const added = await service.add('example.com');
  const interrupted = await service.add('example.org');
  const leased_until = new Date(clock.now() + MINUTE).toISOString();
  await app.db
    .updateTable('domains')
    .set({ lease: newLease(app), leased_until })
    .where('id', '=', interrupted.id)
    .execute();
  await service.stop();
  const zone = structuredClone(GOOD_ZONE);
  const next = await startTestService(t, {
    folder,
    clock,
    env: SAME_NODE,
    resolver: zoneResolver(zone),
  });
  const job = firstLookupJob(next.app);
  await job.run();
  await job.idle!();
  const healthOf = async (id: string) => {
    for (;;) {
      const { health } = (await next.call<Domain>('GET', `/v1/domains/${id}`)).body;
      if (health.checked_at) return health.status;
      await delay(20);
    }
  };
  assert.equal(await healthOf(added.id), 'healthy');
  assert.equal(await healthOf(interrupted.id), 'critical');
});
