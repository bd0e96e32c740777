/** Power failures: what was not synced is lost or torn, but nothing acknowledged is. */

// @one-database: about files of SQLite.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { createFaults, skipWithoutFaults } from '../helpers/faults/faults.ts';
import { cutPower, readFiles } from '../helpers/faults/power-cut.ts';
import { seededRandom } from '../helpers/random.ts';
import { verifyAll } from './kill/all-loads.ts';
import type { Figures } from './kill/load.ts';
import { createMessages } from './kill/messages.ts';
import { STARTING, stoppingAt } from './kill/moments.ts';
import { prepareService } from './kill/one-service.ts';
import { assertConsistent } from './stored-messages.ts';

const ROUNDS = Number(process.env.POWER_CUT_ROUNDS ?? 3);

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
  const faults = createFaults(t, folder, true);
  const env = {
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
  };
  const loads = [createMessages(dns, /\x07example\x03com\0/)];
  const moments = loads[0]!.moments!;
  const analysis = moments.find(({ name }) => name === 'analysis')!;
  // In the first round, messages are accepted.
  const all = [...moments, STARTING, stoppingAt(analysis)];
  const service = await prepareService(t, { folder, env, loads, random });
  const figures = { rounds: ROUNDS, unsynced: 0, lost: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const before = readFiles(folder);
    rmSync(faults.journal, { force: true });
    const moment = round === 0 ? moments[0]! : all[random.below(all.length)]!;
    await service.runAndKill([moment], faults.env);
    const { unsynced, lost } = cutPower(before, readFileSync(faults.journal), random);
    figures.unsynced += unsynced;
    figures.lost += lost;
  }
  let stored: Figures = {};
  await service.finish(async (db) => {
    stored = await verifyAll(loads, db, service.site);
  });
  assertConsistent(service.location);
  assert.ok(figures.lost > 0, 'no power failure lost anything that was not synced');
  t.diagnostic(JSON.stringify({ ...figures, ...stored }));
});
