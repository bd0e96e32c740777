/** Limits, tests, tallies, shares, and idempotency keys under concurrent requests to two nodes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../../src/lib/clock.ts';
import { deleteOldTests, expireTests } from '../../../src/mailtests/expire.ts';
import { countTest } from '../../../src/mailtests/tally.ts';
import { transact } from '../../../src/store/open.ts';
import { completeTest } from '../../alerts/alerting.ts';
import type { TestService } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { deliver } from '../../helpers/deliver.ts';
import { recount, tallies } from '../../mailtests/counted-tests.ts';
import { ROUNDS, SETUPS, statusesOf } from './nodes.ts';

const LIMITED = [
  ['/v1/alerts', { name: 'Low', condition: 'score_below', channels: ['email'] }],
  ['/v1/webhooks/endpoints', { url: 'https://example.com/hook', events: ['*'] }],
  [
    '/v1/reports/schedules',
    { name: 'Daily', frequency: 'daily', recipients: ['ann@example.com'], timezone: 'UTC' },
  ],
] as const;
const TABLES = ['alerts', 'webhook_endpoints', 'report_schedules'] as const;

for (const { on, skip, start } of SETUPS) {
  test(`Concurrent requests do not exceed the number of objects (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (const [index, [path, json]] of LIMITED.entries()) {
      const first = await a.call<{ id: string }>('POST', path, { json });
      assert.equal(first.status, 201, first.text);
      const table = TABLES[index]!;
      const row = await a.app.db.selectFrom(table).selectAll().executeTakeFirstOrThrow();
      const copies = Array.from({ length: 97 }, (_, copy) => ({ ...row, id: `${row.id}${copy}` }));
      await a.app.db
        .insertInto(table)
        .values(copies as never)
        .execute();
      const create = (node: TestService) => node.call('POST', path, { key: a.key, json });
      const responses = await Promise.all([create(a), create(b), create(a), create(b)]);
      assert.deepEqual(statusesOf(responses), [201, 201, 409, 409], path);
    }
  });

  test(`A domain is added once (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const json = { name: `domain${round}.example` };
      const add = (node: TestService) => node.call('POST', '/v1/domains', { key: a.key, json });
      assert.deepEqual(statusesOf(await Promise.all([add(a), add(b)])), [201, 409]);
    }
  });

  test(`A domain is deleted with the monitor and rule that are being created (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    const { db } = a.app;
    for (let round = 0; round < ROUNDS; round++) {
      const added = await a.call<{ id: string }>('POST', '/v1/domains', {
        json: { name: `domain${round}.example` },
      });
      const domain_id = added.body.id;
      const [path, fields] =
        round % 2 === 0
          ? ['/v1/monitors', { name: 'M', type: 'domain_health', frequency: 'daily' }]
          : ['/v1/alerts', { name: 'A', condition: 'score_below', channels: ['email'] }];
      const [created, removed] = await Promise.all([
        a.call('POST', path as string, {
          key: a.key,
          json: { ...(fields as object), domain_id },
        }),
        b.call('DELETE', `/v1/domains/${domain_id}`, { key: a.key }),
      ]);
      assert.equal(removed.status, 200, removed.text);
      assert.ok([201, 422].includes(created.status), created.text);
      const table = round % 2 === 0 ? 'monitors' : 'alerts';
      assert.deepEqual(await db.selectFrom(table).select('id').execute(), []);
      // What was created was also deleted with its own audit entry.
      const entries = await db
        .selectFrom('audit_log')
        .select('action')
        .where('action', 'in', [`${table.slice(0, -1)}.created`, `${table.slice(0, -1)}.deleted`])
        .execute();
      assert.equal(entries.length % 2, 0);
    }
  });

  const envelope = { mail_from: null, client_ip: null, helo: null, tls: null };

  test(`A test address accepts one of two concurrent messages (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const { id, address } = await a.createTest();
      const isSame = round % 3 === 0;
      const receive = (node: TestService, text: string) =>
        deliver(node.app, {
          envelope,
          recipient: address,
          raw: Buffer.from(`Subject: ${isSame ? 'same' : text}\r\n\r\n`),
        });
      const outcomes = await Promise.all([receive(a, 'one'), receive(b, 'two')]);
      const accepted = outcomes.filter(({ accept }) => accept);
      assert.equal(accepted.length, isSame ? 2 : 1);
      // The same bytes again get the ID of the stored message.
      assert.equal(new Set(accepted.map(({ text }) => text)).size, 1);
      for (const outcome of outcomes) if (!outcome.accept) assert.equal(outcome.code, 550);
      const messages = await a.app.db
        .selectFrom('messages')
        .select('id')
        .where('test_id', '=', id)
        .execute();
      assert.equal(messages.length, 1);
    }
  });

  test(`A message either arrives or its test expires (${on})`, { skip }, async (t) => {
    const clock = testClock();
    const [a, b] = await start(t, { clock });
    for (let round = 0; round < ROUNDS; round++) {
      const { id, address } = await a.createTest({ expires_in: 3600 });
      // For the message, the last millisecond; for the other node, the next one.
      clock.advance(3_600_000 - 1);
      const early = { ...a.app, clock: { now: clock.now } };
      const at = clock.now();
      early.clock = { now: () => at };
      const late = { ...b.app, clock: { now: () => at + 1 } };
      const [outcome] = await Promise.all([
        deliver(early, { envelope, recipient: address, raw: Buffer.from('A: b\r\n\r\n') }),
        expireTests(late),
      ]);
      const { status } = await a.app.db
        .selectFrom('tests')
        .select('status')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      assert.equal(status, outcome.accept ? 'processing' : 'failed');
      const events = await a.app.db.selectFrom('events').select('id').execute();
      assert.equal(events.length, outcome.accept ? 0 : 1);
      await a.app.db.deleteFrom('events').execute();
      await a.app.db.updateTable('tests').set({ status: 'failed' }).execute();
    }
  });

  test(`Tallies count every test, also while an hour becomes empty (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    const { db } = a.app;
    const complete = (node: TestService) =>
      transact(node.app.db, async (tx) => {
        const row = await tx
          .insertInto('tests')
          .values({
            id: node.app.newId('test'),
            token: node.app.newId('test'),
            livemode: 1,
            kind: 'auto',
            metadata: '{}',
            status: 'completed',
            score: 95,
            checks: '[]',
            created_at: '2026-11-21T10:00:00.000Z',
            expires_at: '2026-11-21T11:00:00.000Z',
            completed_at: '2026-11-21T10:00:00.000Z',
            search: '',
            line_ends_converted: 0,
            analysis_attempts: 0,
            placement_status: 'none',
            placement_samples: 0,
            placement_inbox: 0,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        await countTest(tx, row, 1);
        return row.id;
      });
    const remove = (node: TestService, id: string) =>
      node.call('DELETE', `/v1/tests/${id}`, { key: a.key });
    for (let round = 0; round < ROUNDS; round++) {
      const id = await complete(a);
      const work = [remove(b, id), ...(round % 2 === 0 ? [a, b, a, b] : [a, b]).map(complete)];
      await Promise.all(work);
      assert.deepEqual(await tallies(db), await recount(db));
      for (const test of await db.selectFrom('tests').select('id').execute())
        assert.equal((await remove(a, test.id)).status, 200);
      assert.deepEqual(await tallies(db), []);
    }
  });

  test(`A test with an active shared link is kept (${on})`, { skip }, async (t) => {
    const clock = testClock();
    const env = { DELIVERABILITY_TEST_RETENTION: '1d' };
    const [a, b] = await start(t, { clock, env });
    const { db } = a.app;
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await completeTest(a.app, {
        checks: '[]',
        completed_at: isoTime(clock.now()),
      });
      clock.advance(2 * 86_400_000);
      const share = (node: TestService) =>
        node.call<{ id: string }>('POST', '/v1/reports/share', {
          key: a.key,
          json: { test_ids: [id], expires_in: 86_400 },
        });
      const [shared] = await Promise.all([share(a), deleteOldTests(b.app)]);
      const row = await db.selectFrom('tests').select('id').where('id', '=', id).executeTakeFirst();
      assert.equal(shared.status, row ? 201 : 422, shared.text);
      if (!row) continue;
      // Another link is created while the first is revoked: the test is kept for the remaining one.
      const [second, revoked] = await Promise.all([
        share(a),
        b.call('DELETE', `/v1/reports/shared/${shared.body.id}`, { key: a.key }),
      ]);
      assert.deepEqual([second.status, revoked.status], [201, 200]);
      const { keep_until } = await db
        .selectFrom('tests')
        .select('keep_until')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      assert.equal(keep_until, isoTime(clock.now() + 86_400_000));
    }
  });

  test(`A request with an Idempotency-Key takes effect once (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const create = (node: TestService) =>
        node.call<{ id: string }>('POST', '/v1/domains', {
          key: a.key,
          json: { name: `domain${round}.example` },
          headers: { 'idempotency-key': `key ${round}` },
        });
      const responses = await Promise.all([create(a), create(b), create(a), create(b)]);
      for (const { status, body } of responses)
        assert.ok(status === 201 || (body as { code?: string }).code === 'idempotency_in_progress');
      const ids = responses.flatMap(({ status, body }) => (status === 201 ? body.id : []));
      assert.equal(new Set(ids).size, 1);
      assert.equal((await create(b)).body.id, ids[0]);
    }
    const domains = await a.app.db.selectFrom('domains').select('id').execute();
    assert.equal(domains.length, ROUNDS);
  });
}
