/** The check `from`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { from } from '../../../src/analysis/checks/from.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';

const cases: [string, string | string[] | null, CheckStatus, RegExp?][] = [
  ['a name and an address', 'Example Ltd <news@example.com>', 'pass'],
  ['only an address', 'news@example.com', 'pass'],
  ['a quoted name', '"Example, Ltd (UK)" <news@example.com>', 'pass'],
  ['an encoded name', '=?utf-8?Q?Caf=C3=A9?= <news@example.com>', 'pass'],
  ['a name with a dot', 'John Q. Public <john@example.com>', 'pass'],
  ['a comment', 'news@example.com (Example Ltd)', 'pass'],
  ['a quoted local part', '"a b"@example.com', 'pass'],
  ['an international domain', 'News <news@bücher.example>', 'pass'],
  ['its own address as display name', '"news@example.com" <News@example.com>', 'pass'],
  ['no From field', null, 'fail', /has no From field/],
  ['two fields', ['a@example.com', 'b@example.com'], 'fail', /has 2 From fields/],
  ['an empty field', '', 'fail', /it has no address/],
  ['only a name', 'Example Ltd', 'fail', /has no address/],
  ['an address without brackets', 'News news@example.com', 'fail', /without < >/],
  ['a comma in the name', 'Smith, Joe <joe@example.com>', 'fail', /"Smith" has no address/],
  ['an @ in a bare name', 'Joe @ Home <joe@example.com>', 'fail', /need quotation marks/],
  ['an open quotation mark', '"News <news@example.com>', 'fail', /unclosed/],
  ['an open parenthesis', 'news@example.com (Ltd', 'fail', /unclosed/],
  ['text after the address', 'News <news@example.com> today', 'fail', /does not end/],
  ['a host without a domain', 'News <news@localhost>', 'fail', /no full domain name/],
  ['an address literal', 'News <news@[192.0.2.1]>', 'fail', /no full domain name/],
  ['a domain with a final dot', 'News <news@example.com.>', 'fail', /no full domain name/],
  ['two dots in a row', 'News <ne..ws@example.com>', 'fail', /is not a valid address/],
  ['a group', 'Us: news@example.com;', 'fail', /is a group/],
  [
    'the address inside an encoded word',
    '=?utf-8?Q?=22N=22_=3Cnews=40example=2Ecom=3E?=',
    'fail',
    /From field is invalid/,
  ],
  ['two addresses without Sender', 'a@example.com, b@example.com', 'fail', /has 2 addresses/],
  [
    'another address in the display name',
    '"pay@bank.example" <news@example.com>',
    'fail',
    /pay@bank\.example/,
  ],
  [
    'a look-alike @ in the name',
    '"pay＠bank.example" <news@example.com>',
    'fail',
    /pay@bank\.example/,
  ],
  [
    'an address in an encoded name',
    '=?utf-8?B?cGF5QGJhbmsuZXhhbXBsZQ==?= <news@example.com>',
    'fail',
    /pay@bank/,
  ],
  [
    'an address of a sibling domain in the name',
    '"shop@example.com" <news@mail.example.com>',
    'warn',
    /shop@example\.com/,
  ],
];

for (const [name, value, status, says] of cases)
  test(`from check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(from, { message: goodMessage({ From: value }) });
    const said = `${finding.title} ${finding.detail}`;
    assert.equal(finding.status, status, said);
    if (says) assert.match(said, says);
    if (status === 'warn' || status === 'fail') assert.ok(finding.fix?.text);
  });

test('from check fails addresses at two domains with Sender', async () => {
  const message = goodMessage({ From: 'a@example.com, b@example.net', Sender: 'a@example.com' });
  const finding = await runCheck(from, { message });
  assert.equal(finding.status, 'fail');
  assert.match(finding.detail, /DMARC cannot pass/);
});

test('from check warns about two addresses with Sender', async () => {
  const message = goodMessage({ From: 'a@example.com, b@example.com', Sender: 'a@example.com' });
  assert.equal((await runCheck(from, { message })).status, 'warn');
});

test('from check reports error when the header exceeds the limit', async () => {
  const message = `${'X: y\n'.repeat(250_000)}From: a@example.com\n\nbody`;
  const finding = await runCheck(from, { message });
  assert.equal(finding.status, 'error');
  assert.match(finding.detail, /too long to read in full/);
});

const SIGNED_BY_BRAND = {
  'DKIM-Signature': 'v=1; a=rsa-sha256; d=paypal.com; s=s1; h=from; bh=AA==; b=AA==',
};

const BRAND_CASES: [name: string, from: string, fields: Record<string, string>, CheckStatus][] = [
  ['a brand of another domain', 'PayPal Security <info@example.com>', {}, 'warn'],
  ['a brand from its own domain', 'PayPal <service@mail.paypal.com>', {}, 'pass'],
  ['a brand with a signature that fails', 'PayPal <info@example.com>', SIGNED_BY_BRAND, 'warn'],
  ['a name that only begins with a brand', 'PayPal Users of Ohio <info@example.com>', {}, 'pass'],
];

for (const [name, value, fields, status] of BRAND_CASES)
  test(`from check reports ${status}: ${name}`, async () => {
    const message = goodMessage({ From: value, ...fields });
    const finding = await runCheck(from, { message });
    assert.equal(finding.status, status, finding.title);
    if (status !== 'warn') return;
    assert.equal(finding.evidence?.brand, 'PayPal');
    assert.match(finding.fix!.text, /Use the name of your own organization/);
  });

test("from check accepts a brand's signature, and one that could not be verified", async () => {
  const key = makeKey();
  const letter = goodMessage({ From: 'PayPal <info@example.com>' });
  const message = await signMessage(letter, { domain: 'paypal.com', selector: 's1', key });
  const zone = { 's1._domainkey.paypal.com': { TXT: [key.record] } };
  assert.equal((await runCheck(from, { message, zone })).status, 'pass');
  assert.equal((await runCheck(from, { message })).status, 'warn', 'without the key');
  const resolver = async () => ({ status: 'error', reason: 'timeout' }) as const;
  assert.equal((await runCheck(from, { message, resolver })).status, 'pass');
  assert.equal((await runCheck(from, { message, offline: true })).status, 'pass');
});
