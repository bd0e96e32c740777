/** A mailbox with very many new messages, read through Microsoft Graph. */

// @one-database: about requests to Graph.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailTo, NAME, startScene } from '../placement/graph-scene.ts';
import { sendToTest } from '../placement/seeding.ts';

test('50,000 new messages are not all read, and the placement is unknown', async (t) => {
  const scene = await startScene(t);
  const other = mailTo(scene, {
    subject: 'Other',
    headers: { To: NAME, 'Message-ID': '<other@example.com>' },
  });
  const many = Array.from({ length: 50_000 }, (_, i) => ({ ...other, id: `m${i}` }));
  scene.graph.inbox.push(...many);
  await sendToTest(scene.service, scene.created);
  await scene.service.getTest(scene.created.id, '?wait=20');
  scene.clock.advance(61 * 60_000);
  const { placement, problem } = await scene.wait(undefined, 90);
  assert.deepEqual([placement, problem], ['unknown', 'too_many_messages']);
  const paths = scene.graph.http.exchanges.map(({ path }) => path);
  assert.ok(paths.filter((path) => path.endsWith('/inbox/messages')).length <= 60);
  assert.ok(paths.filter((path) => path.includes('/me/messages/')).length <= 600);
});
