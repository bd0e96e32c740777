/** Power failures: what was not synced is lost or torn, but nothing acknowledged is. */

// @one-database: about files of SQLite.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { openStore } from '../../src/store/open.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { createFaults, skipWithoutFaults } from '../helpers/faults/faults.ts';
import { cutPower, readFiles } from '../helpers/faults/power-cut.ts';
import { seededRandom } from '../helpers/random.ts';
import { startServe } from '../helpers/serve-process.ts';
import { chooseMoment, runAndKill } from './killed-service.ts';
import { type Mail, prepareMails } from './mail-load.ts';
import { assertNothingLost } from './stored-messages.ts';

const ROUNDS = Number(process.env.POWER_CUT_ROUNDS ?? 3);
const MAILS_PER_ROUND = 20;

test(`${ROUNDS} power failures lose no accepted message and leave a consistent database`, {
  skip: skipWithoutFaults(),
  timeout: 3_600_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const folder = temporaryFolder(t);
  const path = `${folder}/deliverability.db`;
  const faults = createFaults(t, folder, true);
  const network = {
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
  };
  const store = await openStore(path);
  const mails = await prepareMails(store.db, ROUNDS * MAILS_PER_ROUND, random);
  await store.close();
  const figures = { rounds: ROUNDS, unsynced: 0, lost: 0 };
  const queue: Mail[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    queue.push(...mails.slice(round * MAILS_PER_ROUND, (round + 1) * MAILS_PER_ROUND));
    const before = readFiles(folder);
    rmSync(faults.journal, { force: true });
    const env = { ...network, ...faults.env };
    await runAndKill({ folder, env }, dns, queue, random, chooseMoment(random), async () =>
      countEvents(path),
    );
    const { unsynced, lost } = cutPower(before, readFileSync(faults.journal), random);
    figures.unsynced += unsynced;
    figures.lost += lost;
    queue.push(
      ...mails.filter(
        (mail) => mail.state === 'unanswered' && mail.retries && !queue.includes(mail),
      ),
    );
  }
  const service = await startServe(t, { folder, env: network });
  type List = { data: { id: string }[] };
  const processing = () =>
    service.call<List>('GET', '/v1/tests?status=processing&limit=100').then(({ data }) => data);
  for (let open = await processing(); open.length > 0; open = await processing())
    for (const { id } of open) await service.testEnded(id);
  service.signal('SIGTERM');
  await service.ended;
  const stored = await assertNothingLost(path, mails);
  assert.ok(figures.lost > 0, 'no power failure lost anything that was not synced');
  t.diagnostic(JSON.stringify({ ...figures, ...stored }));
});

/** Read-only, so that recovery is left to the service. */
function countEvents(path: string): number {
  const sqlite = new BetterSqlite(path, { readonly: true });
  try {
    return sqlite.prepare('SELECT COUNT(*) FROM events').pluck().get() as number;
  } finally {
    sqlite.close();
  }
}
