/** Which records are proposed again after they disappeared. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { goneRecord } from '../../src/domains/gone-records.ts';

const SPF = { type: 'TXT', name: 'kiln.example' };
const KEY = { type: 'TXT', name: 's1._domainkey.kiln.example' };
const PRIVATE = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'der',
});

test('A record that disappeared is proposed as it was', () => {
  const value = 'v=spf1 include:_spf.sender.example ~all';
  assert.deepEqual(goneRecord(SPF, { was: [value], is: [] }), { ...SPF, value });
});

const NEVER: [what: string, set: typeof SPF, was: string[], is?: string[]][] = [
  ['a private key', KEY, [`v=DKIM1; k=rsa; p=${PRIVATE.toString('base64')}`]],
  ['SPF that anyone passes', SPF, ['v=spf1 +all']],
  ['SPF with a broken term', SPF, ['v=spf1 include:_spf.sender.example ip4:999.1.1.1 ~all']],
  ['SPF that nobody reads', SPF, ['spf1 include:_spf.sender.example ~all']],
  ['what something else replaced', SPF, ['v=spf1 mx ~all'], ['v=spf1 a ~all']],
  ['one of several', SPF, ['v=spf1 mx ~all', 'v=spf1 a ~all']],
  ['an alias', KEY, ['CNAME s1.keys.sender.example']],
  [
    'what the parent domain published',
    { type: 'TXT', name: '_dmarc.news.kiln.example' },
    ['v=DMARC1; p=reject; sp=none (at _dmarc.kiln.example)'],
  ],
];

for (const [what, set, was, is = []] of NEVER)
  test(`A record that disappeared is not proposed again: ${what}`, () => {
    assert.equal(goneRecord(set, { was, is }), null);
  });
