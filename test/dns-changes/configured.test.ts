/** A program of the configuration is a name server that only the configuration can change. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EXIT } from '../../src/commands/command.ts';
import { dns as command } from '../../src/commands/dns/dns.ts';
import type { DnsChange, DnsPlan, DnsServer } from '../../src/dns-changes/schema.ts';
import { command as programKind } from '../../src/dns-changes/servers/command.ts';
import { addConfiguredServers } from '../../src/dns-changes/stored-servers.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { runCommand } from '../commands/run.ts';
import { memberOf } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { startDomainService } from '../domains/domain-service.ts';
import { loopbackContext } from '../helpers/bind.ts';
import { writeCommandProgram } from '../helpers/dns-apis/command.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { skipOnPostgres } from '../helpers/store.ts';
import type { List } from '../team/team-service.ts';

const DMARC = '_dmarc.example.com';
const WEAK = 'v=DMARC1; p=none; rua=mailto:dmarc@example.com';
const SECRET = 'correct horse battery';

async function startProgram(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'dns-command-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'state.json');
  const program = writeCommandProgram(folder);
  const sets = [{ name: DMARC, type: 'TXT', ttl: 600, values: [WEAK] }];
  const save = (fault: object | null) => writeFileSync(file, JSON.stringify({ sets, fault }));
  save(null);
  const entry = {
    name: 'registrar',
    command: [program],
    zones: ['example.com'],
    env: { STATE: file, SECRET },
  };
  const env = { DELIVERABILITY_DNS_COMMANDS: JSON.stringify([entry]) };
  const service = await startDomainService(t, { ...GOOD_ZONE, [DMARC]: { TXT: [WEAK] } }, env);
  const published = () => JSON.parse(readFileSync(file, 'utf8')).sets[0].values as string[];
  return { ...service, env, save, published };
}

async function startVerified(t: TestContext) {
  const service = await startProgram(t);
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.verify(domain.id);
  await service.settle();
  await addConfiguredServers(service.app);
  const [server] = (await service.call<List<DnsServer>>('GET', '/v1/dns_servers')).body.data;
  const path = `/v1/domains/${domain.id}`;
  const source = { server_id: server!.id, checks: ['dmarc_policy'] };
  const apply = async () => {
    const plan = await service.call<DnsPlan>('POST', `${path}/dns_plan`, { json: source });
    const json = { ...source, token: plan.body.token };
    const { body, text } = await service.call<List<DnsChange>>('POST', `${path}/dns_apply`, {
      json,
    });
    assert.ok(body.data, text);
    return body.data[0]!;
  };
  return { ...service, server: server!, apply };
}

test('a program is listed after the start, publishes a plan, and undoes it', async (t) => {
  const { app, call, server, apply, published } = await startVerified(t);
  assert.partialDeepStrictEqual(server, {
    kind: 'command',
    name: 'registrar',
    zones: ['example.com'],
    settings: {},
    stored_secrets: [],
  });
  await addConfiguredServers(app);
  const { body } = await call<List<DnsServer>>('GET', '/v1/dns_servers');
  assert.equal(body.data.length, 1, 'added once');
  const checked = await call<DnsServer>('POST', `/v1/dns_servers/${server.id}/check`);
  assert.equal(checked.body.problem, null);
  const made = await apply();
  assert.deepEqual([made.status, made.error], ['applied', null]);
  assert.match(published()[0]!, /p=quarantine/);
  const undone = await call<DnsChange>('POST', `/v1/dns_changes/${made.id}/undo`);
  assert.equal(undone.body.status, 'applied');
  assert.deepEqual(published(), [WEAK]);
});

test('the API, the page and the command cannot add, change or delete a program', async (t) => {
  const service = await startVerified(t);
  const { call, server, env } = service;
  const json = { kind: 'command', name: 'mine', settings: {} };
  assert.equal((await call('POST', '/v1/dns_servers', { json })).status, 422);
  const path = `/v1/dns_servers/${server.id}`;
  for (const [method, body] of [
    ['PATCH', { name: 'mine' }],
    ['PATCH', { settings: { server: 'ns1.example.com' } }],
    ['DELETE', undefined],
  ] as const) {
    const answer = await call<{ detail: string }>(method, path, { json: body });
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.body.detail, /in the configuration \(DELIVERABILITY_DNS_COMMANDS\)/);
  }
  const owner = await memberOf(service, 'owner@example.com');
  const page = mainOf((await owner.get(`/dns/servers/${server.id}`)).html);
  assert.match(page, /under DNS_COMMANDS/);
  assert.doesNotMatch(page, /Save and check/);
  assert.doesNotMatch((await owner.get('/dns/servers/new')).html, /kind=command/);
  await assert.rejects(
    runCommand(command, ['add-server', 'mine', '--kind', 'command'], env),
    /--kind must be/,
  );
});

test('after a program fails during a change, the records are read again, and no error contains its secrets', async (t) => {
  const { apply, save, published, call, server } = await startVerified(t);
  save({ kind: 'cut', on: 'write' });
  assert.equal((await apply()).status, 'applied');
  assert.match(published()[0]!, /p=quarantine/);
  save({ kind: 'unavailable', on: 'all' });
  const checked = await call<DnsServer>('POST', `/v1/dns_servers/${server.id}/check`);
  assert.match(
    checked.body.problem!,
    /registrar could not do this\. It says: “maintenance with …”/,
  );
  assert.ok(!checked.text.includes(SECRET));
  const audit = await call('GET', '/v1/audit_log');
  assert.ok(audit.text.includes('dns_change.requested') && !audit.text.includes(SECRET));
});

test('a program that is no longer in the configuration can only be deleted', async (t) => {
  const { app, call, server } = await startVerified(t);
  app.config.DNS_COMMANDS.pop();
  const path = `/v1/dns_servers/${server.id}`;
  const checked = await call<{ detail: string }>('POST', `${path}/check`);
  assert.equal(checked.status, 409);
  assert.match(checked.body.detail, /no longer in the configuration/);
  assert.equal((await call('DELETE', path)).status, 200);
});

test('the command uses a program that the service has not loaded yet', {
  skip: skipOnPostgres,
}, async (t) => {
  const { folder, env, dns } = await startProgram(t);
  const listed = await runCommand(command, ['servers'], {
    ...env,
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
  });
  assert.equal(listed.code, EXIT.success, listed.stderr);
  assert.match(listed.stdout, /^registrar \(command\): not checked yet, for example\.com$/m);
});

test('the program in the documentation follows the protocol', {
  skip: skipUnlessInstalled('python3'),
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dns-command-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const text = readFileSync(new URL('../../docs/dns-publishing.md', import.meta.url), 'utf8');
  const [, program] = /```python\n(.*?)```/s.exec(text)!;
  const file = join(folder, 'publish-dns');
  writeFileSync(file, program!, { mode: 0o755 });
  const zone = join(folder, 'zone.json');
  writeFileSync(zone, '[]');
  const server = programKind.open(
    {},
    {
      ...loopbackContext(),
      command: {
        name: 'x',
        command: [file],
        zones: ['example.com'],
        env: { ZONE_FILE: zone },
        timeoutMs: 10_000,
      },
    },
  );
  const none = { name: DMARC, type: 'TXT', values: [], ttl: 3600 };
  const one = { ...none, values: [WEAK] };
  await server.replace('example.com', none, one);
  assert.deepEqual(await server.read('example.com', DMARC, 'TXT'), one);
  await assert.rejects(server.replace('example.com', none, one), { problem: 'changed' });
  await server.replace('example.com', one, none);
  assert.equal(readFileSync(zone, 'utf8'), '[]');
  // Its texts have no notation, and it compares with what it has said.
  const odd = [
    { ...none, values: ['"quoted"'] },
    { ...none, type: 'MX', values: ['10 MX.Example.com.'] },
  ];
  writeFileSync(zone, JSON.stringify(odd));
  for (const { type, values } of odd) {
    const before = await server.read('example.com', DMARC, type);
    assert.deepEqual(before.values, type === 'TXT' ? values : ['10 mx.example.com']);
    const added = type === 'TXT' ? 'x' : '20 b.example.com';
    await server.replace('example.com', before, { ...before, values: [...before.values, added] });
  }
  const stored = JSON.parse(readFileSync(zone, 'utf8')) as typeof odd;
  assert.deepEqual(
    stored.map(({ values }) => values),
    [
      ['"quoted"', 'x'],
      ['10 MX.Example.com.', '20 b.example.com'],
    ],
  );
});
