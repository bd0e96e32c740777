/** Mark certificates: chain, validity period, purpose, names and mark type. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import {
  certificateExtension,
  dnsNames,
  evaluateCertificate,
} from '../../../src/analysis/bimi/certificate.ts';
import { RECEIVED_AT } from '../../helpers/analysis.ts';
import { makeAuthority, makeIntermediate, makeMark } from './mark-certificates.ts';

const ROOT = makeAuthority();
const INTERMEDIATE = makeIntermediate(ROOT);
const LOGO = '<svg/>';
const NAMES = ['news.example.com', 'example.com', 'default._bimi.news.example.com'];

const judge = (pem: string) =>
  evaluateCertificate(Buffer.from(pem), { names: NAMES, now: RECEIVED_AT });
const mark = (options = {}) => makeMark(INTERMEDIATE, { logo: LOGO, ...options });
const CHAIN = `${INTERMEDIATE.pem}${ROOT.pem}`;

const rows: [what: string, pem: string, problems: RegExp[]][] = [
  ['with the whole chain', mark() + CHAIN, []],
  ['without the root', mark() + INTERMEDIATE.pem, []],
  ['for the From domain', mark({ names: ['other.example', 'NEWS.example.com'] }) + CHAIN, []],
  ['for a selector', mark({ names: ['default._bimi.news.example.com'] }) + CHAIN, []],
  ['for another domain', mark({ names: ['example.org'] }) + CHAIN, [/not for news\.example\.com/]],
  ['without a name', mark({ names: [] }) + CHAIN, [/not for news/]],
  ['expired', mark({ from: -400, to: -30 }) + CHAIN, [/expired on 2026-10-22/]],
  ['not valid yet', mark({ from: 10 }) + CHAIN, [/not valid before 2026-12-01/]],
  ['of an expired authority', expiredChain(), [/issuing authority expired/]],
  ['for server authentication', mark({ usage: '1.3.6.1.5.5.7.3.1' }) + CHAIN, [/not for BIMI/]],
  ['without a logotype', mark({ logo: null }) + CHAIN, [/contains no logo/]],
  ['without its chain', mark(), [/does not include the certificate of the issuing/]],
  ['with the chain out of order', mark() + ROOT.pem + INTERMEDIATE.pem, [/not form a chain/]],
  ['with an authority of the same name', mark() + makeIntermediate(ROOT).pem, [/not form a chain/]],
  [
    'after the authority',
    CHAIN + mark(),
    [/starts with a CA certificate/, /not for BIMI/, /no logo/, /not for/],
  ],
  ['self-signed', makeMark(null, { logo: LOGO }), [/self-signed/]],
  ['that is empty', '', [/not in PEM format/]],
  ['that is an HTML page', '<html>Not found</html>', [/not in PEM format/]],
  [
    'that is an empty PEM block',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    [/be parsed/],
  ],
  ['that is a truncated PEM block', mark().slice(0, 300), [/be parsed/]],
];

function expiredChain(): string {
  const old = makeIntermediate(ROOT, { from: -900, to: -1 });
  return makeMark(old, { logo: LOGO }) + old.pem;
}

for (const [what, pem, problems] of rows)
  test(`evaluateCertificate: mark certificate ${what}`, () => {
    const found = judge(pem).problems;
    assert.equal(found.length, problems.length, found.join(' '));
    problems.forEach((problem, index) => {
      assert.match(found[index]!, problem);
    });
  });

test('evaluateCertificate distinguishes VMC and CMC', () => {
  const kind = (markType: string | null) => judge(mark({ markType }) + CHAIN).certificate?.kind;
  assert.equal(kind('Registered Mark'), 'VMC');
  assert.equal(kind('Government Mark'), 'VMC');
  assert.equal(kind('Prior Use Mark'), 'CMC');
  assert.equal(kind('Modified Registered Mark'), 'CMC');
  assert.equal(kind(null), null);
});

test('evaluateCertificate extracts the embedded image', () => {
  const image = judge(mark() + CHAIN).certificate?.image;
  assert.equal(Buffer.from(image ?? []).toString(), LOGO);
  const empty = judge(mark({ logo: null, emptyLogotype: true }) + CHAIN);
  assert.deepEqual([empty.problems, empty.certificate?.image], [[], null]);
});

test('Certificate parsing tolerates truncated and corrupted bytes', () => {
  const { raw } = new X509Certificate(mark());
  const names = (bytes: Uint8Array) =>
    dnsNames(certificateExtension(bytes, '2.5.29.17') ?? new Uint8Array());
  assert.deepEqual(names(raw), ['example.com']);
  for (let at = 0; at < raw.length; at++) {
    assert.deepEqual(names(raw.subarray(0, at)), []);
    for (const octet of [0x00, 0x1f, 0x80, 0x84, 0xff]) {
      const changed = Uint8Array.from(raw);
      changed[at] = octet;
      assert.ok(Array.isArray(names(changed)));
    }
  }
});
