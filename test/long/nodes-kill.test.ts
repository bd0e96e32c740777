/** `kill -9` of random nodes of three on one PostgreSQL: nothing accepted is lost, and nothing is done twice. */

// @alone: three nodes need the whole machine.
// @one-database: starts its own PostgreSQL server in any run.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Random, seededRandom } from '../helpers/random.ts';
import { TEST_SECRET_KEY } from '../helpers/store.ts';
import { makeReportsDue } from './due-reports.ts';
import { startLoad } from './node-load.ts';
import { assertAllDone, settle } from './node-results.ts';
import { type Nodes, nodeName, skipWithoutServer, startNodes } from './nodes.ts';
import { startEndpoints } from './webhook-endpoints.ts';

/** About four seconds each; before a release, run thirty. */
const ROUNDS = Number(process.env.NODE_KILL_ROUNDS ?? 3);
/** One node has a wrong clock. */
const CLOCK_OFFSETS_MS = [0, 0, -5 * 60_000];
const NODES = CLOCK_OFFSETS_MS.length;
const SCHEDULES_PER_ROUND = 2;
const RECIPIENTS = 2;
/** The time between a restart and the next kill. */
const MAX_LIFETIME_MS = 1_500;
const MAX_REPLY_DELAY_MS = 40;
/** How many emails a node sends at the same time. */
const MAX_CONCURRENT_MAILS = 5;

test(`${ROUNDS} SIGKILLs of one of ${NODES} nodes lose nothing and repeat no work`, {
  skip: skipWithoutServer(),
  timeout: 300_000 + ROUNDS * 30_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const nodes = await startNodes(t, CLOCK_OFFSETS_MS);
  // Some kills happen between the receipt of an email and the 250.
  Object.defineProperty(nodes.sink, 'hold', {
    get: () => pause(random.below(MAX_REPLY_DELAY_MS)),
  });
  const endpoints = await startEndpoints(nodes.receiver, nodes.location, TEST_SECRET_KEY, random);
  const load = startLoad(nodes, random);
  const startedAt = performance.now();
  const recipients: string[] = [];
  const totals = { kills: 0, interruptedWork: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    recipients.push(
      ...(await makeReportsDue(nodes.store.db, `r${round}`, SCHEDULES_PER_ROUND, RECIPIENTS)),
    );
    await killOne(nodes, random, totals);
  }
  await load.stop();
  assert.deepEqual(nodes.errors().slice(0, 5), []);
  endpoints.recover();
  await settle(nodes);
  const figures = await assertAllDone(nodes, load, recipients);
  assert.deepEqual(nodes.errors(), []);
  assert.ok(totals.interruptedWork > 0, 'no kill interrupted any work');
  assert.ok(figures.repeatedCopies <= totals.kills * MAX_CONCURRENT_MAILS);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  t.diagnostic(JSON.stringify({ rounds: ROUNDS, seconds, ...totals, ...figures, ...load.replies }));
});

/** Kills a node and starts it again; some are killed again during the start. */
async function killOne(
  nodes: Nodes,
  random: Random,
  totals: { kills: number; interruptedWork: number },
): Promise<void> {
  const place = random.below(NODES);
  await pause(random.below(MAX_LIFETIME_MS));
  await nodes.kill(place, random.chance(0.15) ? random.below(200) : undefined);
  totals.kills++;
  totals.interruptedWork += await countLeases(nodes, place);
  while (random.chance(0.2)) {
    await nodes.startAndKill(place, random.below(1_000));
    totals.kills++;
  }
  await nodes.start(place);
}

/** How many tests, deliveries, emails and reports the node was working on. */
async function countLeases({ store: { db } }: Nodes, place: number): Promise<number> {
  let total = 0;
  for (const table of ['tests', 'webhook_deliveries', 'outbox', 'report_schedules'] as const) {
    const leased = await db
      .selectFrom(table)
      .select('id')
      .where('lease', 'like', `${nodeName(place)}:%`)
      .execute();
    total += leased.length;
  }
  return total;
}
