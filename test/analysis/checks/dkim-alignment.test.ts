/** The check `dkim_alignment`: which signatures align with the From domain. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { dkimAlignment } from '../../../src/analysis/checks/dkim-alignment.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { alter, KEY_NAME, KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const dmarc = (record: string): Zone => ({ '_dmarc.example.com': { TXT: [record] } });
const keys: Zone = {
  ...zoneWith(KEYS.rsa.record),
  ...zoneWith(KEYS.rsa.record, 's1._domainkey.mail.example.com'),
  ...zoneWith(KEYS.rsa.record, 's1._domainkey.provider.example'),
};
const relaxed = { ...keys, ...dmarc('v=DMARC1; p=none') };
const strict = { ...keys, ...dmarc('v=DMARC1; p=none; adkim=s; rua=mailto:a@example.com') };
const bySubdomain = () => sign({ domain: 'mail.example.com' });
const byProvider = () => sign({ domain: 'provider.example' });

interface Row {
  name: string;
  message: () => Promise<Buffer | string>;
  zone: Zone;
  status: CheckStatus;
  title: RegExp;
  detail?: RegExp;
}

const rows: Row[] = [
  {
    name: 'a signature of the same domain',
    message: () => sign(),
    zone: strict,
    status: 'pass',
    title: /is aligned/,
  },
  {
    name: 'a subdomain, relaxed',
    message: bySubdomain,
    zone: relaxed,
    status: 'pass',
    title: /is aligned/,
  },
  {
    name: 'a subdomain, strict',
    message: bySubdomain,
    zone: strict,
    status: 'fail',
    title: /signed by mail\.example\.com, not by example\.com/,
  },
  {
    name: 'a subdomain, without a DMARC record',
    message: bySubdomain,
    zone: keys,
    status: 'pass',
    title: /is aligned/,
  },
  {
    name: 'a provider’s signature',
    message: byProvider,
    zone: relaxed,
    status: 'fail',
    title: /signed by provider\.example, not by example\.com/,
  },
  {
    name: 'a provider’s signature without a DMARC record',
    message: byProvider,
    zone: keys,
    status: 'fail',
    title: /signed by provider\.example, not by example\.com/,
  },
  {
    name: 'a provider’s and the sender’s signature',
    message: async () => sign({ domain: 'provider.example' }, await sign()),
    zone: relaxed,
    status: 'pass',
    title: /is aligned/,
  },
  {
    name: 'a provider’s signature beside a broken one of the From domain',
    message: async () => sign({ domain: 'provider.example' }, await sign({ key: KEYS.other })),
    zone: relaxed,
    status: 'fail',
    title: /different key than the one published at s1\._domainkey\.example\.com/,
  },
  {
    name: 'a provider’s signature beside one of the From domain whose key lookup fails',
    message: async () => sign({ domain: 'provider.example' }, await sign()),
    zone: { ...relaxed, [KEY_NAME]: { fails: 'timeout' } },
    status: 'error',
    title: /Could not determine/,
  },
  {
    // The check `dkim` fails here; this finding says what would apply once that is fixed.
    name: 'no valid signature',
    message: async () => alter(await sign(), 'the body', 'a body'),
    zone: relaxed,
    status: 'pass',
    title: /aligned/,
  },
  {
    name: 'no signature',
    message: async () => MESSAGE,
    zone: relaxed,
    status: 'skipped',
    title: /DKIM alignment was not checked/,
    detail: /no DKIM signature/,
  },
  {
    name: 'a key lookup that fails',
    message: () => sign(),
    zone: { ...relaxed, [KEY_NAME]: { fails: 'timeout' } },
    status: 'error',
    title: /Could not determine/,
  },
  {
    name: 'a DMARC lookup that fails',
    message: bySubdomain,
    zone: { ...keys, '_dmarc.example.com': { fails: 'servfail' } },
    status: 'error',
    title: /Could not determine/,
  },
  {
    name: 'identical domains while the DMARC lookup fails',
    message: () => sign(),
    zone: { ...keys, '_dmarc.example.com': { fails: 'servfail' } },
    status: 'pass',
    title: /is aligned/,
  },
  {
    name: 'no From domain',
    message: () => sign({}, MESSAGE.replace(/^From:.*$/m, 'From: nobody')),
    zone: relaxed,
    status: 'skipped',
    title: /DKIM alignment was not checked/,
    detail: /From field has no domain/,
  },
];

for (const { name, message, zone, status, title, detail } of rows) {
  test(`dkim_alignment check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(dkimAlignment, { message: await message(), zone });
    assert.equal(finding.status, status, finding.title);
    assert.match(finding.title, title);
    if (detail) assert.match(finding.detail, detail);
    assert.equal(finding.fix !== undefined, status === 'fail');
  });
}

test('dkim_alignment check proposes the DMARC record with adkim=r', async () => {
  const record = 'v=DMARC1; p=reject; adkim=s; rua=mailto:a@example.com';
  const zone = { ...strict, '_dmarc.example.com': { TXT: [record] } };
  const finding = await runCheck(dkimAlignment, { message: await bySubdomain(), zone });
  assert.deepEqual(finding.fix?.record, {
    type: 'TXT',
    name: '_dmarc.example.com',
    value: record.replace('adkim=s', 'adkim=r'),
  });
  assert.equal(finding.evidence?.mode, 'strict');
});

test('dkim_alignment check leaves the record to dmarc_policy if that proposes one', async () => {
  // It does because the message passes DMARC, by SPF.
  const finding = await runCheck(dkimAlignment, {
    message: await bySubdomain(),
    zone: { ...strict, 'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } },
    envelope: {
      client_ip: '192.0.2.1',
      mail_from: 'a@example.com',
      helo: 'mx.example.com',
      tls: null,
    },
  });
  assert.equal(finding.fix?.record, undefined);
  assert.match(finding.fix?.text ?? '', /publish the DMARC record with adkim=r/);
});

test('dkim_alignment check proposes a key of the sender’s own domain', async () => {
  const finding = await runCheck(dkimAlignment, { message: await byProvider(), zone: relaxed });
  assert.equal(finding.fix?.record?.name, 's1._domainkey.example.com');
  assert.match(finding.fix?.text ?? '', /the service that signs as provider\.example/);
});

test('dkim_alignment check is skipped offline', async () => {
  const scene = { message: await sign(), zone: relaxed, offline: true };
  assert.equal((await runCheck(dkimAlignment, scene)).status, 'skipped');
});
