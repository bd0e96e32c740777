/** What the answers of a list mean: only what it declares is a listing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCodes } from '../../../src/analysis/reputation/codes.ts';
import { LISTS } from '../../../src/analysis/reputation/lists.ts';
import { aListedCode } from '../../helpers/blocklists.ts';

const list = (zone: string) => LISTS.find((one) => one.zone === zone)!;
const ZEN = list('zen.spamhaus.org');
const DBL = list('dbl.spamhaus.org');
const SURBL = list('multi.surbl.org');
const URIBL = list('multi.uribl.com');
const DNSWL = list('list.dnswl.org');
const VALIDITY = list('bl.score.senderscore.com');
const SPAMCOP = list('bl.spamcop.net');

const LISTED: [string, typeof ZEN, string[], RegExp][] = [
  ['SBL', ZEN, ['127.0.0.2'], /SBL/],
  ['CSS', ZEN, ['127.0.0.3'], /CSS/],
  ['XBL', ZEN, ['127.0.0.4'], /XBL/],
  ['the PBL, which is no spam but blocked', ZEN, ['127.0.0.10'], /should not send mail directly/],
  ['several', ZEN, ['127.0.0.2', '127.0.0.9'], /SBL.*DROP/],
  ['low reputation', DBL, ['127.0.1.2'], /low reputation/],
  ['an abused domain', DBL, ['127.0.1.102'], /legitimate domain abused/],
  ['one bit', SURBL, ['127.0.0.64'], /ABUSE/],
  ['two bits', SURBL, ['127.0.0.80'], /MW.*ABUSE/],
  ['a bit that counts and one that does not', SURBL, ['127.0.0.36', '127.0.0.8'], /^a phishing/],
  ['the test point of SURBL', SURBL, ['127.0.0.254'], /PH.*MW.*ABUSE.*CR/],
  ['the test point of URIBL', URIBL, ['127.0.0.14'], /black.*grey/],
  ['an allowlist', DNSWL, ['127.0.3.2'], /^e-mail service provider, medium trust$/],
  ['bits of Validity', VALIDITY, ['127.0.0.5'], /botnet.*traps/],
];

for (const [what, one, records, means] of LISTED)
  test(`${one.name}, ${what}: listed`, () => {
    const answer = readCodes(one, records);
    assert.equal(answer.status, 'listed', JSON.stringify(answer));
    assert.match(answer.status === 'listed' ? answer.meanings.join('; ') : '', means);
  });

const UNKNOWN: [string, typeof ZEN, string[], RegExp][] = [
  ['a mistyped zone', ZEN, ['127.255.255.252'], /does not know the zone/],
  ['a public resolver', ZEN, ['127.255.255.254'], /public resolver/],
  ['too many questions', ZEN, ['127.255.255.255'], /too many questions/],
  ['an address asked for', DBL, ['127.0.1.255'], /asked about an address/],
  ['a public resolver', DBL, ['127.255.255.254'], /public resolver/],
  ['a refusal', SURBL, ['127.0.0.1'], /refuses/],
  ['a refusal', URIBL, ['127.0.0.1'], /refuses/],
  ['a refusal', DNSWL, ['127.0.0.255'], /refuses/],
  ['a refusal', VALIDITY, ['127.255.255.255'], /refuses/],
  ['a code that it does not publish', ZEN, ['127.0.0.5'], /none of its codes/],
  ['a code of another list', SPAMCOP, ['127.0.0.4'], /none of its codes/],
  ['a listed code with a refusal', ZEN, ['127.0.0.2', '127.255.255.254'], /public resolver/],
  ['a listed code with an unknown one', ZEN, ['127.0.0.2', '127.0.0.77'], /none of its codes/],
  [
    'a listed code with a web server',
    ZEN,
    ['127.0.0.2', '198.51.100.80'],
    /zone does that is gone/,
  ],
  ['a web server', SPAMCOP, ['198.51.100.80'], /zone does that is gone.*198\.51\.100\.80/],
  ['an address that only begins alike', SPAMCOP, ['1270.0.0.2'], /no blocklist gives/],
  ['the name of a property', SPAMCOP, ['constructor'], /no blocklist gives/],
  ['a refusing bit among others', SURBL, ['127.0.0.9'], /none of its codes/],
  ['a bit that is not declared', URIBL, ['127.0.0.18'], /none of its codes/],
  ['no bit at all', URIBL, ['127.0.0.0'], /none of its codes/],
  ['bits in another octet', URIBL, ['127.0.2.2'], /none of its codes/],
];

for (const [what, one, records, says] of UNKNOWN)
  test(`${one.name}, ${what}: an error`, () => {
    const answer = readCodes(one, records);
    assert.equal(answer.status, 'error', JSON.stringify(answer));
    assert.match(answer.status === 'error' ? answer.reason : '', says);
  });

test('what a list says beside its listings is no listing', () => {
  assert.deepEqual(readCodes(SURBL, ['127.0.0.32']), {
    status: 'not_listed',
    codes: ['127.0.0.32'],
    notes: ['a click tracker (CT)'],
  });
  assert.equal(readCodes(URIBL, ['127.0.0.8']).status, 'not_listed');
  assert.equal(readCodes(list('rep.mailspike.net'), ['127.0.0.18']).status, 'not_listed');
});

test('no answer is no listing', () => {
  for (const one of LISTS)
    assert.deepEqual(readCodes(one, []), { status: 'not_listed', codes: [], notes: [] });
});

test('each declared error of each list is an error, beside a listed code too', () => {
  for (const one of LISTS)
    for (const code of Object.keys(one.errors))
      for (const records of [[code], [aListedCode(one), code]])
        assert.equal(readCodes(one, records).status, 'error', `${one.name} ${records}`);
});

test('an answer of thousands of addresses is read whole and shown in part', () => {
  const records = Array.from({ length: 4000 }, (_, i) => `127.0.${i >> 8}.${i & 255}`);
  const answer = readCodes(ZEN, records);
  assert.equal(answer.status, 'error');
  assert.equal(answer.codes.length, 10);
});
