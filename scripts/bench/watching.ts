/** Many domains and monitors due at the same time: how long the run takes, and its effect on API and analysis. */

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { makeKey, type SigningKey } from '../../test/helpers/signer.ts';
import { call, type LoadRequest, percentiles, startLoad } from './api-load.ts';
import { type Child, startChild } from './child.ts';
import { startMailLoad } from './mail-load.ts';
import { percentile, round2 } from './measure.ts';
import type { Port25, WatchingReady } from './watching-service-child.ts';

/** The number of domains, and of monitors. By default only a part is run, and the time is extrapolated. */
const ALL = 10_000;
const SHARE = Number(process.env.BENCH_DOMAINS ?? 4000);
/** A smaller part, because this run is slower. */
const SILENT_SHARE = Number(process.env.BENCH_SILENT_DOMAINS ?? 400);
const BEFORE_MS = 15_000;
/** The rate of each kind of API request during the run. */
const PER_SECOND = 5;
const MAIL_EVERY_MS = 500;

export async function benchWatching() {
  const key = makeKey('rsa2048');
  const all = await measureRun(SHARE, 'answers', key);
  const silent = await measureRun(SILENT_SHARE, 'silent', key);
  const { api, analysis } = all;
  return {
    domains: SHARE,
    monitors: SHARE,
    seconds_until_all_done: Math.round(all.seconds),
    seconds_for_all_extrapolated: Math.round((all.seconds * ALL) / SHARE),
    dns_questions: all.questions,
    service_cpu_seconds: round2(all.cpu),
    peak_memory_mb: all.memory,
    ...flat('get_test', api.test!),
    ...flat('list_domains', api.domains!),
    ...flat('list_monitors', api.monitors!),
    ...flat('post_test', api.create!),
    api_p95_ms: round2(Math.max(...Object.values(api).map((times) => percentile(times, 0.95)))),
    api_p95_ms_before: round2(
      Math.max(...Object.values(all.apiBefore).map((times) => percentile(times, 0.95))),
    ),
    ...flat('analysis_before', analysis.before),
    ...flat('analysis_beside', analysis.during),
    analysis_beside_over_before: round2(
      percentile(analysis.during, 0.5) / percentile(analysis.before, 0.5),
    ),
    silent_port_25_domains: SILENT_SHARE,
    silent_port_25_seconds: Math.round(silent.seconds),
    silent_port_25_seconds_for_all_extrapolated: Math.round((silent.seconds * ALL) / SILENT_SHARE),
  };
}

function flat(name: string, values: number[]): Record<string, number> {
  const entries = Object.entries(percentiles(values));
  return Object.fromEntries(entries.map(([part, value]) => [`${name}_${part}_ms`, value]));
}

const KINDS: Record<string, LoadRequest> = {
  domains: { method: 'GET', path: '/v1/domains', perSecond: PER_SECOND },
  monitors: { method: 'GET', path: '/v1/monitors', perSecond: PER_SECOND },
  create: { method: 'POST', path: '/v1/tests', body: {}, perSecond: PER_SECOND },
};

async function measureRun(count: number, port25: Port25, key: SigningKey) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const dns = await startChild<{ port: number }>('watching-dns-child.mjs', [key.record]);
  const service = await startChild<WatchingReady>('watching-service-child.mjs', [
    folder,
    String(dns.ready.port),
    String(count),
    port25,
  ]);
  const { http: port, ...rest } = service.ready;
  const api = { port, ...rest };
  try {
    const { id } = await call<{ id: string }>(api, {
      method: 'POST',
      path: '/v1/tests',
      body: {},
    });
    const kinds = {
      test: { method: 'GET', path: `/v1/tests/${id}`, perSecond: PER_SECOND },
      ...KINDS,
    } satisfies Record<string, LoadRequest>;
    const startLoads = (first: number) => ({
      load: startLoad(api, kinds),
      mails: startMailLoad(api, { first, everyMs: MAIL_EVERY_MS, key }),
    });
    // A warm-up, so that start-up and compilation do not count.
    const warm = startLoads(0);
    await pause(BEFORE_MS / 3);
    await Promise.all([warm.load.stop(), warm.mails.stop()]);
    const before = startLoads(100_000);
    await pause(BEFORE_MS);
    const [apiBefore, mailsBefore] = await Promise.all([before.load.stop(), before.mails.stop()]);
    const cpu = cpuSeconds(service);
    await request(dns);
    const during = startLoads(200_000);
    const started = performance.now();
    await waitUntilAllDone(join(folder, 'deliverability.db'), await request<string>(service));
    const seconds = (performance.now() - started) / 1000;
    const [apiDuring, mailsDuring] = await Promise.all([during.load.stop(), during.mails.stop()]);
    return {
      seconds,
      questions: await request<number>(dns),
      cpu: cpuSeconds(service) - cpu,
      memory: peakMemoryMb(service),
      api: apiDuring,
      apiBefore,
      analysis: { before: mailsBefore, during: mailsDuring },
    };
  } finally {
    await Promise.all([service.stop(), dns.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes a line to the process and reads its response, a line of JSON. */
async function request<T>({ process: { stdin, stdout } }: Child<unknown>): Promise<T> {
  const lines = createInterface(stdout!);
  const response = once(lines, 'line');
  stdin!.write('\n');
  const [line] = await response;
  lines.close();
  return JSON.parse(line as string) as T;
}

/** Resolves when nothing has been due since `since`; uses its own database connection. */
async function waitUntilAllDone(path: string, since: string): Promise<void> {
  const sqlite = new Sqlite(path, { readonly: true });
  const countDue = sqlite
    .prepare(
      `SELECT (SELECT count(*) FROM domains WHERE next_check_at <= @since)
            + (SELECT count(*) FROM monitors WHERE next_run_at <= @since) AS count`,
    )
    .pluck();
  const started = performance.now();
  for (let reported = 0; ; await pause(250)) {
    const count = countDue.get({ since }) as number;
    if (count === 0) break;
    const seconds = Math.floor((performance.now() - started) / 10_000) * 10;
    if (seconds > reported) process.stderr.write(`  ${seconds} s: ${count} left\n`);
    reported = Math.max(reported, seconds);
  }
  sqlite.close();
}

/** User and system time of all threads. */
function cpuSeconds({ process: { pid } }: Child<unknown>): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function peakMemoryMb({ process: { pid } }: Child<unknown>): number {
  const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round((Number(kib) * 1024) / 1e6);
}
