/** `kill -9` of one of three nodes on one PostgreSQL: nothing accepted is lost, and nothing is done twice. */

// @alone: three nodes need the whole machine.
// @one-database: starts its own PostgreSQL server in any run.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../helpers/random.ts';
import { startLoads, verifyAll } from './all-loads.ts';
import type { Load } from './load.ts';
import { inTime } from './moments.ts';
import { type Nodes, skipWithoutServer, startNodes } from './nodes.ts';
import { settle } from './settle.ts';

/** About four seconds each; before a release, run thirty. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 3);
/** One node has a wrong clock. */
const CLOCK_OFFSETS_MS = [0, 0, -5 * 60_000];
const NODES = CLOCK_OFFSETS_MS.length;
/** How many emails a node sends at the same time. */
const MAX_CONCURRENT_MAILS = 5;

test(`${ROUNDS} SIGKILLs of one of ${NODES} nodes lose nothing and repeat no work`, {
  skip: skipWithoutServer(),
  timeout: 900_000 + ROUNDS * 60_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const { loads, env, mails } = await startLoads(t, random);
  const nodes = await startNodes(t, CLOCK_OFFSETS_MS, { loads, env }, random);
  const startedAt = performance.now();
  const totals = { kills: 0, interruptedWork: 0 };
  for (let round = 0; round < ROUNDS; round++) await killOne(nodes, loads, random, totals);
  await nodes.stopClients();
  assert.deepEqual(nodes.errors().slice(0, 5), []);
  for (const load of loads) load.recover?.();
  await settle(nodes.store.db);
  const figures = await verifyAll(loads, nodes.store.db, nodes.site);
  assert.deepEqual(nodes.errors(), []);
  assert.ok(totals.interruptedWork > 0, 'no kill interrupted any work');
  assert.ok(mails.repeated() <= totals.kills * MAX_CONCURRENT_MAILS);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const { replies } = nodes.site;
  t.diagnostic(JSON.stringify({ rounds: ROUNDS, seconds, ...totals, ...figures, ...replies }));
});

/** Kills the busiest node at a moment of its work and starts it again; some are killed again during the start. */
async function killOne(
  nodes: Nodes,
  loads: Load[],
  random: Random,
  totals: { kills: number; interruptedWork: number },
): Promise<void> {
  const { db } = nodes.store;
  const moments = loads.flatMap(({ moments = [] }) => moments);
  const moment = moments[random.below(moments.length)]!;
  const service = nodes.running[0]!.process;
  await inTime(moment, { service, db, random }, nodes.site);
  const leases = await Promise.all(nodes.running.map((_, place) => nodes.countLeases(place)));
  const place = leases.indexOf(Math.max(...leases));
  await nodes.kill(place, random.chance(0.15) ? random.below(200) : undefined);
  totals.kills++;
  totals.interruptedWork += await nodes.countLeases(place);
  await moment.end(db);
  while (random.chance(0.2)) {
    await nodes.startAndKill(place, random.below(1_000));
    totals.kills++;
  }
  await nodes.start(place);
}
