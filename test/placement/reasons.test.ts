/** What providers write into the header of their copy, and what others write that looks like it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCopy } from '../../src/placement/mail-copy.ts';
import { reasonsOf } from '../../src/placement/reasons.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { mailWith } from './seeding.ts';

const copyWith = (fields: Record<string, string>) => readCopy(Buffer.from(mailWith(fields)));

async function reasons(
  provider: string,
  fields: Record<string, string>,
  sent: Record<string, string> = {},
) {
  const found = reasonsOf(await copyWith(fields), provider, await copyWith(sent));
  return found.map(({ name, value, text }) => `${name}=${value}: ${text}`);
}

test('Gmail’s authentication results are explained', async () => {
  const value =
    'mx.google.com; dkim=fail header.i=@a.example; dkim=pass header.i=@b.example; spf=softfail (google.com: …) smtp.mailfrom=x@b.example; dmarc=fail (p=NONE) header.from=c.example';
  assert.deepEqual(await reasons('gmail', { 'Authentication-Results': value }), [
    'spf=softfail: SPF fails with “softfail” at Gmail.',
    'dkim=pass: DKIM passes at Gmail.',
    'dmarc=fail: DMARC fails at Gmail.',
  ]);
});

test('SPF of the HELO name is not taken for SPF of the envelope sender', async () => {
  const results = (value: string) => ({ 'Authentication-Results': value });
  const cases: [provider: string, fields: Record<string, string>, expected: string[]][] = [
    [
      'gmail',
      results('mx.google.com; spf=pass smtp.helo=mx.a.example; spf=fail smtp.mailfrom=x@b.example'),
      ['spf=fail: SPF fails at Gmail.'],
    ],
    [
      'yahoo',
      results('atlas.mail.yahoo.com; spf=softfail smtp.mailfrom=b.example; spf=pass smtp.helo=mx'),
      ['spf=softfail: SPF fails with “softfail” at Yahoo.'],
    ],
    ['gmail', results('mx.google.com; spf=pass (helo) smtp.helo=mx.a.example'), []],
    [
      'own-server',
      results('mx.firma.example; spf=none smtp.mailfrom=b.example; spf=pass smtp.helo=a.example'),
      ['spf=none: own-server found no SPF record.'],
    ],
    ['own-server', { 'Received-SPF': 'pass identity=helo; client-ip=192.0.2.1' }, []],
    [
      'own-server',
      { 'Received-SPF': 'fail identity=mailfrom; client-ip=192.0.2.1' },
      ['spf=fail: SPF fails at own-server.'],
    ],
  ];
  for (const [provider, fields, expected] of cases)
    assert.deepEqual(await reasons(provider, fields), expected, JSON.stringify(fields));
});

test('ARC results of the provider are used if it wrote no others', async () => {
  const value = 'i=1; mx.google.com; spf=pass smtp.mailfrom=x@b.example';
  assert.deepEqual(await reasons('gmail', { 'ARC-Authentication-Results': value }), [
    'spf=pass: SPF passes at Gmail.',
  ]);
});

test('Results that the sender wrote are not taken for the provider’s', async () => {
  for (const value of [
    'mx.evil.example; dmarc=pass',
    'google.com.evil.example; dmarc=pass',
    'notgoogle.com; dmarc=pass',
    'spf=pass smtp.mailfrom=x',
  ])
    assert.deepEqual(await reasons('gmail', { 'Authentication-Results': value }), [], value);
  // Microsoft’s fields in mail from a Microsoft 365 tenant to Gmail are those of the sender.
  assert.deepEqual(await reasons('gmail', { 'X-Forefront-Antispam-Report': 'SFV:NSPM;SCL:1' }), []);
});

test('Fields that the sender wrote into the message are not taken for the provider’s', async () => {
  const results = { 'Authentication-Results': 'mx.google.com; dmarc=pass' };
  const filters = { 'X-Forefront-Antispam-Report': 'SFV:NSPM;SCL:1', 'Received-SPF': 'pass' };
  assert.deepEqual(await reasons('gmail', results, results), []);
  assert.deepEqual(await reasons('own-server', results, results), []);
  assert.deepEqual(await reasons('own-server', filters, filters), []);
  assert.deepEqual(await reasons('microsoft_365', filters, filters), []);
  // Folded in another way.
  const folded = { 'Authentication-Results': 'mx.google.com;\r\n dmarc=pass' };
  assert.deepEqual(await reasons('gmail', folded, results), []);
  // Below what the author wrote, whatever the test address received.
  const mail = mailWith().replace(
    '\r\n\r\n',
    '\r\nAuthentication-Results: mx.google.com; dmarc=pass$&',
  );
  for (const provider of ['gmail', 'own-server'])
    assert.deepEqual(reasonsOf(await readCopy(Buffer.from(mail)), provider, null), []);
});

test('Results of a provider that writes a field for each method are all explained', async () => {
  const mail = [
    'Authentication-Results: bimi.icloud.com; bimi=none',
    'Authentication-Results: dmarc.icloud.com; dmarc=pass header.from=a.example',
    'Authentication-Results: dkim-verifier.icloud.com; dkim=none',
    'Authentication-Results: spf.icloud.com; spf=fail smtp.mailfrom=a.example',
    mailWith(),
  ].join('\r\n');
  const found = reasonsOf(await readCopy(Buffer.from(mail)), 'icloud', null);
  assert.deepEqual(
    found.map(({ text }) => text),
    [
      'SPF fails at iCloud Mail.',
      'iCloud Mail found no DKIM signature.',
      'DMARC passes at iCloud Mail.',
    ],
  );
});

test('Results in addresses and comments are not taken for the provider’s', async () => {
  for (const text of [
    'dmarc=pass@a.example',
    '"x; dmarc=pass"@a.example',
    'x@a.example (; dmarc=pass (; dmarc=pass))',
  ]) {
    const value = `mx.google.com; spf=fail smtp.mailfrom=${text}; dmarc=fail (p=NONE)`;
    assert.deepEqual(await reasons('gmail', { 'Authentication-Results': value }), [
      'spf=fail: SPF fails at Gmail.',
      'dmarc=fail: DMARC fails at Gmail.',
    ]);
  }
});

test('Microsoft’s filter verdicts are explained', async () => {
  const found = await reasons('microsoft_365', {
    'Authentication-Results':
      'spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=a.example; dkim=none; dmarc=fail action=oreject; compauth=fail reason=000',
    'X-Forefront-Antispam-Report':
      'CIP:192.0.2.1;CTRY:DE;LANG:en;SCL:6;SRV:;IPV:NLI;SFV:SPM;H:mail.a.example;CAT:PHSH;DIR:INB;',
    'X-Microsoft-Antispam': 'BCL:8;ARA:1',
    'X-MS-Exchange-Organization-SCL': '-1',
  });
  assert.deepEqual(found, [
    'spf=pass: SPF passes at Microsoft 365.',
    'dkim=none: Microsoft 365 found no DKIM signature.',
    'dmarc=fail: DMARC fails at Microsoft 365.',
    'compauth=fail 000: Microsoft treats the message as spoofed: the message failed explicit authentication.',
    'SFV=SPM: Microsoft’s filters marked the message as spam.',
    'CAT=PHSH: Microsoft classified the message as phishing.',
    'SCL=6: The spam confidence level is 6 of 9: spam.',
    'BCL=8: The bulk complaint level is 8 of 9: from a bulk sender with many complaints.',
    'SCL=-1: The spam confidence level is -1: spam filtering was skipped.',
  ]);
});

test('Unknown, empty and odd values are left out', async () => {
  const found = await reasons('outlook', {
    'Authentication-Results': 'spf=constructor; dkim=; dmarc=__proto__',
    'X-Forefront-Antispam-Report': 'SFV:constructor;CAT:;SCL:99999',
    'X-Microsoft-Antispam': 'BCL:x',
    'Received-SPF': 'toString (x)',
  });
  assert.deepEqual(found, []);
});

test('Results with many open quotes and parentheses are read in linear time', async () => {
  const copies = [];
  for (const piece of ['"\\', '\\"', '(', '(a', 'receiver='])
    for (const name of ['Authentication-Results', 'Received-SPF']) {
      const value = `mx.google.com; ${piece.repeat(15_000 / piece.length)}`;
      copies.push(await copyWith({ [name]: value }));
    }
  const before = cpuTime();
  for (const copy of copies) reasonsOf(copy, 'gmail', null);
  assert.ok(cpuTime() - before < 300, `${Math.round(cpuTime() - before)} ms`);
});

test('Received-SPF is read if it names a server of the provider, in either form', async () => {
  for (const [value, count] of [
    ['pass (google.com: domain of x@a.example)', 1],
    ['pass (a comment) client-ip=192.0.2.1; receiver=mx.google.com;', 1],
    ['pass (google.com.evil.example: domain of x)', 0],
    ['pass (x) receiver=notgoogle.com;', 0],
  ] as const)
    assert.equal((await reasons('gmail', { 'Received-SPF': value })).length, count, value);
});
