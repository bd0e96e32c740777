/** Name servers, plans and changes through the API: who may, what is stored, what is kept, and what is undone. */

// @isolated: it adds a kind of name server before the schema of the API is built.

import './memory-server.ts';

import assert from 'node:assert/strict';
import { describe, it, type TestContext, test } from 'node:test';
import { EXIT } from '../../src/commands/command.ts';
import { dns as command } from '../../src/commands/dns/dns.ts';
import type { DnsChange, DnsPlan, DnsServer } from '../../src/dns-changes/schema.ts';
import { DnsServerError } from '../../src/dns-changes/server.ts';
import { settleStopped } from '../../src/dns-changes/settle-job.ts';
import { runCommand } from '../commands/run.ts';
import { skipOnPostgres } from '../helpers/store.ts';
import { auditOf, type List } from '../team/team-service.ts';
import { memory } from './memory-server.ts';
import { DMARC, type Problem, SETTINGS, startPublishing, WEAK } from './publishing.ts';

test('A plan shows the difference, is applied once confirmed, checks the domain again, and is undone', async (t) => {
  const service = await startPublishing(t);
  const { call, plan, apply, domain, server, dns } = service;
  const findings = async () =>
    (await service.get(domain.id)).health.checks.map(({ id, status }) => `${id} ${status}`);
  assert.ok((await findings()).includes('dmarc_policy warn'));

  const planned = await plan();
  assert.equal(planned.server_id, server.id);
  const [change, ...others] = planned.changes;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [change!.name, change!.type, change!.action, change!.problem],
    [DMARC, 'TXT', 'replace', null],
  );
  assert.deepEqual(change!.before, { values: [WEAK], ttl: 600 });
  assert.match(change!.after.values[0]!, /^v=DMARC1; p=quarantine; rua=mailto:dmarc@example\.com/);
  assert.match(change!.copies!.zone_file, /^_dmarc\.example\.com\.\s+600\s+IN\s+TXT\s+"v=DMARC1/m);
  assert.deepEqual(dns.zone[DMARC], { TXT: [WEAK] }, 'a plan changes nothing');

  const applied = await apply({ token: planned.token });
  assert.equal(applied.status, 200, applied.text);
  const [made] = applied.body.data;
  assert.deepEqual(dns.zone[DMARC]!.TXT, change!.after.values);
  assert.partialDeepStrictEqual(made, {
    object: 'dns_change',
    status: 'applied',
    error: null,
    undoes: null,
    zone: 'example.com',
    before: change!.before,
    after: change!.after,
    domain_id: domain.id,
    finished_at: service.now(),
    cached_until: '2026-11-21T10:10:00.000Z',
  });
  await service.settle();
  assert.ok((await findings()).includes('dmarc_policy pass'), (await findings()).join(', '));

  const undone = await call<DnsChange>('POST', `/v1/dns_changes/${made!.id}/undo`);
  assert.deepEqual(
    [undone.body.status, undone.body.undoes, undone.body.after],
    ['applied', made!.id, change!.before],
  );
  assert.deepEqual(dns.zone[DMARC]!.TXT, [WEAK]);
  const again = await call<Problem>('POST', `/v1/dns_changes/${made!.id}/undo`);
  assert.deepEqual(
    [again.status, again.body.detail],
    [409, 'This change has already been undone.'],
  );
  await service.settle();
  assert.ok((await findings()).includes('dmarc_policy warn'));

  const listed = await call<List<DnsChange>>('GET', `/v1/dns_changes?domain_id=${domain.id}`);
  assert.deepEqual(
    listed.body.data.map(({ id, status }) => [id, status]),
    [
      [undone.body.id, 'applied'],
      [made!.id, 'undone'],
    ],
  );
  assert.deepEqual(
    (await auditOf(service, { object_id: made!.id })).map(([action]) => action),
    ['dns_change.requested'],
  );
});

