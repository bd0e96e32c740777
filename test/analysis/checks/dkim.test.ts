/** The check `dkim`: every status, and the title and fix for each defect. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';
import { alter, KEY_NAME, KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const good = zoneWith(KEYS.rsa.record);

interface Row {
  name: string;
  message: () => Promise<Buffer | string>;
  zone: Zone;
  status: CheckStatus;
  title: RegExp;
  /** Matches the text of the fix, or the name and value of its record. */
  fix?: RegExp;
}

const rows: Row[] = [
  {
    name: 'a valid signature',
    message: () => sign(),
    zone: good,
    status: 'pass',
    title: /valid DKIM signature by example\.com\.$/,
  },
  {
    name: 'no signature',
    message: async () => MESSAGE,
    zone: {},
    status: 'fail',
    title: /has no DKIM signature/,
    fix: /s1\._domainkey\.example\.com/,
  },
  {
    name: 'a changed body',
    message: async () => alter(await sign(), 'the body', 'a body'),
    zone: good,
    status: 'fail',
    title: /^The body was changed after example\.com signed the message/,
    fix: /Sign as the last step/,
  },
  {
    name: 'a changed header',
    message: async () => alter(await sign(), 'Subject: Hello', 'Subject: Hi'),
    zone: good,
    status: 'fail',
    title: /signed header field was changed after example\.com signed the message/,
    fix: /Sign as the last step/,
  },
  {
    name: 'a wrong key',
    message: () => sign({ key: KEYS.other }),
    zone: good,
    status: 'fail',
    title: /different key than the one published at s1\._domainkey\.example\.com/,
    fix: /Publish the public key.*s1\._domainkey\.example\.com/,
  },
  {
    name: 'an expired signature',
    message: () => sign({ signTime: RECEIVED_AT - 9e6, expires: RECEIVED_AT - 1000 }),
    zone: good,
    status: 'fail',
    title: /signature by example\.com expired/,
    fix: /Remove x= from the signature/,
  },
  {
    name: 'no key record',
    message: () => sign(),
    zone: {},
    status: 'fail',
    title: /No DKIM key is published at s1\._domainkey\.example\.com/,
    fix: /s1\._domainkey\.example\.com v=DKIM1; k=rsa; p=/,
  },
  {
    name: 'a revoked key',
    message: () => sign(),
    zone: zoneWith('v=DKIM1; p='),
    status: 'fail',
    title: /key at s1\._domainkey\.example\.com has been revoked/,
    fix: /new selector/,
  },
  {
    name: 'an unreadable Ed25519 key',
    message: () => sign({ key: KEYS.ed25519 }),
    zone: zoneWith('v=DKIM1; k=ed25519; p=AAAA'),
    status: 'fail',
    title: /key record at s1\._domainkey\.example\.com is invalid/,
    fix: /v=DKIM1; k=ed25519; p=/,
  },
  {
    name: 'a short key',
    message: () => sign({ key: KEYS.rsa768 }),
    zone: zoneWith(KEYS.rsa768.record),
    status: 'fail',
    title: /has only 768 bits/,
    fix: /2048-bit RSA key.*s1-2\._domainkey/,
  },
  {
    name: 'SHA-1',
    message: () => sign({ algorithm: 'rsa-sha1' }),
    zone: good,
    status: 'fail',
    title: /SHA-1/,
    fix: /a=rsa-sha256/,
  },
  {
    name: 'a malformed signature',
    message: async () => alter(await sign(), 'a=rsa-sha256', 'a=rot13-sha256'),
    zone: good,
    status: 'fail',
    title: /DKIM-Signature field of example\.com is invalid/,
    fix: /a=rsa-sha256/,
  },
  {
    name: 'a key record that strict verifiers reject',
    message: () => sign(),
    zone: zoneWith(KEYS.rsa.record.replace('v=DKIM1', 'v=dkim1')),
    status: 'warn',
    title: /valid, but not every mailbox provider accepts it/,
    fix: /Replace the key record.*s1\._domainkey\.example\.com v=DKIM1; k=rsa; p=/,
  },
  {
    name: 'a key record that does not declare Ed25519',
    message: () => sign({ key: KEYS.ed25519 }),
    zone: zoneWith(KEYS.ed25519.record.replace('k=ed25519; ', '')),
    status: 'warn',
    title: /not every mailbox provider/,
    fix: /Replace the key record.* v=DKIM1; k=ed25519; p=/,
  },
  {
    name: 'a key record whose version is not the first tag',
    message: () => sign(),
    zone: zoneWith(`${KEYS.rsa.record.replace('v=DKIM1; ', '')}; v=DKIM1`),
    status: 'warn',
    title: /not every mailbox provider/,
    fix: /Replace the key record.* v=DKIM1; k=rsa; p=/,
  },
  {
    name: 'a signing clock hours ahead',
    message: () => sign({ signTime: RECEIVED_AT + 7_200_000 }),
    zone: good,
    status: 'warn',
    title: /not every mailbox provider/,
    fix: /^Correct the clock of the server that signs for example\.com: it is 2 h ahead/,
  },
  {
    name: 'a DNS timeout',
    message: () => sign(),
    zone: { [KEY_NAME]: { fails: 'timeout' } },
    status: 'error',
    title: /Could not verify/,
  },
];

