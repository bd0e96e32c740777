/** The health of a domain: severities, score, and unknown results. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlocklistInUse, BlocklistTier } from '../../../src/analysis/blocklists/blocklist.ts';
import { LISTS } from '../../../src/analysis/blocklists/lists.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import type { Severity } from '../../../src/analysis/domain/dangers.ts';
import type { DomainHealth, HealthStatus } from '../../../src/analysis/domain/health.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import type { MailTlsResult } from '../../../src/net/smtp/probe.ts';
import { checkDomain, GOOD_ZONE, item } from './domains.ts';

const SECURE: MailTlsResult = {
  status: 'tls',
  version: 'TLSv1.3',
  certificate: { valid: true, problem: null, names: [], issuer: null, validTo: null },
};

const IDS = [
  'spf_record',
  'dkim_selector',
  'dmarc_policy',
  'dmarc_record',
  'mx',
  'mx_tls',
  'mta_sts',
  'tls_rpt',
  'bimi',
  'dane',
  'dnssec',
  'caa',
  'domain_blocklists',
];

/** A domain has no message and no sender, so no text may mention them. */
function assertNoMessage({ checks }: DomainHealth): void {
  for (const { title, detail } of checks.filter(({ status }) => status !== 'info'))
    assert.doesNotMatch(`${title} ${detail}`, /\b(?:this|your|the) message|the sender\b/i);
  for (const { title } of checks) assert.doesNotMatch(title, /message|the sender/);
}

test('analyzeDomain reports a flawless domain as healthy without message wording', async () => {
  const health = await checkDomain(GOOD_ZONE, { probeMailTls: async () => SECURE });
  assert.deepEqual(
    health.checks.map(({ id }) => id),
    IDS,
  );
  assert.deepEqual([health.name, health.status, health.score], ['example.com', 'healthy', 100]);
  assert.equal(health.summary, 'example.com is healthy.');
  assertNoMessage(health);
  // Stored as JSON.
  assert.deepEqual(JSON.parse(JSON.stringify(health)), health);
});

test('analyzeDomain reports a domain that does not exist', async () => {
  const health = await checkDomain({});
  assert.deepEqual(
    [health.status, health.score, health.summary],
    ['critical', 0, 'example.com does not exist in DNS. Nothing else was checked.'],
  );
  assert.deepEqual(
    health.checks.filter(({ fix }) => fix).map(({ id, fix }) => [id, fix!.record]),
    [['mx', undefined]],
  );
});

test('analyzeDomain proposes every record for an empty domain', async () => {
  const health = await checkDomain({ 'example.com': {} });
  assert.deepEqual([health.status, health.score], ['critical', 0]);
  const records = health.checks.flatMap(({ id, fix }) => (fix?.record ? [[id, fix.record]] : []));
  assert.deepEqual(Object.fromEntries(records), {
    spf_record: { type: 'TXT', name: 'example.com', value: 'v=spf1 mx ~all' },
    dmarc_policy: {
      type: 'TXT',
      name: '_dmarc.example.com',
      value: 'v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com',
    },
    mx: { type: 'MX', name: 'example.com', value: '10 mx.example.com' },
    mta_sts: { type: 'TXT', name: '_mta-sts.example.com', value: 'v=STSv1; id=d3gyqr3f8zntaw' },
    tls_rpt: {
      type: 'TXT',
      name: '_smtp._tls.example.com',
      value: 'v=TLSRPTv1; rua=mailto:tls-reports@example.com',
    },
    bimi: {
      type: 'TXT',
      name: 'default._bimi.example.com',
      value: 'v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/logo.pem',
    },
    caa: { type: 'CAA', name: 'example.com', value: '0 issue "letsencrypt.org"' },
  });
  assert.equal(item(health, 'mx_tls').detail, 'Not checked: Mail servers (MX) failed.');
  assert.match(item(health, 'dnssec').fix?.text ?? '', /DS record: .* at the registrar of example/);
});

const with_ = (changes: Zone): Zone => ({ ...GOOD_ZONE, ...changes });
const spf = (record: string, more: Zone = {}): Zone =>
  with_({ 'example.com': { TXT: [record], MX: ['10 mx.example.com'] }, ...more });
