/** `kill -9` at random moments: every message accepted with 250 is kept and analyzed once. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { openStore } from '../../src/store/open.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';
import { databaseIn, onPostgres, SAME_NODE } from '../helpers/store.ts';
import { chooseMoment, type KillPhase, runAndKill } from './killed-service.ts';
import { type Mail, prepareMails } from './mail-load.ts';
import { assertNothingLost } from './stored-messages.ts';

/** About two seconds each; before a release, run a hundred. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 6);
const MAILS_PER_ROUND = 25;

test(`${ROUNDS} SIGKILLs lose no accepted message and analyze each once`, {
  timeout: 300_000 + ROUNDS * 30_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const folder = temporaryFolder(t);
  const location = await databaseIn(folder);
  const env = {
    ...SAME_NODE,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    // Blocklists are tested at the start, but the first DNS query must be that of an analysis.
    DELIVERABILITY_BLOCKLISTS: '-all',
  };
  const mails = await prepare(location, random);
  const startedAt = performance.now();

  const moments: Partial<Record<KillPhase, number>> = {};
  const queue: Mail[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    queue.push(...mails.slice(round * MAILS_PER_ROUND, (round + 1) * MAILS_PER_ROUND));
    // At least one kill happens after a result.
    const moment = round === 0 ? 'recording' : chooseMoment(random);
    await runAndKill({ folder, env }, dns, queue, random, moment, () => countEvents(location));
    moments[moment] = (moments[moment] ?? 0) + 1;
    queue.push(
      ...mails.filter(
        (mail) => mail.state === 'unanswered' && mail.retries && !queue.includes(mail),
      ),
    );
  }

  const analyzedBetweenKills = await countEvents(location);
  const service = await startServe(t, { folder, env });
  await waitUntilAnalyzed(service);
  service.signal('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  const figures = await assertNothingLost(location, mails);
  assert.ok(analyzedBetweenKills > 0, 'no analysis completed between two kills');
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  t.diagnostic(
    JSON.stringify({ rounds: ROUNDS, seconds, moments, ...figures, analyzedBetweenKills }),
  );
});

async function prepare(location: string, random: Random): Promise<Mail[]> {
  const store = await openStore(location);
  try {
    return await prepareMails(store.db, ROUNDS * MAILS_PER_ROUND, random);
  } finally {
    await store.close();
  }
}

async function countEvents(location: string): Promise<number> {
  return onPostgres ? countInStore(location) : countInFile(location);
}

async function countInStore(location: string): Promise<number> {
  const { db, close } = await openStore(location);
  try {
    return (await db.selectFrom('events').select('id').execute()).length;
  } finally {
    await close();
  }
}

/** Read-only, so that recovery from the last kill is left to the service. */
function countInFile(path: string): number {
  const sqlite = new BetterSqlite(path, { readonly: true });
  try {
    return sqlite.prepare('SELECT COUNT(*) FROM events').pluck().get() as number;
  } finally {
    sqlite.close();
  }
}

async function waitUntilAnalyzed(service: ServeProcess): Promise<void> {
  type List = { data: { id: string }[] };
  for (;;) {
    const { data } = await service.call<List>('GET', '/v1/tests?status=processing&limit=100');
    if (data.length === 0) return;
    for (const { id } of data) await service.call('GET', `/v1/tests/${id}?wait=50`);
  }
}
