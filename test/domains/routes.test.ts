/** The operations on domains: create, list, update, check, and delete, and their errors. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { domainRemoved } from '../../src/domains/change-domain.ts';
import type { Domain, DomainHealthResponse } from '../../src/domains/schema.ts';
import { subscriptionsOf } from '../../src/features.ts';
import { createSubscribers, subscribe } from '../../src/store/subscribers.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { onPostgres } from '../helpers/store.ts';
import { auditOf, type List } from '../team/team-service.ts';
import { DAY, HOUR, MINUTE, startDomainService } from './domain-service.ts';
import { firstLookupsDone } from './first-lookups.ts';

interface Problem {
  code: string;
  detail: string;
  errors: { param: string; message: string }[];
}

test('POST /v1/domains returns the TXT record; domains can be listed, filtered and deleted', async (t) => {
  const service = await startDomainService(t);
  const { call } = service;
  const { status, headers, body } = await call<Domain>('POST', '/v1/domains', {
    json: { name: ' Bücher.Example. ', dkim_selectors: ['S1', 's1', 'mail.2026'] },
  });
  assert.equal(status, 201);
  assert.equal(headers.get('location'), `/v1/domains/${body.id}`);
  const { id, verification } = body;
  assert.match(id, /^dom_/);
  assert.equal(verification.name, '_deliverability.xn--bcher-kva.example');
  assert.match(verification.value, /^deliverability-verify=[a-z0-9]{32}$/);
  assert.deepEqual(body, {
    id,
    object: 'domain',
    name: 'xn--bcher-kva.example',
    status: 'pending',
    verification: { type: 'TXT', name: verification.name, value: verification.value },
    verified_at: null,
    missing_since: null,
    last_checked_at: null,
    last_check_detail: null,
    next_check_at: '2026-11-21T10:01:00.000Z',
    dkim_selectors: ['s1', 'mail.2026'],
    badge_enabled: false,
    tags: [],
    health: {
      status: 'unknown',
      score: null,
      checked_at: null,
      unanswered_since: null,
      checks: [],
    },
    team_verification: {
      type: 'TXT',
      name: verification.name,
      value: body.team_verification.value,
    },
    feedback: {
      address: body.feedback.address,
      state: 'unknown',
      records: [],
      last_report_at: null,
    },
    created_at: '2026-11-21T10:00:00.000Z',
  });
  assert.match(body.feedback.address, /^fb-[a-z0-9]{16}@inbox\.test$/);
  const other = await service.add('example.org', { badge_enabled: true });
  const listed = async (query = '') =>
    (await call<List<Domain>>('GET', `/v1/domains${query}`)).body.data.map((one) => one.id);
  assert.deepEqual(await listed(), [other.id, id]);
  assert.deepEqual(await listed('?limit=1'), [other.id]);
  assert.deepEqual(await listed(`?starting_after=${other.id}`), [id]);
  service.publish(other);
  assert.equal((await service.verify(other.id)).body.status, 'verified');
  assert.deepEqual(await listed('?status=pending'), [id]);
  assert.deepEqual(await listed('?status=verified'), [other.id]);
  const response = await call('DELETE', `/v1/domains/${id}`);
  assert.deepEqual(response.body, { id, object: 'domain', deleted: true });
  assert.equal((await call('GET', `/v1/domains/${id}`)).status, 404);
  assert.deepEqual(await listed(), [other.id]);
  const noted = await auditOf(service, { object_id: id });
  assert.deepEqual(
    noted.map(([action]) => action),
    ['domain.deleted', 'domain.created'],
  );
});

test('GET /v1/domains filters by status, health and a part of the name, in any combination', async (t) => {
  const service = await startTestService(t);
  const { app, call } = service;
  const domains = [
    ['shop.example', 'verified', 'critical'],
    ['mail.example', 'verified', 'healthy'],
    ['xn--bcher-kva.example', 'failed', 'critical'],
    ['a_b.example', 'pending', 'unknown'],
  ] as const;
  for (const [name, status, health_status] of domains) {
    await call('POST', '/v1/domains', { json: { name: name.replace('_', 'x') } });
    await firstLookupsDone(app);
    const named = app.db.updateTable('domains').where('name', '=', name.replace('_', 'x'));
    await named.set({ name, status, health_status, next_check_at: null }).execute();
  }
  const names = async (query: string) =>
    (await call<List<Domain>>('GET', `/v1/domains?${query}`)).body.data.map(({ name }) => name);
  assert.deepEqual(await names('health=critical'), ['xn--bcher-kva.example', 'shop.example']);
  assert.deepEqual(await names('health=critical&status=verified'), ['shop.example']);
  assert.deepEqual(await names('q=MAIL'), ['mail.example']);
  assert.deepEqual(await names(`q=${encodeURIComponent('Bücher.example')}`), [
    'xn--bcher-kva.example',
  ]);
  assert.deepEqual(await names('q=_'), ['a_b.example']);
  assert.deepEqual(await names('q=%25'), []);
  assert.deepEqual(await names('q=example&status=failed&health=critical&limit=1'), [
    'xn--bcher-kva.example',
  ]);
  assert.equal((await call('GET', '/v1/domains?health=fine')).status, 422);
  assert.equal((await call('GET', `/v1/domains?q=${'x'.repeat(201)}`)).status, 422);
});

const REFUSED: [unknown, RegExp][] = [
  ['', /is empty/],
  ['com', /single label/],
  ['co.uk', /public suffix/],
  ['192.0.2.1', /IP address/],
  ['2001:db8::1', /IP address/],
  ['ann@gmail.com', /an address at Gmail/],
  ['_dmarc.example.com', /name of a DNS record/],
  ['exa mple.com', /not a domain name/],
  [`${'a'.repeat(64)}.example.com`, /not a domain name/],
  ['x'.repeat(2000), /too long/],
  ['\u0000.example.com', /not a domain name/],
  [7, /must be a string/],
];

test('POST /v1/domains rejects invalid names with 422 and duplicates with 409', async (t) => {
  const service = await startDomainService(t);
  const { call } = service;
  for (const [name, reason] of REFUSED) {
    const { status, body } = await call<Problem>('POST', '/v1/domains', { json: { name } });
    assert.equal(status, 422, String(name));
    assert.equal(body.errors[0]!.param, 'name');
    assert.match(body.errors[0]!.message, reason, String(name));
  }
  for (const dkim_selectors of [['a b'], ['-'], ['x'.repeat(64)], 's1', Array(21).fill('s1')]) {
    const json = { name: 'example.com', dkim_selectors };
    assert.equal((await call('POST', '/v1/domains', { json })).status, 422);
  }
  const { id } = await service.add('example.com');
  const json = { name: 'EXAMPLE.com' };
  const again = await call<Problem>('POST', '/v1/domains', { json });
  assert.equal(again.status, 409);
  assert.match(again.body.detail, new RegExp(id));
});

test('PATCH /v1/domains/{id} updates selectors and badge, honors If-Match and rejects viewers', async (t) => {
  const service = await startDomainService(t);
  const { call, makeMember } = service;
  const { id } = await service.add('example.com', { dkim_selectors: ['s1'] });
  const path = `/v1/domains/${id}`;
  const tag = (await call('GET', path)).headers.get('etag')!;
  const patch = (json: object, match?: string) =>
    call<Domain>('PATCH', path, { json, headers: match ? { 'if-match': match } : {} });
  const changed = await patch({ dkim_selectors: ['S2'], badge_enabled: true }, tag);
  assert.equal(changed.status, 200);
  assert.deepEqual([changed.body.dkim_selectors, changed.body.badge_enabled], [['s2'], true]);
  assert.equal((await patch({ badge_enabled: false }, tag)).status, 412);
  const stale = { headers: { 'if-match': tag } };
  assert.equal((await call('DELETE', path, stale)).status, 412);
  assert.equal((await patch({ name: 'example.org' })).status, 422);
  assert.deepEqual((await patch({ dkim_selectors: null })).body.dkim_selectors, []);
  assert.deepEqual((await patch({})).body, await service.get(id));
  const viewer = await makeMember('viewer');
  const asViewer = async (method: string, at: string, json?: object) =>
    (await call(method, at, { key: viewer.key, json })).status;
  assert.equal(await asViewer('GET', '/v1/domains'), 403);
  assert.equal(await asViewer('GET', `${path}/health`), 403);
  assert.equal(await asViewer('POST', `${path}/verify`), 403);
  assert.equal(await asViewer('PATCH', path, { badge_enabled: false }), 403);
  assert.equal(await asViewer('DELETE', path), 403);
  const member = await makeMember('member');
  const made = await call('POST', '/v1/domains', {
    key: member.key,
    json: { name: 'example.net' },
  });
  assert.equal(made.status, 201);
  const noted = await auditOf(service, { object_id: id });
  assert.deepEqual(noted.slice(1, 2), [
    [
      'domain.changed',
      {
        dkim_selectors: { from: ['s1'], to: ['s2'] },
        badge_enabled: { from: false, to: true },
      },
    ],
  ]);
});

test('GET /v1/domains/{id}/health returns and stores current health with records to publish', async (t) => {
  const zone = { ...GOOD_ZONE };
  delete zone['_dmarc.example.com'];
  const service = await startDomainService(t, zone);
  const { call } = service;
  const domain = await service.add('example.com', { dkim_selectors: ['s1', 's9'] });
  const look = () => call<DomainHealthResponse>('GET', `/v1/domains/${domain.id}/health`);
  const { status, body } = await look();
  assert.equal(status, 200);
  assert.equal(body.object, 'domain_health');
  assert.equal(body.status, 'critical');
  assert.deepEqual(body.records[0], {
    ...domain.verification,
    purpose: 'Proves that you control the domain',
    action: 'add',
    replaces: [],
    required: true,
  });
  const dmarc = body.records.find(({ name }) => name === '_dmarc.example.com')!;
  assert.equal(dmarc.type, 'TXT');
  assert.match(dmarc.value, /^v=DMARC1; p=/);
  // Only the signer knows the key at s9: its record is described but can't be copied.
  const s9 = body.checks.find(({ evidence }) => evidence.selector === 's9')!;
  assert.match(s9.fix!.record!.value, /<the public key/);
  assert.equal(body.records.filter(({ value }) => value.includes('<')).length, 0);
  const kept = await service.get(domain.id);
  assert.deepEqual(kept.health, {
    status: 'critical',
    score: body.score,
    checks: body.checks,
    checked_at: body.checked_at,
    unanswered_since: null,
  });
  // Unverified domains send no events.
  service.dns.zone['_dmarc.example.com'] = GOOD_ZONE['_dmarc.example.com']!;
  service.clock.advance(HOUR);
  assert.notEqual((await look()).body.status, 'critical');
  assert.deepEqual(await service.domainEvents(), []);
});

test('GET /v1/domains/{id}/health with a test-mode key returns the last result and checks nothing', async (t) => {
  const zone = { ...GOOD_ZONE };
  delete zone['_dmarc.example.com'];
  const service = await startDomainService(t, zone);
  const { call } = service;
  const key = await service.makeKey('member', false);
  const { id } = await service.add('example.com', { dkim_selectors: ['s1'] });
  const path = `/v1/domains/${id}/health`;
  const fields = { health_status: 'unknown', health_score: null } as const;
  await service.app.db
    .updateTable('domains')
    .set({ ...fields, health_checks: '[]', health_checked_at: null })
    .execute();
  const none = await call<DomainHealthResponse>('GET', path, { key });
  assert.equal(none.status, 200, none.text);
  const { status, score, checks, checked_at, summary } = none.body;
  assert.deepEqual([status, score, checks, checked_at], ['unknown', null, [], null]);
  assert.equal(summary, 'example.com has not been checked yet.');
  const live = await call<DomainHealthResponse>('GET', path);
  assert.equal(live.body.status, 'critical');
  const before = await service.get(id);
  service.dns.zone['_dmarc.example.com'] = GOOD_ZONE['_dmarc.example.com']!;
  service.clock.advance(HOUR);
  const stored = await call<DomainHealthResponse>('GET', path, { key });
  assert.deepEqual({ ...stored.body, records: [] }, { ...live.body, records: [] });
  assert.deepEqual(await service.get(id), before);
  assert.equal((await call('GET', '/v1/domains/dom_none/health', { key })).status, 404);
});

test('A health change seen on request emits one event, not another at the daily check', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const domain = await service.add('example.com', { dkim_selectors: ['s1'] });
  service.publish(domain);
  await service.pass(MINUTE);
  delete service.dns.zone['_dmarc.example.com'];
  await service.pass(2 * MINUTE);
  const path = `/v1/domains/${domain.id}/health`;
  const looks = await Promise.all([1, 2, 3].map(() => service.call('GET', path)));
  assert.deepEqual(
    looks.map(({ body }) => body.status),
    ['critical', 'critical', 'critical'],
  );
  await service.pass(2 * DAY);
  const events = await service.domainEvents();
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.previous_health]),
    [
      ['domain.verified', undefined],
      ['domain.health_changed', 'healthy'],
    ],
  );
});

test('Concurrent verification of a domain emits one domain.verified event', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const domain = await service.add('example.com');
  service.publish(domain);
  service.clock.advance(MINUTE);
  const answers = await Promise.all([
    ...[1, 2, 3].map(() => service.verify(domain.id)),
    service.settle(),
  ]);
  for (const answer of answers.slice(0, 3)) assert.equal(answer!.body.status, 'verified');
  await service.settle();
  const types = (await service.domainEvents()).map(({ type }) => type);
  assert.deepEqual(types, ['domain.verified']);
});

test('POST /v1/domains/{id}/verify reports a wrong TXT value and finds the right one among others', async (t) => {
  const service = await startDomainService(t);
  const { id, verification } = await service.add('example.com');
  service.dns.zone[verification.name] = { TXT: ['deliverability-verify=of-another-team'] };
  const wrong = await service.verify(id);
  assert.equal(wrong.body.status, 'pending');
  assert.match(wrong.body.last_check_detail!, /does not contain deliverability-verify=/);
  service.clock.advance(HOUR);
  service.dns.zone[verification.name] = { TXT: ['spare', `"${verification.value}"`] };
  assert.equal((await service.verify(id)).body.status, 'verified');
});

test('A domain deleted during a check stays deleted and emits no event', async (t) => {
  const service = await startDomainService(t, { ...GOOD_ZONE });
  const domain = await service.add('example.com');
  service.publish(domain);
  service.clock.advance(MINUTE);
  service.dns.tamper = async (reply) => {
    // The answer arrives after the domain was deleted.
    await service.app.db.deleteFrom('domains').execute();
    return [reply];
  };
  await service.settle();
  assert.equal((await service.call('GET', `/v1/domains/${domain.id}`)).status, 404);
  assert.deepEqual(await service.domainEvents(), []);
});

test('Daily health checks are spread over 24 hours', async (t) => {
  const service = await startDomainService(t);
  const { app, clock } = service;
  const names = Array.from({ length: 60 }, (_, n) => `d${n}.example.org`);
  for (const name of names) service.publish(await service.add(name));
  clock.advance(MINUTE);
  await service.settle();
  const rows = await app.db.selectFrom('domains').select(['status', 'next_check_at']).execute();
  assert.ok(rows.every(({ status }) => status === 'verified'));
  const hours = new Set(rows.map(({ next_check_at }) => next_check_at!.slice(0, 13)));
  assert.ok(hours.size > 15, String(hours.size));
  for (const { next_check_at } of rows) {
    const wait = Date.parse(next_check_at!) - clock.now();
    assert.ok(wait >= HOUR && wait <= 25 * HOUR, next_check_at!);
  }
});

// Deleting a domain: what is deleted with it, and who may do it.

test('DELETE /v1/domains/{id} requires an admin when alert rules use the domain', async (t) => {
  const service = await startDomainService(t);
  const { app, call, makeMember } = service;
  const { id } = await service.add('example.com');
  const rule = async (domain_id: string) => {
    const json = { name: 'Bad', condition: 'auth_fail', channels: ['email'], domain_id };
    return (await call<{ id: string }>('POST', '/v1/alerts', { json })).body.id;
  };
  const rules = [await rule(id), await rule(id)];
  const published: [string, unknown][] = [];
  const first = subscribe(domainRemoved, async (tx, domain, { actor }) => {
    const rows = await tx.selectFrom('alerts').select('id').where('domain_id', '=', id).execute();
    published.push([domain.name, [actor?.email, rows.map((row) => row.id)]]);
  });
  app.subscribers = createSubscribers([first, ...subscriptionsOf(app)]);
  const path = `/v1/domains/${id}`;
  const member = await makeMember('member');
  const refused = await call<{ code: string; detail: string }>('DELETE', path, { key: member.key });
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict']);
  assert.ok(refused.body.detail.includes(rules.join(', ')), refused.body.detail);
  // An owner's key with the member role is rejected too.
  const key = await service.makeKey('member');
  assert.equal((await call('DELETE', path, { key })).status, 409);
  assert.deepEqual(published, []);
  const admin = await makeMember('admin');
  assert.equal((await call('DELETE', path, { key: admin.key })).status, 200);
  assert.deepEqual(published, [['example.com', [admin.email, rules]]]);
  // Without a rule that uses the domain, a member may delete it.
  const other = await service.add('example.org');
  const response = await call('DELETE', `/v1/domains/${other.id}`, { key: member.key });
  assert.equal(response.status, 200);
});

test('DELETE /v1/domains/{id} is rolled back when a subscriber fails', async (t) => {
  const service = await startDomainService(t);
  const { id } = await service.add('example.com');
  service.app.subscribers.add(
    subscribe(domainRemoved, async () => {
      throw new Error('no');
    }),
  );
  assert.equal((await service.call('DELETE', `/v1/domains/${id}`)).status, 500);
  assert.equal((await service.get(id)).id, id);
  assert.deepEqual(await auditOf(service, { action: 'domain.deleted' }), []);
});

test('DELETE /v1/domains/{id} deletes its monitors and audits each', async (t) => {
  const service = await startDomainService(t);
  const { call } = service;
  const { id } = await service.add('example.com');
  const json = { name: 'Its name', type: 'blocklist', domain_id: id };
  const monitor = (await call<{ id: string }>('POST', '/v1/monitors', { json })).body;
  await call('DELETE', `/v1/domains/${id}`);
  assert.equal((await call('GET', `/v1/monitors/${monitor.id}`)).status, 404);
  const details = { name: 'Its name', type: 'blocklist', with_domain: 'example.com' };
  assert.deepEqual(await auditOf(service, { action: 'monitor.deleted', object_id: monitor.id }), [
    ['monitor.deleted', details],
  ]);
});

// Limits on the number of domains and monitors, and index use.

test('The 20,001st domain or monitor gets 409', async (t) => {
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
      /limit of 20000 .* Delete one that you no longer need/,
    );
  }
});

/** How the database finds the rows of a statement. */
async function planOf({ app }: TestService, statement: RawBuilder<unknown>): Promise<string> {
  const plan = await app.db.transaction().execute(async (tx) => {
    // PostgreSQL reads a table without rows from its beginning.
    if (onPostgres) await sql`SET LOCAL enable_seqscan = off`.execute(tx);
    return sql`${sql.raw(onPostgres ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN')} ${statement}`.execute(tx);
  });
  return JSON.stringify(plan.rows);
}

