/** A mixed load that goes on: memory and handles stay flat, nothing fails, and nothing becomes slower. */

// @alone: measures response times.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from '../../src/mailtests/schema.ts';
import { SENDER_ZONE, signed } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';

/** Before a release, half an hour: SOAK_SECONDS=1800. */
const SECONDS = Number(process.env.SOAK_SECONDS ?? 6);
/** In real runs minutes, of which the first has the caches to fill. */
const INTERVALS = Math.max(3, Math.round(SECONDS / 60));
const INTERVAL_MS = (SECONDS * 1000) / INTERVALS;
const MAILS_PER_SECOND = 2;
const REQUESTS_PER_SECOND = 10;
/** Times this small are noise. */
const MIN_P99_MS = 50;
/** With more work than cores, times say little about the service. */
const MAX_LOAD = 1.2;
const MAX_MEMORY_GROWTH = 1.25;
const MAX_MORE_HANDLES = 15;

interface Interval {
  p99: number;
  memoryMb: number;
  handles: number;
}

test(`${SECONDS} seconds of mixed load leave memory, handles and response times as they were`, {
  skip: process.platform !== 'linux' && 'there is no /proc',
  timeout: SECONDS * 2_000 + 300_000,
}, async (t) => {
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const receiver = await startReceiver(t);
  const service = await startServe(t, {
    folder: temporaryFolder(t),
    env: {
      ...receiver.env,
      DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
      DELIVERABILITY_BLOCKLISTS: '-all',
      DELIVERABILITY_WORKERS: '1',
    },
  });
  await service.call('POST', '/v1/webhooks/endpoints', {
    body: JSON.stringify({ url: receiver.url, events: ['*'] }),
    status: 201,
  });
  const load = createLoad(service, await signed());
  const loads: number[] = [];
  const intervals: Interval[] = [];
  // The first request to each page and the first analyses compile code.
  await load.warmUp();
  for (let i = 0; i < INTERVALS; i++) {
    load.times.length = 0;
    await load.run(INTERVAL_MS);
    intervals.push({ p99: p99(load.times), ...usageOf(service.pid) });
    loads.push(loadavg()[0]! / availableParallelism());
    receiver.requests.length = Math.min(receiver.requests.length, 0);
  }
  await load.finish();
  t.diagnostic(JSON.stringify(intervals));
  const first = intervals[0]!;
  const slowest = Math.max(...intervals.map(({ p99 }) => p99));
  const memory = intervals.map(({ memoryMb }) => memoryMb);
  const half = Math.ceil(INTERVALS / 2);
  const growth = Math.max(...memory.slice(half)) / Math.max(...memory.slice(0, half));
  const handles = intervals.at(-1)!.handles - first.handles;
  const machine = loads.reduce((a, b) => a + b) / loads.length;
  t.diagnostic(
    JSON.stringify({
      seconds: SECONDS,
      mails: load.counts.mails,
      requests: load.counts.requests,
      errors: load.errors.length,
      first_p99_ms: first.p99,
      max_p99_ms: slowest,
      first_memory_mb: first.memoryMb,
      max_memory_mb: Math.max(...memory),
      more_handles: handles,
      load_per_core: machine,
    }),
  );
  assert.deepEqual(load.errors.slice(0, 5), []);
  const logged = service.log.filter(({ level }) => level === 'error');
  assert.deepEqual(logged.slice(0, 5), []);
  assert.ok(growth < MAX_MEMORY_GROWTH, `memory grew by a factor of ${growth}`);
  assert.ok(handles < MAX_MORE_HANDLES, `${handles} more handles`);
  if (machine < MAX_LOAD)
    assert.ok(slowest <= 2 * Math.max(first.p99, MIN_P99_MS), `p99 ${first.p99} → ${slowest} ms`);
  else t.diagnostic('The machine was too busy to judge the response times.');
});

function createLoad(service: ServeProcess, raw: Buffer | string) {
  const times: number[] = [];
  const errors: string[] = [];
  const counts = { mails: 0, requests: 0 };
  const running = new Set<Promise<void>>();
  const tests: string[] = [];
  const track = (work: Promise<void>) => {
    const tracked = work
      .catch((error) => void errors.push(String(error)))
      .finally(() => running.delete(tracked));
    running.add(tracked);
  };
  const timed = async (path: string) => {
    const began = performance.now();
    const headers = { authorization: `Bearer ${service.key}` };
    const response = await fetch(service.url + path, { headers });
    await response.arrayBuffer();
    times.push(performance.now() - began);
    counts.requests += 1;
    if (response.status !== 200) errors.push(`${path}: ${response.status}`);
  };
  const mail = async () => {
    const { id, address } = await service.createTest();
    await sendMail({ port: service.smtpPort, to: address, raw });
    counts.mails += 1;
    const { status } = await service.call<Test>('GET', `/v1/tests/${id}?wait=50`);
    if (status === 'completed') tests.push(id);
    else errors.push(`${id}: ${status}`);
    if (tests.length > 20) tests.shift();
  };
  const paths = (number: number): string => {
    const id = tests[number % tests.length];
    const ofTest = [`/v1/tests/${id}`, `/v1/tests/${id}/report.html`];
    const all = [
      '/v1/tests',
      '/v1/events?limit=50',
      '/v1/webhooks/endpoints',
      '/v1/reports/summary',
      '/',
      '/docs',
      '/status',
      '/openapi.json',
      '/metrics',
      '/healthz',
      ...(id ? ofTest : []),
      // A PDF takes the time of many requests.
      ...(id && number % 25 === 0 ? [`/v1/tests/${id}/report.pdf`] : []),
    ];
    return all[number % all.length]!;
  };
  let number = 0;
  return {
    times,
    errors,
    counts,
    async warmUp() {
      for (let i = 0; i < 3; i++) await mail();
      for (let i = 0; i < 30; i++) await timed(paths(number++));
    },
    /** Starts work at a constant rate, however long it takes. */
    async run(ms: number) {
      const began = performance.now();
      for (let tick = 0; performance.now() - began < ms; tick++) {
        track(timed(paths(number++)));
        if (tick % (REQUESTS_PER_SECOND / MAILS_PER_SECOND) === 0) track(mail());
        const next = began + ((tick + 1) * 1000) / REQUESTS_PER_SECOND;
        await pause(Math.max(0, next - performance.now()));
      }
    },
    async finish() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function p99(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}

function usageOf(pid: number): Pick<Interval, 'memoryMb' | 'handles'> {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const memoryMb = Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024);
  return { memoryMb, handles: readdirSync(`/proc/${pid}/fd`).length };
}
