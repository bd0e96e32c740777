/** Verification of DKIM signatures: the cause of each defect, limits, and DNS queries. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import nodemailer from 'nodemailer';
import { dkimResult } from '../../../src/analysis/dkim/verify.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { type CheckInput, contextFor, RECEIVED_AT } from '../../helpers/analysis.ts';
import { alter, KEY_NAME, KEYS, MESSAGE, sign, zoneWith } from './signed-mail.ts';

const outcomeOf = async (scene: CheckInput) => (await contextFor(scene)).fact(dkimResult);
const good = zoneWith(KEYS.rsa.record);

/** Records the queries that reach the resolver. */
function recordingResolver(zone: Zone): { resolver: Resolver; asked: string[] } {
  const asked: string[] = [];
  const inner = zoneResolver(zone);
  return {
    asked,
    resolver: (name, type) => {
      asked.push(`${type} ${name}`);
      return inner(name, type);
    },
  };
}

interface Row {
  name: string;
  message: () => Promise<Buffer>;
  zone: Zone;
  result: string;
  cause: string | null;
}

const rows: Row[] = [
  { name: 'a good signature', message: () => sign(), zone: good, result: 'pass', cause: null },
  {
    name: 'simple canonicalization',
    message: () => sign({ canonicalization: 'simple/simple' }),
    zone: good,
    result: 'pass',
    cause: null,
  },
  {
    name: 'an Ed25519 signature',
    message: () => sign({ key: KEYS.ed25519 }),
    zone: zoneWith(KEYS.ed25519.record),
    result: 'pass',
    cause: null,
  },
  {
    name: 'a changed body',
    message: async () => alter(await sign(), 'the body', 'a body'),
    zone: good,
    result: 'fail',
    cause: 'body_changed',
  },
  {
    name: 'a changed header',
    message: async () => alter(await sign(), 'Subject: Hello', 'Subject: Hi'),
    zone: good,
    result: 'fail',
    cause: 'header_changed',
  },
  {
    name: 'a key other than the published one',
    message: () => sign({ key: KEYS.other }),
    zone: good,
    result: 'fail',
    cause: 'wrong_key',
  },
  {
    name: 'a changed header with Ed25519',
    message: async () => alter(await sign({ key: KEYS.ed25519 }), 'Subject: Hello', 'Subject: Hi'),
    zone: zoneWith(KEYS.ed25519.record),
    result: 'fail',
    cause: 'bad_signature',
  },
  {
    name: 'an expired signature',
    message: () => sign({ signTime: RECEIVED_AT - 9e6, expires: RECEIVED_AT - 1000 }),
    zone: good,
    result: 'policy',
    cause: 'expired',
  },
  {
    name: 'a signature that is still valid',
    message: () => sign({ expires: RECEIVED_AT + 1000 }),
    zone: good,
    result: 'pass',
    cause: null,
  },
  { name: 'no key record', message: () => sign(), zone: {}, result: 'permerror', cause: 'no_key' },
  {
    name: 'a revoked key',
    message: () => sign(),
    zone: zoneWith('v=DKIM1; k=rsa; p='),
    result: 'permerror',
    cause: 'revoked',
  },
  {
    name: 'an unreadable key',
    message: () => sign(),
    zone: zoneWith('v=DKIM1; k=rsa; p=MIIBIjANBg'),
    result: 'permerror',
    cause: 'unusable_key',
  },
  {
    name: 'a key of another type',
    message: () => sign(),
    zone: zoneWith(KEYS.ed25519.record),
    result: 'permerror',
    cause: 'unusable_key',
  },
  {
    name: 'a key of 768 bits',
    message: () => sign({ key: KEYS.rsa768 }),
    zone: zoneWith(KEYS.rsa768.record),
    result: 'policy',
    cause: 'weak_key',
  },
  {
    name: 'SHA-1',
    message: () => sign({ algorithm: 'rsa-sha1' }),
    zone: good,
    result: 'policy',
    cause: 'sha1',
  },
  {
    name: 'a DNS timeout',
    message: () => sign(),
    zone: { [KEY_NAME]: { fails: 'timeout' } },
    result: 'temperror',
    cause: 'dns_failure',
  },
  {
    name: 'a signature that does not cover From',
    message: async () => alter(await sign({ headerList: ['From'] }), 'h=From', 'h=To'),
    zone: good,
    result: 'neutral',
    cause: 'malformed',
  },
  {
    name: 'an unknown algorithm',
    message: async () => alter(await sign(), 'a=rsa-sha256', 'a=rot13-sha256'),
    zone: good,
    result: 'neutral',
    cause: 'malformed',
  },
  {
    name: 'a signature without a body hash',
    message: async () => alter(await sign(), ' bh=', ' xx='),
    zone: good,
    result: 'neutral',
    cause: 'malformed',
  },
];

