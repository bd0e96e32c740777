/** Hints between nodes: they arrive soon, are combined, and their connection is replaced when it dies. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '../../src/lib/log.ts';
import { createWakeUps } from '../../src/scheduler/wake-ups.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { execute, newDatabase, openAt, startNode } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { sendMail } from '../helpers/send.ts';

const skip = skipUnlessOnPostgres();

async function startListener(t: TestContext, url: string, node: string) {
  const { hints } = await openAt(t, url);
  let hintCount = 0;
  const heard: string[] = [];
  let onNext = Promise.withResolvers<void>();
  const counted = {
    ...hints!,
    listen: (name: string, onHint: (text: string) => void, onConnect: () => void) =>
      hints!.listen(
        name,
        (text) => {
          hintCount++;
          onHint(text);
        },
        onConnect,
      ),
  };
  const wakeUps = createWakeUps({ hints: counted, node, log: silentLog });
  const hear = (what: string) => {
    heard.push(what);
    onNext.resolve();
    onNext = Promise.withResolvers();
  };
  let connected = Promise.withResolvers<void>();
  wakeUps.start({
    wakeJob: (name) => hear(`job ${name}`),
    raiseSignal: (name) => name !== null && hear(`signal ${name}`),
    wakeAll: () => connected.resolve(),
  });
  t.after(() => wakeUps.stop());
  await connected.promise;
  return {
    wakeUps,
    heard,
    hints: () => hintCount,
    async next() {
      await onNext.promise;
    },
    async reconnected() {
      connected = Promise.withResolvers();
      await connected.promise;
    },
  };
}

test('A hint reaches another node within 300 ms, and not the node itself', { skip }, async (t) => {
  const url = await newDatabase(t);
  const [a, b] = [await startListener(t, url, 'a'), await startListener(t, url, 'b')];
  const took: number[] = [];
  for (let i = 0; i < 10; i++) {
    const heard = b.next();
    const sentAt = performance.now();
    a.wakeUps.announceJob(`job ${i}`);
    await heard;
    took.push(Math.round(performance.now() - sentAt));
  }
  t.diagnostic(`milliseconds: ${took.join(', ')}`);
  assert.equal(b.heard.length, 10);
  assert.deepEqual(a.heard, []);
  // The median, because the machine may be busy.
  const median = took.toSorted((x, y) => x - y)[5]!;
  assert.ok(median < 300, `${median} ms`);
});

test('A burst of wake-ups is one notification; a second of them at most eleven', {
  skip,
}, async (t) => {
  const url = await newDatabase(t);
  const [a, b] = [await startListener(t, url, 'a'), await startListener(t, url, 'b')];
  const first = b.next();
  for (let i = 0; i < 500; i++) {
    a.wakeUps.announceJob('tests.analyze');
    a.wakeUps.announceSignal(`test_${i % 50}`);
  }
  await first;
  assert.equal(b.hints(), 1);
  assert.equal(b.heard.length, 51);
  const startedAt = performance.now();
  while (performance.now() - startedAt < 1000) {
    a.wakeUps.announceJob('tests.analyze');
    await pause(5);
  }
  assert.ok(b.hints() <= 12, `${b.hints()} notifications`);
});

test('A connection that dies is replaced, and the node then looks for missed work', {
  skip,
}, async (t) => {
  const url = await newDatabase(t);
  const [a, b] = [await startListener(t, url, 'a'), await startListener(t, url, 'b')];
  const both = Promise.all([a.reconnected(), b.reconnected()]);
  await execute(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'deliverability wake-ups %'`,
  );
  await both;
  const heard = b.next();
  a.wakeUps.announceJob('after');
  await heard;
  assert.deepEqual(b.heard, ['job after']);
});

/** How long after the result of a test one node responds to `?wait=` when another node has analyzed it. */
async function waitOnOtherNode(t: TestContext, notify: boolean): Promise<number[]> {
  const url = await newDatabase(t);
  const env = { DELIVERABILITY_DATABASE_NOTIFY: String(notify) };
  const [a, b] = [await startNode(t, url, { env }), await startNode(t, url, { env })];
  // Only the other node works.
  await a.app.scheduler.stop();
  const took: number[] = [];
  for (let i = 0; i < 3; i++) {
    const { id, address } = await a.createTest();
    const response = a.getTest(id, '?wait=20').then((body) => ({ body, at: performance.now() }));
    const done = b.app.signals.wait(id, 20_000).then(() => performance.now());
    await sendMail({ port: b.smtp.port, to: address, raw: goodMessage() });
    const { body, at } = await response;
    assert.equal(body.status, 'completed');
    took.push(Math.round(at - (await done)));
  }
  t.diagnostic(`milliseconds: ${took.join(', ')}`);
  return took;
}

test('?wait= on one node ends when another node has the result', { skip }, async (t) => {
  const took = await waitOnOtherNode(t, true);
  assert.ok(Math.min(...took) < 300, `${took.join()} ms`);
});

test('?wait= works without notifications, by polling', { skip }, async (t) => {
  const took = await waitOnOtherNode(t, false);
  assert.ok(Math.max(...took) < 4000, `${took.join()} ms`);
});
