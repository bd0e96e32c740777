/** `spf`: each result, null senders, assumed senders, and malformed names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthResult } from '../../../src/analysis/auth-results.ts';
import type { CheckStatus, Envelope } from '../../../src/analysis/check.ts';
import { spf } from '../../../src/analysis/checks/spf.ts';
import { spfRecord } from '../../../src/analysis/checks/spf-record.ts';
import { spfResult } from '../../../src/analysis/spf/evaluate.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { contextFor, runCheck } from '../../helpers/analysis.ts';

const MESSAGE = 'From: Ann <ann@example.com>\n\nHello\n';

interface Row {
  name: string;
  record?: string;
  zone?: Zone;
  envelope?: Partial<Envelope>;
  message?: string;
  offline?: boolean;
  status: CheckStatus;
  result: AuthResult | null;
  title: RegExp;
  publish?: { name: string; value: string };
}

const timeout: Zone = { 'example.com': { fails: 'timeout' } };

const rows: Row[] = [
  {
    name: 'an allowed client address',
    record: 'v=spf1 ip4:192.0.2.1 -all',
    status: 'pass',
    result: 'pass',
    title: /192\.0\.2\.1 may send for example\.com/,
  },
  {
    name: 'a client address not allowed by -all',
    record: 'v=spf1 mx -all',
    status: 'fail',
    result: 'fail',
    title: /does not allow 192\.0\.2\.1/,
    publish: { name: 'example.com', value: 'v=spf1 mx ip4:192.0.2.1 -all' },
  },
  {
    name: 'softfail, from an IPv6 address',
    record: 'v=spf1 ip4:192.0.2.1 ~all',
    envelope: { client_ip: '2001:db8::25' },
    status: 'fail',
    result: 'softfail',
    title: /does not allow 2001:db8::25/,
    publish: { name: 'example.com', value: 'v=spf1 ip4:192.0.2.1 ip6:2001:db8::25 ~all' },
  },
  {
    name: 'neutral through a redirect',
    record: 'v=spf1 redirect=_spf.example.com',
    zone: { '_spf.example.com': { TXT: ['v=spf1 ip4:198.51.100.1 ?all'] } },
    status: 'fail',
    result: 'neutral',
    title: /does not allow 192\.0\.2\.1/,
  },
  {
    name: 'excluded by a term before all; the fix inserts the address before it',
    record: 'v=spf1 a -ip4:192.0.2.0/24 ip4:198.51.100.1 ~all',
    status: 'fail',
    result: 'fail',
    title: /does not allow/,
    publish: {
      name: 'example.com',
      value: 'v=spf1 a ip4:192.0.2.1 -ip4:192.0.2.0/24 ip4:198.51.100.1 ~all',
    },
  },
  {
    name: 'no SPF record',
    zone: { 'example.com': { TXT: ['something else'] } },
    status: 'fail',
    result: 'none',
    title: /^example\.com has no SPF record\.$/,
    publish: { name: 'example.com', value: 'v=spf1 ip4:192.0.2.1 ~all' },
  },
  {
    name: 'permerror because of two records',
    zone: { 'example.com': { TXT: ['v=spf1 mx -all', 'v=spf1 a mx ip4:192.0.2.1 ~all'] } },
    status: 'fail',
    result: 'permerror',
    title: /cannot be used/,
    publish: { name: 'example.com', value: 'v=spf1 a mx ip4:192.0.2.1 -all' },
  },
  {
    name: 'permerror because of a syntax error',
    record: 'v=spf1 ipv4:192.0.2.1 -all',
    status: 'fail',
    result: 'permerror',
    title: /cannot be used/,
  },
  {
    name: 'DNS timeout',
    zone: timeout,
    status: 'error',
    result: 'temperror',
    title: /Could not check SPF/,
  },
  {
    name: 'SERVFAIL in an include',
    record: 'v=spf1 include:other.example -all',
    zone: { 'other.example': { fails: 'servfail' } },
    status: 'error',
    result: 'temperror',
    title: /Could not check SPF/,
  },
  {
    name: 'null sender, checked by HELO name',
    zone: { 'mail.example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } },
    envelope: { mail_from: '' },
    status: 'pass',
    result: 'pass',
    title: /may send for mail\.example\.com/,
  },
  {
    name: 'null sender without an SPF record for HELO',
    record: 'v=spf1 ip4:192.0.2.1 -all',
    envelope: { mail_from: '' },
    status: 'fail',
    result: 'none',
    title: /^mail\.example\.com has no SPF record/,
  },
  {
    name: 'null sender and an unknown HELO',
    envelope: { mail_from: '', helo: null },
    status: 'skipped',
    result: null,
    title: /was not checked/,
  },
  {
    name: 'unknown sender, assumed from Return-Path',
    zone: { 'bounce.example.net': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } },
    message: `Return-Path: <x@bounce.example.net>\n${MESSAGE}`,
    envelope: { mail_from: null },
    status: 'pass',
    result: 'pass',
    title: /may send for bounce\.example\.net/,
  },
  {
    name: 'unknown sender, From domain allows the client',
    record: 'v=spf1 ip4:192.0.2.1 -all',
    envelope: { mail_from: null },
    status: 'skipped',
    result: null,
    title: /was not checked/,
  },
  {
    name: 'unknown sender, From domain does not allow the client',
    record: 'v=spf1 -all',
    envelope: { mail_from: null },
    status: 'skipped',
    result: null,
    title: /was not checked/,
  },
  {
    name: 'unknown sender with null Return-Path, checked by HELO name',
    zone: { 'mail.example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } },
    message: `Return-Path: <>\n${MESSAGE}`,
    envelope: { mail_from: null },
    status: 'pass',
    result: 'pass',
    title: /may send for mail\.example\.com/,
  },
  ...[null, '127.0.0.1', '10.1.2.3', 'fe80::1', 'garbage'].map(
    (client_ip): Row => ({
      name: `no public client address: ${client_ip}`,
      record: 'v=spf1 -all',
      envelope: { client_ip },
      status: 'skipped',
      result: null,
      title: /was not checked/,
    }),
  ),
  {
    name: 'offline',
    record: 'v=spf1 -all',
    offline: true,
    status: 'skipped',
    result: null,
    title: /was not checked/,
  },
];

for (const row of rows) {
  test(`spf check reports ${row.status}: ${row.name}`, async () => {
    const own: Zone = row.record ? { 'example.com': { TXT: [row.record] } } : {};
    const scene = { ...row, message: row.message ?? MESSAGE, zone: { ...own, ...row.zone } };
    const context = await contextFor(scene);
    const finding = await spf.run(context);
    assert.equal(finding.status, row.status, finding.title);
    assert.match(finding.title, row.title);
    assert.equal((await context.fact(spfResult)).result, row.result);
    if (row.status === 'fail') assert.ok(finding.fix?.text);
    if (row.publish) assert.deepEqual(finding.fix?.record, { type: 'TXT', ...row.publish });
  });
}

test('spf check proposes a record with which the client passes', async () => {
  for (const record of ['v=spf1 mx -all', 'v=spf1 -ip4:192.0.2.0/24 ~all', 'v=spf1 ?all']) {
    const zone = { 'example.com': { TXT: [record] } };
    const found = await runCheck(spf, { message: MESSAGE, zone });
    const fixed = { 'example.com': { TXT: [found.fix?.record?.value ?? ''] } };
    assert.equal((await runCheck(spf, { message: MESSAGE, zone: fixed })).status, 'pass', record);
  }
});

test('spf check states where an assumed sender comes from', async () => {
  const zone = { 'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } };
  const message = `Return-Path: <x@example.com>\n${MESSAGE}`;
  const found = await runCheck(spf, { message, zone, envelope: { mail_from: null } });
  assert.equal(found.evidence?.assumed, 'return_path');
  assert.match(found.detail, /was read from the Return-Path field/);
});

test('spf check shows the domain owner’s explanation', async () => {
  const zone: Zone = {
    'example.com': { TXT: ['v=spf1 -all exp=why.example.com'] },
    'why.example.com': { TXT: ['%{i} is not one of ours'] },
  };
  const found = await runCheck(spf, { message: MESSAGE, zone });
  assert.equal(found.evidence?.explanation, '192.0.2.1 is not one of ours');
});

test('spf_record check carries the finding of an SPF permerror', async () => {
  const zone = { 'example.com': { TXT: ['v=spf1 nonsense -all'] } };
  const found = await runCheck(spfRecord, { message: MESSAGE, zone });
  assert.deepEqual([found.status, found.dependsOn], ['fail', ['spf']]);
});

// Any text in HELO and MAIL FROM results in a finding, never in a crash.

const ODD = [
  'spaces in it',
  'a b@c d.example',
  '@',
  '@@@@',
  'x@',
  '<>@<>',
  'ünïcode@exämple.com',
  'x@\u0000\u0001\r\n.example',
  'x@[192.0.2.1]',
  '[IPv6:2001:db8::1]',
  '..',
  'x@example.com/../..',
  '%{i}%{',
  '{"a":1}',
  '\ud800@\udfff.com',
  `${'a'.repeat(10_000)}@example.com`,
  `x@${'a'.repeat(10_000)}`,
  `x@${'a.'.repeat(5_000)}com`,
  'ü'.repeat(10_000),
];

test('spf check handles malformed HELO and MAIL FROM text', async () => {
  const zone: Zone = { 'example.com': { TXT: ['v=spf1 exists:%{l}.%{h}.example.com -all'] } };
  for (const text of ODD) {
    const envelopes = [
      { mail_from: '', helo: text },
      { mail_from: text, helo: text },
      { mail_from: 'x@example.com', helo: text },
    ];
    for (const envelope of envelopes) {
      const found = await runCheck(spf, { message: MESSAGE, zone, envelope });
      assert.equal(found.status, 'fail', `${text.slice(0, 40)}: ${found.title}`);
      assert.ok(JSON.stringify(found).length < 5_000, text.slice(0, 40));
    }
  }
});

test('spf check ignores a domain hidden behind @ in HELO', async () => {
  const zone: Zone = { 'example.com': { TXT: ['v=spf1 +all'] } };
  const envelope = { mail_from: '', helo: 'evil@example.com' };
  const found = await runCheck(spf, { message: MESSAGE, zone, envelope });
  assert.equal(found.status, 'fail');
  assert.equal(found.evidence?.domain, null);
});
