/** The check `dkim_key`: length, type, test mode and revocation of the keys. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { dkimKey } from '../../../src/analysis/checks/dkim-key.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { alter, KEY_NAME, KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const good = zoneWith(KEYS.rsa.record);
const ed = zoneWith(KEYS.ed25519.record, 'ed._domainkey.example.com');

interface Row {
  name: string;
  message: () => Promise<Buffer | string>;
  zone: Zone;
  status: CheckStatus;
  title: RegExp;
}

const rows: Row[] = [
  { name: 'RSA 2048', message: () => sign(), zone: good, status: 'pass', title: /is strong/ },
  {
    name: 'a strong key with a changed body',
    message: async () => alter(await sign(), 'the body', 'a body'),
    zone: good,
    status: 'pass',
    title: /is strong/,
  },
  {
    name: 'RSA 1024',
    message: () => sign({ key: KEYS.rsa1024 }),
    zone: zoneWith(KEYS.rsa1024.record),
    status: 'warn',
    title: /has 1024 bits; 2048 are recommended/,
  },
  {
    name: 'RSA 768',
    message: () => sign({ key: KEYS.rsa768 }),
    zone: zoneWith(KEYS.rsa768.record),
    status: 'fail',
    title: /has only 768 bits/,
  },
  {
    name: 'SHA-1',
    message: () => sign({ algorithm: 'rsa-sha1' }),
    zone: good,
    status: 'fail',
    title: /SHA-1/,
  },
  {
    name: 'only Ed25519',
    message: () => sign({ key: KEYS.ed25519, selector: 'ed' }),
    zone: ed,
    status: 'fail',
    title: /signed only with Ed25519/,
  },
  {
    name: 'Ed25519 beside RSA',
    message: async () => sign({ key: KEYS.ed25519, selector: 'ed' }, await sign()),
    zone: { ...good, ...ed },
    status: 'pass',
    title: /is strong/,
  },
  {
    name: 'Ed25519 beside an RSA signature that does not verify',
    message: async () =>
      sign({ key: KEYS.ed25519, selector: 'ed' }, await sign({ key: KEYS.other })),
    zone: { ...good, ...ed },
    status: 'fail',
    title: /^Only the Ed25519 signature of your message is valid/,
  },
  {
    name: 'Ed25519 beside an RSA signature whose key lookup fails',
    message: async () => sign({ key: KEYS.ed25519, selector: 'ed' }, await sign()),
    zone: { ...ed, [KEY_NAME]: { fails: 'timeout' } },
    status: 'error',
    title: /Could not/,
  },
  {
    name: 'Ed25519 and RSA, both broken by a changed body',
    message: async () =>
      alter(await sign({ key: KEYS.ed25519, selector: 'ed' }, await sign()), 'the body', 'a body'),
    zone: { ...good, ...ed },
    status: 'pass',
    title: /is strong/,
  },
  {
    name: 'test mode',
    message: () => sign(),
    zone: zoneWith(`${KEYS.rsa.record}; t=y`),
    status: 'warn',
    title: /is in test mode/,
  },
  {
    name: 'a revoked key',
    message: () => sign(),
    zone: zoneWith('v=DKIM1; p='),
    status: 'fail',
    title: /revoked/,
  },
  {
    name: 'no key record',
    message: () => sign(),
    zone: {},
    status: 'skipped',
    title: /DKIM key was not checked/,
  },
  {
    name: 'no signature',
    message: async () => MESSAGE,
    zone: good,
    status: 'skipped',
    title: /DKIM key was not checked/,
  },
  {
    name: 'a DNS timeout',
    message: () => sign(),
    zone: { [KEY_NAME]: { fails: 'timeout' } },
    status: 'error',
    title: /Could not look up/,
  },
  {
    name: 'a provider’s weak key beside the sender’s strong key',
    message: async () => sign({ domain: 'provider.example', key: KEYS.rsa1024 }, await sign()),
    zone: { ...good, ...zoneWith(KEYS.rsa1024.record, 's1._domainkey.provider.example') },
    status: 'pass',
    title: /is strong/,
  },
  {
    name: 'a weak and a strong key of the sender',
    message: async () => sign({ selector: 's2', key: KEYS.rsa1024 }, await sign()),
    zone: { ...good, ...zoneWith(KEYS.rsa1024.record, 's2._domainkey.example.com') },
    status: 'warn',
    title: /s2\._domainkey\.example\.com has 1024 bits/,
  },
];

for (const { name, message, zone, status, title } of rows) {
  test(`dkim_key check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(dkimKey, { message: await message(), zone });
    assert.equal(finding.status, status, finding.title);
    assert.match(finding.title, title);
    assert.equal(finding.fix !== undefined, status === 'warn' || status === 'fail');
  });
}

test('dkim_key check proposes the key record without the test flag', async () => {
  const zone = zoneWith(KEYS.rsa.record.replace('k=rsa', 'k=rsa; t=y'));
  const finding = await runCheck(dkimKey, { message: await sign(), zone });
  assert.deepEqual(finding.fix?.record, { type: 'TXT', name: KEY_NAME, value: KEYS.rsa.record });
});

test('dkim_key check proposes a fix for the broken RSA signature beside Ed25519', async () => {
  const message = await sign(
    { key: KEYS.ed25519, selector: 'ed' },
    await sign({ selector: 'gone' }),
  );
  const { fix, detail, reference } = await runCheck(dkimKey, { message, zone: ed });
  assert.equal(fix?.record?.name, 'gone._domainkey.example.com');
  assert.match(detail, /The RSA signature with the key at gone\._domainkey\.example\.com/);
  assert.match(reference?.name ?? '', /^RFC 8463 §6$/);
});

test('dkim_key check removes only the test flag from t=', async () => {
  const rest = KEYS.rsa.record.replace('v=DKIM1; ', '');
  const published = async (record: string) =>
    (await runCheck(dkimKey, { message: await sign(), zone: zoneWith(record) })).fix?.record?.value;
  assert.equal(await published(`v=DKIM1; t=y:s; ${rest}`), `v=DKIM1; t=s; ${rest}`);
  assert.equal(await published(`v=DKIM1;T = s : y;${rest};`), `v=DKIM1; t=s; ${rest}`);
  assert.equal(await published(`t=y; ${rest}`), rest);
});

test('dkim_key check is skipped offline', async () => {
  const finding = await runCheck(dkimKey, { message: await sign(), zone: good, offline: true });
  assert.equal(finding.status, 'skipped');
});

test('dkim_key check depends on dkim when the key is why dkim fails', async () => {
  const zone = zoneWith(KEYS.rsa768.record);
  const message = await sign({ key: KEYS.rsa768 });
  assert.deepEqual((await runCheck(dkimKey, { message, zone })).dependsOn, ['dkim']);
  const changed = alter(message, 'the body', 'a body');
  const own = await runCheck(dkimKey, { message: changed, zone });
  assert.deepEqual([own.status, own.dependsOn], ['fail', undefined]);
});
