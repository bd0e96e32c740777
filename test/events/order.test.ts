/** Clients that read the event log up to an event miss none that is committed later. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendEvent } from '../../src/events/events.ts';
import { transact } from '../../src/store/open.ts';
import type { TestService } from '../helpers/app.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { startNodes } from '../store/races/nodes.ts';

interface List {
  data: { id: string }[];
  has_more: boolean;
}

const EVENT = { type: 'test.failed', livemode: true, data: {} } as const;

/** Ids, newest first. */
async function list(node: TestService, query = ''): Promise<string[]> {
  const { body, text } = await node.call<List>('GET', `/v1/events?limit=100${query}`);
  assert.ok(body.data, text);
  return body.data.map(({ id }) => id);
}

const append = (node: TestService, app = node.app): Promise<string> =>
  transact(node.app.db, async (tx) => (await appendEvent(tx, EVENT, app)).id);

test('An event whose transaction commits late is listed after those that were committed before', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const [a, b] = await startNodes(t);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: appended, resolve: hasAppended } = Promise.withResolvers<string>();
  const late = transact(a.app.db, async (tx) => {
    hasAppended((await appendEvent(tx, EVENT, a.app)).id);
    await released;
  });
  const lateId = await appended;
  const earlyId = await append(b);
  assert.ok(lateId < earlyId, 'by its ID it would be earlier');
  const cursor = (await list(b))[0]!;
  assert.equal(cursor, earlyId);
  release();
  await late;
  assert.deepEqual(await list(b, `&ending_before=${cursor}`), [lateId]);
  assert.deepEqual(await list(b), [lateId, earlyId]);
  assert.deepEqual(await list(b, `&starting_after=${lateId}`), [earlyId]);
});

test('Events of a node whose clock is slow are listed after those that were read before', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const [a, b] = await startNodes(t);
  const slow = { ...a.app, clock: { now: () => a.app.clock.now() - 300_000 } };
  slow.newId = (prefix) => `${prefix}_00${a.app.newId(prefix).slice(prefix.length + 3)}`;
  await append(b);
  const [cursor] = await list(b);
  const id = await append(a, slow);
  assert.ok(id < cursor!);
  assert.deepEqual(await list(b, `&ending_before=${cursor}`), [id]);
});

test('A client that polls while two nodes append misses no event and sees none twice', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const [a, b] = await startNodes(t);
  const seen = [await append(a)];
  let isDone = false;
  const poll = async () => {
    // Once more after the last commit.
    for (let isLast = false; !isLast; ) {
      isLast = isDone;
      seen.push(...(await list(b, `&ending_before=${seen.at(-1)}`)).reverse());
    }
  };
  const write = async (node: TestService) => {
    const ids: string[] = [];
    for (let i = 0; i < 60; i++) ids.push(await append(node));
    return ids;
  };
  const polling = poll();
  const written = await Promise.all([a, b, a, b].map(write));
  isDone = true;
  await polling;
  assert.deepEqual(seen.slice(1).toSorted(), written.flat().toSorted());
});
