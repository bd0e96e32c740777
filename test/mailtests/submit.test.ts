/** Messages submitted over the API. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { submitMessage } from '../../src/mailtests/submit.ts';
import { startTestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';

test('POST /v1/tests keeps no part of a large message if its transaction is refused', async (t) => {
  const { app } = await startTestService(t);
  const message = Buffer.from(goodMessage({}, 'A line of text.\r\n'.repeat(100_000)));
  const refused = new Error('The API key has been revoked.');
  const options = { kind: 'auto' as const, livemode: true };
  await assert.rejects(
    submitMessage(app, message, options, () => Promise.reject(refused)),
    refused,
  );
  assert.deepEqual(await app.db.selectFrom('message_chunks').select('message_id').execute(), []);
});