test('Secrets of a name server are encrypted, in no response or audit entry, and kept by changes without them', async (t) => {
  const service = await startPublishing(t);
  const { call, server, app } = service;
  assert.deepEqual(server.settings, { memory_room: 'attic' });
  assert.deepEqual(server.stored_secrets, ['memory_password']);
  const path = `/v1/dns_servers/${server.id}`;
  const renamed = await call<DnsServer>('PATCH', path, {
    json: { name: 'ns2', settings: { memory_room: 'cellar' } },
  });
  assert.deepEqual([renamed.body.name, renamed.body.settings], ['ns2', { memory_room: 'cellar' }]);
  const checked = await call<DnsServer>('POST', `${path}/check`);
  assert.deepEqual([checked.body.problem, checked.body.zones], [null, ['example', 'example.com']]);
  const wrong = { settings: { memory_password: 'wrong-secret-word' } };
  await call('PATCH', path, { json: wrong });
  const failed = await call<DnsServer>('POST', `${path}/check`);
  assert.equal(failed.body.problem, 'The server does not accept the password.');
  const row = await app.db.selectFrom('dns_servers').selectAll().executeTakeFirstOrThrow();
  const everything = JSON.stringify([
    row,
    failed.body,
    (await call('GET', '/v1/dns_servers')).body,
    (await call('GET', '/v1/audit_log')).body,
    service.logged,
  ]);
  for (const secret of ['correct horse battery', 'wrong-secret-word'])
    assert.ok(!everything.includes(secret), secret);
  assert.match(
    JSON.stringify((await call('GET', '/v1/audit_log')).body),
    /"memory_password":"changed"/,
  );

  const planned = await call<Problem>('POST', service.planPath, {
    json: { server_id: server.id },
  });
  assert.deepEqual(
    [planned.status, planned.body.detail],
    [409, 'The server does not accept the password.'],
  );
  assert.equal((await call('DELETE', path)).status, 200);
  assert.equal((await call('GET', path)).status, 404);
});

test('Invalid settings of a name server are rejected, each with its name', async (t) => {
  const { call } = await startPublishing(t);
  const errorsOf = async (json: object) => {
    const { status, body } = await call<Problem>('POST', '/v1/dns_servers', { json });
    return [status, body.errors.map(({ param }) => param)];
  };
  const base = { kind: 'memory', name: 'other', settings: SETTINGS };
  assert.deepEqual(await errorsOf({ ...base, kind: 'magic' }), [422, ['kind']]);
  assert.deepEqual(await errorsOf({ ...base, settings: { memory_room: 'x' } }), [
    422,
    ['settings.memory_password'],
  ]);
  assert.deepEqual(await errorsOf({ ...base, settings: { ...SETTINGS, size: 'x' } }), [
    422,
    ['settings.size'],
  ]);
  assert.deepEqual(
    await errorsOf({ ...base, settings: { ...SETTINGS, api_token: 'x'.repeat(40) } }),
    [422, ['settings.api_token']],
  );
  const taken = await call<Problem>('POST', '/v1/dns_servers', { json: { ...base, name: 'ns1' } });
  assert.deepEqual(
    [taken.status, taken.body.detail],
    [409, 'There is already a name server “ns1”.'],
  );
});

test('A plan that is no longer true, unknown records, and a second change at a time are refused with 409 or 422', async (t) => {
  const { plan, apply, dns, call, app } = await startPublishing(t);
  const { token, changes } = await plan();
  assert.deepEqual((await apply({ token: 'x' })).status, 409);
  const { name, type } = changes[0]!;
  const unknown = await apply({ token, records: [{ name: 'www.example.com', type: 'TXT' }] });
  assert.deepEqual([unknown.status, unknown.body.errors[0]?.message], [422, 'is not in this plan']);
  // Somebody else changes the record between the plan and its confirmation.
  dns.zone[DMARC] = { TXT: [`${WEAK}; fo=1`] };
  const late = await apply({ token, records: [{ name, type }] });
  assert.deepEqual([late.status, late.body.code], [409, 'conflict']);
  assert.match(late.body.detail, /have changed since this plan was made/);
  assert.equal((await call<List<DnsChange>>('GET', '/v1/dns_changes')).body.data.length, 0);

  // Or while it is being applied.
  memory.beforeReplace = async () => {
    dns.zone[DMARC] = { TXT: ['v=DMARC1; p=reject'] };
  };
  const next = await plan();
  const { body } = await apply({ token: next.token });
  assert.deepEqual(
    body.data.map(({ status, error }) => [status, error]),
    [['failed', 'The records have changed since the plan was made.']],
  );
  assert.deepEqual(dns.zone[DMARC]!.TXT, ['v=DMARC1; p=reject']);

  // Two people at once: one wins.
  dns.zone[DMARC] = { TXT: [WEAK] };
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  memory.beforeReplace = async () => {
    begun.resolve();
    await release.promise;
  };
  const shared = await plan();
  const first = apply({ token: shared.token });
  await begun.promise;
  const second = await apply({ token: shared.token });
  assert.deepEqual([second.status, second.body.code], [409, 'conflict']);
  assert.match(second.body.detail, /are being changed right now/);
  release.resolve();
  assert.equal((await first).body.data[0]!.status, 'applied');
  const applying = app.db.selectFrom('dns_changes').select('id').where('status', '=', 'applying');
  assert.deepEqual(await applying.execute(), []);
});

