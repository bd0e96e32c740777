/** `kill -9` at any moment: what was answered with 250 is there afterwards, and analysed once. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openStore } from '../../src/store/open.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import {
  type ServeOptions,
  type ServeProcess,
  spawnServe,
  startServe,
} from '../helpers/serve-process.ts';
import { assertNothingLost } from './kept-mail.ts';
import { type Mail, prepareMails, sendAll } from './mail-load.ts';
import { SENDER_ZONE } from './sender.ts';

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 100);
const MAILS_PER_ROUND = 25;
const SENDERS = 4;
/** A start takes about 400 ms, and the mails of a round about as long. */
const LONGEST_START_MS = 500;
const LONGEST_LOAD_MS = 700;
const LONGEST_STOP_MS = 200;

test(`${ROUNDS} kills lose nothing that was promised`, { timeout: 600_000 }, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const folder = temporaryFolder(t);
  const env = { DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}` };
  const mails = await prepare(folder, random);
  const begun = performance.now();

  const moments: Record<string, number> = {};
  const queue: Mail[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    queue.push(...mails.slice(round * MAILS_PER_ROUND, (round + 1) * MAILS_PER_ROUND));
    const moment = await killOnce({ folder, env }, queue, random);
    moments[moment] = (moments[moment] ?? 0) + 1;
    queue.push(
      ...mails.filter(
        (mail) => mail.state === 'unanswered' && mail.patient && !queue.includes(mail),
      ),
    );
  }

  const service = await startServe(t, { folder, env });
  await allAnalysed(service);
  service.signal('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  const figures = await assertNothingLost(join(folder, 'deliverability.db'), mails);
  const seconds = Math.round((performance.now() - begun) / 1000);
  t.diagnostic(JSON.stringify({ rounds: ROUNDS, seconds, moments, ...figures }));
});

async function prepare(folder: string, random: Random): Promise<Mail[]> {
  const store = openStore(join(folder, 'deliverability.db'));
  try {
    return await prepareMails(store.db, ROUNDS * MAILS_PER_ROUND, random);
  } finally {
    await store.close();
  }
}

/** One life of the service; tells in which part of it the kill came. */
async function killOnce(options: ServeOptions, queue: Mail[], random: Random): Promise<string> {
  const service = await spawnServe(options);
  const kill = async () => {
    service.signal('SIGKILL');
    return (await service.ended).signal === 'SIGKILL';
  };
  if (random.chance(0.15)) {
    await pause(random.below(LONGEST_START_MS));
    await kill();
    return 'start';
  }
  const ready = await service.line('ready');
  assert.ok(ready, `it did not start again: ${JSON.stringify(service.log)}`);
  const port = Number(String(ready.smtp).split(':').at(-1));
  const sent = sendAll(queue, port, SENDERS);
  await pause(random.below(LONGEST_LOAD_MS));
  const stopping = random.chance(0.2);
  if (stopping) {
    service.signal('SIGTERM');
    await pause(random.below(LONGEST_STOP_MS));
  }
  const killed = await kill();
  assert.deepEqual(await sent, []);
  assert.deepEqual(
    service.log.filter(({ level }) => level === 'error'),
    [],
  );
  if (!stopping) return 'load';
  return killed ? 'stop' : 'stopped by itself';
}

async function allAnalysed(service: ServeProcess): Promise<void> {
  type List = { data: { id: string }[] };
  for (;;) {
    const { data } = await service.call<List>('GET', '/v1/tests?status=processing&limit=100');
    if (data.length === 0) return;
    for (const { id } of data) await service.testEnded(id);
  }
}
