/** PostgreSQL crashes and returns under load: nodes say so, lose nothing, and continue by themselves. */

// @alone: two nodes and their database need the whole machine.
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
import { type Node, type Nodes, skipWithoutServer, startNodes } from './nodes.ts';
import { startEndpoints } from './webhook-endpoints.ts';

/** About five seconds each; before a release, run ten. */
const ROUNDS = Number(process.env.DATABASE_KILL_ROUNDS ?? 2);
const SCHEDULES_PER_ROUND = 1;
const RECIPIENTS = 2;
const MAX_LIFETIME_MS = 3_000;
/** How long PostgreSQL is away, before its recovery. */
const MAX_PAUSE_MS = 2_500;
/** A node is ready again this soon after PostgreSQL is. */
const MAX_RETURN_MS = 5_000;

test(`${ROUNDS} crashes of PostgreSQL lose nothing, and the nodes return by themselves`, {
  skip: skipWithoutServer(),
  timeout: 300_000 + ROUNDS * 30_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const nodes = await startNodes(t, [0, 0]);
  const endpoints = await startEndpoints(nodes.receiver, nodes.location, TEST_SECRET_KEY, random);
  const load = startLoad(nodes, random);
  const startedAt = performance.now();
  const recipients: string[] = [];
  let slowestReturnMs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    recipients.push(
      ...(await makeReportsDue(nodes.store.db, `r${round}`, SCHEDULES_PER_ROUND, RECIPIENTS)),
    );
    await pause(random.below(MAX_LIFETIME_MS));
    await nodes.server.crash(random.below(MAX_PAUSE_MS));
    slowestReturnMs = Math.max(slowestReturnMs, await waitUntilReady(nodes));
  }
  await load.stop();
  assert.deepEqual(nodes.errors().slice(0, 5), []);
  endpoints.recover();
  await settle(nodes);
  const figures = await assertAllDone(nodes, load, recipients);
  assert.deepEqual(nodes.errors(), []);
  // The nodes remember what they have sent until they can record it.
  assert.equal(figures.repeatedCopies, 0);
  assert.equal(figures.interrupted, 0);
  assert.ok(load.replies['HTTP 503']! > 0, 'no request met the stopped database');
  assert.ok(load.replies['SMTP 451']! > 0, 'no message met the stopped database');
  assert.ok(load.replies['/readyz 503']! > 0, 'no probe met the stopped database');
  assert.equal(load.replies['HTTP disconnected'], undefined, 'a node ended or closed a connection');
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  t.diagnostic(
    JSON.stringify({ rounds: ROUNDS, seconds, slowestReturnMs, ...figures, ...load.replies }),
  );
});

/** Returns the milliseconds until the last node was ready. */
async function waitUntilReady({ running }: Nodes): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(running.map((node) => untilReady(node!, startedAt)));
  return Math.round(performance.now() - startedAt);
}

async function untilReady({ url }: Node, startedAt: number): Promise<void> {
  while ((await fetch(`${url}/readyz`)).status !== 200) {
    assert.ok(performance.now() - startedAt < MAX_RETURN_MS, 'a node did not become ready again');
    await pause(50);
  }
}
