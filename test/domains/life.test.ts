/** The life of a domain, from its first lookup to its last, with each event exactly once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { DAY, HOUR, MINUTE, startDomainService } from './domain-service.ts';

const typesOf = (told: { type: string }[]) => told.map(({ type }) => type);

test('a domain is looked up after 1, 5, 15, 30 and 60 minutes, then hourly for 72 hours, then it has failed', async (t) => {
  const service = await startDomainService(t);
  const { clock, dns } = service;
  const begun = clock.now();
  const domain = await service.add('example.com');
  assert.equal(domain.status, 'pending');
  const times = await service.pass(80 * HOUR);
  const hours = Array.from({ length: 71 }, (_, n) => (n + 2) * 60);
  const expected = [1, 5, 15, 30, 60, ...hours];
  assert.deepEqual(
    times.map((at) => (at - begun) / MINUTE),
    expected,
  );
  assert.equal(dns.asked.get('_deliverability.example.com/TXT'), expected.length);
  const failed = await service.get(domain.id);
  assert.equal(failed.status, 'failed');
  assert.equal(failed.next_check_at, null);
  assert.equal(failed.last_check_detail, 'There is no TXT record at _deliverability.example.com.');
  assert.deepEqual(typesOf(await service.told()), ['domain.verification_failed']);
  // A manual lookup begins the 72 hours again.
  const again = await service.verify(domain.id);
  assert.equal(again.status, 200);
  assert.equal(again.body.status, 'pending');
  assert.equal(Date.parse(again.body.next_check_at!) - clock.now(), MINUTE);
  await service.pass(71 * HOUR);
  assert.equal((await service.get(domain.id)).status, 'pending');
  await service.pass(2 * HOUR);
  assert.equal((await service.get(domain.id)).status, 'failed');
  assert.equal((await service.told()).length, 2);
});

test('the whole life: verified, in worse and worse health, its record gone, failed, verified again', async (t) => {
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
  assert.deepEqual(typesOf(await service.told()), ['domain.verified']);

  assert.ok((await service.pass(2 * DAY)).length >= 1);
  dns.zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=none; rua=mailto:dmarc@example.com'] };
  await service.pass(3 * DAY);
  delete dns.zone['_dmarc.example.com'];
  await service.pass(3 * DAY);
  const told = await service.told();
  assert.deepEqual(
    told.map(({ type, data }) => [type, data.previous_health, data.health.status]),
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
  const gone = await service.get(id);
  assert.deepEqual([gone.status, gone.verified_at, gone.next_check_at], ['failed', null, null]);
  assert.deepEqual(await service.pass(10 * DAY), []);

  service.publish(domain);
  const back = await service.verify(id);
  assert.equal(back.body.status, 'verified');
  await service.settle();
  await service.pass(2 * DAY);
  assert.deepEqual(typesOf(await service.told()).slice(3), [
    'domain.verification_failed',
    'domain.verified',
  ]);
});

test('a record that comes back in time is a new beginning', async (t) => {
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
  assert.deepEqual(typesOf(await service.told()), ['domain.verified']);
});

test('while the DNS fails nothing is decided, neither of an unverified domain nor of a verified one', async (t) => {
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
  assert.match(after.last_check_detail!, /REFUSED.*not counted/);
  assert.notEqual(after.last_checked_at, before.last_checked_at);
  const { last_checked_at, last_check_detail, next_check_at } = before;
  assert.deepEqual({ ...after, last_checked_at, last_check_detail, next_check_at }, before);
  const pending = await service.get(waiting.id);
  assert.equal(pending.status, 'pending');
  assert.match(pending.last_check_detail!, /SERVFAIL/);
  // The first real answer after 72 hours decides.
  dns.zone[record] = { TXT: ['something else'] };
  await service.pass(HOUR);
  assert.equal((await service.get(waiting.id)).status, 'failed');
  assert.deepEqual(typesOf(await service.told()), [
    'domain.verified',
    'domain.verification_failed',
  ]);
});

test('failing DNS in between neither counts towards the three days nor ends them', async (t) => {
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
  const unsure = await service.get(domain.id);
  assert.deepEqual([unsure.status, unsure.missing_since], ['verified', missing_since]);
  service.withdraw(domain);
  await service.pass(HOUR);
  assert.equal((await service.get(domain.id)).status, 'failed');
});

test('health that could not be found out leaves what was known, and is looked at again within the hour', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { dns } = service;
  const domain = await service.add('example.com', { dkim_selectors: ['s1'] });
  service.publish(domain);
  await service.pass(HOUR);
  const { health } = await service.get(domain.id);
  assert.equal(health.status, 'healthy');
  dns.zone['_dmarc.example.com'] = { fails: 'servfail' };
  await service.pass(2 * DAY);
  const unsure = await service.get(domain.id);
  assert.equal(unsure.health.status, 'healthy');
  assert.match(unsure.last_check_detail!, /[Tt]oo little could be found out/);
  const shown = await service.call('GET', `/v1/domains/${domain.id}/health`);
  assert.equal(shown.body.status, 'unknown');
  dns.zone['_dmarc.example.com'] = GOOD_ZONE['_dmarc.example.com']!;
  await service.pass(HOUR);
  assert.equal((await service.get(domain.id)).last_check_detail, null);
  assert.deepEqual(typesOf(await service.told()), ['domain.verified']);
});
