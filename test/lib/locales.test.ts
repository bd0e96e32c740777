/** Language tags. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalLocale } from '../../src/lib/locales.ts';

test('Language tags are accepted in any case and normalized; unknown ones and extensions are not', () => {
  for (const [tag, expected] of [
    ['en-gb', 'en-GB'],
    ['DE', 'de'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['sr-latn', 'sr-Latn'],
    ['xx', null],
    ['', null],
    ['en_GB', null],
    ['english', null],
    ['en-GB-u-ca-buddhist', null],
    ['x-private', null],
    [`en-${'a'.repeat(40)}`, null],
  ] as const)
    assert.equal(canonicalLocale(tag), expected, tag);
});