test('Monitors and events of a domain, and domains by state, are looked up through an index', async (t) => {
  const service = await startTestService(t);
  const statements: [RawBuilder<unknown>, RegExp][] = [
    [sql`DELETE FROM monitors WHERE domain_id = 'dom_1'`, /monitors_domain/],
    [
      sql`SELECT data FROM events WHERE substr(data, 8, 30) = 'dom_1'
        AND type >= 'domain.' AND type < 'domain/' ORDER BY id DESC LIMIT 10`,
      /events_domain/,
    ],
    [
      sql`SELECT name FROM domains WHERE status = 'verified' AND health_status = 'critical'
        ORDER BY id DESC LIMIT 10`,
      /domains_listed/,
    ],
    [
      sql`SELECT name FROM monitors WHERE status = 'ok' ORDER BY id DESC LIMIT 10`,
      /monitors_listed/,
    ],
  ];
  for (const [statement, index] of statements)
    assert.match(await planOf(service, statement), index);
});

test('Tags of a domain are normalized, filter the list, and are audited', async (t) => {
  const service = await startDomainService(t);
  const { call } = service;
  const { body } = await call<Domain>('POST', '/v1/domains', {
    json: { name: 'example.com', tags: ['client:acme', ' Client:100%_"\\ '] },
  });
  assert.deepEqual(body.tags, ['client:100%_"\\', 'client:acme']);
  await service.add('example.org', { tags: ['client:acm'] });
  const named = async (tag: string) => {
    const path = `/v1/domains?tag=${encodeURIComponent(tag)}`;
    return (await call<List<Domain>>('GET', path)).body.data.map(({ name }) => name);
  };
  assert.deepEqual(await named('CLIENT:Acme'), ['example.com']);
  assert.deepEqual(await named('client:acm'), ['example.org']);
  assert.deepEqual(await named('client:100%_"\\'), ['example.com']);
  assert.deepEqual(await named('client:_'), []);
  const path = `/v1/domains/${body.id}`;
  const changed = await call<Domain>('PATCH', path, { json: { tags: ['client:new'] } });
  assert.deepEqual(changed.body.tags, ['client:new']);
  assert.deepEqual(await named('client:acme'), []);
  const [entry] = await auditOf(service, { action: 'domain.changed' });
  assert.deepEqual(entry![1], {
    tags: { from: ['client:100%_"\\', 'client:acme'], to: ['client:new'] },
  });
  for (const tags of [['a', 'A'], ['a,b'], Array.from({ length: 11 }, (_, n) => `t${n}`)])
    assert.equal((await call('PATCH', path, { json: { tags } })).status, 422);
});