const dmarc = (...records: string[]): Zone => with_({ '_dmarc.example.com': { TXT: records } });
const mx = (...records: string[]): Zone =>
  with_({ 'example.com': { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'], MX: records } });
const manyLookups = `v=spf1 ${Array.from({ length: 11 }, (_, i) => `a:a${i}.example.com`).join(' ')}`;
const hosts: Zone = Object.fromEntries(
  Array.from({ length: 11 }, (_, i) => [`a${i}.example.com`, { A: ['192.0.2.1'] }]),
);
const at = (name: string, ...records: string[]): Zone => with_({ [name]: { TXT: records } });

const rows: [what: string, zone: Zone, id: string, severity: Severity][] = [
  [
    'no SPF record',
    with_({ 'example.com': { MX: ['10 mx.example.com'] } }),
    'spf_record',
    'critical',
  ],
  ['an unreadable SPF record', spf('v=spf1 ip4:x -all'), 'spf_record', 'critical'],
  ['an SPF record with +all', spf('v=spf1 +all'), 'spf_record', 'critical'],
  ['too many lookups', spf(`${manyLookups} -all`, hosts), 'spf_record', 'warning'],
  ['too many lookups and +all', spf(`${manyLookups} +all`, hosts), 'spf_record', 'critical'],
  ['an SPF record without all', spf('v=spf1 mx'), 'spf_record', 'warning'],
  ['no DMARC record', with_({ '_dmarc.example.com': {} }), 'dmarc_policy', 'critical'],
  ['p=none', dmarc('v=DMARC1; p=none; rua=mailto:d@example.com'), 'dmarc_policy', 'warning'],
  [
    'two DMARC records',
    dmarc('v=DMARC1; p=none', 'v=DMARC1; p=reject'),
    'dmarc_record',
    'critical',
  ],
  ['DMARC without reports', dmarc('v=DMARC1; p=reject'), 'dmarc_record', 'warning'],
  ['no MX', with_({ 'example.com': { TXT: ['v=spf1 -all'] } }), 'mx', 'critical'],
  ['a null MX of a domain that sends', mx('0 .'), 'mx', 'critical'],
  ['an MX that does not exist', mx('10 mx.example.com', '20 gone.example.com'), 'mx', 'warning'],
  ['a broken MTA-STS record', at('_mta-sts.example.com', 'v=STSv1;'), 'mta_sts', 'warning'],
  ['a broken TLS-RPT record', at('_smtp._tls.example.com', 'v=TLSRPTv1;'), 'tls_rpt', 'warning'],
  ['a broken BIMI record', at('default._bimi.example.com', 'v=BIMI1; a=x'), 'bimi', 'warning'],
  [
    'a TLSA record that SMTP does not allow',
    with_({ '_25._tcp.mx.example.com': { TLSA: [`1 1 1 ${'ab'.repeat(32)}`] } }),
    'dane',
    'warning',
  ],
  ['no TLSA record', GOOD_ZONE, 'dane', null],
  ['unrelated TXT records', at('_smtp._tls.example.com', 'v=spf1 -all'), 'tls_rpt', null],
];

for (const [what, zone, id, severity] of rows)
  test(`analyzeDomain reports ${severity ?? 'no problem'}: ${what}`, async () => {
    const health = await checkDomain(zone);
    assert.equal(item(health, id).severity, severity, item(health, id).title);
    assert.equal(health.status, severity ?? 'healthy');
    assertNoMessage(health);
    assert.equal(
      health.checks.filter((check) => check.severity !== null).length,
      severity === null ? 0 : 1,
      'one cause is one finding',
    );
  });

test('analyzeDomain reports only the root cause of dependent findings', async () => {
  const health = await checkDomain(dmarc('v=dmarc1; p=none'));
  assert.equal(item(health, 'dmarc_record').status, 'fail');
  const { status, title, detail, fix } = item(health, 'dmarc_policy');
  assert.deepEqual(
    [status, title, detail, fix],
    [
      'skipped',
      'DMARC policy: not checked because DMARC record failed.',
      'Not checked: DMARC record failed.',
      null,
    ],
  );
  const none = await checkDomain(with_({ '_dmarc.example.com': {} }));
  assert.equal(item(none, 'dmarc_record').detail, 'Not checked: DMARC policy failed.');
});

function listOf(tier: BlocklistTier): BlocklistInUse {
  const list = LISTS.find((each) => each.kind === 'domain');
  assert.ok(list && 'codes' in list.listed);
  return { list: { ...list, tier }, queryZone: 'list.example', fault: null };
}

test('analyzeDomain rates a tier 1 listing critical, tier 2 a warning, and a refused query unknown', async () => {
  const check = async (tier: BlocklistTier, answer: Zone[string]) => {
    const inUse = listOf(tier);
    const zone = with_({ 'example.com.list.example': answer });
    const health = await checkDomain(zone, { setup: { ...NO_SETUP, blocklists: [inUse] } });
    const { status, severity } = item(health, 'domain_blocklists');
    assertNoMessage(health);
    return [health.status, status, severity];
  };
  const { listed } = listOf(1).list;
  const code = 'codes' in listed ? Object.keys(listed.codes)[0]! : '';
  assert.deepEqual(await check(1, { A: [code] }), ['critical', 'fail', 'critical']);
  assert.deepEqual(await check(2, { A: [code] }), ['warning', 'warn', 'warning']);
  assert.deepEqual(await check(1, {}), ['healthy', 'pass', null]);
  assert.deepEqual(await check(1, { fails: 'timeout' }), ['healthy', 'error', null]);
});

test('analyzeDomain reports DNS timeouts as unknown, never as warning', async () => {
  const names = Object.keys(GOOD_ZONE).concat(
    '_mta-sts.example.com',
    '_smtp._tls.example.com',
    'default._bimi.example.com',
  );
  for (const name of names) {
    const { checks, status } = await checkDomain(with_({ [name]: { fails: 'timeout' } }));
    assert.deepEqual(
      checks.filter(({ severity }) => severity !== null),
      [],
      name,
    );
    const isEssential = ['example.com', '_dmarc.example.com', 'mx.example.com'].includes(name);
    assert.equal(status, isEssential ? 'unknown' : 'healthy', name);
  }
  const nothing = await checkDomain(
    {},
    { resolver: async () => ({ status: 'error', reason: 'timeout' }) },
  );
  assert.deepEqual([nothing.status, nothing.score], ['unknown', null]);
  assert.match(nothing.summary, /^Could not determine the health of example\.com\./);
  assert.match(nothing.summary, /Could not check: SPF record, DKIM keys, DMARC policy/);
});

test('analyzeDomain keeps critical findings but not warnings when essentials are unknown', async () => {
  const unanswered: Zone = { 'example.com': { fails: 'timeout' } };
  const status = async (zone: Zone): Promise<HealthStatus> =>
    (await checkDomain({ ...zone, ...unanswered })).status;
  assert.equal(await status(with_({ '_dmarc.example.com': {} })), 'critical');
  assert.equal(await status(dmarc('v=DMARC1; p=none; rua=mailto:d@example.com')), 'unknown');
});

test('analyzeDomain scores the mean of checks, warnings counting half', async () => {
  // spf_record, dkim_selector, dmarc_policy, dmarc_record and mx.
  assert.equal((await checkDomain(GOOD_ZONE)).score, 100);
  assert.equal((await checkDomain(spf('v=spf1 mx'))).score, 90);
  // The mean is 75; a critical finding limits it.
  assert.equal((await checkDomain(with_({ '_dmarc.example.com': {} }))).score, 45);
  const selectors = ['s1', 's2', 's3', 's4'];
  assert.equal((await checkDomain(GOOD_ZONE, { selectors })).score, 85);
});

test('analyzeDomain stops waiting for DNS at its deadline', async () => {
  const health = await checkDomain({}, { resolver: () => new Promise(() => {}), deadlineMs: 50 });
  assert.equal(health.status, 'unknown');
});

test('analyzeDomain with a hanging mail server keeps the other results', async () => {
  const health = await checkDomain(GOOD_ZONE, {
    probeMailTls: () => new Promise(() => {}),
    deadlineMs: 50,
  });
  assert.deepEqual([health.status, item(health, 'mx_tls').status], ['healthy', 'error']);
});

test('analyzeDomain reports a check fault and shows the check as unknown', async () => {
  const faults: string[] = [];
  const health = await checkDomain(GOOD_ZONE, {
    probeMailTls: async () => {
      throw new Error('broken');
    },
    onFault: (id) => faults.push(id),
  });
  assert.deepEqual(faults, ['mx_tls']);
  assert.match(
    item(health, 'mx_tls').detail,
    /bug in this service, not a problem with your domain \(broken\)/,
  );
});
