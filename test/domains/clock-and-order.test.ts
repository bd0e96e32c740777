/** Domains on a clock that is set back, and looks that end in another order than they began. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareLook } from '../../src/domains/health.ts';
import { findDomain } from '../../src/domains/queries.ts';
import { recordAskedLookup, recordHealth, recordLookup } from '../../src/domains/record.ts';
import { transact } from '../../src/store/after-commit.ts';
import type { Db, Tx } from '../../src/store/open.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { DAY, HOUR, MINUTE, startDomainService } from './domain-service.ts';

test('a domain that was added while the clock was a year ahead is looked up like any other', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { clock } = service;
  const now = clock.now();
  clock.advance(365 * DAY);
  const domain = await service.add('example.com');
  const other = await service.add('example.org');
  clock.set(now);
  await service.runOnce();
  const looked = await service.get(domain.id);
  assert.equal(looked.last_checked_at, service.now());
  assert.ok(Date.parse(looked.next_check_at!) - now <= HOUR, looked.next_check_at!);
  service.publish(domain);
  await service.pass(HOUR);
  assert.equal((await service.get(domain.id)).status, 'verified');
  // The other has its 72 hours, and no more.
  await service.pass(72 * HOUR);
  assert.equal((await service.get(other.id)).status, 'failed');
});

test('a verified domain of a clock that was ahead is looked at within the day, and its looks count', async (t) => {
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

test('what began earlier and ends later than what is recorded is not heard', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const { app, clock, dns } = service;
  const { id, ...domain } = await service.add('example.com', { dkim_selectors: ['s1'] });
  const rowOf = async (db: Db | Tx = app.db) => (await findDomain(db, id))!;
  service.publish({ ...domain });
  await service.pass(HOUR);
  const late = { found: 'no' as const, detail: 'No.', begunAt: clock.now() };
  const lateLook = await shareLook(app, await rowOf(), 'people');
  clock.advance(MINUTE);
  await service.verify(id);
  delete dns.zone['_dmarc.example.com'];
  await service.pass(0);
  clock.advance(MINUTE);
  await service.call('GET', `/v1/domains/${id}/health`);
  const before = await rowOf();
  assert.equal(before.health_status, 'critical');
  for (const record of [recordLookup, recordAskedLookup])
    await transact(app.db, async (tx) => record(tx, app, await rowOf(tx), late));
  await transact(app.db, async (tx) => recordHealth(tx, app, await rowOf(tx), lateLook));
  assert.deepEqual(await rowOf(), before);
  // As late as the last, it is as good.
  const next = { ...late, begunAt: Date.parse(before.last_checked_at!) };
  await transact(app.db, async (tx) => recordLookup(tx, app, await rowOf(tx), next));
  assert.notEqual((await rowOf()).missing_since, null);
});

test('looks of people take no place from those of jobs', async (t) => {
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
    shareLook(slow, { ...row, id: `dom_${n}`, name: 'example.org' }, 'people'),
  );
  const { health } = await shareLook(slow, row, 'jobs');
  assert.equal(health.name, 'example.com');
  open();
  await Promise.all(busy);
});