test('Changes whose node stopped are settled by what the server has', async (t) => {
  const service = await startPublishing(t);
  const { app, clock, dns, server, domain } = service;
  const sets = { values: [WEAK], ttl: 600 };
  const after = { values: ['v=DMARC1; p=reject'], ttl: 600 };
  const insert = async (name: string, server_id = server.id) => {
    const id = app.newId('chg');
    await app.db
      .insertInto('dns_changes')
      .values({
        id,
        server_id,
        domain_id: domain.id,
        zone: 'example.com',
        name,
        type: 'TXT',
        before: JSON.stringify(sets),
        after: JSON.stringify(after),
        reason: 'A test',
        status: 'applying',
        error: null,
        undoes: null,
        created_at: service.now(),
        finished_at: null,
        leased_until: service.now(),
      })
      .execute();
    return id;
  };
  const names = ['made', 'not-made', 'other'].map((label) => `${label}.example.com`);
  dns.zone[names[0]!] = { TXT: after.values };
  dns.zone[names[1]!] = { TXT: sets.values };
  dns.zone[names[2]!] = { TXT: ['else'] };
  const ids = [];
  for (const name of names) ids.push(await insert(name));
  ids.push(await insert('removed.example.com', app.newId('dns')));
  clock.set(clock.now() + 1000);
  await settleStopped(app);
  const states = [];
  for (const id of ids) {
    const { body } = await service.call<DnsChange>('GET', `/v1/dns_changes/${id}`);
    states.push(`${body.status}: ${body.error}`);
  }
  assert.deepEqual(states, [
    'applied: null',
    'failed: The service stopped during the change. The records have not changed.',
    'unknown: The service stopped during the change. The records are neither the old ones nor the planned ones. Check them.',
    'unknown: No such name server. It is unknown whether the records were changed. Check them.',
  ]);
});

test('A change whose lease has lapsed is left to the job, and one that was made is never recorded as failed', async (t) => {
  const { app, clock, dns, plan, apply, call, server, domain } = await startPublishing(t);
  const TLS = '_smtp._tls.example.com';
  dns.zone[TLS] = {};
  app.forgetDns(TLS);
  await call('GET', `/v1/domains/${domain.id}/health`);
  const checks = ['dmarc_policy', 'tls_rpt'];
  const { token, changes } = await plan({ server_id: server.id, checks });
  assert.deepEqual(changes.map(({ name }) => name).toSorted(), [DMARC, TLS]);
  let replaced = 0;
  memory.beforeReplace = async () => {
    replaced += 1;
    clock.set(clock.now() + 121_000);
    await settleStopped(app);
  };
  const { body } = await apply({ token, checks });
  assert.equal(replaced, 1);
  const isPublished = ({ name, after }: DnsChange) =>
    JSON.stringify(dns.zone[name]).includes(JSON.stringify(after.values));
  assert.deepEqual(
    body.data.map((change) => [change.status, isPublished(change)]),
    [
      ['applied', true],
      ['failed', false],
    ],
  );
});

test('A change whose outcome is not known stays open until the server answers, and can be undone if it never does', async (t) => {
  const { app, clock, dns, plan, apply, call } = await startPublishing(t);
  memory.beforeReplace = async (after) => {
    dns.zone[DMARC] = { TXT: after.values };
    memory.isAway = true;
    throw new DnsServerError('timeout', 'No response in time.', { mayHaveChanged: true });
  };
  const lose = async () => {
    const { body } = await apply({ token: (await plan()).token });
    const [change] = body.data;
    assert.equal(change!.status, 'applying');
    assert.match(change!.error!, /^No response in time\. .* is not known yet/);
    return `/v1/dns_changes/${change!.id}`;
  };
  const found = await lose();
  memory.isAway = false;
  await settleStopped(app);
  const { status, error } = (await call<DnsChange>('GET', found)).body;
  assert.deepEqual([status, error], ['applied', null]);

  dns.zone[DMARC] = { TXT: [WEAK] };
  const lost = await lose();
  clock.set(clock.now() + 3_600_000);
  await settleStopped(app);
  const given = (await call<DnsChange>('GET', lost)).body;
  assert.deepEqual(
    [given.status, given.error],
    ['unknown', 'No response in time. It is unknown whether the records were changed. Check them.'],
  );
  memory.isAway = false;
  memory.beforeReplace = async () => {};
  const undone = await call<DnsChange>('POST', `${lost}/undo`);
  assert.deepEqual([undone.body.status, dns.zone[DMARC]!.TXT], ['applied', [WEAK]]);
});

