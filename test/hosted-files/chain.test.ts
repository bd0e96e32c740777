/** From the form of a policy and a logo to the check of the domain that fetches them from this service, over TLS and DNS. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsPlan } from '../../src/dns-changes/schema.ts';
import type { DomainHealthResponse } from '../../src/domains/schema.ts';
import { LOGO, markFor, SERVICE_HOST, startHostedService } from './hosted-service.ts';

const POLICY_PATH = '/.well-known/mta-sts.txt';

test('a policy and a logo pass the checks of the domain once the planned records are published', async (t) => {
  const service = await startHostedService(t);
  const { call, setFiles, publish } = service;
  const domain = await service.addVerified('example.com');
  const saved = await setFiles(domain.id, {
    mta_sts: { mode: 'testing' },
    bimi: { certificate: markFor(['example.com']) },
  });
  assert.equal(saved.status, 200, saved.text);
  assert.deepEqual(saved.body.mta_sts?.mx, ['mx.example.com']);
  const publishPlan = async (checks?: string[]) => {
    const plan = await call<DnsPlan>('POST', `/v1/domains/${domain.id}/dns_plan`, { checks });
    assert.equal(plan.status, 200, plan.text);
    for (const { name, type, after, action } of plan.body.changes)
      if (action !== 'none') {
        const former = service.dns.zone[name] as object | undefined;
        publish(name, { ...former, [type]: after.values } as never);
      }
    return plan.body;
  };
  const plan = await publishPlan(['mta_sts', 'bimi']);
  assert.deepEqual(
    plan.changes.map(({ name, type, action, after }) => [type, name, action, after.values.length]),
    [
      ['CNAME', 'mta-sts.example.com', 'add', 1],
      ['TXT', '_mta-sts.example.com', 'add', 1],
      ['CNAME', 'bimi.example.com', 'add', 1],
      ['TXT', 'default._bimi.example.com', 'add', 1],
    ],
  );
  assert.match(plan.changes[0]!.copies!.octodns, /value: mail\.example\.net\./);
  const checksNow = async () => {
    const health = await call<DomainHealthResponse>('GET', `/v1/domains/${domain.id}/health`);
    return (id: string) => health.body.checks.find((check) => check.id === id)!;
  };
  let check = await checksNow();
  assert.equal(
    check('mta_sts').title,
    'example.com has a valid MTA-STS policy (testing).',
    check('mta_sts').detail,
  );
  assert.deepEqual(check('bimi').evidence.problems, []);
  assert.equal((check('bimi').evidence.certificate_file as { kind: string }).kind, 'VMC');
  assert.equal(check('bimi').fix, null);

  // Another policy has another id, and the same plan replaces the record.
  const edited = await setFiles(domain.id, { mta_sts: { mode: 'enforce', max_age: 2_592_000 } });
  assert.equal(edited.status, 200, edited.text);
  assert.notEqual(edited.body.mta_sts?.id, saved.body.mta_sts?.id);
  const second = await publishPlan();
  const changed = second.changes.filter(
    ({ action, checks }) => action !== 'none' && !checks.includes('tls_rpt'),
  );
  assert.deepEqual(
    changed.map(({ name, action, after }) => [name, action, after.values]),
    [['_mta-sts.example.com', 'replace', [`v=STSv1; id=${edited.body.mta_sts?.id}`]]],
  );
  check = await checksNow();
  assert.equal(check('mta_sts').title, 'example.com has a valid MTA-STS policy (enforce).');

  // A mail server that the policy does not list: a warning here, a problem in the check, and no policy that leaves it out.
  publish('example.com', {
    TXT: ['v=spf1 mx -all'],
    MX: ['10 mx.example.com', '20 mx2.example.com'],
  });
  publish('mx2.example.com', { A: ['198.41.0.5'] });
  const { body } = await service.getFiles(domain.id);
  assert.equal(
    body.advice,
    'Add mx2.example.com, which DNS lists as a mail server. In enforce mode, senders don’t deliver to it.',
  );
  const incomplete = (await checksNow())('mta_sts');
  assert.match(incomplete.title, /does not cover all its mail servers/);
  assert.equal(incomplete.severity, 'warning', 'a problem in the picture of the domain');
  const refused = await setFiles(domain.id, {
    mta_sts: { mode: 'enforce', mx: ['mx.example.com'] },
  });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /senders would not deliver to mx2\.example\.com/);
  assert.equal(
    (await setFiles(domain.id, { mta_sts: { mode: 'testing', mx: ['mx.example.com'] } })).status,
    200,
  );
  assert.equal(
    (await setFiles(domain.id, { mta_sts: { mode: 'enforce', mx: ['*.example.com'] } })).status,
    200,
  );

  // RFC 8461 §2: an enforced policy is not removed while senders remember it.
  const removed = await setFiles(domain.id, { mta_sts: null });
  assert.equal(removed.status, 409, removed.text);
  await setFiles(domain.id, { mta_sts: { mode: 'testing' } });
  assert.equal((await setFiles(domain.id, { mta_sts: null })).status, 409);
  const none = await setFiles(domain.id, { mta_sts: { mode: 'none' } });
  assert.match(none.body.advice, /^Wait until 2026-12-21, when no sender remembers/);
  assert.equal((await setFiles(domain.id, { mta_sts: null })).status, 200);

  const audit = await call<{ data: { action: string; details: Record<string, unknown> }[] }>(
    'GET',
    `/v1/audit_log?object_id=${domain.id}&limit=100`,
  );
  const entries = audit.body.data.filter(({ action }) => action === 'domain.files_changed');
  assert.equal(entries.length, 7);
  assert.deepEqual(Object.keys(entries.at(-1)!.details).toSorted(), ['from', 'to']);
  assert.ok(!JSON.stringify(entries).includes('svg version'));
});

test('each host has its own certificate and nothing but its files', async (t) => {
  const service = await startHostedService(t);
  const { raw, certificateFor } = service;
  const domain = await service.addVerified('example.com');
  const { body } = await service.setFiles(domain.id, {
    mta_sts: { mode: 'testing' },
    bimi: { logo: LOGO },
  });
  assert.equal(await certificateFor('mta-sts.example.com'), 'DNS:mta-sts.example.com');
  assert.equal(await certificateFor('BIMI.example.com'), 'DNS:bimi.example.com');
  assert.equal(await certificateFor('other.example.org'), `DNS:${SERVICE_HOST}`);

  const policy = await raw(`GET ${POLICY_PATH} HTTP/1.1\r\nHost: mta-sts.example.com`);
  assert.match(policy, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(policy, /\r\ncontent-type: text\/plain\r\n/i);
  assert.match(policy, /\r\ncache-control: no-cache\r\n/i);
  assert.ok(
    policy.includes('version: STSv1\nmode: testing\nmx: mx.example.com\nmax_age: 604800\n'),
  );
  assert.ok(!/set-cookie/i.test(policy));
  const etag = /\r\netag: ("[^"]+")/i.exec(policy)![1];
  const again = await raw(
    `GET ${POLICY_PATH} HTTP/1.1\r\nHost: mta-sts.example.com\r\nIf-None-Match: ${etag}`,
  );
  assert.match(again, /^HTTP\/1\.1 304 /);
  const head = await raw(`HEAD ${POLICY_PATH} HTTP/1.1\r\nHost: mta-sts.example.com`);
  assert.match(head, /^HTTP\/1\.1 200 /);
  assert.ok(!head.includes('STSv1'));

  const bimi = body.records.find(({ name }) => name === 'default._bimi.example.com')!;
  const logoPath = new URL(/l=([^;]+)/.exec(bimi.value)![1]!).pathname;
  const logo = await raw(`GET ${logoPath} HTTP/1.1\r\nHost: bimi.example.com`, 'bimi.example.com');
  assert.ok(logo.endsWith(LOGO));
  assert.match(logo, /\r\ncontent-type: image\/svg\+xml\r\n/i);
  assert.match(logo, /\r\ncontent-security-policy: default-src 'none';[^\r]*sandbox\r\n/i);
  assert.match(logo, /\r\nx-content-type-options: nosniff\r\n/i);
  // A record that still names the former logo leads to this one.
  await service.setFiles(domain.id, { bimi: { logo: LOGO.replace('#305090', '#905030') } });
  assert.match(await raw(`GET ${logoPath} HTTP/1.1\r\nHost: bimi.example.com`), /^HTTP\/1\.1 200 /);

  const same = ['MTA-STS.Example.COM', 'mta-sts.example.com.', 'mta-sts.example.com:8443'];
  for (const host of same)
    assert.match(
      await raw(`GET ${POLICY_PATH} HTTP/1.1\r\nHost: ${host}`),
      /^HTTP\/1\.1 200 /,
      host,
    );
  // RFC 9112 §3.2.2: the target counts, not the field.
  const absolute = `GET https://mta-sts.example.com${POLICY_PATH} HTTP/1.1\r\nHost: ${SERVICE_HOST}`;
  assert.match(await raw(absolute), /^HTTP\/1\.1 200 /);
  const others = `GET https://${SERVICE_HOST}/sign-in HTTP/1.1\r\nHost: mta-sts.example.com`;
  assert.ok(!(await raw(others)).includes('STSv1'));

  const missing: [target: string, host: string][] = [
    ['/', 'mta-sts.example.com'],
    ['/sign-in', 'mta-sts.example.com'],
    ['/v1/domains', 'mta-sts.example.com'],
    ['/healthz', 'bimi.example.com'],
    ['/openapi.json', 'bimi.example.com'],
    ['/.well-known/../.well-known/mta-sts.txt/..', 'mta-sts.example.com'],
    ['/..%2f..%2fetc/passwd', 'bimi.example.com'],
    ['/.well-known/mta-sts.txt/', 'mta-sts.example.com'],
    [POLICY_PATH, 'bimi.example.com'],
    [logoPath, 'mta-sts.example.com'],
    [POLICY_PATH, 'mta-sts.other.example.com'],
    [POLICY_PATH, 'mta-sts.example.com.evil.example'],
    [POLICY_PATH, SERVICE_HOST],
    [POLICY_PATH, 'example.com'],
  ];
  const authorization = `Authorization: Bearer ${service.key}`;
  for (const [target, host] of missing) {
    const answer = await raw(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${authorization}`);
    assert.match(answer, /^HTTP\/1\.1 404 /, `${host}${target}`);
    assert.ok(!/set-cookie/i.test(answer));
  }
  const forwarded = await raw(
    `GET ${POLICY_PATH} HTTP/1.1\r\nHost: ${SERVICE_HOST}\r\nX-Forwarded-Host: mta-sts.example.com`,
  );
  assert.match(forwarded, /^HTTP\/1\.1 404 /);
  const two = `GET ${POLICY_PATH} HTTP/1.1\r\nHost: mta-sts.example.com\r\nHost: ${SERVICE_HOST}`;
  assert.match(await raw(two), /^HTTP\/1\.1 400 /);
  assert.match(
    await raw(`POST ${POLICY_PATH} HTTP/1.1\r\nHost: mta-sts.example.com\r\nContent-Length: 0`),
    /^HTTP\/1\.1 405 /,
  );
  const line = service.logged.find(({ fields }) => fields.host === 'mta-sts.example.com');
  assert.equal(line?.fields.path, POLICY_PATH);
  assert.ok(!JSON.stringify(service.logged).includes(service.key));
});

test('a domain that is removed, or no longer verified, has no files from then on', async (t) => {
  const service = await startHostedService(t);
  const { raw, call, clock, app } = service;
  const get = async (name: string) =>
    (await raw(`GET ${POLICY_PATH} HTTP/1.1\r\nHost: mta-sts.${name}`)).slice(9, 12);
  const ask = async (host: string) =>
    (await call('GET', `/v1/hosted_hosts?domain=${encodeURIComponent(host)}`)).status;
  const pending = await call<{ id: string }>('POST', '/v1/domains', { name: 'pending.example' });
  const early = await service.setFiles(pending.body.id, { mta_sts: { mode: 'none' } });
  assert.equal(early.status, 409);
  const domain = await service.addVerified('example.com');
  await service.setFiles(domain.id, { mta_sts: { mode: 'testing' } });
  assert.equal(await get('example.com'), '200');
  assert.equal(await ask('mta-sts.example.com'), 200);
  for (const host of [
    'bimi.example.com',
    'example.com',
    'mta-sts.pending.example',
    'a.mta-sts.example.com',
    '*',
  ])
    assert.equal(await ask(host), 404, host);
  await app.db
    .updateTable('domains')
    .set({ status: 'failed' })
    .where('id', '=', domain.id)
    .execute();
  clock.advance(1_000);
  assert.equal(await get('example.com'), '404');
  await app.db
    .updateTable('domains')
    .set({ status: 'verified' })
    .where('id', '=', domain.id)
    .execute();
  clock.advance(1_000);
  assert.equal(await get('example.com'), '200');
  assert.equal((await call('DELETE', `/v1/domains/${domain.id}`)).status, 200);
  clock.advance(1_000);
  assert.equal(await get('example.com'), '404');
  assert.equal(await ask('mta-sts.example.com'), 404);
  assert.equal((await app.db.selectFrom('hosted_files').selectAll().execute()).length, 0);
});
