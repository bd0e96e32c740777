/** A container with 256 MB: the kernel ends no process, and all messages are analyzed. */

// @alone: measures memory.
// @one-database: about the memory of the process.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { SENDER_ZONE, signed } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { bundleProgram } from '../helpers/program.ts';
import { sendMail } from '../helpers/send.ts';
import { startServe } from '../helpers/serve-process.ts';

const LIMIT_MB = 256;
const MAILS = Number(process.env.CONTAINER_MAILS ?? 30);

/** Version 1 and version 2 of control groups. */
const HIERARCHIES = [
  {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
  },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
];

/** A control group with the limit, or null if this machine does not allow one. */
function createGroup() {
  for (const { root, limit, peak } of HIERARCHIES) {
    const folder = `${root}/deliverability-test-${process.pid}`;
    try {
      mkdirSync(folder);
      if (existsSync(`${folder}/${limit}`)) {
        writeFileSync(`${folder}/${limit}`, String(LIMIT_MB * 1024 * 1024));
        return {
          enter: () => writeFileSync(`${folder}/cgroup.procs`, String(process.pid)),
          leave: () => writeFileSync(`${root}/cgroup.procs`, String(process.pid)),
          peakMb: () =>
            Math.round(Number(readFileSync(`${folder}/${peak}`, 'latin1')) / 1024 / 1024),
          remove: () => rmdirSync(folder),
        };
      }
      rmdirSync(folder);
    } catch {
      // Not allowed, or not there: the next.
    }
  }
  return null;
}

const group = createGroup();

test(`Service with one worker analyzes ${MAILS} messages within ${LIMIT_MB} MB`, {
  skip: group === null && 'this machine allows no control group with a limit on memory',
  timeout: 600_000,
}, async (t) => {
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  await bundleProgram();
  const raw = await signed();
  const folder = temporaryFolder(t);
  // Processes start in the group of their parent. Removed last, because t.after() runs in order.
  group!.enter();
  const started = startServe(t, {
    folder,
    env: {
      DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
      DELIVERABILITY_BLOCKLISTS: '-all',
      DELIVERABILITY_WORKERS: '1',
    },
  });
  const service = await started.finally(() => group!.leave());
  t.after(() => group!.remove());
  const ids: string[] = [];
  for (let i = 0; i < MAILS; i++) {
    const { id, address } = await service.createTest();
    await sendMail({ port: service.smtpPort, to: address, raw });
    ids.push(id);
  }
  for (const id of ids) assert.equal((await service.testEnded(id)).status, 'completed');
  const headers = { authorization: `Bearer ${service.key}` };
  for (const id of ids.slice(0, 10))
    for (const format of ['html', 'pdf']) {
      const response = await fetch(`${service.url}/v1/tests/${id}/report.${format}`, { headers });
      assert.equal(response.status, 200);
      await response.arrayBuffer();
    }
  const peak = group!.peakMb();
  service.signal('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  await pause(100);
  t.diagnostic(JSON.stringify({ mails: MAILS, max_memory_mb: peak, limit_mb: LIMIT_MB }));
});
