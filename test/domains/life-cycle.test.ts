/** The life cycle of a domain, from the first lookup to the last, with each event exactly once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHealthShared } from '../../src/domains/health.ts';
import { findDomain } from '../../src/domains/queries.ts';
import {
  recordHealth,
  recordLookup,
  recordRequestedLookup,
} from '../../src/domains/transitions.ts';
import { type Db, type Tx, transact } from '../../src/store/open.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { DAY, HOUR, MINUTE, startDomainService } from './domain-service.ts';

const typesOf = (events: { type: string }[]) => events.map(({ type }) => type);

test('Domain verification retries with backoff, then hourly, and fails after 72 hours', async (t) => {
  const service = await startDomainService(t);
  const { clock, dns } = service;
  const startedAt = clock.now();
  const domain = await service.add('example.com');
  assert.equal(domain.status, 'pending');
  const times = await service.pass(80 * HOUR);
  const hours = Array.from({ length: 71 }, (_, n) => (n + 2) * 60);
  const expected = [1, 5, 15, 30, 60, ...hours];
  assert.deepEqual(
    times.map((at) => (at - startedAt) / MINUTE),
    expected,
  );
  assert.equal(dns.queries.get('_deliverability.example.com/TXT'), expected.length);
  const failed = await service.get(domain.id);
  assert.equal(failed.status, 'failed');
  assert.equal(failed.next_check_at, null);
  assert.equal(failed.last_check_detail, 'No TXT record found at _deliverability.example.com.');
  assert.deepEqual(typesOf(await service.domainEvents()), ['domain.verification_failed']);
  // A manual lookup restarts the 72 hours.
  const again = await service.verify(domain.id);
  assert.equal(again.status, 200);
  assert.equal(again.body.status, 'pending');
  assert.equal(Date.parse(again.body.next_check_at!) - clock.now(), MINUTE);
  await service.pass(71 * HOUR);
  assert.equal((await service.get(domain.id)).status, 'pending');
  await service.pass(2 * HOUR);
  assert.equal((await service.get(domain.id)).status, 'failed');
  assert.equal((await service.domainEvents()).length, 2);
});

test('Domain lifecycle: verified, degraded, record removed, failed and verified again', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { dns, clock } = service;
  const { id, ...domain } = await service.add('example.com', { dkim_selectors: ['s1'] });
  await service.pass(3 * MINUTE);
  service.publish(domain);
  await service.pass(3 * MINUTE);
  const verified = await service.get(id);
  assert.equal(verified.status, 'verified');
  assert.equal(verified.health.status, 'healthy', JSON.stringify(verified.health.checks));
  assert.equal(verified.health.checked_at, verified.last_checked_at);
  assert.ok(Date.parse(verified.next_check_at!) - clock.now() <= 25 * HOUR);
  assert.deepEqual(typesOf(await service.domainEvents()), ['domain.verified']);

  assert.ok((await service.pass(2 * DAY)).length >= 1);
  dns.zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=none; rua=mailto:dmarc@example.com'] };
  await service.pass(3 * DAY);
  delete dns.zone['_dmarc.example.com'];
  await service.pass(3 * DAY);
  const events = await service.domainEvents();
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.previous_health, data.health.status]),
    [
      ['domain.verified', undefined, 'unknown'],
      ['domain.health_changed', 'healthy', 'warning'],
      ['domain.health_changed', 'warning', 'critical'],
    ],
  );

  service.withdraw(domain);
  const [first] = await service.pass(26 * HOUR);
  const missing = await service.get(id);
  assert.equal(missing.status, 'verified');
  assert.equal(missing.missing_since, new Date(first!).toISOString());
  await service.pass(first! + 3 * DAY - MINUTE - clock.now());
  assert.equal((await service.get(id)).status, 'verified');
  await service.pass(2 * MINUTE);
  const failed = await service.get(id);
  assert.deepEqual(
    [failed.status, failed.verified_at, failed.next_check_at],
    ['failed', null, null],
  );
  assert.deepEqual(await service.pass(10 * DAY), []);

  service.publish(domain);
  const reverified = await service.verify(id);
  assert.equal(reverified.body.status, 'verified');
  await service.settle();
  await service.pass(2 * DAY);
  assert.deepEqual(typesOf(await service.domainEvents()).slice(3), [
    'domain.verification_failed',
    'domain.verified',
  ]);
});

test('A verification record that reappears in time resets the missing period', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.pass(MINUTE);
  for (let round = 0; round < 3; round++) {
    service.withdraw(domain);
    await service.pass(2 * DAY);
    assert.notEqual((await service.get(domain.id)).missing_since, null);
    service.publish(domain);
    await service.pass(2 * DAY);
    assert.equal((await service.get(domain.id)).missing_since, null);
  }
  assert.deepEqual(typesOf(await service.domainEvents()), ['domain.verified']);
});

test('DNS failures change neither pending nor verified domain status', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { dns } = service;
  const waiting = await service.add('example.org');
  const record = waiting.verification.name;
  dns.zone[record] = { fails: 'servfail' };
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.pass(HOUR);
  const before = await service.get(domain.id);
  assert.equal(before.status, 'verified');
  dns.zone[domain.verification.name] = { fails: 'refused' };
  await service.pass(10 * DAY);
  const after = await service.get(domain.id);
  assert.match(after.last_check_detail!, /REFUSED.*does not count/);
  assert.notEqual(after.last_checked_at, before.last_checked_at);
  const { last_checked_at, last_check_detail, next_check_at } = before;
  assert.deepEqual({ ...after, last_checked_at, last_check_detail, next_check_at }, before);
  const pending = await service.get(waiting.id);
  assert.equal(pending.status, 'pending');
  assert.match(pending.last_check_detail!, /SERVFAIL/);
  // The first conclusive DNS response after 72 hours decides.
  dns.zone[record] = { TXT: ['something else'] };
  await service.pass(HOUR);
  assert.equal((await service.get(waiting.id)).status, 'failed');
  assert.deepEqual(typesOf(await service.domainEvents()), [
    'domain.verified',
    'domain.verification_failed',
  ]);
});

test('DNS failures neither count towards nor reset the three days of a missing record', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.pass(HOUR);
  service.withdraw(domain);
  await service.pass(26 * HOUR);
  const { missing_since } = await service.get(domain.id);
  assert.notEqual(missing_since, null);
  service.dns.zone[domain.verification.name] = { fails: 'servfail' };
  await service.pass(5 * DAY);
  const undetermined = await service.get(domain.id);
  assert.deepEqual([undetermined.status, undetermined.missing_since], ['verified', missing_since]);
  service.withdraw(domain);
  await service.pass(HOUR);
  assert.equal((await service.get(domain.id)).status, 'failed');
});

test('An undeterminable health check keeps the previous health and is retried within an hour', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { dns } = service;
  const domain = await service.add('example.com', { dkim_selectors: ['s1'] });
  service.publish(domain);
  await service.pass(HOUR);
  const { health } = await service.get(domain.id);
  assert.equal(health.status, 'healthy');
  dns.zone['_dmarc.example.com'] = { fails: 'servfail' };
  await service.pass(2 * DAY);
  const undetermined = await service.get(domain.id);
  assert.equal(undetermined.health.status, 'healthy');
  assert.match(undetermined.last_check_detail!, /Could not determine the health of example\.com/);
  const shown = await service.call('GET', `/v1/domains/${domain.id}/health`);
  assert.equal(shown.body.status, 'unknown');
  dns.zone['_dmarc.example.com'] = GOOD_ZONE['_dmarc.example.com']!;
  await service.pass(HOUR);
  assert.equal((await service.get(domain.id)).last_check_detail, null);
  assert.deepEqual(typesOf(await service.domainEvents()), ['domain.verified']);
});

// Clock changes, and lookups that finish in a different order than they started.

test('A domain added while the clock was ahead is verified normally after correction', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { clock } = service;
  const now = clock.now();
  clock.advance(365 * DAY);
  const domain = await service.add('example.com');
  const other = await service.add('example.org');
  clock.set(now);
  await service.runOnce();
  const checked = await service.get(domain.id);
  assert.equal(checked.last_checked_at, service.now());
  assert.ok(Date.parse(checked.next_check_at!) - now <= HOUR, checked.next_check_at!);
  service.publish(domain);
  await service.pass(HOUR);
  assert.equal((await service.get(domain.id)).status, 'verified');
  // The other domain gets exactly its 72 hours.
  await service.pass(72 * HOUR);
  assert.equal((await service.get(other.id)).status, 'failed');
});

test('A verified domain is checked within a day after the clock is corrected', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { clock } = service;
  const now = clock.now();
  clock.advance(365 * DAY);
  const domain = await service.add('example.com', { dkim_selectors: ['s1'] });
  service.publish(domain);
  await service.pass(HOUR);
  clock.set(now);
  await service.runOnce();
  const { health, next_check_at } = await service.get(domain.id);
  assert.deepEqual([health.status, health.checked_at], ['healthy', service.now()]);
  assert.ok(Date.parse(next_check_at!) - now <= 25 * HOUR);
});

test('Lookups that began before the recorded one are ignored when they finish later', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { app, clock, dns } = service;
  const { id, ...domain } = await service.add('example.com', { dkim_selectors: ['s1'] });
  const rowOf = async (db: Db | Tx = app.db) => (await findDomain(db, id))!;
  service.publish({ ...domain });
  await service.pass(HOUR);
  const late = { found: 'no' as const, detail: 'No.', startedAt: clock.now() };
  const lateHealth = await checkHealthShared(app, await rowOf(), 'users');
  clock.advance(MINUTE);
  await service.verify(id);
  delete dns.zone['_dmarc.example.com'];
  await service.pass(0);
  clock.advance(MINUTE);
  await service.call('GET', `/v1/domains/${id}/health`);
  const before = await rowOf();
  assert.equal(before.health_status, 'critical');
  for (const record of [recordLookup, recordRequestedLookup])
    await transact(app.db, async (tx) => record(tx, app, await rowOf(tx), late));
  await transact(app.db, async (tx) => recordHealth(tx, app, await rowOf(tx), lateHealth));
  assert.deepEqual(await rowOf(), before);
  // A lookup that started at the same time as the recorded one counts.
  const next = { ...late, startedAt: Date.parse(before.last_checked_at!) };
  await transact(app.db, async (tx) => recordLookup(tx, app, await rowOf(tx), next));
  assert.notEqual((await rowOf()).missing_since, null);
});

test('User-requested health checks do not block background checks', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { app } = service;
  const domain = await service.add('example.com', { dkim_selectors: ['s1'] });
  const row = (await findDomain(app.db, domain.id))!;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow = {
    ...app,
    resolver: async (...question: Parameters<typeof app.resolver>) => {
      if (question[0].endsWith('example.org')) await opened;
      return app.resolver(...question);
    },
  };
  const busy = Array.from({ length: 8 }, (_, n) =>
    checkHealthShared(slow, { ...row, id: `dom_${n}`, name: 'example.org' }, 'users'),
  );
  const { health } = await checkHealthShared(slow, row, 'jobs');
  assert.equal(health.name, 'example.com');
  open();
  await Promise.all(busy);
});
