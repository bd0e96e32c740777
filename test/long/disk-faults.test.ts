/** A disk that fails: the service refuses what it cannot store, loses nothing, and recovers without help. */

// @one-database: about files of SQLite.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openStore } from '../../src/store/open.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { createFaults, ERRNO, type Faults, skipWithoutFaults } from '../helpers/faults/faults.ts';
import { seededRandom } from '../helpers/random.ts';
import { startServe } from '../helpers/serve-process.ts';
import { startFaultLoad, type Target } from './fault-load.ts';
import { assertNothingLost } from './stored-messages.ts';

const ROUNDS = Number(process.env.DISK_FAULT_ROUNDS ?? 1);
const HEALTHY_MS = 500;
const FAULTY_MS = 1_500;
const MAX_WAITS = 40;
/** Reached only if it never recovers: a busy machine needs seconds to start the process again. */
const MAX_RECOVERY_MS = 60_000;

interface DiskFault {
  title: string;
  apply(faults: Faults): void;
  /** A reply while the fault lasts. */
  expects: RegExp;
  /** Whether the process may end, so that its supervisor starts it again. */
  mayEnd?: boolean;
}

const FAULTS: Record<string, DiskFault> = {
  'disk-full': {
    title: 'A full disk (ENOSPC)',
    apply: (faults) => faults.set({ write_error: ERRNO.ENOSPC }),
    expects: /^(SMTP 45[12]|HTTP 50[37])$/,
  },
  'read-only': {
    title: 'A disk that turns read-only (EROFS)',
    apply: (faults) => faults.set({ write_error: ERRNO.EROFS, open_error: ERRNO.EROFS }),
    expects: /^(SMTP 451|HTTP 503)$/,
  },
  'io-errors': {
    title: 'Errors of one write in three (EIO)',
    apply: (faults) => faults.set({ write_error: ERRNO.EIO, percent: 33 }),
    expects: /^(SMTP 451|HTTP 503)$/,
  },
  'sync-errors': {
    title: 'Errors of half of all syncs (EIO)',
    apply: (faults) => faults.set({ sync_error: ERRNO.EIO, percent: 50 }),
    expects: /^(SMTP|HTTP) (\d+|disconnected)$/,
    mayEnd: true,
  },
};

const selected = process.env.DISK_FAULTS?.split(',') ?? Object.keys(FAULTS);

for (const name of selected)
  test(
    `${FAULTS[name]!.title} loses nothing that was acknowledged`,
    {
      skip: skipWithoutFaults(),
      timeout: 3_600_000,
    },
    (t) => failAndRecover(t, FAULTS[name]!),
  );

async function failAndRecover(t: TestContext, fault: DiskFault): Promise<void> {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const folder = temporaryFolder(t);
  const faults = createFaults(t, folder);
  const env = {
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
    ...faults.env,
  };
  const start = () => startServe(t, { folder, env });
  const target: Target = { service: await start() };
  const load = startFaultLoad(t, target, seededRandom(seed));
  const figures = { rounds: ROUNDS, refused: 0, restarts: 0, max_recovery_ms: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    await pause(HEALTHY_MS);
    load.resetReplies();
    fault.apply(faults);
    let ended = await Promise.race([target.service.ended, pause(FAULTY_MS)]);
    const isNoticed = () => Object.keys(load.replies).some((reply) => fault.expects.test(reply));
    // SQLite can overwrite its log for a while before it needs more space.
    for (let waits = 0; !ended && !isNoticed() && waits < MAX_WAITS; waits++)
      ended = await Promise.race([target.service.ended, pause(FAULTY_MS)]);
    assert.ok(isNoticed(), JSON.stringify(load.replies));
    const replies = Object.keys(load.replies);
    const server5xx = replies.filter((reply) => /^(HTTP 500|SMTP 5)/.test(reply));
    assert.deepEqual(server5xx, [], JSON.stringify(load.replies));
    for (const [reply, times] of Object.entries(load.replies))
      if (!/ 2/.test(reply)) figures.refused += times;
    faults.clear();
    const recoversFrom = performance.now();
    if (ended) {
      assert.ok(fault.mayEnd, `the service ended: ${JSON.stringify(target.service.log.slice(-3))}`);
      figures.restarts += 1;
      target.service = await start();
    }
    load.resetReplies();
    while (!(load.replies['SMTP 250']! > 0 && load.replies['HTTP 201']! > 0)) {
      const elapsed = performance.now() - recoversFrom;
      assert.ok(elapsed < MAX_RECOVERY_MS, `no recovery: ${JSON.stringify(load.replies)}`);
      await pause(10);
    }
    const recovery = Math.round(performance.now() - recoversFrom);
    figures.max_recovery_ms = Math.max(figures.max_recovery_ms, recovery);
  }
  await load.stop();
  assert.ok(faults.failedCalls() > 0, 'no call failed');
  for (const { testId, state } of load.mails)
    if (state === 'kept') await target.service.testEnded(testId);
  target.service.signal('SIGTERM');
  assert.deepEqual(await target.service.ended, { code: 0, signal: null });
  const path = `${folder}/deliverability.db`;
  const stored = await assertNothingLost(path, load.mails);
  await assertTestsExist(path, load.created);
  const created = load.created.length;
  t.diagnostic(
    JSON.stringify({ ...figures, failedCalls: faults.failedCalls(), created, ...stored }),
  );
}

async function assertTestsExist(path: string, ids: string[]): Promise<void> {
  const { db, close } = await openStore(path);
  try {
    const rows = await db.selectFrom('tests').select('id').execute();
    const found = new Set(rows.map(({ id }) => id));
    assert.deepEqual(
      ids.filter((id) => !found.has(id)),
      [],
      'tests that were acknowledged with 201',
    );
  } finally {
    await close();
  }
}
