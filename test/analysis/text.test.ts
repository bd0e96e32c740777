/** Words of ASCII texts, which take a faster way, are those that the way for all texts finds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countWords, distinctWords, plainWords } from '../../src/analysis/text.ts';

/** Of all ASCII characters, and of those between which words, cases, numbers and addresses begin. */
const ascii = fc.oneof(
  fc.string({ unit: 'binary-ascii', maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('a', 'b', 'C', 'D', '1', ' ', '\n', '-', '_', '.', 'http://', 'www.'),
    maxLength: 60,
  }),
);
/** Contains no word, but is not ASCII. */
const OTHER = ' …';

test('Words of an ASCII text do not depend on the characters beside it', () => {
  fc.assert(
    fc.property(ascii, (text) => {
      assert.equal(countWords(text), countWords(text + OTHER));
      assert.deepEqual([...distinctWords(text)], [...distinctWords(text + OTHER)]);
      assert.equal(plainWords(text, text.length), plainWords(text + OTHER, text.length));
      assert.equal(plainWords(text, 10), plainWords(text + OTHER, 10));
    }),
    { numRuns: 2000 },
  );
});
