/** The checks that only inform: ipv6, tls_rpt and dnssec (mta_sts has a file of its own). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, CheckStatus, Json } from '../../../src/analysis/check.ts';
import { dnssec } from '../../../src/analysis/checks/dnssec.ts';
import { ipv6 } from '../../../src/analysis/checks/ipv6.ts';
import { tlsRpt } from '../../../src/analysis/checks/tls-rpt.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { type CheckInput, runCheck } from '../../helpers/analysis.ts';

const message = 'From: a@news.example.com\n\nHello\n';
const noDomain = 'From: nobody\n\nx\n';

type Row = [what: string, status: CheckStatus, title: RegExp, scene: Partial<CheckInput>];

function table(check: Check, rows: Row[]) {
  for (const [what, status, title, scene] of rows)
    test(`${check.id} check reports ${status}: ${what}`, async () => {
      const finding = await runCheck(check, { message, ...scene });
      assert.equal(finding.status, status, finding.title);
      assert.match(`${finding.title} ${finding.detail}`, title);
    });
}

const text = (name: string, ...records: string[]): Zone => ({
  [name]: { TXT: records },
  'example.com': { A: ['192.0.2.1'] },
  'news.example.com': { A: ['192.0.2.1'] },
});
const RPT = '_smtp._tls.news.example.com';

table(tlsRpt, [
  [
    'a mail address',
    'info',
    /requests TLS reports/,
    { zone: text(RPT, 'v=TLSRPTv1; rua=mailto:t@example.com') },
  ],
  [
    'two addresses',
    'info',
    /requests TLS reports/,
    { zone: text(RPT, 'v=TLSRPTv1;rua=mailto:t@example.com, https://r.example/x;') },
  ],
  ['no record', 'info', /does not request/, { zone: {} }],
  [
    'two records',
    'info',
    /several/,
    { zone: text(RPT, 'v=TLSRPTv1; rua=mailto:a@b.example', 'v=TLSRPTv1; rua=mailto:a@c.example') },
  ],
  ['no rua', 'info', /is invalid/, { zone: text(RPT, 'v=TLSRPTv1;') }],
  ['a bare address', 'info', /is invalid/, { zone: text(RPT, 'v=TLSRPTv1; rua=t@example.com') }],
  ['http', 'info', /is invalid/, { zone: text(RPT, 'v=TLSRPTv1; rua=http://r.example/') }],
  ['an unrelated TXT record', 'info', /does not request/, { zone: text(RPT, 'v=spf1 -all') }],
  [
    'quotation marks',
    'info',
    /is invalid\. It is in quotation marks/,
    { zone: text(RPT, '"v=TLSRPTv1; rua=mailto:t@example.com"') },
  ],
  ['a DNS failure', 'error', /Could not/, { zone: { [RPT]: { fails: 'servfail' } } }],
  ['offline', 'skipped', /offline/i, { offline: true }],
  ['no From domain', 'skipped', /From field/, { message: noDomain }],
]);

for (const [record, value] of [
  ['v=TLSRPTv1; rua=t@example.com', 'v=TLSRPTv1; rua=mailto:t@example.com'],
  ['“v=TLSRPTv1\\; rua=mailto:t@example.com”', 'v=TLSRPTv1; rua=mailto:t@example.com'],
  [' v=TLSRPTv1;rua=mailto://t@example.com', 'v=TLSRPTv1; rua=mailto:t@example.com'],
  [
    'v=TLSRPTv1; rua=mailto:t@example.com; u@example.com',
    'v=TLSRPTv1; rua=mailto:t@example.com,mailto:u@example.com',
  ],
  ['rua=https://r.example/x; v=TLSRPTv1', 'v=TLSRPTv1; rua=https://r.example/x'],
  ['_smtp._tls v=TLSRPTv1; rua=mailto:t@example.com', 'v=TLSRPTv1; rua=mailto:t@example.com'],
  ['text=v=TLSRPTv1; rua=mailto:t@example.com', 'v=TLSRPTv1; rua=mailto:t@example.com'],
  ['(v=TLSRPTv1; rua=mailto:t@example.com)', 'v=TLSRPTv1; rua=mailto:t@example.com'],
  ['v=TLSRPTv1; rua=http://r.example/', undefined],
  ['v=TLSRPTv1; rua=https://r.example/a,b', undefined],
  ['v=TLSRPTv1; rua=mailto=t@example.com', 'v=TLSRPTv1; rua=mailto:t@example.com'],
  ['v=TLSRPTv1; rua=t@@example.com', undefined],
  ['v=TLSRPTv1;', undefined],
] as const)
  test(`tls_rpt check keeps the addresses of a damaged record: ${record}`, async () => {
    const { title, fix } = await runCheck(tlsRpt, {
      message: 'From: a@example.com\n\nx\n',
      zone: text('_smtp._tls.example.com', record),
    });
    assert.match(title, /is invalid/);
    assert.equal(fix?.record?.value, value);
    assert.ok(fix?.text);
  });

const DS = { DS: ['12345 13 2 aabb'] };
const validating: CheckInput['resolver'] = async (name, type) => {
  const answer = await zoneResolver({ 'example.com': { ...DS, SOA: ['a b 1 2 3 4 5'] } })(
    name,
    type,
  );
  return answer.status === 'found' ? { ...answer, authenticated: true } : answer;
};
table(dnssec, [
  ['a validated answer', 'info', /is signed/, { resolver: validating }],
  ['only a DS record', 'info', /is set up/, { zone: { 'example.com': DS } }],
  ['no DS record', 'info', /is not signed/, { zone: {} }],
  ['a DNS failure', 'error', /Could not/, { zone: { 'example.com': { fails: 'timeout' } } }],
  ['offline', 'skipped', /offline/i, { offline: true }],
  ['no From domain', 'skipped', /From field/, { message: noDomain }],
  ['a public suffix', 'skipped', /registered/, { message: 'From: a@co.uk\n\nx\n' }],
]);

const domain = (records: Zone[string]): Zone => ({ 'news.example.com': records });
const MX = { MX: ['10 mx.example.com'] };
const V6: Zone = { 'mx.example.com': { AAAA: ['2001:db8::2'] } };
table(ipv6, [
  [
    'IPv6 for sending and receiving',
    'info',
    /over IPv6\. .*delivered over IPv6/,
    { zone: { ...domain(MX), ...V6 }, envelope: { client_ip: '2001:db8::1' } },
  ],
  [
    'no IPv6',
    'info',
    /over IPv4\. .*only over IPv4/,
    { zone: { ...domain(MX), 'mx.example.com': { A: ['192.0.2.2'] } } },
  ],
  ['no mail server', 'info', /no mail server/, { zone: {} }],
  ['no From domain', 'info', /over IPv4/, { message: noDomain }],
  ['a DNS failure', 'error', /Could not/, { zone: domain({ fails: 'timeout' }) }],
  ['a private client', 'skipped', /private/, { envelope: { client_ip: '192.168.1.1' } }],
  ['no client', 'skipped', /sending IP address is unknown/, { envelope: { client_ip: null } }],
  ['offline', 'skipped', /offline/i, { offline: true }],
]);

test('tls_rpt check proposes a valid record when missing', async () => {
  const rpt = await runCheck(tlsRpt, { message, zone: {} });
  const { value = '' } = (rpt.fix?.record ?? {}) as { value?: string };
  // What is proposed is itself valid.
  const again = await runCheck(tlsRpt, { message, zone: text(RPT, value) });
  assert.equal((again.evidence?.destinations as Json[] | undefined)?.length, 1);
});
