/** The operations on monitors: create, update, enable, disable, run, and delete. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDomainName } from '../../src/analysis/domain/read-domain-name.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { auditOf, type List } from '../team/team-service.ts';
import { paramErrorsOf, statusAndCodeOf } from '../webhooks/webhook-service.ts';
import { ADDRESS, HOUR_MS, MONITORS, type Monitor, startMonitoring } from './monitoring.ts';

test('Monitors can be created, read, listed and deleted with their runs', async (t) => {
  const { service, runDue, runs } = await startMonitoring(t);
  const { call, app } = service;
  const json = {
    name: 'Our servers',
    type: 'blocklist',
    targets: [' 203.0.114.7', '::ffff:203.0.114.7', '2001:4860::1', 'BÜCHER.example.'],
  };
  const { status, headers, body } = await call<Monitor>('POST', MONITORS, { json });
  assert.equal(status, 201);
  const path = `${MONITORS}/${body.id}`;
  assert.equal(headers.get('location'), path);
  assert.match(body.id, /^mon_/);
  assert.deepEqual(body, {
    id: body.id,
    object: 'monitor',
    name: 'Our servers',
    type: 'blocklist',
    domain_id: null,
    targets: [ADDRESS, '2001:4860::1', 'xn--bcher-kva.example'],
    address: null,
    seed_addresses: [],
    frequency: 'daily',
    enabled: true,
    status: 'unknown',
    detail: null,
    last_run_at: null,
    next_run_at: '2026-11-21T10:00:00.000Z',
    created_at: '2026-11-21T10:00:00.000Z',
  });
  assert.deepEqual((await call('GET', path)).body, body);
  assert.deepEqual((await call<List<Monitor>>('GET', MONITORS)).body.data, [body]);
  await runDue();
  assert.equal((await runs(body.id))[0]!.status, 'ok');
  assert.equal((await call('DELETE', path)).status, 200);
  assert.equal((await call('GET', path)).status, 404);
  assert.equal((await call('GET', `${path}/runs`)).status, 404);
  assert.deepEqual(await app.db.selectFrom('monitor_runs').selectAll().execute(), []);
  const actions = (await auditOf(service, { object_id: body.id })).map(([action]) => action);
  assert.deepEqual(actions, ['monitor.deleted', 'monitor.created']);
});

test('GET /v1/monitors filters by status and domain', async (t) => {
  const { service, create, runDue } = await startMonitoring(t);
  const { call } = service;
  const { body: domain } = await call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const clean = await create();
  await runDue();
  const paused = await create({ domain_id: domain.id, enabled: false });
  const ids = async (query: string) =>
    (await call<List<Monitor>>('GET', `${MONITORS}?${query}`)).body.data.map(({ id }) => id);
  assert.deepEqual(await ids('status=ok'), [clean.id]);
  assert.deepEqual(await ids('status=paused'), [paused.id]);
  assert.deepEqual(await ids(`domain_id=${domain.id}`), [paused.id]);
  assert.deepEqual(await ids(`domain_id=${domain.id}&status=ok`), []);
  assert.deepEqual(await ids('domain_id=dom_none'), []);
  assert.equal((await call('GET', `${MONITORS}?status=fine`)).status, 422);
});

test('POST /v1/monitors validates targets and domain_id per monitor type with 422', async (t) => {
  const { call } = (await startMonitoring(t)).service;
  const noTarget = (at: number, text: string) =>
    `targets.${at} must be an IP address or a domain name, but this value ${readDomainName(text).fault}`;
  const cases: [object, string[]][] = [
    [{ type: 'domain_health' }, ['domain_id is required for domain_health monitors']],
    [{ type: 'domain_health', domain_id: 'dom_01' }, ['domain_id is not the ID of a domain']],
    [{ type: 'blocklist' }, ['targets is required unless domain_id is set']],
    [
      { type: 'blocklist', targets: [ADDRESS], domain_id: 'dom_01' },
      ['targets must not be combined with domain_id'],
    ],
    [
      { type: 'placement', targets: [ADDRESS], domain_id: 'dom_01' },
      [
        'targets is only allowed for blocklist monitors',
        'domain_id is not allowed for placement monitors',
      ],
    ],
    [{ type: 'blocklist', targets: [] }, ['targets must contain at least one target']],
    [
      { type: 'blocklist', targets: Array.from({ length: 51 }, (_, n) => `203.0.114.${n}`) },
      ['targets must contain at most 50 targets'],
    ],
    [
      {
        type: 'blocklist',
        targets: [
          '10.0.0.1',
          '192.0.2.1',
          'a@example.com',
          'com',
          7,
          '',
          ' ',
          '203.0.114.0/24',
          '2001:4860::/32',
          'https://example.com/a',
        ],
      },
      [
        ...[0, 1].map(
          (at) => `targets.${at} is a private or reserved address; enter a public IP address`,
        ),
        noTarget(2, 'a@example.com'),
        noTarget(3, 'com'),
        'targets.4 must be a string',
        ...[5, 6].map(
          (at) =>
            `targets.${at} is empty; enter a public IP address or a domain name such as example.com`,
        ),
        ...[7, 8].map((at) => `targets.${at} is an address range; enter individual IP addresses`),
        noTarget(9, 'https://example.com/a'),
      ],
    ],
    [
      { type: 'blocklist', targets: [ADDRESS], frequency: 'minutely' },
      ['frequency must be one of hourly, every_6_hours, daily, weekly'],
    ],
    [{ type: 'ping' }, ['type must be one of domain_health, blocklist, placement']],
    [{ type: 'blocklist', targets: [ADDRESS], status: 'ok' }, ['status is not a known parameter']],
  ];
  for (const [json, faults] of cases) {
    const answer = await call('POST', MONITORS, { json: { name: 'x', ...json } });
    assert.deepEqual([answer.status, paramErrorsOf(answer)], [422, faults], JSON.stringify(json));
  }
  assert.deepEqual((await call<List<Monitor>>('GET', MONITORS)).body.data, []);
});

test('PATCH /v1/monitors/{id} honors If-Match and reschedules when needed', async (t) => {
  const { service, clock, create, get, runDue } = await startMonitoring(t);
  const { call } = service;
  const { id } = await create();
  await runDue();
  const path = `${MONITORS}/${id}`;
  const etag = (await call('GET', path)).headers.get('etag')!;
  const patch = async (json: object, headers = {}) =>
    call<Monitor>('PATCH', path, { json, headers });
  const planned = (await get(id)).next_run_at;
  const renamed = await patch({ name: 'Theirs' }, { 'if-match': etag });
  assert.deepEqual([renamed.status, renamed.body.next_run_at], [200, planned]);
  assert.deepEqual(statusAndCodeOf(await patch({ name: 'No' }, { 'if-match': etag })), [
    412,
    'precondition_failed',
  ]);
  const weekly = (await patch({ frequency: 'weekly' })).body;
  assert.equal(new Date(weekly.next_run_at!).getUTCDay(), 1);
  const off = (await patch({ enabled: false })).body;
  assert.deepEqual([off.status, off.next_run_at], ['paused', null]);
  clock.advance(30 * 24 * HOUR_MS);
  await runDue();
  assert.equal((await get(id)).status, 'paused');
  assert.deepEqual(statusAndCodeOf(await call('POST', `${path}/run`)), [409, 'conflict']);
  const on = (await patch({ enabled: true })).body;
  assert.deepEqual([on.status, on.next_run_at], ['unknown', isoTime(clock.now())]);
  await runDue();
  assert.equal((await get(id)).status, 'ok');
  assert.deepEqual(paramErrorsOf(await patch({ type: 'placement' })), [
    'type is not a known parameter',
  ]);
  const [changed] = await auditOf(service, { object_id: id, action: 'monitor.changed' });
  assert.deepEqual(changed![1], { enabled: { from: false, to: true } });
});

test('POST /v1/monitors/{id}/run runs at once and keeps the schedule', async (t) => {
  const { service, clock, create, get, runDue, runs } = await startMonitoring(t);
  const { id } = await create();
  await runDue();
  const { next_run_at: planned } = await get(id);
  clock.advance(1000);
  const { status, body } = await service.call<Monitor>('POST', `${MONITORS}/${id}/run`);
  assert.deepEqual([status, body.next_run_at], [200, isoTime(clock.now())]);
  await runDue();
  assert.equal((await runs(id)).length, 2);
  assert.equal((await get(id)).next_run_at, planned);
});

test('New and manually requested monitor runs start without a scheduler tick', async (t) => {
  const { service, clock, create, runs } = await startMonitoring(t, { jobs: true });
  const { id } = await create();
  // Waits for the runs in progress.
  await service.app.scheduler.stop();
  assert.equal((await runs(id)).length, 1);
  service.app.scheduler.start();
  clock.advance(1000);
  await service.call('POST', `${MONITORS}/${id}/run`);
  await service.app.scheduler.stop();
  assert.equal((await runs(id)).length, 2);
});

test('A placement monitor without seed mailboxes says so and rejects messages', async (t) => {
  const { service, create, runDue, get, runs } = await startMonitoring(t);
  const { id, address, status, detail } = await create({ type: 'placement' });
  assert.equal(status, 'unknown');
  assert.match(detail!, /no seed mailboxes are configured/);
  const response = await service.call('POST', `${MONITORS}/${id}/run`);
  assert.deepEqual(statusAndCodeOf(response), [409, 'conflict']);
  const path = `${MONITORS}/${id}`;
  await service.call('PATCH', path, { json: { enabled: false } });
  assert.deepEqual([(await get(id)).status, (await get(id)).next_run_at], ['paused', null]);
  await service.call('PATCH', path, { json: { enabled: true } });
  await runDue();
  assert.deepEqual([(await get(id)).status, await runs(id)], ['unknown', []]);
  await assert.rejects(sendMail({ port: service.smtp.port, to: address!, raw: goodMessage() }), {
    responseCode: 550,
  });
});

test('POST /v1/monitors requires the member role; an Idempotency-Key creates one monitor', async (t) => {
  const { call, makeMember } = (await startMonitoring(t)).service;
  const { key: viewer } = await makeMember('viewer');
  const { key } = await makeMember('member');
  const json = { name: 'Ours', type: 'blocklist', targets: [ADDRESS] };
  assert.equal((await call('POST', MONITORS, { json, key: viewer })).status, 403);
  assert.equal((await call('GET', MONITORS, { key: viewer })).status, 403);
  const once = { json, key, headers: { 'idempotency-key': 'one' } };
  const [first, again] = [
    await call<Monitor>('POST', MONITORS, once),
    await call<Monitor>('POST', MONITORS, once),
  ];
  assert.deepEqual([first.status, again.status, again.body], [201, 201, first.body]);
  assert.equal((await call<List<Monitor>>('GET', MONITORS, { key })).body.data.length, 1);
});
