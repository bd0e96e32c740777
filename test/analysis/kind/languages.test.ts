/** The kind of short mails in 25 languages: as a person says, and with confidence. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyMessage } from '../../../src/analysis/kind.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { LANGUAGE_MAILS, messageOf } from './language-mails.ts';

test('There are ten mails in each of 25 languages', () => {
  const counts = Object.values(LANGUAGE_MAILS).map(
    ({ marketing, transactional }) => marketing.length + transactional.length,
  );
  assert.deepEqual(
    counts,
    Array.from({ length: 25 }, () => 10),
  );
});

for (const [language, mails] of Object.entries(LANGUAGE_MAILS))
  for (const kind of ['marketing', 'transactional'] as const)
    for (const mail of mails[kind])
      test(`${language}: “${mail[0]}” is ${kind}`, async () => {
        const context = await contextFor({ message: messageOf(mail) });
        const found = context.fact(classifyMessage);
        assert.equal(found.kind, kind, found.reasons.join('\n'));
        assert.notEqual(found.confidence, 'uncertain', found.reasons.join('\n'));
      });
