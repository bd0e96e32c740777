/** `spf_record`: terms that nobody reads, and networks that are too large, or private. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spfRecord } from '../../../src/analysis/checks/spf-record.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

const run = (record: string, zone: Zone = {}) =>
  runCheck(spfRecord, {
    message: 'From: a@example.com\n\nx\n',
    zone: { ...zone, 'example.com': { TXT: [record] } },
    envelope: { mail_from: 'a@example.com', client_ip: '192.0.2.7' },
  });

const HOSTER: Zone = {
  'spf.hoster.example': { TXT: ['v=spf1 ip4:198.51.100.0/24 -all'] },
  'spf.versand.example': { TXT: ['v=spf1 ip4:203.0.113.0/24 ~all'] },
};

const UNREAD: [record: string, title: RegExp, publish: string][] = [
  [
    'v=spf1 ip4:192.0.2.7 -all include:spf.hoster.example',
    /contains "include:spf\.hoster\.example" after its all term/,
    'v=spf1 ip4:192.0.2.7 include:spf.hoster.example -all',
  ],
  [
    'v=spf1 ~all ip4:192.0.2.7 include:spf.versand.example',
    /contains "ip4:192\.0\.2\.7" after its all term/,
    'v=spf1 ip4:192.0.2.7 include:spf.versand.example ~all',
  ],
  [
    'v=spf1 ip4:192.0.2.7 redirect=spf.hoster.example ~all',
    /contains "redirect=spf\.hoster\.example" beside an all term/,
    'v=spf1 ip4:192.0.2.7 include:spf.hoster.example ~all',
  ],
  [
    'v=spf1 ip4:192.0.2.7 -all redirect=spf.versand.example',
    /contains "redirect=spf\.versand\.example" beside an all term/,
    'v=spf1 ip4:192.0.2.7 include:spf.versand.example -all',
  ],
  [
    'v=spf1 ip4:192.0.2.7 -all include:gone.example',
    /contains "include:gone\.example" after its all term/,
    'v=spf1 ip4:192.0.2.7 -all',
  ],
];

for (const [record, title, publish] of UNREAD)
  test(`spf_record warns about a term that nobody reads: ${record}`, async () => {
    const found = await run(record, HOSTER);
    assert.equal(found.status, 'warn');
    assert.match(found.title, title);
    assert.equal(found.fix?.record?.value, publish);
    const cured = await run(publish, HOSTER);
    assert.equal(cured.status, 'pass', cured.title);
  });

const LARGE: [record: string, zone: Zone, title: RegExp][] = [
  [
    'v=spf1 ip4:192.0.2.7 ip4:51.0.0.0/12 -all',
    {},
    /allows a large network: "ip4:51\.0\.0\.0\/12"/,
  ],
  [
    'v=spf1 ip4:192.0.2.7 ip6:2a01:4f8::/28 -all',
    {},
    /allows a large network: "ip6:2a01:4f8::\/28"/,
  ],
  ['v=spf1 a/15 -all', {}, /allows a large network: "a\/15"/],
  [
    'v=spf1 ip4:192.0.2.7 include:spf.hoster.example -all',
    { 'spf.hoster.example': { TXT: ['v=spf1 ip4:85.0.0.0/11 -all'] } },
    /The SPF record of spf\.hoster\.example, .* allows a large network/,
  ],
];

for (const [record, zone, title] of LARGE)
  test(`spf_record warns about a network with too many servers: ${title.source}`, async () => {
    const found = await run(record, { 'example.com': { A: ['192.0.2.7'] }, ...zone });
    assert.equal(found.status, 'warn');
    assert.match(found.title, title);
    assert.equal(found.fix?.record, undefined);
  });

for (const record of [
  'v=spf1 ip4:192.0.0.0/16 -all',
  'v=spf1 ip4:192.0.2.7 ip6:2a01:4f8::/29 -all',
])
  test(`spf_record accepts a network of an organization: ${record}`, async () => {
    assert.equal((await run(record)).status, 'pass');
  });

test('spf_record accepts the large networks of a sending service', async () => {
  const found = await run('v=spf1 ip4:192.0.2.7 include:spf.protection.outlook.com -all', {
    'spf.protection.outlook.com': { TXT: ['v=spf1 ip4:40.92.0.0/15 ip4:52.100.0.0/14 -all'] },
  });
  assert.equal(found.status, 'pass', found.title);
});

/** All of the Internet in networks of this length. */
const pieces = (bits: number) =>
  Array.from({ length: 2 ** bits }, (_, i) => `ip4:${i * 2 ** (8 - bits)}.0.0.0/${bits}`);

const EVERYONE: [name: string, record: string, zone: Zone][] = [
  ['two halves', `v=spf1 ${pieces(1).join(' ')} -all`, {}],
  ['networks of an eighth of an octet', `v=spf1 ${pieces(8).slice(20, 60).join(' ')} -all`, {}],
  [
    'networks in several included records',
    'v=spf1 ip4:192.0.2.7 include:a.example.net include:b.example.net -all',
    {
      'a.example.net': { TXT: [`v=spf1 ${pieces(8).slice(0, 20).join(' ')} -all`] },
      'b.example.net': { TXT: [`v=spf1 ${pieces(8).slice(40, 60).join(' ')} -all`] },
    },
  ],
  [
    'IPv6 in pieces',
    `v=spf1 ${['20', '28', '30', '38'].map((start) => `ip6:${start}00::/8`).join(' ')} ${Array.from({ length: 15 }, (_, i) => `ip6:${(0x40 + i).toString(16)}00::/8`).join(' ')} -all`,
    {},
  ],
];

for (const [name, record, zone] of EVERYONE)
  test(`spf_record fails if anyone passes: ${name}`, async () => {
    const found = await run(record, zone);
    assert.equal(found.status, 'fail');
    assert.match(found.title, /lets anyone send as you/);
  });

const PRIVATE: [record: string, note: RegExp][] = [
  ['v=spf1 ip4:192.0.2.7 ip4:10.0.0.0/8 -all', /"ip4:10\.0\.0\.0\/8" has no effect/],
  [
    'v=spf1 ip4:192.0.2.7 ip4:192.168.1.20 ip4:172.16.0.0/12 -all',
    /"ip4:192\.168\.1\.20" and 1 more have no effect/,
  ],
  ['v=spf1 ip4:192.0.2.7 ip6:fd00::/8 ~all', /"ip6:fd00::\/8" has no effect/],
  ['v=spf1 ip4:192.0.2.7 ip4:127.0.0.1 -all', /"ip4:127\.0\.0\.1" has no effect/],
];

for (const [record, note] of PRIVATE)
  test(`spf_record tells that a private network has no effect: ${record}`, async () => {
    const found = await run(record);
    assert.equal(found.status, 'pass', found.title);
    assert.match(found.detail, note);
  });
