/** Nodes whose clocks are minutes apart: no work is taken from a node that is still doing it. */

// @alone: three nodes need the whole machine.
// @one-database: starts its own PostgreSQL server in any run.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../helpers/random.ts';
import { startLoads, verifyAll } from './all-loads.ts';
import { skipWithoutServer, startNodes } from './nodes.ts';
import { settle } from './settle.ts';

/** All leases but that of scheduled reports are shorter. */
const OFFSET_MS = 5 * 60_000;
const LOAD_MS = 6_000;
/** Long enough for the other nodes to look for work in the meantime. */
const REPLY_DELAY_MS = 1_200;

test('Three nodes whose clocks are five minutes apart do all work once', {
  skip: skipWithoutServer(),
  timeout: 600_000,
}, async (t) => {
  const random = seededRandom(Number(process.env.KILL_SEED ?? randomInt(2 ** 31)));
  const { loads, env, mails, receiver } = await startLoads(t, random);
  const nodes = await startNodes(t, [0, OFFSET_MS, -OFFSET_MS], { loads, env }, random);
  const { respond } = receiver;
  receiver.respond = async (...request) => {
    if (random.chance(0.1)) await pause(REPLY_DELAY_MS);
    return respond(...request);
  };
  Object.defineProperty(mails.sink, 'hold', { get: () => pause(random.below(REPLY_DELAY_MS)) });
  await pause(LOAD_MS);
  await nodes.stopClients();
  for (const load of loads) load.recover?.();
  await settle(nodes.store.db);
  const figures = await verifyAll(loads, nodes.store.db, nodes.site);
  assert.deepEqual(nodes.errors(), []);
  assert.deepEqual([mails.repeated(), figures.repeatedPosts, figures.interrupted], [0, 0, 0]);
  const senders = nodes.running.filter((node) =>
    node!.process.log.some(({ message }) => message === 'sent mail'),
  );
  assert.ok(senders.length > 1, 'one node did all work');
  t.diagnostic(JSON.stringify({ senders: senders.length, ...figures, ...nodes.site.replies }));
});
