/** Domains that do not exist, and aliases that DNS does not allow: one cause, and no records. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../../helpers/analysis.ts';
import { checkDomain } from './domains.ts';

const CASES: [name: string, zone: Zone, cause: RegExp, domain?: string][] = [
  ['that does not exist', {}, /^example\.com does not exist in DNS\./],
  [
    'below one that does not exist',
    {},
    /^example\.co\.uk does not exist in DNS\./,
    'news.example.co.uk',
  ],
  [
    'with an internationalized name that does not exist',
    {},
    /^bücher\.de (?:\(xn--bcher-kva\.de\) )?does not exist in DNS\./,
    'xn--bcher-kva.de',
  ],
  [
    'that is an alias of itself',
    { 'example.com': { CNAME: ['example.com'] } },
    /^example\.com is an alias that leads back to itself\./,
  ],
  [
    'in a loop of aliases',
    { 'example.com': { CNAME: ['a.example.com'] }, 'a.example.com': { CNAME: ['example.com'] } },
    /^example\.com is an alias that leads back to itself\./,
  ],
  [
    'whose alias leads into a loop',
    {
      'mail.example.com': { CNAME: ['a.example.net'] },
      'a.example.net': { CNAME: ['a.example.net'] },
    },
    /^mail\.example\.com is an alias that leads back to itself\./,
    'mail.example.com',
  ],
  [
    'with an alias at the top of its zone',
    {
      'example.com': { CNAME: ['shop.hoster.example'] },
      'shop.hoster.example': { A: ['192.0.2.1'] },
    },
    /^example\.com has a CNAME record beside other records/,
  ],
  [
    'with an alias beside an MX record',
    {
      'mail.example.com': { CNAME: ['web.example.net'], MX: ['10 mx.example.net'] },
      'web.example.net': { A: ['192.0.2.1'] },
    },
    /^mail\.example\.com has a CNAME record beside other records/,
    'mail.example.com',
  ],
  [
    'with an alias beside an SPF record',
    {
      'mail.example.com': { CNAME: ['web.example.net'], TXT: ['v=spf1 mx -all'] },
      'web.example.net': { A: ['192.0.2.1'], TXT: ['x'] },
    },
    /^mail\.example\.com has a CNAME record beside other records/,
    'mail.example.com',
  ],
];

for (const [name, zone, cause, domain = 'example.com'] of CASES)
  test(`A domain ${name} has one cause and no records to publish`, async () => {
    const health = await checkDomain(zone, {}, domain);
    assert.deepEqual([health.status, health.score], ['critical', 0]);
    assert.match(health.summary, cause);
    const [mx, ...others] = health.checks.filter(({ status }) => status !== 'skipped');
    assert.deepEqual([mx!.id, mx!.severity, others.length], ['mx', 'critical', 0]);
    assert.match(mx!.title, cause);
    assert.ok(health.checks.every(({ fix }) => fix?.record === undefined));
  });

test('An alias to a name that does not exist is not a domain that does not exist', async () => {
  const zone: Zone = { 'mail.example.com': { CNAME: ['gone.example.net'] }, 'example.com': {} };
  const health = await checkDomain(zone, {}, 'mail.example.com');
  assert.doesNotMatch(health.summary, /does not exist in DNS/);
});

test('A subdomain that is an alias of a service is no fault', async () => {
  const service = { MX: ['10 mx.service.example'], TXT: ['v=spf1 ip4:192.0.2.1 -all'] };
  const health = await checkDomain(
    {
      'em.example.com': { CNAME: ['u1.service.example'] },
      'u1.service.example': service,
      'mx.service.example': { A: ['192.0.2.1'] },
      'example.com': { A: ['192.0.2.2'] },
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
    },
    {},
    'em.example.com',
  );
  assert.equal(health.status, 'healthy');
});

test('A name that could not be looked up is not called missing', async () => {
  const health = await checkDomain({
    'example.com': { fails: 'timeout' },
    '_dmarc.example.com': { fails: 'timeout' },
  });
  assert.equal(health.status, 'unknown');
});

test('A message from a domain that does not exist is told so, with no MX record to publish', async () => {
  const raw = Buffer.from('From: Ann <ann@nowhere.example.net>\r\nSubject: Hi\r\n\r\nHello\r\n');
  const { checks } = await analyze(
    {
      raw,
      envelope: { ...ENVELOPE, mail_from: 'ann@nowhere.example.net' },
      receivedAt: RECEIVED_AT,
      kind: 'auto',
    },
    { resolver: zoneResolver({}) },
  );
  const found = checks.find(({ id }) => id === 'mx')!;
  assert.deepEqual([found.status, found.title], ['fail', 'example.net does not exist in DNS.']);
  assert.equal(found.fix?.record, undefined);
});

for (const [record, expected] of [
  [
    'v=DMARC1; p=none; np=reject',
    / np=reject in the DMARC record of lime\.shop asks .* to reject /,
  ],
  [
    'v=DMARC1; p=none; np=quarantine',
    / np=quarantine in the DMARC record of lime\.shop asks .*spam/,
  ],
] as const)
  test(`A subdomain that does not exist is told which tag decides: ${record}`, async () => {
    const raw = Buffer.from('From: Ann <ann@newz.lime.shop>\r\nSubject: Hi\r\n\r\nHello\r\n');
    const { checks } = await analyze(
      { raw, envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind: 'auto' },
      {
        resolver: zoneResolver({
          'lime.shop': { A: ['203.0.114.4'], MX: ['10 lime.shop'] },
          '_dmarc.lime.shop': { TXT: [record] },
        }),
      },
    );
    const found = checks.find(({ id }) => id === 'mx')!;
    assert.equal(found.title, 'newz.lime.shop does not exist in DNS.');
    assert.match(found.detail, expected);
  });
