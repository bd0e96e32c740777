/** `mta_sts`: the record, the policy, and the mail servers that it lists. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { mtaSts } from '../../../src/analysis/checks/mta-sts.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import type { WebFailureReason } from '../../../src/net/guarded-connection.ts';
import { type CheckInput, runCheck } from '../../helpers/analysis.ts';
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

const serving = (page: Page | WebFailureReason): Partial<CheckInput> => ({
  zone: ZONE,
  web: webOf({ [POLICY_URL]: page }),
});
const policy = (body: string): Partial<CheckInput> => serving({ body });

type Row = [what: string, status: CheckStatus, expected: RegExp, scene: Partial<CheckInput>];

const rows: Row[] = [
  ['a valid policy', 'info', /valid MTA-STS policy \(enforce\).* 7 d\./, policy(POLICY)],
  [
    'a policy with LF line endings',
    'info',
    /has a valid/,
    policy(POLICY.replaceAll('\r\n', '\n').trimEnd()),
  ],
  [
    'testing mode',
    'info',
    /\(testing\).*In testing mode/,
    policy(POLICY.replace('enforce', 'testing')),
  ],
  [
    'a policy that is forgotten within a day',
    'info',
    /for only 1 h\. Senders forget it after 1 h, so most mail/,
    policy(POLICY.replace('604800', '3600')),
  ],
  [
    'a policy that is forgotten within a week',
    'info',
    /for only 2 d\. .* write to you less often/,
    policy(POLICY.replace('604800', '172800')),
  ],
  [
    'a record in quotation marks',
    'info',
    /is invalid\. It is in quot/,
    { zone: text(`"${RECORD}"`) },
  ],
  ['a space in front', 'info', /is invalid\. It begins with a space/, { zone: text(` ${RECORD}`) }],
  ['mode none', 'info', /\(none\)/, policy('version: STSv1\nmode: none\nmax_age: 86400')],
  [
    'a record beside other TXT records',
    'info',
    /has a valid/,
    { ...policy(POLICY), zone: { ...ZONE, ...text('v=spf1 -all', 'v=STSv1;id=1') } },
  ],
  ['no record', 'info', /does not use/, { zone: {} }],
  ['only an unrelated TXT record', 'info', /does not use/, { zone: text('v=spf1 -all') }],
  [
    'two records',
    'info',
    /is invalid\. There are several/,
    { zone: text(RECORD, 'v=STSv1; id=2') },
  ],
  ['no id', 'info', /is invalid/, { zone: text('v=STSv1;') }],
  ['a bad id', 'info', /is invalid/, { zone: text('v=STSv1; id=2026-01-01') }],
  ['another version', 'info', /is invalid/, { zone: text('v=STSv2; id=1') }],
  ['no version', 'info', /version: STSv1/, policy(POLICY.replace(/version.*\r\n/, ''))],
  ['no mode', 'info', /no mode/, policy(POLICY.replace(/mode.*\r\n/, ''))],
  ['a wrong mode', 'info', /policy mode is "Enforce"/, policy(POLICY.replace('e: e', 'e: E'))],
  ['no age', 'info', /no max_age/, policy(POLICY.replace(/max_age.*\r\n/, ''))],
  ['a bad age', 'info', /max_age is "1w"/, policy(POLICY.replace('604800', '1w'))],
  ['an age too long', 'info', /"99999999"/, policy(POLICY.replace('604800', '99999999'))],
  ['no mx', 'info', /lists no mail servers/, policy(POLICY.replaceAll(/mx:.*\r\n/g, ''))],
  ['a bad mx', 'info', /"mx\*\.example\.net"/, policy(POLICY.replace('*.', 'mx*.'))],
  ['an invalid line', 'info', /an invalid line: "hello"/, policy(`${POLICY}hello\n`)],
  [
    'an HTML page',
    'info',
    /cannot use.*not as text\/plain/,
    serving({ body: POLICY, type: 'text/html' }),
  ],
  ['no media type', 'info', /without a content type/, serving({ body: POLICY, type: '' })],
  [
    'a charset parameter',
    'info',
    /has a valid/,
    serving({ body: POLICY, type: 'text/plain; charset=utf-8' }),
  ],
  ['a 404 response', 'info', /cannot use.*responded with 404/, serving({ code: 404 })],
  ['a redirect', 'info', /cannot use.*redirects \(302\)/, serving({ code: 302 })],
  [
    'no such host',
    'info',
    /cannot use.*mta-sts\.news\.example\.com does not/,
    serving('no_such_name'),
  ],
  ['a bad certificate', 'info', /cannot use.*no valid certificate/, serving('tls')],
  ['a private address', 'info', /cannot use.*no public IP address/, serving('forbidden_address')],
  [
    'an oversized policy',
    'info',
    /cannot use.*larger than/,
    serving({ body: `${POLICY}${'a'.repeat(70_000)}` }),
  ],
  ['a 5xx response', 'error', /responded with 503/, serving({ code: 503 })],
  ['a web timeout', 'error', /Could not fetch/, serving('timeout')],
  ['a refused connection', 'error', /Could not fetch/, serving('connection')],
  ['a DNS timeout', 'error', /Could not/, { zone: { [STS]: { fails: 'timeout' } } }],
  [
    'unknown mail servers',
    'error',
    /Could not determine/,
    { ...policy(POLICY), zone: { ...ZONE, 'news.example.com': { fails: 'timeout' } } },
  ],
  ['offline', 'skipped', /offline/i, { offline: true }],
  ['no From domain', 'skipped', /From field/, { message: 'From: nobody\n\nx\n' }],
];

for (const [what, status, expected, scene] of rows)
  test(`mta_sts check reports ${status}: ${what}`, async () => {
    const finding = await runCheck(mtaSts, { message, ...scene });
    assert.equal(finding.status, status, finding.title);
    assert.match(`${finding.title} ${finding.detail}`, expected);
    // Domain health finds invalid records and policies by `problems`.
    const hasProblems = /cannot use|is invalid|does not cover|for only/.test(finding.title);
    assert.equal(Array.isArray(finding.evidence?.problems), hasProblems);
    if (hasProblems) assert.ok(finding.fix);
  });

test('mta_sts check keeps the id of a damaged record', async () => {
  const proposed = async (record: string) =>
    (await runCheck(mtaSts, { message, zone: text(record) })).fix?.record?.value;
  assert.equal(await proposed(` ${RECORD}`), 'v=STSv1; id=20260101T000000');
  assert.equal(await proposed('“v=STSv1\\; id=2026-01-01”'), 'v=STSv1; id=20260101');
  assert.equal(await proposed('id=7; v=STSv1'), 'v=STSv1; id=7');
});

test('mta_sts check reports mail servers missing from the policy', async () => {
  const findingFor = async (hosts: string[], mode = 'enforce') => {
    const zone: Zone = { ...ZONE, 'news.example.com': { MX: hosts.map((host) => `10 ${host}`) } };
    return runCheck(mtaSts, { message, ...policy(POLICY.replace('enforce', mode)), zone });
  };
  for (const host of ['MX1.example.com', 'a.example.net'])
    assert.match((await findingFor([host])).title, /has a valid/);
  for (const host of ['mx2.example.com', 'example.net', 'a.b.example.net', 'xexample.net']) {
    const { title, detail, fix } = await findingFor([host, 'mx1.example.com']);
    assert.match(title, /does not cover all its mail servers/);
    assert.ok(detail.startsWith(`It does not list ${host}. Senders that support MTA-STS do not`));
    assert.ok(fix?.text.includes(`"mx: ${host}"`));
  }
  assert.match(
    (await findingFor(['other.example'], 'testing')).detail,
    /In enforce mode, they do not deliver/,
  );
});

test('mta_sts check proposes the record when missing', async () => {
  const { fix } = await runCheck(mtaSts, { message, zone: {} });
  assert.deepEqual(fix?.record, { type: 'TXT', name: STS, value: 'v=STSv1; id=azdweprnni343a' });
});

test('mta_sts check proposes the same id at any time, and another one than the records have', async () => {
  const proposed = async (options: Omit<CheckInput, 'message'>) =>
    (await runCheck(mtaSts, { message, ...options })).fix?.record?.value;
  const first = await proposed({ zone: {} });
  assert.equal(await proposed({ zone: {}, receivedAt: 0 }), first);
  assert.equal(await proposed({ zone: {}, receivedAt: null }), first);
  assert.notEqual(await proposed({ zone: text(`${first}`, 'v=STSv1; id=2') }), first);
});