for (const { name, message, zone, result, cause } of rows) {
  test(`DKIM verification returns ${result}: ${name}`, async () => {
    const outcome = await outcomeOf({ message: await message(), zone });
    assert.deepEqual(
      {
        result: outcome.result,
        signatures: outcome.signatures.map((each) => [each.result, each.cause]),
      },
      { result, signatures: [[result, cause]] },
    );
    assert.equal(outcome.reason === null, result === 'pass');
  });
}

test('DKIM verification returns the signature’s and the key’s properties', async () => {
  const message = await sign({ expires: RECEIVED_AT + 1000, identity: 'ann@mail.example.com' });
  const { signatures } = await outcomeOf({
    message,
    zone: zoneWith(`${KEYS.rsa.record}; t=y`),
  });
  const { id, headers, warnings, ...rest } = signatures[0]!;
  assert.match(id, /^[0-9a-f]{64}$/);
  const signed = ['content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'];
  assert.deepEqual(headers.toSorted(), signed);
  assert.deepEqual(warnings, []);
  assert.deepEqual(rest, {
    domain: 'example.com',
    selector: 's1',
    identity: 'ann@mail.example.com',
    algorithm: 'rsa-sha256',
    canonicalization: 'relaxed/relaxed',
    bits: 2048,
    result: 'pass',
    cause: null,
    reason: null,
    bodyLengthLimit: null,
    unsignedBodyBytes: null,
    signedAt: RECEIVED_AT - 60_000,
    expiresAt: RECEIVED_AT + 1000,
    expired: false,
    testing: true,
    keyName: KEY_NAME,
    keyRecord: `${KEYS.rsa.record}; t=y`,
    keyTexts: [`${KEYS.rsa.record}; t=y`],
    keyType: 'rsa',
  });
});

test('DKIM verification reads l= and counts unsigned octets', async () => {
  const signed = await sign({ maxBodyLength: 10 });
  const { signatures } = await outcomeOf({ message: signed, zone: good });
  const { result, bodyLengthLimit, unsignedBodyBytes: underSized } = signatures[0]!;
  const body = 'Hello Bob,\r\nthis is the body.\r\n'.length;
  assert.deepEqual([result, bodyLengthLimit, underSized], ['pass', 10, body - 10]);
});

test('DKIM verification of an unsigned message returns none without queries', async () => {
  for (const offline of [false, true]) {
    const { resolver, asked } = recordingResolver({});
    const outcome = await outcomeOf({ message: MESSAGE, resolver, offline });
    assert.equal(outcome.result, 'none');
    assert.deepEqual(asked, []);
  }
});

test('DKIM verification offline lists signatures without verifying', async () => {
  const { resolver, asked } = recordingResolver(good);
  const outcome = await outcomeOf({ message: await sign(), resolver, offline: true });
  assert.equal(outcome.result, null);
  assert.equal(outcome.mailauthResult, null);
  assert.deepEqual(
    outcome.signatures.map(({ domain, result }) => [domain, result]),
    [['example.com', null]],
  );
  assert.deepEqual(asked, []);
});

test('DKIM verification passes when one of RSA and Ed25519 passes', async () => {
  const both = await sign({ key: KEYS.ed25519, selector: 'ed' }, await sign());
  const zone = {
    ...zoneWith(KEYS.other.record),
    ...zoneWith(KEYS.ed25519.record, 'ed._domainkey.example.com'),
  };
  const outcome = await outcomeOf({ message: both, zone });
  assert.equal(outcome.result, 'pass');
  assert.deepEqual(
    outcome.signatures.map(({ selector, keyType, bits, result }) => [
      selector,
      keyType,
      bits,
      result,
    ]),
    [
      ['ed', 'ed25519', 256, 'pass'],
      ['s1', 'rsa', 2048, 'fail'],
    ],
  );
});

test('DKIM verification returns temperror for a failure beside an unanswered key', async () => {
  const both = await sign({ selector: 's2' }, await sign({ key: KEYS.other }));
  const zone: Zone = { ...good, 's2._domainkey.example.com': { fails: 'servfail' } };
  const outcome = await outcomeOf({ message: both, zone });
  assert.equal(outcome.result, 'temperror');
  assert.match(
    outcome.reason ?? '',
    /s2\._domainkey\.example\.com could not be looked up \(servfail\)/,
  );
});

test('DKIM verification checks ten of 200 junk signatures', async () => {
  const junk = Array.from(
    { length: 200 },
    (_, n) =>
      `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=junk${n}.example; s=s;\r\n\th=from; bh=AAAA; b=AAAA\r\n`,
  ).join('');
  const signed = await sign();
  const { resolver, asked } = recordingResolver(good);
  // The valid signature is on top, where signers put it. One junk field is folded before the colon.
  const message = Buffer.concat([
    signed.subarray(0, signed.indexOf('From: ')),
    Buffer.from(`${junk}dkim-signature\r\n : v=1; d=odd.example\r\n`),
    signed.subarray(signed.indexOf('From: ')),
  ]);
  const outcome = await outcomeOf({ message, resolver });
  assert.equal(outcome.signatures.length, 10);
  assert.equal(outcome.ignoredCount, 192);
  assert.equal(outcome.mailauthResult?.results.length, 10);
  assert.equal(outcome.result, 'pass');
  const keys = asked.filter((question) => question.includes('_domainkey'));
  assert.equal(new Set(keys).size, 10);
  assert.equal(keys.length, 10);
});

