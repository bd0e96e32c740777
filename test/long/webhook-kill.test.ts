/** `kill -9` under load: every committed event reaches every endpoint, and no uncommitted one does. */

// @alone: under other load, the service achieves nothing before it is killed.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { DELIVER_JOB } from '../../src/webhooks/enqueue.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ownerKey, type ServeOptions, spawnServe } from '../helpers/serve-process.ts';
import { databaseIn, SAME_NODE } from '../helpers/store.ts';
import { compareWithDatabase, startEndpoints, type TestEndpoints } from './webhook-endpoints.ts';

/** About 1.5 s each; before a release, run three hundred. */
const ROUNDS = Number(process.env.WEBHOOK_KILL_ROUNDS ?? 5);
const TESTS_PER_ROUND = 6;
const MAX_LIFETIME_MS = 1_600;
/** How long a round waits for an attempt that it can interrupt. */
const MAX_WAIT_MS = 20_000;
const SECRET_KEY = 'a secret key for the tests of kills, long enough';

test(`${ROUNDS} SIGKILLs lose no webhook event and invent none`, {
  timeout: 300_000 + ROUNDS * 30_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const receiver = await startReceiver(t);
  const folder = temporaryFolder(t);
  const location = await databaseIn(folder);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const env = {
    ...receiver.env,
    ...SAME_NODE,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_SECRET_KEY: SECRET_KEY,
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
  };
  const crowd = await startEndpoints(receiver, location, SECRET_KEY, random);
  const key = await ownerKey({ folder, env });
  // The recommended rules of the first owner would write events to which no endpoint here subscribes.
  const prepared = await openStore(location);
  await prepared.db.deleteFrom('alerts').execute();
  await prepared.close();
  const startedAt = performance.now();
  const accepted: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const interrupts = round % 2 === 0 ? crowd : null;
    accepted.push(...(await runAndKill({ folder, env }, key, random, interrupts)));
  }
  crowd.recover();
  await deliverAll(t, folder, env);

  const store = await openStore(location);
  t.after(() => store.close());
  const { faults, figures } = await compareWithDatabase(receiver, store.db);
  assert.deepEqual(faults.slice(0, 10), []);
  assert.ok(figures.events >= accepted.length, 'each accepted test has its event');
  assert.ok(figures.interrupted > 0, 'no kill interrupted an attempt');
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  t.diagnostic(JSON.stringify({ rounds: ROUNDS, seconds, accepted: accepted.length, ...figures }));
});

/**
 * Runs the service under load and kills it; returns the IDs of the tests created with 201.
 *
 * With `crowd`, the kill interrupts an attempt, however slow the machine is; otherwise, it comes at a random moment.
 */
async function runAndKill(
  options: ServeOptions,
  key: string,
  random: Random,
  crowd: TestEndpoints | null,
): Promise<string[]> {
  const service = await spawnServe(options);
  const accepted: string[] = [];
  let load: Promise<unknown> = Promise.resolve();
  if (crowd || !random.chance(0.1)) {
    const ready = await service.nextLine('ready');
    assert.ok(ready, `the service did not restart: ${JSON.stringify(service.log)}`);
    load = Promise.all(
      Array.from({ length: TESTS_PER_ROUND }, () => submit(String(ready.api), key, accepted)),
    );
  }
  if (crowd)
    await Promise.race([crowd.nextRequest(), pause(MAX_WAIT_MS, undefined, { ref: false })]);
  else await pause(random.below(MAX_LIFETIME_MS));
  if (!crowd && random.chance(0.1)) {
    service.signal('SIGTERM');
    await pause(random.below(100));
  }
  service.signal('SIGKILL');
  await service.ended;
  await load;
  assert.deepEqual(
    service.log.filter(({ level }) => level === 'error'),
    [],
  );
  return accepted;
}

async function submit(url: string, key: string, accepted: string[]): Promise<void> {
  try {
    const response = await fetch(`${url}/v1/tests?client_ip=192.0.2.1&helo=mx.example.com`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'message/rfc822' },
      body: goodMessage(),
    });
    const { id } = (await response.json()) as { id: string };
    if (response.status === 201) accepted.push(id);
  } catch {
    // Interrupted by the kill.
  }
}

/** Restarts on the same database and advances the clock until nothing is due. */
async function deliverAll(t: TestContext, folder: string, env: Record<string, string>) {
  let ahead = 0;
  const clock = { now: () => systemClock.now() + ahead };
  const { app } = await startTestService(t, { folder, env, clock });
  for (;;) {
    const unfinished = await app.db
      .selectFrom('tests')
      .select('id')
      .where('analysis_due_at', 'is not', null)
      .execute();
    const next = await app.db
      .selectFrom('webhook_deliveries')
      .select('due_at')
      .where('due_at', 'is not', null)
      .where('lease', 'is', null)
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst();
    const running = await app.db
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('lease', 'is not', null)
      .limit(1)
      .execute();
    if (unfinished.length === 0 && !next && running.length === 0) break;
    if (next) ahead = Math.max(ahead, Date.parse(next.due_at!) - systemClock.now());
    app.scheduler.wake(DELIVER_JOB);
    await pause(20);
  }
}
