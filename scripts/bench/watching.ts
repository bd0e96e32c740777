/** Many domains and monitors that are all due at once: how long until all are done, and what others feel of it. */

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { makeKey, type SigningKey } from '../../test/helpers/signer.ts';
import { call, type Kind, spread, startLoad } from './api-load.ts';
import { type Child, startChild } from './child.ts';
import { startMails } from './mail-load.ts';
import { percentile, round2 } from './measure.ts';
import type { Port25, WatchingReady } from './watching-service-child.ts';

/** So many domains, and as many monitors; by default a part of them is run, and the time extrapolated. */
const ALL = 10_000;
const SHARE = Number(process.env.BENCH_DOMAINS ?? 4000);
/** This is slower: a smaller part does. */
const SILENT_SHARE = Number(process.env.BENCH_SILENT_DOMAINS ?? 400);
const BEFORE_MS = 15_000;
/** Of the API, beside all that is due. */
const PER_SECOND = 5;
const MAIL_EVERY_MS = 500;

export async function benchWatching() {
  const key = makeKey('rsa2048');
  const all = await watch(SHARE, 'answers', key);
  const silent = await watch(SILENT_SHARE, 'silent', key);
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
    api_p95_ms: round2(Math.max(...Object.values(api).map((took) => percentile(took, 0.95)))),
    api_p95_ms_before: round2(
      Math.max(...Object.values(all.apiBefore).map((took) => percentile(took, 0.95))),
    ),
    ...flat('analysis_before', analysis.before),
    ...flat('analysis_beside', analysis.beside),
    analysis_beside_over_before: round2(
      percentile(analysis.beside, 0.5) / percentile(analysis.before, 0.5),
    ),
    silent_port_25_domains: SILENT_SHARE,
    silent_port_25_seconds: Math.round(silent.seconds),
    silent_port_25_seconds_for_all_extrapolated: Math.round((silent.seconds * ALL) / SILENT_SHARE),
  };
}

function flat(name: string, values: number[]): Record<string, number> {
  const entries = Object.entries(spread(values));
  return Object.fromEntries(entries.map(([part, value]) => [`${name}_${part}_ms`, value]));
}

const KINDS: Record<string, Kind> = {
  domains: { method: 'GET', path: '/v1/domains', perSecond: PER_SECOND },
  monitors: { method: 'GET', path: '/v1/monitors', perSecond: PER_SECOND },
  create: { method: 'POST', path: '/v1/tests', body: {}, perSecond: PER_SECOND },
};

async function watch(count: number, port25: Port25, key: SigningKey) {
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
    } satisfies Record<string, Kind>;
    const begin = (first: number) => ({
      load: startLoad(api, kinds),
      mails: startMails(api, { first, everyMs: MAIL_EVERY_MS, key }),
    });
    // What is started and compiled by the first requests is not what is measured.
    const warm = begin(0);
    await pause(BEFORE_MS / 3);
    await Promise.all([warm.load.stop(), warm.mails.stop()]);
    const before = begin(100_000);
    await pause(BEFORE_MS);
    const [apiBefore, mailsBefore] = await Promise.all([before.load.stop(), before.mails.stop()]);
    const cpu = cpuSeconds(service);
    await ask(dns);
    const beside = begin(200_000);
    const started = performance.now();
    await untilAllDone(join(folder, 'deliverability.db'), await ask<string>(service));
    const seconds = (performance.now() - started) / 1000;
    const [apiBeside, mailsBeside] = await Promise.all([beside.load.stop(), beside.mails.stop()]);
    return {
      seconds,
      questions: await ask<number>(dns),
      cpu: cpuSeconds(service) - cpu,
      memory: peakMemoryMb(service),
      api: apiBeside,
      apiBefore,
      analysis: { before: mailsBefore, beside: mailsBeside },
    };
  } finally {
    await Promise.all([service.stop(), dns.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One line in, one line out. */
async function ask<T>({ process: { stdin, stdout } }: Child<unknown>): Promise<T> {
  const lines = createInterface(stdout!);
  const answer = once(lines, 'line');
  stdin!.write('\n');
  const [line] = await answer;
  lines.close();
  return JSON.parse(line as string) as T;
}

/** Each of them has been looked at since; counted by a connection of this process. */
async function untilAllDone(path: string, since: string): Promise<void> {
  const sqlite = new Sqlite(path, { readonly: true });
  const left = sqlite
    .prepare(
      `SELECT (SELECT count(*) FROM domains WHERE next_check_at <= @since)
            + (SELECT count(*) FROM monitors WHERE next_run_at <= @since) AS count`,
    )
    .pluck();
  const started = performance.now();
  for (let told = 0; ; await pause(250)) {
    const count = left.get({ since }) as number;
    if (count === 0) break;
    const seconds = Math.floor((performance.now() - started) / 10_000) * 10;
    if (seconds > told) process.stderr.write(`  ${seconds} s: ${count} left\n`);
    told = Math.max(told, seconds);
  }
  sqlite.close();
}

/** Of user and system, all threads. */
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
