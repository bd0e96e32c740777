/** Messages submitted over the API. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../src/http/problem.ts';
import { submitMessage } from '../../src/mailtests/submit.ts';
import { startTestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';

test('POST /v1/tests/raw rejects what is no message with 400, and creates no test', async (t) => {
  const { app, call } = await startTestService(t);
  const headers = { 'content-type': 'message/rfc822' };
  for (const [body, start] of [
    ['{"a":1}', 'The request body is JSON, not an email message. '],
    ['Dear Alex,\r\nsee below.', 'The request body is not an email message: '],
    ['<html><body>x', 'The request body is an HTML page, not an email message. '],
    [' \r\n', 'The request body contains only white space. '],
    ['\r\nA body without a header.', 'The request body is not an email message: '],
  ] as const)
    for (const path of ['/v1/tests/raw', '/v1/tests']) {
      const refused = await call<Problem>('POST', path, { body, headers });
      assert.deepEqual([refused.status, refused.body.code], [400, 'malformed_request'], body);
      assert.ok(refused.body.detail.startsWith(start), refused.body.detail);
      assert.match(refused.body.detail, /\.$/);
    }
  assert.deepEqual(await app.db.selectFrom('tests').select('id').execute(), []);
  const strange = await call('POST', '/v1/tests/raw', { body: 'X-Only: 1\r\n\r\n', headers });
  assert.equal(strange.status, 201, strange.text);
});

test('POST /v1/tests keeps no part of a large message if its transaction is refused', async (t) => {
  const { app } = await startTestService(t);
  const message = Buffer.from(goodMessage({}, 'A line of text.\r\n'.repeat(100_000)));
  const refused = new Error('The API key has been revoked.');
  const options = { kind: 'auto' as const, tags: [], livemode: true };
  await assert.rejects(
    submitMessage(app, message, options, () => Promise.reject(refused)),
    refused,
  );
  assert.deepEqual(await app.db.selectFrom('message_chunks').select('message_id').execute(), []);
});
