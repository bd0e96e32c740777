/** Each invalid request gets its specific error and stores nothing. */

// @one-database: about HTTP; every operation runs on both in another test.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import type { CallOptions, TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { countRows, MAX_SIZE, startSmall } from './small-service.ts';

interface BadRequest extends CallOptions {
  name: string;
  method?: string;
  path?: string;
  expect: [status: number, code: string];
}

const JSON_TYPE = { 'content-type': 'application/json' };
const MESSAGE_TYPE = { 'content-type': 'message/rfc822' };
const MESSAGE = goodMessage();

const BAD_REQUESTS: BadRequest[] = [
  { name: 'half of JSON', body: '{"name":', headers: JSON_TYPE, expect: [400, 'malformed_json'] },
  { name: 'wrong types', json: { name: 7, metadata: [] }, expect: [422, 'validation_failed'] },
  { name: 'an unknown field', json: { nmae: 'x' }, expect: [422, 'validation_failed'] },
  { name: 'a list', json: [{}], expect: [422, 'validation_failed'] },
  { name: 'null', json: null, expect: [422, 'validation_failed'] },
  {
    name: 'a prototype',
    body: '{"__proto__":{"a":1}}',
    headers: JSON_TYPE,
    expect: [422, 'validation_failed'],
  },
  {
    name: 'a time to wait of no time',
    json: { expires_in: 0 },
    expect: [422, 'validation_failed'],
  },
  { name: 'control characters', json: { name: 'a\u0000b' }, expect: [422, 'validation_failed'] },
  {
    name: 'a form',
    body: 'name=x',
    headers: { 'content-type': 'text/plain' },
    expect: [415, 'unsupported_media_type'],
  },
  { name: 'a large body', json: { name: 'x'.repeat(1_100_000) }, expect: [413, 'body_too_large'] },
  {
    name: 'a large message',
    body: 'x'.repeat(MAX_SIZE + 1),
    headers: MESSAGE_TYPE,
    expect: [413, 'body_too_large'],
  },
  { name: 'an empty message', body: '', headers: MESSAGE_TYPE, expect: [400, 'malformed_request'] },
  {
    name: 'a client that is no address',
    path: '/v1/tests?client_ip=here',
    body: MESSAGE,
    headers: MESSAGE_TYPE,
    expect: [422, 'validation_failed'],
  },
  {
    name: 'an unknown query',
    path: '/v1/tests?colour=red',
    body: MESSAGE,
    headers: MESSAGE_TYPE,
    expect: [422, 'validation_failed'],
  },
  { name: 'no credentials', json: {}, key: null, expect: [401, 'unauthenticated'] },
  {
    name: 'a test that is not there',
    method: 'DELETE',
    path: '/v1/tests/test_none',
    expect: [404, 'not_found'],
  },
  {
    name: 'a change of a test that is not there',
    method: 'PATCH',
    path: '/v1/tests/test_none',
    json: { name: 'x' },
    expect: [404, 'not_found'],
  },
  { name: 'an unknown method', method: 'PUT', json: {}, expect: [405, 'method_not_allowed'] },
];

test('Every invalid request gets its specific error and stores nothing', async (t) => {
  const service = await startSmall(t);
  const before = await countRows(service);
  for (const { name, method = 'POST', path = '/v1/tests', expect, ...options } of BAD_REQUESTS) {
    const { status, body } = await service.call(method, path, options);
    assert.deepEqual([status, body.code], expect, name);
    assert.equal(typeof body.request_id, 'string');
  }
  assert.deepEqual(await countRows(service), before);
  const faults = service.logged.filter(({ level }) => level === 'error');
  assert.deepEqual(faults, []);
});

for (const type of ['application/json', 'message/rfc822'])
  test(`POST /v1/tests rejects an endless ${type} body with 413 while streaming`, async (t) => {
    const service = await startSmall(t);
    const before = await countRows(service);
    const { sent, status } = await sendWithoutEnd(service, type);
    assert.equal(status, 413);
    assert.ok(sent < 20_000_000, `${sent} bytes were taken`);
    assert.deepEqual(await countRows(service), before);
  });

/** Writes chunks, without a Content-Length, until the server responds. */
async function sendWithoutEnd({ http, key }: TestService, type: string) {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  const options = {
    port: http.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/tests',
    headers,
  };
  const upload = request(options, (response) => resolve(response.statusCode!));
  // After its response, the server may close while the client still writes.
  upload.on('error', reject);
  promise.catch(() => {});
  let sent = 0;
  let answered = false;
  promise.finally(() => {
    answered = true;
  });
  while (!answered && sent < 50_000_000) {
    sent += 64 * 1024;
    await new Promise((next) => upload.write(Buffer.alloc(64 * 1024, 0x20), next));
  }
  const status = await promise;
  upload.destroy();
  return { sent, status };
}