test('A token is valid for its server, its domain and its source, and once', async (t) => {
  const { plan, apply, call, dns } = await startPublishing(t);
  const { body: other } = await call<DnsServer>('POST', '/v1/dns_servers', {
    json: { kind: 'memory', name: 'ns2', settings: SETTINGS },
  });
  const { token } = await plan();
  assert.equal((await plan()).token, token);
  assert.equal((await apply({ token, server_id: other.id })).status, 409);
  assert.equal((await apply({ token, checks: ['dmarc_policy', 'mx'] })).status, 409);
  const [made] = (await apply({ token })).body.data;
  await call('POST', `/v1/dns_changes/${made!.id}/undo`);
  assert.deepEqual(dns.zone[DMARC], { TXT: [WEAK] });
  assert.equal((await apply({ token })).status, 409, 'used before');
});

test('Undoing an undoing puts the first change into effect again', async (t) => {
  const { plan, apply, call } = await startPublishing(t);
  const [made] = (await apply({ token: (await plan()).token })).body.data;
  const undo = async (id: string) =>
    (await call<DnsChange>('POST', `/v1/dns_changes/${id}/undo`)).body;
  const undone = await undo(made!.id);
  assert.equal(undone.reason, `Undoes: ${made!.reason}`);
  assert.equal((await undo(undone.id)).reason, made!.reason);
  const { body } = await call<List<DnsChange>>('GET', '/v1/dns_changes');
  assert.deepEqual(
    body.data.map(({ status }) => status),
    ['applied', 'undone', 'applied'],
  );
});

test('Records outside of a verified domain need a verified domain of their own', async (t) => {
  const service = await startPublishing(t);
  const { call, dns, server, app } = service;
  const shop = await service.add('shop.example.com');
  service.publish(shop);
  await service.verify(shop.id);
  dns.zone['shop.example.com'] = { TXT: ['v=spf1 mx -all'], MX: ['10 mx.example.com'] };
  for (const name of ['shop.example.com', '_dmarc.shop.example.com', DMARC]) app.forgetDns(name);
  await call('GET', `/v1/domains/${shop.id}/health`);
  const planned = async () => {
    const json = { server_id: server.id };
    const { body } = await call<DnsPlan>('POST', `/v1/domains/${shop.id}/dns_plan`, { json });
    return body.changes.find(({ name }) => name === DMARC);
  };
  assert.equal((await planned())?.problem, null);
  await call('DELETE', `/v1/domains/${service.domain.id}`);
  assert.equal((await planned())?.problem, 'Add and verify example.com first.');
});

test('A record that needs a file on a web server is published only if it is chosen', async (t) => {
  const { app, plan, apply, call, domain, dns, server } = await startPublishing(t);
  const name = '_mta-sts.example.com';
  dns.zone[name] = {};
  app.forgetDns(name);
  await call('GET', `/v1/domains/${domain.id}/health`);
  const checks = ['mta_sts'];
  const { token, changes } = await plan({ server_id: server.id, checks });
  assert.deepEqual(
    changes.map((change) => [change.name, change.problem]),
    [[name, null]],
  );
  const refused = await apply({ token, checks });
  assert.deepEqual([refused.status, dns.zone[name]], [409, {}]);
  const chosen = await apply({ token, checks, records: [{ name, type: 'TXT' }] });
  assert.equal(chosen.body.data[0]?.status, 'applied', chosen.text);
});

test('An unverified domain gets its verification record only, and is verified after it', async (t) => {
  const service = await startPublishing(t);
  const { call, server, dns } = service;
  const other = await service.add('shop.example.com');
  const path = `/v1/domains/${other.id}`;
  const { body } = await call<DnsPlan>('POST', `${path}/dns_plan`, {
    json: { server_id: server.id },
  });
  assert.deepEqual(
    body.changes.map(({ name, action, checks }) => [name, action, checks]),
    [['_deliverability.shop.example.com', 'add', ['verification']]],
  );
  const applied = await call<List<DnsChange>>('POST', `${path}/dns_apply`, {
    json: { server_id: server.id, token: body.token },
  });
  assert.equal(applied.body.data[0]!.status, 'applied');
  assert.deepEqual(dns.zone['_deliverability.shop.example.com'], {
    TXT: [other.verification.value],
  });
  await service.settle();
  assert.equal((await service.get(other.id)).status, 'verified');
});

