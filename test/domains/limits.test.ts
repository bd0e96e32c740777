/** How many domains and monitors there may be, and that they are found without reading all. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startTestService } from '../helpers/app.ts';

test('beyond twenty thousand domains or monitors the next is refused in words', async (t) => {
  const { app, call } = await startTestService(t);
  await app.scheduler.stop();
  const numbers = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)`;
  const time = '2026-11-21T10:00:00.000Z';
  await sql`INSERT INTO domains (id, name, status, token, created_at, pending_since,
      given_selectors, learnt_selectors, health_status, health_checks)
    ${numbers} SELECT 'dom_' || i, 'd' || i || '.example', 'failed', 'x', ${time}, ${time},
      '[]', '[]', 'unknown', '[]' FROM n`.execute(app.db);
  await sql`INSERT INTO monitors (id, name, type, targets, frequency, enabled, status, created_at)
    ${numbers} SELECT 'mon_' || i, 'x', 'blocklist', '["example.com"]', 'daily', 0, 'paused', ${time}
      FROM n`.execute(app.db);
  const domain = (name: string) => call('POST', '/v1/domains', { json: { name } });
  const monitor = () => {
    const json = { name: 'x', type: 'blocklist', targets: ['example.com'] };
    return call('POST', '/v1/monitors', { json });
  };
  assert.equal((await domain('example.org')).status, 201);
  assert.equal((await monitor()).status, 201);
  for (const answer of [await domain('example.net'), await monitor()]) {
    assert.deepEqual([answer.status, answer.body.code], [409, 'conflict']);
    assert.match(
      String(answer.body.detail),
      /There are 20000 .* delete one that is no longer needed/,
    );
  }
});

test('the monitors of a domain are found by it', async (t) => {
  const { app } = await startTestService(t);
  const plan = await sql<{ detail: string }>`
    EXPLAIN QUERY PLAN DELETE FROM monitors WHERE domain_id = 'dom_1'`.execute(app.db);
  assert.match(plan.rows.map(({ detail }) => detail).join(), /monitors_domain/);
});
