/** A clock that jumps, and a file system of another machine, in the running program. */

// @one-database: about the process and its files.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { createFaults, FILE_SYSTEMS, skipWithoutFaults } from '../helpers/faults/faults.ts';
import { runProgram } from '../helpers/program.ts';
import { seededRandom } from '../helpers/random.ts';
import { environmentOf, startServe } from '../helpers/serve-process.ts';
import { startFaultLoad, type Target } from './fault-load.ts';
import { assertNothingLost } from './stored-messages.ts';

const skip = skipWithoutFaults();
const HOUR_MS = 3_600_000;
/** Less than the lifetime of a test that waits for its message, which may end when the clock jumps. */
const JUMPS_MS = [10_000, -10_000, HOUR_MS / 2, -HOUR_MS / 2, 0, -24 * HOUR_MS];
const BETWEEN_MS = 1_500;

test('serve refuses a data folder on NFS or SMB, and changes nothing there', {
  skip,
}, async (t) => {
  const folder = temporaryFolder(t);
  const faults = createFaults(t, folder);
  for (const [name, type] of [
    ['NFS', FILE_SYSTEMS.nfs],
    ['SMB', FILE_SYSTEMS.cifs],
  ] as const) {
    faults.set({ statfs_type: type });
    const env = { ...(await environmentOf({ folder })), ...faults.env };
    const { code, stderr } = await runProgram(['serve'], env);
    assert.equal(code, 3, stderr);
    assert.match(stderr, new RegExp(`network file system \\(${name}\\).*use PostgreSQL`));
    assert.deepEqual(readdirSync(folder), []);
  }
  faults.set({ statfs_type: FILE_SYSTEMS.ext4 });
  await startServe(t, { folder, env: faults.env });
});

test('A clock that jumps forward and back loses no message and stops no work', {
  skip,
  timeout: 300_000,
}, async (t) => {
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
  const target: Target = { service: await startServe(t, { folder, env }) };
  const load = startFaultLoad(t, target, seededRandom(1));
  for (const jump of JUMPS_MS) {
    faults.set({ clock_ms: jump });
    load.resetReplies();
    const until = performance.now() + BETWEEN_MS;
    const before = load.mails.filter(({ state }) => state === 'kept').length;
    while (
      performance.now() < until ||
      load.mails.filter(({ state }) => state === 'kept').length === before
    ) {
      assert.ok(performance.now() < until + 20_000, `no message after a jump of ${jump} ms`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const errors = Object.keys(load.replies).filter((reply) => / 5/.test(reply));
    assert.deepEqual(errors, [], `after a jump of ${jump} ms`);
  }
  await load.stop();
  // What was due before the clock went back is due again once it is right.
  faults.set({ clock_ms: HOUR_MS / 2 });
  for (const { testId, state } of load.mails)
    if (state === 'kept')
      assert.equal((await target.service.testEnded(testId)).status, 'completed');
  assert.deepEqual(
    target.service.log.filter(({ level }) => level === 'error'),
    [],
  );
  target.service.signal('SIGTERM');
  assert.deepEqual(await target.service.ended, { code: 0, signal: null });
  const stored = await assertNothingLost(`${folder}/deliverability.db`, load.mails);
  t.diagnostic(JSON.stringify({ jumps: JUMPS_MS.length, ...stored }));
});
