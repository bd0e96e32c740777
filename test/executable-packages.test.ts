/** The replacements of packages in the executable behave like the packages. */

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import charsets from '../scripts/executable/charsets.ts';
import * as replacedJoi from '../scripts/executable/joi.ts';

const require = createRequire(import.meta.url);
const iconv = require('iconv-lite') as typeof charsets;
const joi = require('joi') as typeof replacedJoi;

const MAILBOX_NAME = 'utf-7-imap';
/** Characters that the encoding treats differently: direct, shifting, Base64, and outside of ASCII. */
const character = fc.constantFrom(...'aZ09 &-,+/~=', 'é', 'Спам', '垃圾', '😀', '\u007f', '\t');
const nameArbitrary = fc.array(character, { maxLength: 20 }).map((parts) => parts.join(''));

test('Names of mailboxes are encoded as by iconv-lite, and decoded to the same names', () => {
  assert.equal(
    charsets.encode('Отчёты & more', MAILBOX_NAME).toString(),
    '&BB4EQgRHBFEEQgRL- &- more',
  );
  fc.assert(
    fc.property(nameArbitrary, (name) => {
      const encoded = charsets.encode(name, MAILBOX_NAME);
      assert.equal(encoded.toString(), iconv.encode(name, MAILBOX_NAME).toString());
      assert.equal(charsets.decode(encoded, MAILBOX_NAME), name);
    }),
    { numRuns: 1000 },
  );
});

test('Malformed names of mailboxes are decoded as by iconv-lite', () => {
  const malformed = fc.array(fc.constantFrom(...'&&&--,+/aAZ09= ~', '&BB4', '&BB4EQg-'), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(malformed, (parts) => {
      const bytes = Buffer.from(parts.join(''));
      assert.equal(charsets.decode(bytes, MAILBOX_NAME), iconv.decode(bytes, MAILBOX_NAME));
    }),
    { numRuns: 2000 },
  );
});

test('An unknown character set throws as in iconv-lite', () => {
  for (const { decode, encode } of [charsets, iconv]) {
    assert.throws(() => decode(Buffer.from('a'), 'unknown-8bit'));
    assert.throws(() => encode('a', 'unknown-8bit'));
  }
});

/** The schemas of mailauth: `lib/tools.js` and `lib/spf/index.js`. */
const SCHEMAS = {
  base64: (source: typeof replacedJoi) => source.string().base64({ paddingRequired: false }),
  domain: (source: typeof replacedJoi) =>
    source.string().domain({ allowUnicode: false, tlds: false }),
};

function assertSameVerdict(name: keyof typeof SCHEMAS, value: unknown): boolean {
  const [replaced, original] = [replacedJoi, joi].map((source) => {
    return SCHEMAS[name](source).validate(value).error === undefined;
  });
  assert.equal(replaced, original, `${name} ${JSON.stringify(value)}`);
  return replaced!;
}

test('Keys and domains are accepted and refused as by joi', () => {
  for (const name of ['base64', 'domain'] as const)
    for (const value of ['', null, 7]) assert.ok(!assertSameVerdict(name, value), String(value));
  for (const value of [undefined, 'QQ', 'QQ==', 'QUI=', 'QUI'])
    assert.ok(assertSameVerdict('base64', value), String(value));
  for (const value of ['QQ=', 'Q', 'QQ==QQ==', 'Q Q=', 'Q_-Q', 'QQ==\n'])
    assert.ok(!assertSameVerdict('base64', value), value);
  for (const value of [undefined, 'a.example', 'xn--e1afmkfd.example', '1.2.example'])
    assert.ok(assertSameVerdict('domain', value), String(value));
  for (const value of [
    'localhost',
    '-a.example',
    'a..example',
    'é.example',
    'a.example.',
    '_a.example',
  ])
    assert.ok(!assertSameVerdict('domain', value), value);
  const base64 = fc.array(fc.constantFrom(...'QAa09+/='), { maxLength: 12 });
  const labels = fc.array(fc.constantFrom(...'aZ0--._ é', '.example', 'a'.repeat(62)), {
    maxLength: 9,
  });
  fc.assert(
    fc.property(base64, labels, fc.domain(), (characters, parts, domain) => {
      assertSameVerdict('base64', characters.join(''));
      assertSameVerdict('domain', parts.join(''));
      assertSameVerdict('domain', domain);
    }),
    { numRuns: 2000 },
  );
});
