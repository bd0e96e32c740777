/** The memory of a running service stays below a bound, whatever the messages are. */

// @alone: the messages keep all cores busy, and each has a time limit.
// @one-database: about the memory of threads.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { measureMemory } from '../../scripts/bench/memory.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { isFullSize, ONLY_FULL_SIZE } from '../helpers/full-size.ts';
import { bundleProgram } from '../helpers/program.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';
import { HOSTILE_LOAD } from './hostile-load.ts';

const NO_PROC = process.platform !== 'linux' && 'there is no /proc';
const MAX_RESIDENT_MB = 1100;
/** For ordinary messages, by number of analysis threads. */
const MAX_ORDINARY_MB = { 1: 250, 2: 350 };
/** How often each message is sent: the second pass shows what the first one kept. */
const ROUNDS = Number(process.env.MEMORY_ROUNDS ?? 2);
const CONNECTIONS = 12;
const MAX_ATTEMPTS = 600;

test(`Service with two workers needs less than ${MAX_RESIDENT_MB} MB for hostile messages`, {
  skip: NO_PROC || ONLY_FULL_SIZE,
}, async (t) => {
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const service = await startServe(t, {
    folder: temporaryFolder(t),
    env: {
      DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
      DELIVERABILITY_WORKERS: '2',
      DELIVERABILITY_CHECK_LINKS: 'false',
    },
  });
  const names = Array.from({ length: ROUNDS }, () => Object.keys(HOSTILE_LOAD)).flat();
  let next = 0;
  const send = async () => {
    for (let i = next++; i < names.length; i = next++) await examine(service, names[i]!);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  const peak = peakMemoryMb(service.pid);
  t.diagnostic(`${peak} MB resident at most, ${names.length} messages`);
  assert.ok(peak < MAX_RESIDENT_MB, `${peak} MB`);
  assert.equal((await service.call<{ status: string }>('GET', '/healthz')).status, 'ok');
});

for (const workers of [1, 2] as const)
  test(`Service with ${workers} analysis threads needs at most ${MAX_ORDINARY_MB[workers]} MB for ordinary messages`, {
    skip: NO_PROC || (workers > 1 && ONLY_FULL_SIZE),
  }, async (t) => {
    const command: [string, string] = [process.execPath, await bundleProgram()];
    const { idle, peak, after } = await measureMemory(command, workers, {
      messages: isFullSize ? 300 : 60,
      idleMs: 1000,
    });
    t.diagnostic(`${idle} MB idle, ${peak} MB at most, ${after} MB after the last result`);
    assert.ok(peak <= MAX_ORDINARY_MB[workers], `${peak} MB`);
  });

/** Sends the message, waits for its result, and requests its reports. */
async function examine(service: ServeProcess, name: string): Promise<void> {
  const { id, address } = await service.createTest();
  await sendPatiently(service, address, HOSTILE_LOAD[name]!());
  for (;;) {
    const { status } = await service.call<{ status: string }>('GET', `/v1/tests/${id}?wait=50`);
    if (status === 'completed' || status === 'failed') break;
  }
  const headers = { authorization: `Bearer ${service.key}` };
  for (const format of ['html', 'pdf']) {
    const response = await fetch(`${service.url}/v1/tests/${id}/report.${format}`, { headers });
    await response.arrayBuffer();
  }
}

/** Repeats the message while the service has no memory for it, as mail servers do. */
async function sendPatiently(service: ServeProcess, to: string, raw: Buffer): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      await sendMail({ port: service.smtpPort, to, raw });
      return;
    } catch (error) {
      const { responseCode } = error as { responseCode?: number };
      if (responseCode !== 452 || attempt >= MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
}

function peakMemoryMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) / 1024);
}
