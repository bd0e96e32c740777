/** The API for report schedules: create, read, update, delete, defaults and limits. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentSchedules } from '../../src/schedules/queries.ts';
import type { Schedule } from '../../src/schedules/schema.ts';
import { auditOf, type List, type Problem } from '../team/team-service.ts';
import { SCHEDULES, startScheduling } from './scheduling.ts';

const WEEKLY = { name: 'Mondays', frequency: 'weekly', recipients: ['Ann@Example.COM'] };

test('POST /v1/reports/schedules applies defaults and computes next_send_at', async (t) => {
  const { service } = await startScheduling(t);
  const { status, headers, body } = await service.call<Schedule>('POST', SCHEDULES, {
    json: WEEKLY,
  });
  assert.equal(status, 201);
  const { id, ...rest } = body;
  assert.match(id, /^rps_/);
  assert.equal(headers.get('location'), `${SCHEDULES}/${id}`);
  assert.deepEqual(rest, {
    object: 'report_schedule',
    name: 'Mondays',
    frequency: 'weekly',
    recipients: ['ann@example.com'],
    domains: null,
    tags: null,
    recipients_by_tag: null,
    include_sections: ['summary', 'trends', 'alerts'],
    format: 'html',
    send_hour: 8,
    timezone: 'UTC',
    weekday: 'monday',
    day_of_month: 1,
    enabled: true,
    detail: null,
    next_send_at: '2026-11-23T08:00:00.000Z',
    last_sent_at: null,
    last_status: null,
    unsubscribed: [],
    created_at: '2026-11-21T10:00:00.000Z',
  });
  assert.deepEqual((await service.call('GET', `${SCHEDULES}/${id}`)).body, body);
});

const OK = { name: 'x', frequency: 'daily', recipients: ['a@example.com'] };
const many = (count: number) => Array.from({ length: count }, (_, i) => `r${i}@example.com`);
const WRONG: [json: object, params: string[]][] = [
  [{}, ['name', 'frequency']],
  [{ ...OK, recipients: [] }, ['recipients']],
  [{ ...OK, recipients: many(51) }, ['recipients']],
  [
    { ...OK, recipients: ['a@example.com', 'b', 'c@example.com', ''] },
    ['recipients.1', 'recipients.3'],
  ],
  [{ ...OK, recipients: [...many(3), 'R1@example.com'] }, ['recipients.3']],
  [{ ...OK, recipients: ['a@example.com, b@example.com'] }, ['recipients.0']],
  [{ ...OK, recipients: ['a@example.com\r\nBcc: b@example.com'] }, ['recipients.0']],
  [{ ...OK, frequency: 'hourly' }, ['frequency']],
  [{ ...OK, timezone: 'Europe/Atlantis' }, ['timezone']],
  [{ ...OK, timezone: '+02:00' }, ['timezone']],
  [{ ...OK, timezone: '' }, ['timezone']],
  [{ ...OK, timezone: 'UTC\u0000' }, ['timezone']],
  [{ ...OK, send_hour: 24 }, ['send_hour']],
  [{ ...OK, send_hour: -1 }, ['send_hour']],
  [{ ...OK, send_hour: 8.5 }, ['send_hour']],
  [{ ...OK, day_of_month: 0 }, ['day_of_month']],
  [{ ...OK, day_of_month: 32 }, ['day_of_month']],
  [{ ...OK, weekday: 'Monday' }, ['weekday']],
  [{ ...OK, format: 'csv' }, ['format']],
  [{ ...OK, include_sections: [] }, ['include_sections']],
  [{ ...OK, include_sections: ['summary', 'summary'] }, ['include_sections']],
  [{ ...OK, domains: [] }, ['domains']],
  [{ ...OK, domains: ['dom_none'] }, ['domains.0']],
  [{ ...OK, domains: ['dom_none', 'dom_none'] }, ['domains.1']],
  [{ ...OK, next_send_at: '2026-11-23T08:00:00.000Z' }, ['next_send_at']],
];

test('Report schedule create and update report each invalid field with 422', async (t) => {
  const { service, create } = await startScheduling(t);
  const { id } = await create();
  for (const [json, params] of WRONG) {
    const named = async (method: string, path: string) => {
      const { status, body } = await service.call<Problem>(method, path, { json });
      assert.equal(status, 422, JSON.stringify(json));
      return body.errors!.map(({ param }) => param);
    };
    assert.deepEqual(await named('POST', SCHEDULES), params, JSON.stringify(json));
    if (Object.keys(json).length > 0)
      assert.deepEqual(await named('PATCH', `${SCHEDULES}/${id}`), params, JSON.stringify(json));
  }
  const { body } = await service.call<List<Schedule>>('GET', SCHEDULES);
  assert.deepEqual(
    body.data.map((one) => one.id),
    [id],
  );
});

test('Report schedules accept up to 50 recipients and every IANA time zone', async (t) => {
  const { create } = await startScheduling(t);
  assert.equal((await create({ recipients: many(50) })).recipients.length, 50);
  assert.equal((await create({ timezone: 'europe/berlin' })).timezone, 'Europe/Berlin');
  for (const timezone of ['UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'Asia/Kathmandu'])
    assert.equal((await create({ timezone })).timezone, timezone);
});

test('PATCH of a report schedule recomputes next_send_at and is audited', async (t) => {
  const { service, create, clock, get } = await startScheduling(t);
  const { id, next_send_at } = await create({ send_hour: 12 });
  assert.equal(next_send_at, '2026-11-21T12:00:00.000Z');
  const path = `${SCHEDULES}/${id}`;
  const patched = async (json: object) => {
    const { status, text, body } = await service.call<Schedule>('PATCH', path, { json });
    assert.equal(status, 200, text);
    return body.next_send_at;
  };
  assert.equal(await patched({ name: 'Theirs' }), '2026-11-21T12:00:00.000Z');
  assert.equal(await patched({ send_hour: 9 }), '2026-11-22T09:00:00.000Z');
  assert.equal(await patched({ timezone: 'America/New_York' }), '2026-11-21T14:00:00.000Z');
  assert.equal(await patched({ frequency: 'weekly' }), '2026-11-23T14:00:00.000Z');
  assert.equal(await patched({ weekday: 'sunday' }), '2026-11-22T14:00:00.000Z');
  assert.equal(
    await patched({ frequency: 'monthly', day_of_month: 31 }),
    '2026-11-30T14:00:00.000Z',
  );
  assert.equal(await patched({ enabled: false }), null);
  clock.advance(3_600_000);
  assert.equal(await patched({ send_hour: 8 }), null);
  assert.equal(await patched({ enabled: true }), '2026-11-30T13:00:00.000Z');
  assert.equal((await get(id)).enabled, true);
  const noted = await auditOf(service, { object_id: id });
  assert.deepEqual(noted.slice(0, 2), [
    ['report_schedule.changed', { enabled: { from: false, to: true } }],
    ['report_schedule.changed', { send_hour: { from: 9, to: 8 } }],
  ]);
  assert.equal(noted.at(-1)![0], 'report_schedule.created');
});

test('PATCH of a report schedule with unchanged values changes nothing', async (t) => {
  const { service, create } = await startScheduling(t);
  const made = await create({ send_hour: 12, include_sections: ['trends'] });
  const { next_send_at, created_at, id, object, ...fields } = made;
  const { detail, last_sent_at, last_status, unsubscribed, ...json } = fields;
  const { body } = await service.call<Schedule>('PATCH', `${SCHEDULES}/${id}`, { json });
  assert.deepEqual(body, made);
  assert.equal((await auditOf(service, { object_id: id })).length, 1);
});

test('PATCH and DELETE of a report schedule reject a stale If-Match with 412', async (t) => {
  const { service, create } = await startScheduling(t);
  const { id } = await create();
  const path = `${SCHEDULES}/${id}`;
  const etag = (await service.call('GET', path)).headers.get('etag')!;
  const headers = { 'if-match': etag };
  assert.equal((await service.call('PATCH', path, { json: { name: 'A' }, headers })).status, 200);
  assert.equal((await service.call('PATCH', path, { json: { name: 'B' }, headers })).status, 412);
  assert.equal((await service.call('DELETE', path, { headers })).status, 412);
  assert.equal((await service.call('DELETE', path)).status, 200);
  for (const [method, rest] of [
    ['GET', ''],
    ['GET', '/preview'],
    ['GET', '/runs'],
    ['POST', '/send'],
    ['DELETE', ''],
  ] as const)
    assert.equal((await service.call(method, path + rest)).status, 404, method + rest);
});

test('Report schedule creation and sending honor the Idempotency-Key', async (t) => {
  const { service, runs } = await startScheduling(t);
  const once = { json: OK, headers: { 'idempotency-key': 'one' } };
  const first = await service.call<Schedule>('POST', SCHEDULES, once);
  const again = await service.call<Schedule>('POST', SCHEDULES, once);
  assert.deepEqual([again.status, again.body], [201, first.body]);
  const send = () =>
    service.call('POST', `${SCHEDULES}/${first.body.id}/send`, {
      headers: { 'idempotency-key': 'two' },
    });
  assert.deepEqual((await send()).body, (await send()).body);
  assert.equal((await runs(first.body.id)).length, 1);
});

test('Deleted domains are removed from report schedules; with none left nothing is counted', async (t) => {
  const { service, create, get } = await startScheduling(t);
  const make = async (name: string) =>
    (await service.call<{ id: string }>('POST', '/v1/domains', { json: { name } })).body.id;
  const [one, two] = [await make('example.com'), await make('example.net')];
  const { id, domains } = await create({ domains: [one, two] });
  assert.deepEqual(domains, [one, two]);
  await service.call('DELETE', `/v1/domains/${one}`);
  assert.deepEqual([(await get(id)).domains, (await get(id)).detail], [[two], null]);
  await service.call('DELETE', `/v1/domains/${two}`);
  const left = await get(id);
  assert.deepEqual(left.domains, []);
  assert.match(left.detail!, /deleted, so reports include no tests/);
  const { body } = await service.call<Schedule>('PATCH', `${SCHEDULES}/${id}`, {
    json: { domains: null },
  });
  assert.deepEqual([body.domains, body.detail], [null, null]);
});

test('The 101st report schedule gets 409', async (t) => {
  const { service, create } = await startScheduling(t);
  for (let i = 0; i < 100; i++) await create();
  const { status, body } = await service.call<Problem>('POST', SCHEDULES, { json: OK });
  assert.deepEqual([status, body.code], [409, 'conflict']);
  const { body: page } = await service.call<List<Schedule>>('GET', `${SCHEDULES}?limit=100`);
  assert.deepEqual([page.data.length, page.has_more], [100, false]);
});

test('A test-mode key can read report schedules but not change or send them', async (t) => {
  const { service, create } = await startScheduling(t);
  const { id } = await create();
  const key = await service.makeKey('owner', false);
  const one = `${SCHEDULES}/${id}`;
  for (const path of [SCHEDULES, one, `${one}/preview`, `${one}/runs`])
    assert.equal((await service.call('GET', path, { key })).status, 200);
  for (const [method, path] of [
    ['POST', SCHEDULES],
    ['PATCH', `${SCHEDULES}/${id}`],
    ['POST', `${SCHEDULES}/${id}/send`],
    ['DELETE', `${SCHEDULES}/${id}`],
  ] as const)
    assert.equal((await service.call(method, path, { key, json: OK })).status, 403, path);
});

test('Report preview hides domains and alerts from viewers and says so', async (t) => {
  const { service, create } = await startScheduling(t);
  const { app, call, makeMember, makeKey } = service;
  await call('POST', '/v1/domains', { json: { name: 'secret.example' } });
  await app.db.updateTable('domains').set({ health_status: 'critical', health_score: 7 }).execute();
  const { id } = await create();
  const { id: plain } = await create({ include_sections: ['summary'] });
  const { id: alone } = await create({ include_sections: ['alerts'] });
  const see = async (of: string, key: string) => {
    const { status, text } = await call('GET', `${SCHEDULES}/${of}/preview`, { key });
    assert.equal(status, 200);
    return text;
  };
  const viewers = [(await makeMember('viewer')).key, await makeKey('viewer')];
  for (const key of viewers) {
    for (const of of [id, alone, plain]) {
      const text = await see(of, key);
      assert.ok(!/secret\.example|attention|critical|alert rule/i.test(text), text);
      const hasNote = text.includes('Domains and alerts are hidden in this preview');
      assert.equal(hasNote, of !== plain);
    }
    assert.equal((await call('GET', `${SCHEDULES}/${id}/runs`, { key })).status, 200);
  }
  const text = await see(id, (await makeMember('member')).key);
  assert.match(text, /secret\.example/);
  assert.match(text, /Your domain needs attention.*No incidents in this period/s);
  assert.doesNotMatch(text, /left out/);
});

test('Report schedules reject recipients at the test inbox domain with 422', async (t) => {
  const { service, create } = await startScheduling(t);
  const { id } = await create();
  for (const at of ['inbox.test', 'INBOX.test', 'inbox.test.'])
    for (const [method, path] of [
      ['POST', SCHEDULES],
      ['PATCH', `${SCHEDULES}/${id}`],
    ] as const) {
      const json = { recipients: ['ann@example.com', `k3yab2@${at}`] };
      const body = method === 'POST' ? { ...OK, ...json } : json;
      const answer = await service.call<Problem>(method, path, { json: body });
      assert.equal(answer.status, 422, `${method} ${at}`);
      assert.deepEqual(
        answer.body.errors!.map(({ param }) => param),
        ['recipients.1'],
      );
    }
  await create({ recipients: ['ann@mail.inbox.test'] });
});

test('Listing report schedules runs a constant number of queries', async (t) => {
  const { service, create } = await startScheduling(t, { mute: true });
  const { db } = service.app;
  const domain = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  for (let i = 0; i < 12; i++) {
    const { id } = await create({ domains: [domain.body.id] });
    await service.call('POST', `${SCHEDULES}/${id}/send`);
  }
  const sent_at = '2026-11-21T10:00:07.000Z';
  await db.updateTable('report_copies').set({ status: 'sent', sent_at }).execute();
  let queries = 0;
  const counting = db.withPlugin({
    transformQuery({ node }) {
      queries += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const rows = await db.selectFrom('report_schedules').selectAll().orderBy('id').execute();
  const counts: number[] = [];
  for (const some of [rows.slice(0, 1), rows]) {
    queries = 0;
    const presented = await presentSchedules(counting, some);
    counts.push(queries);
    for (const [i, { id, domains, last_sent_at, last_status }] of presented.entries())
      assert.deepEqual(
        [id, domains, last_sent_at, last_status],
        [some[i]!.id, [domain.body.id], sent_at, 'sent'],
      );
  }
  assert.ok(counts[0]! > 0);
  assert.equal(counts[0], counts[1]);
});

test('Report preview is escaped HTML with a strict CSP and no external content', async (t) => {
  const { service, create } = await startScheduling(t);
  const { id } = await create({ name: '<script>alert(1)</script>', format: 'pdf' });
  const { status, headers, text } = await service.call('GET', `${SCHEDULES}/${id}/preview`);
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  const policy = headers.get('content-security-policy')!;
  assert.match(policy, /^default-src 'none'; style-src 'unsafe-inline'; img-src data:;.* sandbox/);
  assert.ok(text.includes('&lt;script&gt;'), 'the name is there');
  assert.ok(!/<script|cid:|unsubscribe/i.test(text), text);
});
