/** The secrets of endpoints are in no byte of the database file and in no line of the log. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startDelivering } from './endpoints.ts';
import { createEndpoint, ENDPOINTS, type Endpoint, settled } from './webhook-api.ts';

test('neither present nor former secrets are in the database or the log', async (t) => {
  const scene = await startDelivering(t);
  const { service, receiver } = scene;
  const { call, folder, key, logged } = service;
  const headers = (name: string) => ({ 'idempotency-key': name });
  const made = await createEndpoint(scene, {}, { headers: headers('one') });
  const path = `${ENDPOINTS}/${made.id}`;
  const rotated = await call<Endpoint>('POST', `${path}/rotate-secret`, {
    headers: headers('two'),
  });
  const sample = await call<{ id: string }>('POST', `${path}/test`, { headers: headers('three') });
  assert.equal((await settled(scene, sample.body.id)).status, 'succeeded');
  await call('PATCH', path, { json: { secret: made.secret } });
  const files = readdirSync(folder).filter((name) => name.includes('.db'));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
  assert.ok(bytes.includes(receiver.url), 'what is no secret is found');
  const log = JSON.stringify(logged);
  assert.ok(log.includes(path), 'what is asked is logged');
  for (const secret of [made.secret, rotated.body.secret, key]) {
    const bare = secret.replace(/^whsec_/, '');
    const texts = [bare, Buffer.from(bare, 'base64').toString('hex')];
    for (const text of [...texts, Buffer.from(bare, 'base64')])
      assert.ok(!bytes.includes(text), 'a secret is in the database');
    for (const text of texts) assert.ok(!log.includes(text), 'a secret is in the log');
  }
});