test('DKIM verification preserves all other octets when removing extra signatures', async () => {
  // Simple canonicalization signs white space, case and order of the lines around the junk.
  const odd = MESSAGE.replace('Subject: Hello', 'SUBJECT:  Hé\n  llo\t ');
  const signed = await sign({ canonicalization: 'simple/simple' }, odd);
  const junk = 'X-Keep:  1\r\nDKIM-Signature: v=1; d=junk.example; s=s; b=A\r\n'.repeat(30);
  const at = signed.indexOf('From: ');
  const message = Buffer.concat([signed.subarray(0, at), Buffer.from(junk), signed.subarray(at)]);
  const outcome = await outcomeOf({ message, zone: good });
  assert.equal(outcome.ignoredCount, 21);
  assert.equal(outcome.signatures[0]?.result, 'pass');
});

test('DKIM verification looks up keys concurrently', async () => {
  let waiting = 0;
  let maxWaiting = 0;
  const resolver: Resolver = async (name, type) => {
    waiting += 1;
    maxWaiting = Math.max(maxWaiting, waiting);
    await new Promise((resolve) => setImmediate(resolve));
    waiting -= 1;
    return zoneResolver(good)(name, type);
  };
  let message = await sign();
  for (const selector of ['s2', 's3', 's4']) message = await sign({ selector }, message);
  assert.equal((await outcomeOf({ message, resolver })).result, 'pass');
  assert.equal(maxWaiting, 4);
});

test('DKIM verification reports oversized headers and signatures as not verified', async () => {
  const signed = await sign();
  const folds = Buffer.from(`X-Long: 1\r\n${' z\r\n'.repeat(20_000)}`);
  const huge = await outcomeOf({ message: Buffer.concat([folds, signed]), zone: good });
  assert.equal(huge.result, 'neutral');
  assert.match(huge.reason ?? '', /header is too large/);
  const names = 'a:'.repeat(5000);
  const long = Buffer.from(`DKIM-Signature: v=1; d=example.com; s=s1; h=from:${names}b; b=A\r\n`);
  const outcome = await outcomeOf({ message: Buffer.concat([long, Buffer.from(MESSAGE)]) });
  assert.deepEqual([outcome.result, outcome.ignoredCount], ['neutral', 1]);
});

test('DKIM verification accepts bare LF, 8-bit text and empty bodies', async () => {
  const plain = Buffer.from(MESSAGE.replace('the body', 'thé bödy'), 'latin1');
  assert.equal((await outcomeOf({ message: await sign({}, plain), zone: good })).result, 'pass');
  const empty = Buffer.from('From: ann@example.com\r\nSubject: nothing\r\n\r\n');
  assert.equal((await outcomeOf({ message: await sign({}, empty), zone: good })).result, 'pass');
});

test('DKIM verification accepts signatures by nodemailer', async () => {
  const transport = nodemailer.createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    dkim: { domainName: 'example.com', keySelector: 's1', privateKey: KEYS.rsa.privateKey },
  });
  const { message } = await transport.sendMail({
    from: 'ann@example.com',
    to: 'bob@receiver.example',
    subject: 'Grüße',
    text: 'Hello',
    html: '<p>Hello</p>',
    date: new Date(RECEIVED_AT),
    messageId: '<2@example.com>',
  });
  const outcome = await outcomeOf({ message: message as Buffer, zone: good });
  assert.equal(outcome.result, 'pass');
});

test('DKIM verification never throws on arbitrary bytes', async () => {
  const signed = (await sign()).toString('latin1');
  const odd = [
    '',
    '\r\n',
    'DKIM-Signature:',
    'DKIM-Signature: ;;;=;b==;d=..;s=.;h=::;t=1e99;x=999999999999;l=99999999999999999999\r\n\r\n',
    signed.replace('s=s1', 's=ü\u0000;i=@@'),
    signed.replace('d=example.com', `d=${'a'.repeat(300)}.example`),
    signed.replace('t=', 'x=999999999999999999999; t='),
  ];
  for (const text of odd) {
    const outcome = await outcomeOf({ message: Buffer.from(text, 'latin1'), zone: good });
    assert.notEqual(outcome.result, 'pass');
  }
});

test('DKIM verification takes a kept key for the same record only', async () => {
  const raw = await sign();
  for (const [record, result] of [
    [KEYS.rsa.record, 'pass'],
    [KEYS.rsa.record, 'pass'],
    [KEYS.other.record, 'fail'],
    [`${KEYS.rsa.record}; h=sha1`, 'permerror'],
    [KEYS.rsa.record, 'pass'],
  ] as const) {
    const outcome = await outcomeOf({ message: raw, zone: zoneWith(record) });
    assert.equal(outcome.result, result, record.slice(-20));
  }
});
