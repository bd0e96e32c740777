/** From a finding to its record at a real BIND and back: by the API, on the page, and with the command. */

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { EXIT, UsageError } from '../../src/commands/command.ts';
import { dns as command } from '../../src/commands/dns/dns.ts';
import type { DnsChange, DnsPlan, DnsServer } from '../../src/dns-changes/schema.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { recordsOf } from '../../src/net/dns/resolver.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { runCommand } from '../commands/run.ts';
import { memberOf } from '../dashboard/member.ts';
import { fieldOf, mainOf } from '../dashboard/pages.ts';
import { startDomainService } from '../domains/domain-service.ts';
import { startBind, type TestNameServer, type Zones } from '../helpers/bind.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { skipOnPostgres } from '../helpers/store.ts';
import type { List } from '../team/team-service.ts';

/** How long the service keeps answers. */
const CACHED_MS = 61_000;
const DMARC = '_dmarc.example.com';
const SPF = ['v=spf1 ip4:192.0.2.1 -all', 'v=spf1 mx -all', 'google-site-verification=x'];
const ZONE = {
  ...GOOD_ZONE,
  'example.com': { ...GOOD_ZONE['example.com'], TXT: SPF },
} as Zones[string];

/** Only names in the zone, and without a DMARC record. */
const zoneOfBind = (): Zones[string] =>
  Object.fromEntries(
    Object.entries(ZONE).filter(([name]) => name.endsWith('example.com') && name !== DMARC),
  );

async function startPublishing(t: TestContext) {
  const bind = await startBind(t, { zones: { 'example.com': zoneOfBind() } });
  // What BIND has is what the service finds.
  const service = await startDomainService(
    t,
    {},
    {
      DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
      DELIVERABILITY_BASE_URL: 'http://mail.example.net',
    },
  );
  service.clock.set(systemClock.now());
  const sync = async (passedMs = 0) => {
    for (const zoneName of Object.keys(service.dns.zone)) delete service.dns.zone[zoneName];
    Object.assign(service.dns.zone, structuredClone(ZONE));
    for (const name of ['example.com', DMARC, '_deliverability.example.com']) {
      const texts = recordsOf(await bind.resolver(name, 'TXT')) ?? [];
      service.dns.zone[name] = { ...zoneOfBind()[name], TXT: texts };
    }
    // Signatures are valid for five minutes, and the cache of another process is not forgotten.
    service.clock.set(Math.max(systemClock.now() + passedMs, service.clock.now()));
    await service.settle();
  };
  const domain = await service.add('example.com');
  const { body: server, text } = await service.call<DnsServer>('POST', '/v1/dns_servers', {
    json: { kind: 'rfc2136', name: 'bind', settings: { ...bind.settings, zones: 'example.com' } },
  });
  assert.ok(server.id, text);
  return { ...service, bind, domain, server, sync };
}

const texts = async ({ resolver }: TestNameServer, name: string) =>
  recordsOf(await resolver(name, 'TXT'))?.toSorted();

