/** Time from the commit of an event to its receipt at several rates, and the cost of many stored deliveries. */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { execFileSync } from '../programs.ts';
import { type Child, startChild } from './child.ts';
import { median, round2 } from './measure.ts';
import { fillDeliveries } from './stored-deliveries.ts';
import type { Order, Sent } from './webhook-sender-child.ts';

const STORED = Number(process.env.BENCH_DELIVERIES ?? 1_000_000);
const LONG_SECONDS = Number(process.env.BENCH_SECONDS ?? 60);
/** How often the services with a full and an empty table take turns. */
const TURNS = 6;

interface Received {
  received: [string, number][];
  duplicates: number;
}

export async function benchWebhooks() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const pem = makeCertificate(folder);
  try {
    const rates = await withPair(join(folder, 'rates'), pem, async (pair) => ({
      at50: await latencies(pair, { perSecond: 50, seconds: 20 }),
      at200: await latencies(pair, { perSecond: 200, seconds: 20 }),
      at1000: await latencies(pair, { perSecond: 1000, seconds: LONG_SECONDS }),
    }));
    return {
      p95_ms_at_50_per_second: rates.at50.p95,
      p95_ms_at_200_per_second: rates.at200.p95,
      p50_ms_at_200_per_second: rates.at200.p50,
      long_run_per_second: rates.at1000.perSecond,
      long_run_seconds: LONG_SECONDS,
      long_run_p95_ms: rates.at1000.p95,
      long_run_lost: rates.at1000.lost,
      long_run_repeated: rates.at1000.duplicates,
      long_run_memory_mb_at_10_s: rates.at1000.memory[9] ?? 0,
      long_run_memory_mb_at_end: rates.at1000.memory.at(-1) ?? 0,
      long_run_cpu_ms_each: rates.at1000.cpuMs,
      ...(await storedCost(folder, pem)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares the same rate on databases with many and with no stored deliveries, in turn. */
async function storedCost(folder: string, pem: string) {
  const full = join(folder, 'full');
  await fillDeliveries(full, STORED);
  return withPair(full, pem, (crowded) =>
    withPair(join(folder, 'empty'), pem, async (empty) => {
      const order = { perSecond: 100, seconds: 4 };
      const found: { crowded: number; empty: number }[] = [];
      for (let turn = 0; turn <= TURNS; turn++) {
        const both = {
          empty: (await latencies(empty, order)).p50,
          crowded: (await latencies(crowded, order)).p50,
        };
        if (turn > 0) found.push(both);
      }
      return {
        stored_deliveries: STORED,
        p50_ms_with_none_stored: round2(median(found.map((turn) => turn.empty))),
        p50_ms_with_all_stored: round2(median(found.map((turn) => turn.crowded))),
        stored_over_none: round2(median(found.map((turn) => turn.crowded / turn.empty))),
      };
    }),
  );
}

interface Pair {
  senders: Channel[];
  receiver: Channel;
}

interface Channel {
  request<T>(line: string): Promise<T>;
}

/** With a PostgreSQL database, there can be several nodes. */
export async function withPair<T>(
  folder: string,
  pem: string,
  work: (pair: Pair) => Promise<T>,
  { database = [] as string[], nodes = 1 } = {},
) {
  const receiver = await startChild<{ port: number }>('webhook-receiver-child.mjs', [pem]);
  const senders: Child<unknown>[] = [];
  try {
    for (let node = 0; node < nodes; node++) {
      const own = node === 0 ? folder : `${folder}-${node}`;
      const args = [own, pem, String(receiver.ready.port), ...database];
      senders.push(await startChild('webhook-sender-child.mjs', args));
    }
    return await work({ senders: senders.map(openChannel), receiver: openChannel(receiver) });
  } finally {
    await Promise.all([...senders, receiver].map((child) => child.stop()));
  }
}

/** Requests to a process, and its responses, are lines. */
export function openChannel({ process: { stdin, stdout } }: Child<unknown>): Channel {
  const lines: Interface = createInterface(stdout!);
  return {
    async request<T>(line: string) {
      const response = once(lines, 'line');
      stdin!.write(`${line}\n`);
      return JSON.parse((await response)[0]) as T;
    },
  };
}

/** The rate is divided among the senders. */
export async function latencies({ senders, receiver }: Pair, order: Order) {
  const perSecond = order.perSecond / senders.length;
  const parts = await Promise.all(
    senders.map((sender) => sender.request<Sent>(JSON.stringify({ ...order, perSecond }))),
  );
  const sent = {
    committed: parts.flatMap(({ committed }) => committed).sort((a, b) => a[1] - b[1]),
    memory: parts[0]!.memory,
    cpu: parts.reduce((sum, { cpu }) => sum + cpu, 0),
    unfinished: Math.max(...parts.map(({ unfinished }) => unfinished)),
  };
  const { received, duplicates } = await receiver.request<Received>('');
  const receipts = new Map(received);
  const waits = sent.committed
    .flatMap(([id, at]) => (receipts.has(id) ? [receipts.get(id)! - at] : []))
    .sort((a, b) => a - b);
  const first = sent.committed[0]![1];
  const last = sent.committed.at(-1)![1];
  return {
    p50: round2(waits[waits.length >> 1]!),
    p95: round2(waits[Math.floor(waits.length * 0.95)]!),
    lost: sent.committed.length - waits.length + sent.unfinished,
    duplicates,
    perSecond: Math.round((sent.committed.length / (last - first)) * 1000),
    memory: sent.memory,
    cpuMs: round2((sent.cpu * 1000) / sent.committed.length),
  };
}

/** Writes a key and a self-signed certificate to one file, which also serves as the CA file. */
export function makeCertificate(folder: string): string {
  const file = join(folder, 'receiver.pem');
  const options =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench -addext subjectAltName=IP:127.0.0.1';
  execFileSync('openssl', [...options.split(' '), '-keyout', file, '-out', `${file}.crt`], {
    stdio: 'ignore',
  });
  execFileSync('sh', ['-c', `cat ${file}.crt >> ${file}`]);
  return file;
}
