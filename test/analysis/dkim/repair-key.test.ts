/** Damaged key records: the repaired one verifies a signature with the same private key, and nothing is invented. */

import assert from 'node:assert/strict';
import { createPublicKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import { readKeyRecord } from '../../../src/analysis/dkim/key-record.ts';
import { repairedKey } from '../../../src/analysis/dkim/repair-key.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import type { SigningKey } from '../../helpers/signer.ts';
import { checkDomain, item } from '../domain/domains.ts';
import { KEY_NAME, KEYS, sign } from './signed-mail.ts';

const dataOf = ({ record }: SigningKey): string => record.slice(record.indexOf('p=') + 2);
const folded = (data: string, separator: string) => data.match(/.{1,64}/g)!.join(separator);
const pem = (data: string, separator: string) =>
  ['-----BEGIN PUBLIC KEY-----', folded(data, separator), '-----END PUBLIC KEY-----'].join(
    separator,
  );

type Form = (type: string, data: string) => string[];

/** Each keeps the whole key, in a form that a person can still read. */
const FORMS: Record<string, Form> = {
  'in quotation marks': (type, data) => [`"v=DKIM1; k=${type}; p=${data}"`],
  'in typographic quotation marks': (type, data) => [`“v=DKIM1; k=${type}; p=${data}”`],
  'two strings in quotation marks': (type, data) => [
    `"v=DKIM1; k=${type}; p=${data.slice(0, 30)}" "${data.slice(30)}"`,
  ],
  'escaped semicolons': (type, data) => [`v=DKIM1\\; k=${type}\\; p=${data}`],
  'a line of a zone file': (type, data) => [
    `s1._domainkey IN TXT ( "v=DKIM1; h=sha256; k=${type}; " "p=${data}" ) ; ----- DKIM key s1`,
  ],
  'lines of a key file': (type, data) => [`v=DKIM1; k=${type}; p=${pem(data, ' ')}`],
  'tags glued together': (type, data) => [`v=DKIM1k=${type}t=sp=${data}`],
  'tags with spaces between': (type, data) => [`v=DKIM1 k=${type} p=${data}`],
  'commas between tags': (type, data) => [`v=DKIM1, k=${type}, p=${data}`],
  'a tag glued behind the key': (type, data) => [`v=DKIM1; k=${type}; p=${data}t=s`],
  'the version last': (type, data) => [`k=${type}; p=${data}; v=DKIM1`],
  'the version in lower case': (type, data) => [`v=dkim1; k=${type}; p=${data}`],
  'another version': (type, data) => [`v=DKIM2; k=${type}; p=${data}`],
  'tags in upper case': (type, data) => [`V=DKIM1; K=${type}; P=${data}`],
  'a tag twice': (type, data) => [`v=DKIM1; k=${type}; k=${type}; p=${data}`],
  'the key twice': (type, data) => [`v=DKIM1; k=${type}; p=${data}; p=${data}`],
  'only SHA-1': (type, data) => [`v=DKIM1; h=sha1; k=${type}; p=${data}`],
  'not for mail': (type, data) => [`v=DKIM1; k=${type}; s=tlsrpt; p=${data}`],
  'a wrong type': (type, data) => [`v=DKIM1; k=${type === 'rsa' ? 'ed25519' : 'rsa'}; p=${data}`],
  'an unknown type': (type, data) => [`v=DKIM1; k=${type}-2048; p=${data}`],
  'characters of URLs': (type, data) => [
    `v=DKIM1; k=${type}; p=${data.replaceAll('+', '-').replaceAll('/', '_')}`,
  ],
};

/** An RSA key shows where it ends, so that its parts can be put together. */
const RSA_FORMS: Record<string, Form> = {
  'the key alone': (_type, data) => [data],
  'escaped line breaks': (type, data) => [`v=DKIM1; k=${type}; p=${folded(data, '\\n')}`],
  'the key file alone': (_type, data) => [pem(data, ' ')],
  'no p= before the key': (type, data) => [`v=DKIM1; k=${type}; ${data}`],
  'two records': (type, data) => [`v=DKIM1; k=${type}; p=${data.slice(0, 180)}`, data.slice(180)],
  'two records in the other order': (type, data) => [
    data.slice(180),
    `v=DKIM1; k=${type}; p=${data.slice(0, 180)}`,
  ],
  'three records': (type, data) => [
    data.slice(300),
    `v=DKIM1; k=${type}; p=${data.slice(0, 180)}`,
    data.slice(180, 300),
  ],
  'two strings in the wrong order': (type, data) => [
    `${data.slice(180)}v=DKIM1; k=${type}; p=${data.slice(0, 180)}`,
  ],
  'a semicolon in the key': (type, data) => [
    `v=DKIM1; k=${type}; p=${data.slice(0, 180)};${data.slice(180)}`,
  ],
  'p= before each part': (type, data) => [
    `v=DKIM1; k=${type}; p=${data.slice(0, 180)}; p=${data.slice(180)}`,
  ],
};

const zoneOf = (texts: string[]): Zone => ({ [KEY_NAME]: { TXT: texts } });

const CASES = [
  ['rsa', KEYS.rsa, { ...FORMS, ...RSA_FORMS }],
  ['ed25519', KEYS.ed25519, FORMS],
] as const;

for (const [type, key, forms] of CASES)
  for (const [name, form] of Object.entries(forms)) {
    const texts = form(type, dataOf(key));
    // Without these characters in the key, the record is not damaged.
    if (name === 'characters of URLs' && !/[-_]/.test(texts[0]!)) continue;
    test(`A ${type} key record is repaired: ${name}`, async () => {
      const message = await sign({ key });
      const broken = await runCheck(dkim, { message, zone: zoneOf(texts) });
      assert.notEqual(broken.status, 'pass', 'the verifier accepts the record as it is');
      const value = repairedKey(texts);
      assert.ok(value !== null);
      const cured = await runCheck(dkim, { message, zone: zoneOf([value]) });
      assert.equal(cured.status, 'pass', cured.title);
      // The page of the domain and the report of a message propose the same record.
      assert.equal(broken.fix?.record?.value, value);
      const health = await checkDomain(
        { 'example.com': {}, ...zoneOf(texts) },
        { selectors: ['s1'] },
      );
      const found = item(health, 'dkim_selector');
      assert.equal(found.status, 'fail', found.title);
      assert.equal(found.fix?.record?.value, value);
    });
  }

test('A repaired key record keeps the other tags, without test mode', () => {
  const text = `"v=DKIM1; t=y:s; n=marketing; x_team=blue; h=sha1:sha256; p=${dataOf(KEYS.rsa)}"`;
  assert.match(
    repairedKey([text])!,
    /^v=DKIM1; k=rsa; t=s; n=marketing; x_team=blue; h=sha1:sha256; p=MII/,
  );
});

const data = dataOf(KEYS.rsa);
const UNCERTAIN: Record<string, string[]> = {
  'a lost character': [`v=DKIM1; k=rsa; p=${data.slice(0, 90)}${data.slice(91)}`],
  'an added character': [`v=DKIM1; k=rsa; p=${data.slice(0, 90)}A${data.slice(90)}`],
  'a missing end': [`v=DKIM1; k=rsa; p=${data.slice(0, 255)}`],
  'a missing beginning': [`v=DKIM1; k=rsa; p=${data.slice(20)}`],
  'a part of another key': [
    `v=DKIM1; k=rsa; p=${data.slice(0, 180)}`,
    dataOf(KEYS.rsa1024).slice(100),
  ],
  'a whole key beside a part of one': [`v=DKIM1; k=rsa; p=${data}; p=${data.slice(0, 99)}`],
  'two whole keys': [`v=DKIM1; k=rsa; p=${data}; p=${dataOf(KEYS.rsa1024)}`],
  'a whole key beside another text': [KEYS.rsa.record, 'site-verification=abc'],
  'two records with a key each': [KEYS.rsa.record, KEYS.other.record],
  'words behind the key': [`v=DKIM1; k=rsa; p=${data} our key since spring`],
  'a key that verifiers must not accept': [`"${KEYS.rsa768.record}"`],
  'an Ed25519 key without its end': [KEYS.ed25519.record.slice(0, -6)],
  'no key at all': ['v=DKIM1; k=rsa'],
};

for (const [name, texts] of Object.entries(UNCERTAIN))
  test(`No key record is proposed for ${name}`, () => {
    assert.equal(repairedKey(texts), null);
  });

test('Of keys with random damage, only the published one is ever proposed', () => {
  const published = createPublicKey(
    readKeyRecord(KEYS.rsa.record, null).publicKey!.export({ type: 'spki', format: 'pem' }),
  );
  for (let i = 0; i < 400; i++) {
    const [first = 0, second = 0, kind = 0] = randomBytes(3);
    const at = Math.floor((first / 256) * data.length);
    const cut = 1 + (second % 6);
    const noise = randomBytes(6).toString('base64').slice(0, cut);
    const damaged =
      kind % 2 === 0
        ? `${data.slice(0, at)}${data.slice(at + cut)}`
        : `${data.slice(0, at)}${noise}${data.slice(at)}`;
    const value = repairedKey([`v=DKIM1; k=rsa; p=${damaged}`]);
    if (value !== null) assert.ok(readKeyRecord(value, null).publicKey!.equals(published), damaged);
  }
});
