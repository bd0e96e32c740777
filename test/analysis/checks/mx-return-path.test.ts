/** `mx` and `return_path`, and which of them reports a shared cause. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, CheckStatus } from '../../../src/analysis/check.ts';
import { mx } from '../../../src/analysis/checks/mx.ts';
import { returnPath } from '../../../src/analysis/checks/return-path.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { type CheckInput, contextFor, runCheck } from '../../helpers/analysis.ts';

const message = 'From: a@example.com\n\nHello\n';
const HOSTS: Zone = {
  'mx1.example.net': { A: ['192.0.2.5'] },
  'mx2.example.net': { AAAA: ['2001:db8::5'] },
};
const GOOD = { MX: ['10 mx1.example.net', '20 mx2.example.net'] };
const good: Zone = { ...HOSTS, 'example.com': GOOD };
const other = { mail_from: 'b@bounce.example.org' };

type Row = [what: string, status: CheckStatus, scene: Partial<CheckInput>, domain?: string];

function table(check: Check, rows: Row[]) {
  for (const [what, status, scene, domain] of rows)
    test(`${check.id} check reports ${status}: ${what}`, async () => {
      const finding = await runCheck(check, { message, ...scene });
      assert.equal(finding.status, status, finding.title);
      if (domain) assert.ok(finding.title.includes(domain), finding.title);
      if (status === 'warn' || status === 'fail') assert.ok(finding.fix?.text);
    });
}

table(mx, [
  ['MX records that resolve', 'pass', { zone: good }],
  [
    'MX records at both domains',
    'pass',
    { zone: { ...good, 'bounce.example.org': GOOD }, envelope: other },
  ],
  ['no MX, but an address', 'pass', { zone: { 'example.com': { A: ['192.0.2.1'] } } }],
  [
    'one MX host unknown, one resolves',
    'pass',
    { zone: { ...good, 'mx1.example.net': { fails: 'timeout' } } },
  ],
  ['the null sender', 'pass', { zone: good, envelope: { mail_from: '' } }],
  ['MAIL FROM unknown', 'pass', { zone: good, envelope: { mail_from: null } }],
  [
    'one MX that does not resolve',
    'warn',
    { zone: { 'example.com': GOOD, 'mx1.example.net': { A: ['192.0.2.5'] } } },
  ],
  ['the null MX', 'fail', { zone: { 'example.com': { MX: ['0 .'] } } }, 'example.com'],
  ['no MX that resolves', 'fail', { zone: { 'example.com': GOOD } }],
  ['neither MX nor address', 'fail', { zone: { 'example.com': { TXT: ['x'] } } }],
  ['a domain that does not exist', 'fail', { zone: {} }],
  [
    'MAIL FROM with the null MX',
    'fail',
    { zone: { ...good, 'bounce.example.org': { MX: ['0 .'] } }, envelope: other },
    'bounce.example.org',
  ],
  [
    'MAIL FROM without MX or address, reported by return_path',
    'pass',
    { zone: good, envelope: other },
  ],
  [
    'one failing and one unknown domain',
    'fail',
    {
      zone: { 'example.com': { MX: ['0 .'] }, 'bounce.example.org': { fails: 'timeout' } },
      envelope: other,
    },
  ],
  ['a time-out', 'error', { zone: { 'example.com': { fails: 'timeout' } } }],
  [
    'a time-out at MAIL FROM',
    'error',
    { zone: { ...good, 'bounce.example.org': { fails: 'servfail' } }, envelope: other },
  ],
  [
    'one MX host unknown, none resolves',
    'error',
    { zone: { 'example.com': GOOD, 'mx1.example.net': { fails: 'refused' } } },
  ],
  [
    'no sender domain',
    'skipped',
    { message: 'From: nobody\n\nx\n', envelope: { mail_from: null } },
  ],
  [
    'only a MAIL FROM without MX',
    'skipped',
    { message: 'From: nobody\n\nx\n', envelope: other, zone: {} },
  ],
  ['offline', 'skipped', { zone: good, offline: true }],
]);

table(returnPath, [
  ['MX records', 'pass', { zone: good }],
  ['an address', 'pass', { zone: { 'example.com': { AAAA: ['2001:db8::1'] } } }],
  ['the null sender', 'pass', { envelope: { mail_from: '' }, zone: {} }],
  [
    'the null sender in brackets, offline',
    'pass',
    { envelope: { mail_from: '<>' }, offline: true },
  ],
  [
    'MAIL FROM in angle brackets',
    'pass',
    { zone: good, envelope: { mail_from: '<a@EXAMPLE.com>' } },
  ],
  [
    'neither MX nor address',
    'warn',
    { zone: { ...good, 'bounce.example.org': { TXT: ['x'] } }, envelope: other },
    'bounce.example.org',
  ],
  ['a domain that does not exist', 'fail', { zone: good, envelope: other }, 'example.org'],
  [
    'a time-out',
    'error',
    { zone: { 'bounce.example.org': { fails: 'timeout' } }, envelope: other },
  ],
  [
    'one MX host unknown, one resolves',
    'pass',
    { zone: { ...good, 'mx1.example.net': { fails: 'timeout' } } },
  ],
  [
    'one MX host unknown, none resolves',
    'error',
    { zone: { 'example.com': GOOD, 'mx1.example.net': { fails: 'servfail' } } },
  ],
  [
    'no MX host known',
    'error',
    {
      zone: {
        'example.com': GOOD,
        'mx1.example.net': { fails: 'servfail' },
        'mx2.example.net': { fails: 'timeout' },
      },
    },
  ],
  ['MAIL FROM unknown', 'skipped', { envelope: { mail_from: null } }],
  ['offline', 'skipped', { zone: good, offline: true }],
  ...[
    'root@localhost',
    'nobody',
    'a@[192.0.2.1]',
    'a@192.0.2.1',
    'a@b..c',
    `a@${'x'.repeat(9000)}.com`,
  ].map(
    (mail_from): Row => [mail_from.slice(0, 30), 'warn', { zone: good, envelope: { mail_from } }],
  ),
]);

const SAME_CAUSE: [string, Zone, string | undefined][] = [
  ['the From domain without MX or address', {}, undefined],
  [
    'null MX at MAIL FROM',
    { ...good, 'bounce.example.org': { MX: ['0 .'] } },
    'b@bounce.example.org',
  ],
  [
    'MX records at MAIL FROM that do not resolve',
    { ...good, 'bounce.example.org': { MX: ['10 gone.example'] } },
    'b@bounce.example.org',
  ],
];
for (const [what, zone, mail_from] of SAME_CAUSE)
  test(`return_path check follows from mx: ${what}`, async () => {
    const scene = { message, zone, envelope: mail_from ? { mail_from } : {} };
    assert.equal((await runCheck(mx, scene)).status, 'fail');
    assert.deepEqual((await runCheck(returnPath, scene)).dependsOn, ['mx']);
  });

test('return_path check reports a separate MAIL FROM domain on its own', async () => {
  const scene = { message, zone: good, envelope: other };
  assert.equal((await runCheck(returnPath, scene)).dependsOn, undefined);
});

test('mx and return_path checks look up each domain once and ten hosts at most', async () => {
  const queries: string[] = [];
  const records = Array.from({ length: 60 }, (_, i) => `${i} mx${i}.example.net`);
  const resolver: Resolver = async (name, type) => {
    queries.push(`${name}/${type}`);
    return type === 'MX' || name === 'com'
      ? { status: 'found', records, ttl: 1, authenticated: false }
      : { status: 'nodata' };
  };
  const context = await contextFor({ message, resolver });
  await Promise.all([mx.run(context), returnPath.run(context)]);
  assert.equal(queries.filter((query) => query === 'example.com/MX').length, 1);
  // Addresses of both kinds, and whether the name is an alias. And one query whether denials are true.
  assert.equal(queries.length, 1 + 10 * 3 + 1);
});