for (const { name, message, zone, status, title, fix } of rows) {
  test(`dkim check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(dkim, { message: await message(), zone });
    assert.equal(finding.status, status, finding.title);
    assert.match(finding.title, title);
    const { text = '', record } = finding.fix ?? {};
    if (fix) assert.match(`${text} ${record?.name} ${record?.value}`, fix);
    else assert.equal(finding.fix, undefined);
  });
}

const tolerated: [what: string, message: () => Promise<Buffer>, zone: Zone, RegExp][] = [
  [
    'a signing clock minutes ahead',
    () => sign({ signTime: RECEIVED_AT + 600_000 }),
    good,
    /its signing time \(t=\) is 10 min in the future\. Correct the clock/,
  ],
  [
    'a key record with an extra semicolon',
    () => sign(),
    zoneWith(KEYS.rsa.record.replace('; ', ';; ')),
    /the key record has an empty tag \(;;\)\. Replace the key record/,
  ],
];

for (const [what, message, zone, says] of tolerated)
  test(`dkim check passes with a note: ${what}`, async () => {
    const finding = await runCheck(dkim, { message: await message(), zone });
    assert.equal(finding.status, 'pass', finding.title);
    assert.match(finding.detail, says);
  });

test('dkim check passes when one of several signatures is accepted everywhere', async () => {
  const ahead = await sign({ selector: 's2', signTime: RECEIVED_AT + 7_200_000 }, await sign());
  const zone = { ...good, ...zoneWith(KEYS.rsa.record, 's2._domainkey.example.com') };
  const finding = await runCheck(dkim, { message: ahead, zone });
  assert.equal(finding.status, 'pass');
  assert.match(
    finding.detail,
    /^The signature verifies with the key at s1\._domainkey\.example\.com\.$/,
  );
});

test('dkim check states how many signatures were not checked', async () => {
  const junk = 'DKIM-Signature: v=1; a=rsa-sha256; d=example.net; s=x; h=from; bh=AAAA; b=AAAA\r\n';
  const note = /4 more signatures were not checked: the limit is 10 signatures/;
  const below = await sign();
  const tenth = Buffer.concat([Buffer.from(junk.repeat(13)), below]);
  const own = await runCheck(dkim, { message: tenth, zone: good });
  assert.deepEqual([own.status, note.test(own.detail)], ['pass', true], own.detail);
  const first = await sign(
    {},
    Buffer.from(`${junk.repeat(13)}${MESSAGE.replaceAll('\n', '\r\n')}`),
  );
  const passed = await runCheck(dkim, { message: first, zone: good });
  assert.deepEqual([passed.status, note.test(passed.detail)], ['pass', true], passed.detail);
});

test('dkim check is skipped offline', async () => {
  const finding = await runCheck(dkim, { message: await sign(), zone: good, offline: true });
  assert.equal(finding.status, 'skipped');
});

test('dkim check names the failure of the From domain’s own signature first', async () => {
  const own = await sign({ key: KEYS.other });
  const both = await sign({ domain: 'provider.example', selector: 'p' }, own);
  const finding = await runCheck(dkim, {
    message: alter(both, 'the body', 'a body'),
    zone: { ...good, ...zoneWith(KEYS.rsa.record, 'p._domainkey.provider.example') },
  });
  assert.match(finding.title, /changed after example\.com signed/);
  const evidence = finding.evidence as { signatures: { domain: string; result: string }[] };
  assert.deepEqual(
    evidence.signatures.map(({ domain, result }) => [domain, result]),
    [
      ['provider.example', 'fail'],
      ['example.com', 'fail'],
    ],
  );
});

test('dkim check passes with one valid signature and mentions the broken one', async () => {
  const both = await sign({ selector: 'gone' }, await sign());
  const finding = await runCheck(dkim, { message: both, zone: good });
  assert.equal(finding.status, 'pass');
  assert.match(finding.detail, /1 of the 2 checked signatures/);
});

test('dkim check reports fail for oversized signatures', async () => {
  const long = `DKIM-Signature: v=1; h=from:${'a:'.repeat(5000)}b\r\n${MESSAGE}`;
  const finding = await runCheck(dkim, { message: long });
  assert.equal(finding.status, 'fail');
  assert.equal(finding.evidence?.signatures_not_looked_at, 1);
});
