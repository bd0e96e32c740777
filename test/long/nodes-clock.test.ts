/** Nodes whose clocks are minutes apart: no work is taken from a node that is still doing it. */

// @alone: three nodes need the whole machine.
// @one-database: starts its own PostgreSQL server in any run.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../helpers/random.ts';
import { TEST_SECRET_KEY } from '../helpers/store.ts';
import { makeReportsDue } from './due-reports.ts';
import { startLoad } from './node-load.ts';
import { assertAllDone, settle } from './node-results.ts';
import { skipWithoutServer, startNodes } from './nodes.ts';
import { startEndpoints } from './webhook-endpoints.ts';

/** All leases but that of scheduled reports are shorter. */
const OFFSET_MS = 5 * 60_000;
const ROUNDS = 6;
const ROUND_MS = 1_000;
const SCHEDULES_PER_ROUND = 3;
const RECIPIENTS = 2;
/** Long enough for the other nodes to look for work in the meantime. */
const REPLY_DELAY_MS = 1_200;

test('Three nodes whose clocks are five minutes apart do all work once', {
  skip: skipWithoutServer(),
  timeout: 300_000,
}, async (t) => {
  const random = seededRandom(Number(process.env.KILL_SEED ?? randomInt(2 ** 31)));
  const nodes = await startNodes(t, [0, OFFSET_MS, -OFFSET_MS]);
  const endpoints = await startEndpoints(nodes.receiver, nodes.location, TEST_SECRET_KEY, random);
  const { respond } = nodes.receiver;
  nodes.receiver.respond = async (...request) => {
    if (random.chance(0.1)) await pause(REPLY_DELAY_MS);
    return respond(...request);
  };
  Object.defineProperty(nodes.sink, 'hold', { get: () => pause(random.below(REPLY_DELAY_MS)) });
  const load = startLoad(nodes, random);
  const recipients: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    recipients.push(
      ...(await makeReportsDue(nodes.store.db, `r${round}`, SCHEDULES_PER_ROUND, RECIPIENTS)),
    );
    await pause(ROUND_MS);
  }
  await load.stop();
  endpoints.recover();
  await settle(nodes);
  const figures = await assertAllDone(nodes, load, recipients);
  assert.deepEqual(nodes.errors(), []);
  assert.deepEqual(
    { repeatedCopies: figures.repeatedCopies, interrupted: figures.interrupted },
    { repeatedCopies: 0, interrupted: 0 },
  );
  const senders = nodes.running.filter((node) =>
    node!.process.log.some(({ message }) => message === 'sent mail'),
  );
  assert.ok(senders.length > 1, 'one node did all work');
  t.diagnostic(JSON.stringify({ senders: senders.length, ...figures, ...load.replies }));
});
