/** What the jobs ask leaves room at the DNS for what somebody waits for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runMonitorsJob } from '../../src/monitors/run.ts';
import type { Resolver } from '../../src/net/resolver.ts';
import { HOUR, MINUTE, startDomainService } from './domain-service.ts';

test('jobs ask in the background alone, and who asks for health now does not', async (t) => {
  const service = await startDomainService(t);
  const { app, call, clock, pass } = service;
  const asked = { front: 0, back: 0 };
  const counting =
    (where: keyof typeof asked, resolver: Resolver): Resolver =>
    async (...question) => {
      asked[where]++;
      return resolver(...question);
    };
  const { resolver } = app;
  app.resolver = counting('front', resolver);
  app.backgroundResolver = counting('back', resolver);
  const { body } = await call('POST', '/v1/domains', { json: { name: 'example.com' } });
  await pass(MINUTE);
  assert.deepEqual([asked.front, asked.back], [0, 1]);
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
  assert.equal(asked.front, 0);
  assert.ok(asked.back > 10, `${asked.back}`);
  const before = asked.back;
  assert.equal((await call('GET', `/v1/domains/${body.id}/health`)).status, 200);
  assert.ok(asked.front > 10, `${asked.front}`);
  assert.equal(asked.back, before);
});
