/** The check `mta_sts`: the record, the policy behind it, and the mail servers that it names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { mtaSts } from '../../../src/analysis/checks/mta-sts.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import type { WebFailure } from '../../../src/net/guarded-connection.ts';
import { runCheck, type Scene } from '../../helpers/analysis.ts';
import { type Page, webOf } from '../../helpers/web.ts';

const message = 'From: a@news.example.com\n\nHello\n';
const STS = '_mta-sts.news.example.com';
const POLICY_URL = 'https://mta-sts.news.example.com/.well-known/mta-sts.txt';
const RECORD = 'v=STSv1; id=20260101T000000;';
const POLICY =
  'version: STSv1\r\nmode: enforce\r\nmx: mx1.example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n';

const text = (...records: string[]): Zone => ({ [STS]: { TXT: records } });
const ADDRESS = { A: ['192.0.2.1'] };
const ZONE: Zone = {
  ...text(RECORD),
  'news.example.com': { MX: ['10 mx1.example.com', '20 mx.example.net'] },
  'mx1.example.com': ADDRESS,
  'mx.example.net': ADDRESS,
};

const serving = (page: Page | WebFailure): Partial<Scene> => ({
  zone: ZONE,
  web: webOf({ [POLICY_URL]: page }),
});
const policy = (body: string): Partial<Scene> => serving({ body });

type Row = [what: string, status: CheckStatus, said: RegExp, scene: Partial<Scene>];

const rows: Row[] = [
  ['a valid policy', 'info', /sound MTA-STS policy \(enforce\).* 7 d\./, policy(POLICY)],
  [
    'a policy with LF line endings',
    'info',
    /sound/,
    policy(POLICY.replaceAll('\r\n', '\n').trimEnd()),
  ],
  ['testing mode', 'info', /\(testing\).*in testing/, policy(POLICY.replace('enforce', 'testing'))],
  ['mode none', 'info', /\(none\)/, policy('version: STSv1\nmode: none\nmax_age: 86400')],
  [
    'a record beside other TXT records',
    'info',
    /sound/,
    { ...policy(POLICY), zone: { ...ZONE, ...text('v=spf1 -all', 'v=STSv1;id=1') } },
  ],
  ['no record', 'info', /does not use/, { zone: {} }],
  ['only an unrelated TXT record', 'info', /does not use/, { zone: text('v=spf1 -all') }],
  ['two records', 'info', /not valid\. There are several/, { zone: text(RECORD, 'v=STSv1; id=2') }],
  ['no id', 'info', /not valid/, { zone: text('v=STSv1;') }],
  ['a bad id', 'info', /not valid/, { zone: text('v=STSv1; id=2026-01-01') }],
  ['another version', 'info', /not valid/, { zone: text('v=STSv2; id=1') }],
  ['no version', 'info', /version: STSv1/, policy(POLICY.replace(/version.*\r\n/, ''))],
  ['no mode', 'info', /no mode/, policy(POLICY.replace(/mode.*\r\n/, ''))],
  [
    'a wrong mode',
    'info',
    /mode of the policy is "Enforce"/,
    policy(POLICY.replace('e: e', 'e: E')),
  ],
  ['no age', 'info', /no max_age/, policy(POLICY.replace(/max_age.*\r\n/, ''))],
  ['a bad age', 'info', /max_age of the policy is "1w"/, policy(POLICY.replace('604800', '1w'))],
  ['an age too long', 'info', /"99999999"/, policy(POLICY.replace('604800', '99999999'))],
  ['no mx', 'info', /names no mail server/, policy(POLICY.replaceAll(/mx:.*\r\n/g, ''))],
  ['a bad mx', 'info', /"mx\*\.example\.net"/, policy(POLICY.replace('*.', 'mx*.'))],
  ['an invalid line', 'info', /a line that is no field: "hello"/, policy(`${POLICY}hello\n`)],
  [
    'an HTML page',
    'info',
    /broken.*not as text\/plain/,
    serving({ body: POLICY, type: 'text/html' }),
  ],
  ['no media type', 'info', /nothing in particular/, serving({ body: POLICY, type: '' })],
  [
    'a charset parameter',
    'info',
    /sound/,
    serving({ body: POLICY, type: 'text/plain; charset=utf-8' }),
  ],
  ['a 404 response', 'info', /broken.*answers 404/, serving({ code: 404 })],
  ['a redirect', 'info', /broken.*redirect \(302\)/, serving({ code: 302 })],
  ['no such host', 'info', /broken.*mta-sts\.news\.example\.com does not/, serving('no_such_name')],
  ['a bad certificate', 'info', /broken.*no certificate that is valid/, serving('tls')],
  ['a private address', 'info', /broken.*no public address/, serving('forbidden_address')],
  [
    'an oversized policy',
    'info',
    /broken.*larger than/,
    serving({ body: `${POLICY}${'a'.repeat(70_000)}` }),
  ],
  ['a 5xx response', 'error', /answers 503/, serving({ code: 503 })],
  ['a web timeout', 'error', /could not be fetched/, serving('timeout')],
  ['a refused connection', 'error', /could not be fetched/, serving('connection')],
  ['a DNS timeout', 'error', /could not/, { zone: { [STS]: { fails: 'timeout' } } }],
  [
    'unknown mail servers',
    'error',
    /could not be found out/,
    { ...policy(POLICY), zone: { ...ZONE, 'news.example.com': { fails: 'timeout' } } },
  ],
  ['offline', 'skipped', /offline/, { offline: true }],
  ['no From domain', 'skipped', /From field/, { message: 'From: nobody\n\nx\n' }],
];

for (const [what, status, said, scene] of rows)
  test(`mta_sts check reports ${status}: ${what}`, async () => {
    const finding = await runCheck(mtaSts, { message, ...scene });
    assert.equal(finding.status, status, finding.title);
    assert.match(`${finding.title} ${finding.detail}`, said);
    // What is broken is told as such to the health of a domain.
    const broken = /broken|not valid|does not cover/.test(finding.title);
    assert.equal(Array.isArray(finding.evidence?.problems), broken);
    if (broken) assert.ok(finding.fix);
  });

test('mta_sts check reports mail servers missing from the policy', async () => {
  const named = async (hosts: string[], mode = 'enforce') => {
    const zone: Zone = { ...ZONE, 'news.example.com': { MX: hosts.map((host) => `10 ${host}`) } };
    return runCheck(mtaSts, { message, ...policy(POLICY.replace('enforce', mode)), zone });
  };
  for (const host of ['MX1.example.com', 'a.example.net'])
    assert.match((await named([host])).title, /sound/);
  for (const host of ['mx2.example.com', 'example.net', 'a.b.example.net', 'xexample.net']) {
    const { title, detail, fix } = await named([host, 'mx1.example.com']);
    assert.match(title, /does not cover all its mail servers/);
    assert.ok(detail.startsWith(`It does not name ${host}. Senders that heed it do not`));
    assert.ok(fix?.text.includes(`"mx: ${host}"`));
  }
  assert.match((await named(['other.example'], 'testing')).detail, /under enforce they would not/);
});

test('mta_sts check proposes the record when missing', async () => {
  const { fix } = await runCheck(mtaSts, { message, zone: {} });
  assert.deepEqual(fix?.record, { type: 'TXT', name: STS, value: 'v=STSv1; id=20261121100000' });
});
