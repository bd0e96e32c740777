/** The memory of uploaded messages is limited, however many clients upload at the same time. */

// @one-database: about memory of uploads.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { UPLOAD_MEMORY_BYTES } from '../../src/http/upload.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';

const MAX_BYTES = 25 * 1024 * 1024;
const SMALL = Buffer.from(goodMessage().replaceAll('\n', '\r\n'));
/** A message of almost the maximum size. */
const LARGE = Buffer.concat([SMALL, Buffer.alloc(MAX_BYTES - 2048 - SMALL.length, 'x y\r\n')]);

function startUpload(t: TestContext, { url, key }: TestService): ClientRequest {
  const upload = request(`${url}/v1/tests/raw`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'message/rfc822', authorization: `Bearer ${key}` },
  }).on('error', () => {});
  t.after(() => upload.destroy());
  return upload;
}

async function finish(upload: ClientRequest, rest: Buffer): Promise<IncomingMessage> {
  const responded = once(upload, 'response');
  upload.end(rest);
  const [response] = (await responded) as [IncomingMessage];
  response.resume();
  return response;
}

/** Starts an upload whose last byte is missing, and waits until the service has the others. */
async function uploadMost(t: TestContext, service: TestService): Promise<ClientRequest> {
  const upload = startUpload(t, service);
  await new Promise((resolve) => upload.write(LARGE.subarray(0, -1), resolve));
  return upload;
}

test('Uploads beyond the memory for messages get 503 and Retry-After until others end', async (t) => {
  const service = await startTestService(t);
  const fitting = Math.floor(UPLOAD_MEMORY_BYTES / LARGE.length);
  const open = await Promise.all(Array.from({ length: fitting }, () => uploadMost(t, service)));
  const small = await finish(startUpload(t, service), SMALL);
  assert.equal(small.statusCode, 201, 'small messages still fit');
  const refused = await finish(startUpload(t, service), LARGE);
  assert.equal(refused.statusCode, 503);
  assert.equal(refused.headers['retry-after'], '5');
  for (const upload of open) {
    const { statusCode } = await finish(upload, LARGE.subarray(-1));
    assert.equal(statusCode, 201);
  }
  const retried = await finish(startUpload(t, service), LARGE);
  assert.equal(retried.statusCode, 201, 'the memory was released');
});

test('Uploads release their memory when the client disconnects or sends too much', async (t) => {
  const service = await startTestService(t);
  for (let i = 0; i < 4; i++) {
    const aborted = await uploadMost(t, service);
    aborted.destroy();
    const tooLarge = await finish(
      startUpload(t, service),
      Buffer.concat([LARGE, Buffer.alloc(4096)]),
    );
    assert.equal(tooLarge.statusCode, 413);
  }
  const upload = await finish(startUpload(t, service), LARGE);
  assert.equal(upload.statusCode, 201);
});
