/** Parked domains: locked, or with a gap in the lock whose record closes it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { checkDomain, DKIM_KEYS, item } from './domains.ts';

const LOCKED: Zone = {
  'example.com': { TXT: ['v=spf1 -all'], MX: ['0 .'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
  'box.example.com': { A: ['192.0.2.81'] },
};

const COMPLETE: [name: string, zone: Zone][] = [
  ['SPF, null MX and DMARC', LOCKED],
  ['no MX record and no address', { ...LOCKED, 'example.com': { TXT: ['v=spf1 -all'] } }],
  [
    'a website, and no MX record',
    { ...LOCKED, 'example.com': { TXT: ['v=spf1 -all'], A: ['192.0.2.80'] } },
  ],
  ['a revoked key', { ...LOCKED, 's1._domainkey.example.com': { TXT: ['v=DKIM1; p='] } }],
  [
    'a wildcard of revoked keys',
    { ...LOCKED, 'default._domainkey.example.com': { TXT: ['v=DKIM1;p='] } },
  ],
  [
    'reports to an address',
    {
      ...LOCKED,
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@box.example.com'] },
    },
  ],
];

for (const [name, zone] of COMPLETE)
  test(`A parked domain is healthy with ${name}`, async () => {
    const health = await checkDomain(zone);
    assert.deepEqual(
      health.checks.filter(({ severity, status }) => severity !== null || status === 'fail'),
      [],
    );
    assert.deepEqual(
      [health.status, health.score, health.summary],
      ['healthy', 100, 'example.com is healthy.'],
    );
    assert.doesNotMatch(JSON.stringify(item(health, 'mx')), /Replace the null MX/);
  });

const GAPS: [name: string, changes: Zone, id: string, severity: string, value: string][] = [
  ['no SPF record', { 'example.com': { MX: ['0 .'] } }, 'spf_record', 'critical', 'v=spf1 -all'],
  [
    'a soft SPF record',
    { 'example.com': { MX: ['0 .'], TXT: ['v=spf1 ~all'] } },
    'spf_record',
    'warning',
    'v=spf1 -all',
  ],
  [
    'an SPF record that allows everyone',
    { 'example.com': { MX: ['0 .'], TXT: ['v=spf1 +all'] } },
    'spf_record',
    'critical',
    'v=spf1 -all',
  ],
  [
    'a damaged SPF record that allows everyone',
    { 'example.com': { MX: ['0 .'], TXT: ['"v=spf1 all"', 'site=1'] } },
    'spf_record',
    'critical',
    'v=spf1 -all',
  ],
  [
    'no DMARC record',
    { '_dmarc.example.com': {} },
    'dmarc_policy',
    'critical',
    'v=DMARC1; p=reject',
  ],
  [
    'a DMARC policy that only reports',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=none; rua=mailto:d@box.example.com'] } },
    'dmarc_policy',
    'warning',
    'v=DMARC1; p=reject; rua=mailto:d@box.example.com',
  ],
  [
    'a weaker policy for subdomains',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; sp=none'] } },
    'dmarc_policy',
    'warning',
    'v=DMARC1; p=reject',
  ],
  [
    'a DMARC policy in test mode',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; t=y'] } },
    'dmarc_policy',
    'warning',
    'v=DMARC1; p=reject',
  ],
  [
    'a policy for a part of the mail',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; pct=10'] } },
    'dmarc_record',
    'warning',
    'v=DMARC1; p=reject',
  ],
  [
    'a policy for a part of the mail, and reports',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; pct=50; rua=mailto:d@box.example.com'] } },
    'dmarc_record',
    'warning',
    'v=DMARC1; p=reject; rua=mailto:d@box.example.com',
  ],
  [
    'a policy that only reports, and strict alignment in words',
    {
      '_dmarc.example.com': {
        TXT: ['v=DMARC1; p=none; aspf=strict; rua=mailto:d@box.example.com'],
      },
    },
    'dmarc_record',
    'warning',
    'v=DMARC1; p=reject; aspf=r; rua=mailto:d@box.example.com',
  ],
  [
    'two policies that only report',
    {
      '_dmarc.example.com': {
        TXT: ['v=DMARC1; p=none; rua=mailto:d@box.example.com', 'v=DMARC1; p=quarantine; pct=5'],
      },
    },
    'dmarc_record',
    'critical',
    'v=DMARC1; p=reject; rua=mailto:d@box.example.com',
  ],
  [
    'an unknown DMARC tag',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; foo=bar'] } },
    'dmarc_record',
    'warning',
    'v=DMARC1; p=reject',
  ],
  [
    'a report address that is none',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=foo'] } },
    'dmarc_record',
    'warning',
    'v=DMARC1; p=reject',
  ],
  [
    'two DMARC records',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject', 'v=DMARC1; p=none'] } },
    'dmarc_record',
    'critical',
    'v=DMARC1; p=reject',
  ],
  [
    'a DMARC record in quotation marks',
    { '_dmarc.example.com': { TXT: ['"v=DMARC1; p=none"'] } },
    'dmarc_record',
    'critical',
    'v=DMARC1; p=reject',
  ],
  [
    'a misspelled DMARC policy',
    { '_dmarc.example.com': { TXT: ['v=DMARC1; p=rject'] } },
    'dmarc_policy',
    'critical',
    'v=DMARC1; p=reject',
  ],
  [
    'a usable key',
    { 's1._domainkey.example.com': { TXT: [DKIM_KEYS.strong] } },
    'dkim_selector',
    'warning',
    'v=DKIM1; p=',
  ],
];

for (const [name, changes, id, severity, value] of GAPS)
  test(`A parked domain with ${name} is told what completes the lock`, async () => {
    const zone = { ...LOCKED, ...changes };
    const health = await checkDomain(zone);
    const found = item(health, id);
    assert.equal(found.severity, severity);
    const { record } = found.fix!;
    assert.doesNotMatch(JSON.stringify(health.checks), /Once the reports/);
    assert.equal(record!.value, value);
    const proposed = health.checks.filter(({ fix, severity: s }) => s !== null && fix?.record);
    assert.equal(proposed.length, 1, 'one gap, one record');
    // Published, it makes the domain healthy.
    const published = { ...zone[record!.name], TXT: [record!.value] };
    const cured = await checkDomain({ ...zone, [record!.name]: published } as Zone);
    assert.deepEqual([cured.status, cured.score], ['healthy', 100]);
  });

for (const [name, changes] of [
  ['a server', { 'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'], MX: ['0 .'] } }],
  ['everyone, and a server', { 'example.com': { TXT: ['v=spf1 a +all'], MX: ['0 .'] } }],
  [
    'everyone, and a key',
    {
      'example.com': { TXT: ['v=spf1 +all'], MX: ['0 .'] },
      's1._domainkey.example.com': { TXT: [DKIM_KEYS.strong] },
    },
  ],
] as const satisfies [string, Zone][])
  test(`A null MX stays an error beside ${name}, and no server is invented`, async () => {
    const health = await checkDomain({ ...LOCKED, ...changes });
    const { fix, severity } = item(health, 'mx');
    assert.equal(severity, 'critical');
    assert.match(fix!.text, /replace the null MX record with an MX record that names your mail/);
    assert.equal(fix!.record, undefined);
    assert.notEqual(item(health, 'spf_record').fix?.record?.value, 'v=spf1 -all');
  });

test('Only a null MX shows that a domain that allows everyone, or says nothing, sends nothing', async () => {
  for (const end of ['+all', '?all']) {
    const zone = { ...LOCKED, 'example.com': { TXT: [`v=spf1 ${end}`], A: ['192.0.2.80'] } };
    const health = await checkDomain(zone);
    assert.notEqual(item(health, 'spf_record').fix?.record?.value, 'v=spf1 -all', end);
  }
});

test('A domain with passing mail in reports is not parked, whatever its DNS declares', async () => {
  const zone = { ...LOCKED, '_dmarc.example.com': { TXT: ['v=DMARC1; p=none'] } };
  const proposed = async (sendsMail: boolean) =>
    item(await checkDomain(zone, { sendsMail }), 'dmarc_policy').fix?.record?.value ?? '';
  assert.match(await proposed(false), /p=reject/);
  assert.doesNotMatch(await proposed(true), /p=reject/);
});

test('A failed lookup leaves a parked domain unknown', async () => {
  const health = await checkDomain({ ...LOCKED, '_dmarc.example.com': { fails: 'timeout' } });
  assert.equal(health.status, 'unknown');
});