test('Viewers get plans to copy; only admins use name servers, and only in live mode', async (t) => {
  const { planPath, server, makeKey, call } = await startPublishing(t);
  const viewer = await makeKey('viewer');
  const { status, body } = await call<DnsPlan>('POST', planPath, { json: {}, key: viewer });
  assert.deepEqual([status, body.server_id], [200, null]);
  const json = { server_id: server.id };
  const member = await makeKey('member');
  assert.equal((await call('POST', planPath, { json, key: member })).status, 403);
  const testMode = await makeKey('admin', false);
  const refused = await call<Problem>('POST', planPath, { json, key: testMode });
  assert.deepEqual([refused.status, refused.body.code], [403, 'live_mode_required']);
  const { body: test } = await call<{ id: string }>('POST', '/v1/tests', { json: {} });
  const live = { json: { test_id: test.id }, key: testMode };
  const foreign = await call<Problem>('POST', planPath, live);
  assert.deepEqual([foreign.status, foreign.body.errors[0]?.param], [422, 'test_id']);
});

describe('The command', { skip: skipOnPostgres }, () => {
  const start = async (t: TestContext) => {
    const service = await startPublishing(t);
    const env = {
      DELIVERABILITY_DATA_DIR: service.folder,
      DELIVERABILITY_BLOCKLISTS: '-all',
      DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${service.dns.address.port}`,
    };
    const run = (args: string[], io: Parameters<typeof runCommand>[3] = {}) =>
      runCommand(command, args, env, io);
    return { ...service, run };
  };
  const APPLY = ['apply', 'example.com', '--check', 'dmarc_policy'];

  it('checks the domain again before it plans', async (t) => {
    const { run, dns } = await start(t);
    dns.zone[DMARC] = { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'] };
    const { stdout } = await run(['plan', 'example.com', '--check', 'dmarc_policy']);
    assert.match(stdout, /^No finding proposes a record/);
  });

  it('reads the name server and the domain again after the answer', async (t) => {
    const { run, call, server, dns, domain } = await start(t);
    const json = { settings: { memory_password: 'wrong' } };
    const changed = await run(APPLY, {
      ask: async () => {
        await call('PATCH', `/v1/dns_servers/${server.id}`, { json });
        return 'yes';
      },
    });
    assert.equal(changed.code, EXIT.externalFailure, changed.stdout);
    assert.match(changed.stderr, /does not accept the password/);
    await call('PATCH', `/v1/dns_servers/${server.id}`, { json: { settings: SETTINGS } });
    const deleted = await run(APPLY, {
      ask: async () => {
        await call('DELETE', `/v1/domains/${domain.id}`);
        return 'yes';
      },
    });
    assert.equal(deleted.code, EXIT.externalFailure);
    assert.match(deleted.stderr, /No such domain/);
    assert.deepEqual(dns.zone[DMARC], { TXT: [WEAK] });
  });

  it('asks for the name server if several have the zone, and prefers the closest zone', async (t) => {
    const { run, call, app } = await start(t);
    const { body: other } = await call<DnsServer>('POST', '/v1/dns_servers', {
      json: { kind: 'memory', name: 'ns2', settings: SETTINGS },
    });
    await assert.rejects(run(APPLY), /Choose one with --server: ns1, ns2/);
    const list = async (id: string, zones: string[]) =>
      app.db
        .updateTable('dns_servers')
        .set({ zones: JSON.stringify(zones) })
        .where('id', '=', id)
        .execute();
    await list(other.id, ['example.com', 'com']);
    assert.match((await run(APPLY, { ask: async () => 'no' })).stdout, /^What changes at ns2:/);
  });

  it('settles a change that was stopped before it makes a new one', async (t) => {
    const { run, app, server, domain, dns, now } = await start(t);
    const after = JSON.stringify({ values: ['v=DMARC1; p=reject'], ttl: 600 });
    await app.db
      .insertInto('dns_changes')
      .values({
        id: app.newId('chg'),
        server_id: server.id,
        domain_id: domain.id,
        zone: 'example.com',
        name: DMARC,
        type: 'TXT',
        before: after,
        after,
        reason: 'A test',
        status: 'applying',
        error: null,
        undoes: null,
        created_at: now(),
        finished_at: null,
        leased_until: now(),
      })
      .execute();
    const { code, stderr } = await run([...APPLY, '--yes']);
    assert.equal(code, EXIT.success, stderr);
    assert.match(JSON.stringify(dns.zone[DMARC]), /p=quarantine/);
  });
});
