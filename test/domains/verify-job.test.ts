/** The job that checks domains: limited concurrency, and leases that prevent duplicate checks, even after a crash. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyDomainsJob } from '../../src/domains/verify-job.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { runMonitorsJob } from '../../src/monitors/run.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { newLease } from '../../src/store/leases.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { SAME_NODE } from '../helpers/store.ts';
import { HOUR, MINUTE, startDomainService } from './domain-service.ts';

test('The domain job checks at most eight domains at a time, most overdue first', async (t) => {
  const queried: string[] = [];
  const open: (() => void)[] = [];
  let isBlocked = true;
  const resolver: Resolver = async (name) => {
    queried.push(name.replace('_deliverability.', ''));
    if (isBlocked) await new Promise<void>((resolve) => open.push(resolve));
    return { status: 'nxdomain' };
  };
  const clock = testClock();
  const { app, call } = await startTestService(t, { clock, resolver });
  await app.scheduler.stop();
  const names = Array.from({ length: 20 }, (_, n) => `d${n}.example.com`);
  for (const name of names) {
    await call('POST', '/v1/domains', { json: { name } });
    clock.advance(1);
  }
  clock.advance(MINUTE);
  const job = verifyDomainsJob(app);
  await job.run();
  await job.run();
  assert.deepEqual(queried, names.slice(0, 8));
  // A domain that waits for DNS doesn't block the others.
  assert.equal((await call('GET', '/v1/domains')).status, 200);
  isBlocked = false;
  for (const go of open) go();
  await job.idle!();
  for (const _ of [1, 2, 3]) {
    await job.run();
    await job.idle!();
  }
  assert.deepEqual(queried, names);
});

test('The domain job skips a domain leased by another process until the lease expires', async (t) => {
  const service = await startDomainService(t);
  const { app, clock } = service;
  const { id } = await service.add('example.com');
  clock.advance(MINUTE);
  const leased_until = isoTime(clock.now() + MINUTE);
  await app.db.updateTable('domains').set({ lease: 'req_other', leased_until }).execute();
  const job = verifyDomainsJob(app);
  const run = async () => {
    await job.run();
    await job.idle!();
    return (await service.get(id)).last_checked_at;
  };
  assert.equal(await run(), null);
  clock.advance(MINUTE + 1);
  assert.equal(await run(), service.now());
});

test('Startup releases domain leases of the previous run', async (t) => {
  const service = await startDomainService(t, {}, SAME_NODE);
  const { app, folder, clock } = service;
  await service.add('example.com');
  const leased_until = isoTime(clock.now() + MINUTE);
  await app.db
    .updateTable('domains')
    // Otherwise the next run takes it at once, for a first lookup.
    .set({ lease: newLease(app), leased_until, next_look_at: null })
    .execute();
  await service.stop();
  const next = await startTestService(t, { folder, clock, env: SAME_NODE });
  const row = await next.app.db
    .selectFrom('domains')
    .select(['lease', 'leased_until'])
    .executeTakeFirst();
  assert.deepEqual(row, { lease: null, leased_until: null });
});

// Background DNS queries leave capacity for those that a user waits for.

test('Scheduled checks use the background resolver; requests use the foreground resolver', async (t) => {
  const service = await startDomainService(t);
  const { app, call, clock, pass } = service;
  const queried = { front: 0, back: 0 };
  const counting =
    (where: keyof typeof queried, resolver: Resolver): Resolver =>
    async (...question) => {
      queried[where]++;
      return resolver(...question);
    };
  const { resolver } = app;
  app.resolver = counting('front', resolver);
  app.backgroundResolver = counting('back', resolver);
  const { body } = await call('POST', '/v1/domains', { json: { name: 'example.com' } });
  await pass(MINUTE);
  assert.deepEqual([queried.front, queried.back], [0, 1]);
  await app.db.updateTable('domains').set({ status: 'verified' }).execute();
  const monitor = {
    name: 'Health',
    type: 'domain_health',
    domain_id: body.id,
    frequency: 'hourly',
  };
  assert.equal((await call('POST', '/v1/monitors', { json: monitor })).status, 201);
  const lists = { name: 'Lists', type: 'blocklist', targets: ['example.com'], frequency: 'hourly' };
  assert.equal((await call('POST', '/v1/monitors', { json: lists })).status, 201);
  clock.advance(HOUR);
  const job = runMonitorsJob(app);
  await job.run();
  await job.idle!();
  assert.equal(queried.front, 0);
  assert.ok(queried.back > 10, `${queried.back}`);
  const before = queried.back;
  assert.equal((await call('GET', `/v1/domains/${body.id}/health`)).status, 200);
  assert.ok(queried.front > 10, `${queried.front}`);
  assert.equal(queried.back, before);
});
