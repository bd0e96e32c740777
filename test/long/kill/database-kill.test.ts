/** PostgreSQL crashes and returns under load: nodes say so, lose nothing, and continue by themselves. */

// @alone: two nodes and their database need the whole machine.
// @one-database: starts its own PostgreSQL server in any run.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../helpers/random.ts';
import { startLoads, verifyAll } from './all-loads.ts';
import { inTime } from './moments.ts';
import { type Node, type Nodes, skipWithoutServer, startNodes } from './nodes.ts';
import { settle } from './settle.ts';
import { request } from './site.ts';

/** About five seconds each; before a release, run ten. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 2);
/** How long PostgreSQL is away, before its recovery. */
const MAX_PAUSE_MS = 2_500;
/** A node is ready again a second after PostgreSQL is, and on a busy machine later. */
const MAX_RETURN_MS = 60_000;
const PROBE_INTERVAL_MS = 100;

test(`${ROUNDS} crashes of PostgreSQL lose nothing, and the nodes return by themselves`, {
  skip: skipWithoutServer(),
  timeout: 900_000 + ROUNDS * 60_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const { loads, env, mails } = await startLoads(t, random);
  const nodes = await startNodes(t, [0, 0], { loads, env }, random);
  const stopProbes = startProbes(nodes);
  const { replies } = nodes.site;
  const moments = loads.flatMap(({ moments = [] }) => moments);
  const startedAt = performance.now();
  let slowestReturnMs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const moment = moments[random.below(moments.length)]!;
    const service = nodes.running[0]!.process;
    await inTime(moment, { service, db: nodes.store.db, random }, nodes.site);
    await nodes.server.crash(random.below(MAX_PAUSE_MS));
    slowestReturnMs = Math.max(slowestReturnMs, await waitUntilReady(nodes));
    await moment.end(nodes.store.db);
  }
  await nodes.stopClients();
  await stopProbes();
  assert.deepEqual(nodes.errors().slice(0, 5), []);
  for (const load of loads) load.recover?.();
  await settle(nodes.store.db);
  const figures = await verifyAll(loads, nodes.store.db, nodes.site);
  assert.deepEqual(nodes.errors(), []);
  // The nodes remember what they have sent until they can record it.
  assert.equal(mails.repeated(), 0);
  assert.equal(figures.repeatedPosts, 0);
  assert.equal(figures.interrupted, 0);
  assert.ok(replies['HTTP 503']! > 0, 'no request met the stopped database');
  assert.ok(replies['SMTP 451']! > 0, 'no message met the stopped database');
  assert.ok(replies['/readyz 503']! > 0, 'no probe met the stopped database');
  assert.equal(replies['HTTP disconnected'], undefined, 'a node ended or closed a connection');
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  t.diagnostic(
    JSON.stringify({ rounds: ROUNDS, seconds, slowestReturnMs, ...figures, ...replies }),
  );
});

/** `/healthz` answers in any state of the database. Resolves with a function that ends the probes. */
function startProbes({ site }: Nodes): () => Promise<void> {
  let isStopping = false;
  const probe = async () => {
    while (!isStopping && !site.isOver) {
      const node = site.pick();
      if (node) {
        const health = await request(node, '', 'GET', '/healthz', { anonymous: true });
        if (health && health.status !== 200)
          site.faults.push(`/healthz responded ${health.status}`);
        const readiness = await request(node, '', 'GET', '/readyz', { anonymous: true });
        if (readiness) site.count(`/readyz ${readiness.status}`);
      }
      await pause(PROBE_INTERVAL_MS);
    }
  };
  const ended = probe();
  return () => {
    isStopping = true;
    return ended;
  };
}

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