describe('Records of a domain at a real BIND', { skip: skipUnlessInstalled('named') }, () => {
  it('are verified, planned, applied, found, and undone by the API and on the page', async (t) => {
    const service = await startPublishing(t);
    const { call, bind, domain, server, sync } = service;
    const checked = await call<DnsServer>('POST', `/v1/dns_servers/${server.id}/check`);
    assert.equal(checked.body.problem, null);
    const path = `/v1/domains/${domain.id}`;
    const planWith = async (more: object = {}) =>
      (await call<DnsPlan>('POST', `${path}/dns_plan`, { json: { server_id: server.id, ...more } }))
        .body;
    const apply = async ({ token }: DnsPlan, more: object = {}) => {
      const json = { server_id: server.id, token, ...more };
      const { body, status, text } = await call<List<DnsChange>>('POST', `${path}/dns_apply`, {
        json,
      });
      assert.equal(status, 200, text);
      return body.data;
    };

    // The verification record first: until then, nothing else can be published.
    const proof = await planWith();
    assert.deepEqual(
      proof.changes.filter(({ problem }) => problem === null).map(({ name }) => name),
      ['_deliverability.example.com'],
    );
    assert.deepEqual(
      (await apply(proof)).map(({ status }) => status),
      ['applied'],
    );
    await sync();
    assert.equal((await service.get(domain.id)).status, 'verified');
    await sync();

    // SPF: two records become one, and the other text stays.
    const before = await service.get(domain.id);
    assert.equal(before.health.checks.find(({ id }) => id === 'spf_record')!.status, 'fail');
    const spf = await planWith({ checks: ['spf_record'] });
    const [made] = await apply(spf, { checks: ['spf_record'] });
    assert.equal(made!.status, 'applied', made!.error ?? '');
    const [merged, ...others] = (await texts(bind, 'example.com'))!.toReversed();
    assert.match(merged!, /^v=spf1 .*ip4:192\.0\.2\.1.* -all$/);
    assert.deepEqual(others, ['google-site-verification=x']);
    await sync();
    const after = await service.get(domain.id);
    assert.equal(after.health.checks.find(({ id }) => id === 'spf_record')!.status, 'pass');

    // DMARC on the page.
    const owner = await memberOf(service, 'owner@example.com');
    const page = await owner.get(`/domains/${domain.id}/dns?checks=dmarc_policy`);
    const posted = await owner.post(`/domains/${domain.id}/dns`, {
      token: fieldOf(page.html, 'token').value!,
      server_id: server.id,
      checks: 'dmarc_policy',
      record: `TXT ${DMARC}`,
    });
    assert.equal(posted.status, 303, mainOf(posted.html));
    assert.match((await texts(bind, DMARC))!.join(), /^v=DMARC1; p=/);
    const changes = await call<List<DnsChange>>('GET', '/v1/dns_changes');
    const [dmarc] = changes.body.data;
    await owner.post(`/dns/changes/${dmarc!.id}/undo`);
    assert.deepEqual(await texts(bind, DMARC), []);

    // Both SPF records are back as they were.
    const undone = await call<DnsChange>('POST', `/v1/dns_changes/${made!.id}/undo`);
    assert.deepEqual([undone.body.status, undone.body.error], ['applied', null]);
    assert.deepEqual(await texts(bind, 'example.com'), SPF.toSorted());

    // The host of a file is an alias, beside the record that names the file.
    const files = { mta_sts: { mode: 'testing', mx: ['mx.example.com'] } };
    await call('PATCH', `${path}/hosted_files`, { json: files });
    const hosted = await apply(await planWith({ checks: ['mta_sts'] }), { checks: ['mta_sts'] });
    assert.deepEqual(
      hosted.map(({ type, status, error }) => [type, status, error]),
      [
        ['CNAME', 'applied', null],
        ['TXT', 'applied', null],
      ],
    );
    const host = 'mta-sts.example.com';
    assert.deepEqual(recordsOf(await bind.resolver(host, 'CNAME')), ['mail.example.net']);
    const none = await planWith({ checks: ['mta_sts'] });
    assert.deepEqual(
      none.changes.map(({ action, problem }) => [action, problem]),
      [
        ['none', null],
        ['none', null],
      ],
    );
    await call('POST', `/v1/dns_changes/${hosted[0]!.id}/undo`);
    assert.deepEqual(recordsOf(await bind.resolver(host, 'CNAME')), []);
  });

  it('fail with words if the key is wrong or the server is away', async (t) => {
    const { call, bind, domain, server } = await startPublishing(t);
    const path = `/v1/dns_servers/${server.id}`;
    const key_secret = Buffer.alloc(32, 'other').toString('base64');
    await call('PATCH', path, { json: { settings: { key_secret } } });
    const checked = await call<DnsServer>('POST', `${path}/check`);
    assert.match(checked.body.problem!, /key/i);
    assert.ok(!checked.text.includes(key_secret));
    const json = { server_id: server.id };
    const planned = await call<{ code: string }>('POST', `/v1/domains/${domain.id}/dns_plan`, {
      json,
    });
    assert.deepEqual([planned.status, planned.body.code], [409, 'conflict'], planned.text);
    await call('PATCH', path, { json: { settings: { key_secret: bind.settings.key_secret! } } });
    await bind.kill();
    const away = await call<{ detail: string }>('POST', `/v1/domains/${domain.id}/dns_plan`, {
      json,
    });
    assert.equal(away.status, 503, away.text);
  });

  it('are planned, applied after a question, listed and undone with the command beside the service', {
    skip: skipOnPostgres,
  }, async (t) => {
    const service = await startPublishing(t);
    const { bind, domain, folder, dns, sync } = service;
    const env = {
      DELIVERABILITY_DATA_DIR: folder,
      DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
      DELIVERABILITY_BLOCKLISTS: '-all',
      DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    };
    const run = (args: string[], io: Parameters<typeof runCommand>[3] = {}) =>
      runCommand(command, args, env, io);
    const stdin = async () => new TextEncoder().encode(`${bind.settings.key_secret}\n`);
    const settings = ['server', 'key_name'].flatMap((name) => [
      '--setting',
      `${name}=${bind.settings[name]}`,
    ]);
    const added = await run(
      ['add-server', 'second', '--kind', 'rfc2136', ...settings, '--setting', 'zones=example.com'],
      { stdin },
    );
    assert.equal(added.code, EXIT.success, added.stdout + added.stderr);
    assert.match(added.stdout, /^second \(rfc2136\): works/);
    await assert.rejects(
      run(['add-server', 'x', '--kind', 'rfc2136', '--setting', 'key_secret=abc']),
      UsageError,
    );

    const plan = await run(['plan', 'example.com', '--server', 'second']);
    assert.match(
      plan.stdout,
      /_deliverability\.example\.com TXT, TTL 3600: add\n {2}\+ deliverability-verify=/,
    );
    await assert.rejects(run(['apply', 'example.com', '--server', 'second']), /Add --yes/);
    const no = await run(['apply', 'example.com', '--server', 'second'], { ask: async () => 'no' });
    assert.deepEqual([no.code, no.stderr.includes('Nothing was changed.')], [EXIT.negative, true]);
    assert.deepEqual(await texts(bind, '_deliverability.example.com'), []);
    const yes = await run(['apply', 'example.com', '--server', 'second'], {
      ask: async () => 'yes\n',
    });
    assert.equal(yes.code, EXIT.success, yes.stdout + yes.stderr);
    assert.deepEqual(await texts(bind, '_deliverability.example.com'), [domain.verification.value]);
    await sync(CACHED_MS);
    assert.equal((await service.get(domain.id)).status, 'verified');
    await sync(CACHED_MS);

    const zone = await run(['plan', 'example.com', '--as', 'zone-file']);
    assert.match(zone.stdout, /^example\.com\. +3600 +IN +TXT +"v=spf1/m);
    const [, id] = /^(chg_\w+) {2}applied/m.exec((await run(['changes'])).stdout)!;
    const undone = await run(['undo', id!, '--yes']);
    assert.equal(undone.code, EXIT.success, undone.stdout + undone.stderr);
    assert.deepEqual(await texts(bind, '_deliverability.example.com'), []);
    const entries = await service.call<List<{ action: string; member_email: string | null }>>(
      'GET',
      '/v1/audit_log',
    );
    assert.deepEqual(
      entries.body.data.slice(0, 2).map(({ action, member_email }) => [action, member_email]),
      [
        ['dns_change.requested', null],
        ['dns_change.requested', null],
      ],
    );
    const removed = await run(['remove-server', 'second']);
    assert.equal(removed.code, EXIT.success);
    assert.doesNotMatch((await run(['servers'])).stdout, /second/);
  });

  it('are planned with the command for a domain of no team, without a database', async (t) => {
    const { dns, sync } = await startPublishing(t);
    await sync(CACHED_MS);
    const env = {
      DELIVERABILITY_DATA_DIR: '/nonexistent/folder',
      DELIVERABILITY_BLOCKLISTS: '-all',
      DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    };
    const args = ['plan', 'example.com', '--as', 'zone-file'];
    const { stdout, code } = await runCommand(command, args, env);
    assert.equal(code, EXIT.success);
    assert.match(stdout, /^_dmarc\.example\.com\. +3600 +IN +TXT +"v=DMARC1/m);
  });
});
