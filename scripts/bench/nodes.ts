/** The same work on SQLite, on one node with PostgreSQL, and on two. Both databases are durable, on the same disk. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from './child.ts';
import { claimsPerSecond } from './claims.ts';
import { sendRequests, storeResult } from './http.ts';
import { median, rate, round2 } from './measure.ts';
import { benchMail } from './message.ts';
import { startBenchServer } from './postgres.ts';
import { sendAll } from './smtp.ts';
import { latencies, makeCertificate, openChannel, withPair } from './webhooks.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const WEBHOOK_SECONDS = Number(process.env.BENCH_SECONDS ?? 20);
const MESSAGES = 400;
const REQUESTS = 4000;
const WEBHOOKS_PER_SECOND = 200;

interface Ready {
  http: number;
  smtp: number;
  key: string;
  tests: { id: string; token: string }[];
}

interface Setup {
  nodes: number;
  usesPostgres: boolean;
}

export async function benchNodes() {
  const figures: Record<string, number> = {};
  const setups: Record<string, Setup> = {
    sqlite: { nodes: 1, usesPostgres: false },
    postgres_1_node: { nodes: 1, usesPostgres: true },
    postgres_2_nodes: { nodes: 2, usesPostgres: true },
  };
  for (const [name, setup] of Object.entries(setups))
    for (const [figure, value] of Object.entries(await measureSetup(setup)))
      figures[`${name}_${figure}`] = value;
  return figures;
}

async function measureSetup({ nodes, usesPostgres }: Setup): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const server = usesPostgres ? await startBenchServer() : null;
  // A database for each figure: a node would analyze the messages that another has received.
  const databases = async (name: string) => (server ? [await server.create(name)] : []);
  try {
    const services = await measureServices(folder, nodes, await databases('services'));
    const pem = makeCertificate(folder);
    const order = { perSecond: WEBHOOKS_PER_SECOND, seconds: WEBHOOK_SECONDS };
    const database = await databases('webhooks');
    const hooks = await withPair(join(folder, 'hooks'), pem, (pair) => latencies(pair, order), {
      database,
      nodes,
    });
    const [location = join(folder, 'claims.db')] = await databases('claims');
    return {
      ...services,
      webhook_p50_ms: hooks.p50,
      webhook_p95_ms: hooks.p95,
      webhook_lost: hooks.lost,
      webhook_cpu_ms: hooks.cpuMs,
      ...(await claimsPerSecond(location, nodes)),
    };
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Messages and requests, with the CPU time of all service processes for each. */
async function measureServices(
  folder: string,
  nodes: number,
  database: string[],
): Promise<Record<string, number>> {
  const raw = Buffer.from((await benchMail()).input.raw);
  const children: Child<Ready>[] = [];
  try {
    for (let node = 0; node < nodes; node++) {
      const tests = node === 0 ? MESSAGES * (ROUNDS + 1) + 1 : 0;
      const args = [join(folder, `node-${node}`), String(tests), ...database];
      children.push(await startChild<Ready>('service-child.mjs', args));
    }
    const { key, tests } = children[0]!.ready;
    const { id } = tests.pop()!;
    await storeResult(database[0] ?? join(folder, 'node-0', 'deliverability.db'), id);
    const tokens = tests.map(({ token }) => token);
    const channels = children.map(openChannel);
    const cpu = async () => {
      const used = await Promise.all(channels.map((channel) => channel.request<number>('cpu')));
      return used.reduce((sum, ms) => sum + ms, 0);
    };
    const ports = children.map(({ ready }) => ready.smtp);
    const smtp = await measure(MESSAGES, cpu, () =>
      sendAll(ports, tokens.splice(0, MESSAGES), raw),
    );
    const servers = children.map(({ ready: { http } }): [number, string] => [
      http,
      `GET /v1/tests/${id} HTTP/1.1\r\nHost: 127.0.0.1:${http}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    ]);
    const get = await measure(REQUESTS, cpu, () =>
      rate(REQUESTS, () => sendRequests(REQUESTS, servers)),
    );
    return {
      smtp_per_second: smtp.perSecond,
      smtp_cpu_ms: smtp.cpuMs,
      get_per_second: get.perSecond,
      get_cpu_ms: get.cpuMs,
    };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

/** Medians over all rounds after a warm-up round. `work` resolves with a rate. */
async function measure(count: number, cpu: () => Promise<number>, work: () => Promise<number>) {
  const rates: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = await cpu();
    const value = await work();
    const cost = ((await cpu()) - before) / count;
    if (round === 0) continue;
    rates.push(value);
    costs.push(cost);
  }
  return { perSecond: Math.round(median(rates)), cpuMs: round2(median(costs)) };
}
