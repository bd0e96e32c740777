/** The check `dmarc` and its fact: aligned identifiers, and unknown results. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthResult } from '../../../src/analysis/auth-results.ts';
import type { CheckStatus, Envelope } from '../../../src/analysis/check.ts';
import { dmarc } from '../../../src/analysis/checks/dmarc.ts';
import { dmarcResult } from '../../../src/analysis/dmarc/evaluate.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { KEY_NAME, KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const spfPass = { 'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } };
const spfFail = { 'example.com': { TXT: ['v=spf1 -all'] } };
const record = { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] } };
const strict = { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; aspf=s; adkim=s'] } };
const key = zoneWith(KEYS.rsa.record);
const elsewhere = { mail_from: 'bounce@sender.example' };
const spfElsewhere = { 'sender.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } };

interface Row {
  name: string;
  zone: Zone;
  signed?: Parameters<typeof sign>[0] | false;
  message?: string;
  envelope?: Partial<Envelope>;
  offline?: boolean;
  status: CheckStatus;
  result: AuthResult | null;
  detail?: RegExp;
}

const rows: Row[] = [
  {
    name: 'SPF and DKIM pass aligned',
    zone: { ...spfPass, ...record, ...key },
    signed: {},
    status: 'pass',
    result: 'pass',
    detail: /^SPF \(example\.com\) and DKIM \(example\.com\) pass and align/,
  },
  {
    name: 'only SPF passes',
    zone: { ...spfPass, ...record },
    status: 'pass',
    result: 'pass',
    detail: /^SPF \(example\.com\) passes and aligns/,
  },
  {
    name: 'only DKIM passes',
    zone: { ...spfFail, ...record, ...key },
    signed: {},
    status: 'pass',
    result: 'pass',
    detail: /^DKIM \(example\.com\) passes and aligns/,
  },
  {
    name: 'DKIM passes, SPF lookup fails',
    zone: { 'example.com': { fails: 'timeout' }, ...record, ...key },
    signed: {},
    status: 'pass',
    result: 'pass',
  },
  {
    name: 'DKIM passes, client address unknown',
    zone: { ...record, ...key },
    signed: {},
    envelope: { client_ip: null },
    status: 'pass',
    result: 'pass',
  },
  {
    name: 'neither SPF nor DKIM passes',
    zone: { ...spfFail, ...record },
    status: 'fail',
    result: 'fail',
    detail: /SPF does not pass \(fail\).*DKIM does not pass \(none\).*to reject such mail/,
  },
  {
    name: 'SPF passes for another domain',
    zone: { ...spfElsewhere, ...record },
    envelope: elsewhere,
    status: 'fail',
    result: 'fail',
    detail: /SPF passes for sender\.example, which does not align/,
  },
  {
    name: 'DKIM passes for another domain',
    zone: { ...spfFail, ...record, 's1._domainkey.sender.example': { TXT: [KEYS.rsa.record] } },
    signed: { domain: 'sender.example' },
    status: 'fail',
    result: 'fail',
    detail: /DKIM passes for sender\.example, which does not align/,
  },
  {
    name: 'DKIM of a subdomain with relaxed alignment',
    zone: { ...spfFail, ...record, 's1._domainkey.m.example.com': { TXT: [KEYS.rsa.record] } },
    signed: { domain: 'm.example.com' },
    status: 'pass',
    result: 'pass',
  },
  {
    name: 'DKIM of a subdomain with strict alignment',
    zone: { ...spfFail, ...strict, 's1._domainkey.m.example.com': { TXT: [KEYS.rsa.record] } },
    signed: { domain: 'm.example.com' },
    status: 'fail',
    result: 'fail',
  },
  {
    name: 'SPF of a subdomain with strict alignment',
    zone: { 'm.example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }, ...strict },
    envelope: { mail_from: 'b@m.example.com' },
    status: 'fail',
    result: 'fail',
  },
  {
    name: 'null sender with an aligned HELO',
    zone: { 'mail.example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }, ...record },
    envelope: { mail_from: '' },
    status: 'pass',
    result: 'pass',
  },
  { name: 'no DMARC record', zone: spfPass, status: 'fail', result: 'none' },
  {
    name: 'DMARC lookup fails',
    zone: { ...spfPass, '_dmarc.example.com': { fails: 'timeout' } },
    status: 'error',
    result: 'temperror',
  },
  {
    name: 'SPF lookup fails and nothing else passes',
    zone: { 'example.com': { fails: 'timeout' }, ...record },
    status: 'error',
    result: 'temperror',
  },
  {
    name: 'SPF lookup of an unaligned domain fails',
    zone: { 'sender.example': { fails: 'timeout' }, ...record },
    envelope: elsewhere,
    status: 'fail',
    result: 'fail',
  },
  {
    name: 'DKIM key lookup fails',
    zone: { ...spfFail, ...record, [KEY_NAME]: { fails: 'servfail' } },
    signed: {},
    status: 'error',
    result: 'temperror',
  },
  {
    name: 'DKIM key lookup of an unaligned domain fails',
    zone: { ...spfFail, ...record, 's1._domainkey.sender.example': { fails: 'servfail' } },
    signed: { domain: 'sender.example' },
    status: 'fail',
    result: 'fail',
  },
  {
    name: 'client address unknown and no signature',
    zone: { ...spfPass, ...record },
    envelope: { client_ip: null },
    status: 'skipped',
    result: null,
  },
  {
    name: 'client address unknown and unaligned sender',
    zone: record,
    envelope: { client_ip: null, ...elsewhere },
    status: 'fail',
    result: 'fail',
  },
  {
    name: 'client address unknown and DKIM key lookup fails',
    zone: { ...record, [KEY_NAME]: { fails: 'timeout' } },
    signed: {},
    envelope: { client_ip: null },
    status: 'error',
    result: 'temperror',
  },
  {
    name: 'offline',
    zone: { ...spfPass, ...record },
    offline: true,
    status: 'skipped',
    result: null,
  },
  {
    name: 'offline, signed',
    zone: { ...spfPass, ...record, ...key },
    signed: {},
    offline: true,
    status: 'skipped',
    result: null,
  },
  {
    name: 'two From fields',
    zone: { ...spfPass, ...record },
    message: `From: x@example.net\n${MESSAGE}`,
    status: 'fail',
    result: 'permerror',
    detail: /more than one From field/,
  },
  {
    name: 'two author domains',
    zone: { ...spfPass, ...record },
    message: 'From: a@example.com, b@example.net\n\n',
    status: 'fail',
    result: 'permerror',
    detail: /more than one domain/,
  },
  {
    name: 'no From field',
    zone: { ...spfPass, ...record },
    message: 'Subject: x\n\n',
    status: 'fail',
    result: 'permerror',
    detail: /has no domain/,
  },
  {
    name: 'an address literal in From',
    zone: { ...spfPass, ...record },
    message: 'From: a@[192.0.2.1]\n\n',
    status: 'fail',
    result: 'permerror',
  },
];

for (const row of rows) {
  test(`dmarc check reports ${row.status}: ${row.name}`, async () => {
    const message = row.signed ? await sign(row.signed) : (row.message ?? MESSAGE);
    const context = await contextFor({ ...row, message });
    const found = await dmarc.run(context);
    const outcome = await context.fact(dmarcResult);
    assert.equal(outcome.result, row.result, outcome.reason ?? '');
    assert.equal(found.status, row.status, found.title);
    if (row.detail) assert.match(found.detail, row.detail);
    if (row.status === 'fail') assert.ok(found.fix?.text);
  });
}

const fixOf = async (message: Buffer | string, zone: Zone, envelope?: Partial<Envelope>) => {
  const found = await dmarc.run(await contextFor({ message, zone, envelope }));
  assert.equal(found.status, 'fail');
  return found.fix!;
};

test('dmarc check proposes fixing an aligned but broken DKIM signature', async () => {
  const changed = Buffer.concat([await sign(), Buffer.from('More.\r\n')]);
  const body = await fixOf(changed, { ...spfFail, ...record, ...key });
  assert.match(body.text, /^Fix the DKIM signature by example\.com, .* Sign as the last step/);
  const gone = await fixOf(await sign({ selector: 'gone' }), { ...spfFail, ...record });
  assert.equal(gone.record?.name, 'gone._domainkey.example.com');
  // With strict alignment, fixing this signature would not help.
  const sub = await sign({ domain: 'm.example.com' });
  assert.match(
    (await fixOf(sub, { ...spfFail, ...strict })).text,
    /^Sign with DKIM as example\.com/,
  );
});

test('dmarc check proposes signing with DKIM first, then fixing aligned SPF', async () => {
  const unsigned = await fixOf(MESSAGE, { ...spfFail, ...record });
  assert.match(
    unsigned.text,
    /^Sign with DKIM .* Or make SPF pass for example\.com, as described under "SPF"\.$/,
  );
  const other = await fixOf(MESSAGE, { ...record }, elsewhere);
  assert.match(other.text, /^Sign with DKIM as example\.com/);
  const passing = await fixOf(MESSAGE, { ...spfElsewhere, ...record }, elsewhere);
  assert.match(
    passing.text,
    /^Sign with DKIM .* Or use an envelope sender \(MAIL FROM\) under example\.com\.$/,
  );
});

test('dmarc check is skipped without a known envelope sender', async () => {
  const scene = {
    message: MESSAGE,
    zone: { ...spfPass, ...record },
    envelope: { mail_from: null },
  };
  const context = await contextFor(scene);
  assert.equal((await dmarc.run(context)).status, 'skipped');
  assert.equal((await context.fact(dmarcResult)).result, null);
});

const SUBDOMAIN = MESSAGE.replace('ann@example.com', 'ann@news.example.com');

test('dmarc check names psd=n, which alone keeps the domains apart, and what to change', async () => {
  const context = await contextFor({
    message: await sign({}, SUBDOMAIN),
    zone: {
      ...key,
      ...record,
      'example.com': { MX: ['10 mx.example.com'] },
      'mx.example.com': { A: ['192.0.2.1'] },
      '_dmarc.news.example.com': { TXT: ['v=DMARC1; p=reject; psd=n; rua=mailto:d@example.com'] },
    },
  });
  const { status, detail, fix } = await dmarc.run(context);
  assert.equal(status, 'fail');
  assert.match(detail, /The DMARC record of news\.example\.com has psd=n/);
  assert.deepEqual(fix?.record, {
    type: 'TXT',
    name: '_dmarc.news.example.com',
    value: 'v=DMARC1; p=reject; rua=mailto:d@example.com',
  });
});

test('dmarc check does not blame psd=n if the domains would not align without it', async () => {
  const context = await contextFor({
    message: await sign({}, SUBDOMAIN),
    zone: { ...key, '_dmarc.news.example.com': { TXT: ['v=DMARC1; p=reject; psd=n'] } },
  });
  const { detail, fix } = await dmarc.run(context);
  assert.doesNotMatch(detail, /psd/);
  assert.doesNotMatch(fix?.text ?? '', /psd/);
});

const POLICY_TAGS: [tag: string, zone: Zone, detail: RegExp][] = [
  [
    'sp',
    { 'news.example.com': { A: ['192.0.2.7'] } },
    /has no record of its own, so sp=quarantine/,
  ],
  ['np', {}, /news\.example\.com does not exist in DNS, so np=reject/],
];

for (const [tag, zone, expected] of POLICY_TAGS)
  test(`dmarc check names ${tag} if it decides`, async () => {
    const policies = 'v=DMARC1; p=none; sp=quarantine; np=reject';
    const context = await contextFor({
      message: SUBDOMAIN,
      zone: { '_dmarc.example.com': { TXT: [policies] }, ...spfFail, ...zone },
    });
    const { status, detail } = await dmarc.run(context);
    assert.equal(status, 'fail');
    assert.match(detail, expected);
    assert.match(detail, /in the DMARC record of example\.com applies/);
  });
