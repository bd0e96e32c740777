/**
 * What more cores give: the CPU time of each part for a newsletter on PostgreSQL, and from that the messages a second
 * for some numbers of cores. A model, because the parts have no cores of their own here.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import pg from 'pg';
import { installedCopy } from './executable.ts';
import { round2 } from './measure.ts';
import { type MemoryFigures, measureMemory } from './memory.ts';
import { signed } from './message-cost.ts';
import { newsletter } from './newsletter.ts';
import { startBenchServer } from './postgres.ts';

const EXECUTABLE = resolve('dist/deliverability');
const MESSAGES = 1000;
const TRANSACTIONS = 500;
/** Cores for nodes; the database has others. */
const CORES = [2, 4, 8, 16, 32];
/** Queues grow above this utilization. */
const MAX_UTILIZATION = 0.9;

export async function benchCapacity() {
  if (!existsSync(EXECUTABLE))
    return { skipped: 'dist/deliverability does not exist: run npm run build' };
  const server = await startBenchServer();
  const installed = installedCopy(EXECUTABLE);
  try {
    const mail = await signed(newsletter(8));
    const database = await server.create('capacity');
    const options = { messages: MESSAGES, mail, database, databaseCpuMs: postgresCpuMs };
    const figures = await measureMemory([installed.path], 1, options);
    const holdMs = await measureHold(database);
    const cost = costOf(figures, holdMs);
    const predicted = CORES.flatMap((cores) => {
      const rate = predictThroughput(cores, cost);
      return [
        [`per_second_with_${cores}_cores`, rate],
        [`nodes_with_${cores}_cores`, nodesFor(rate, cost)],
        [`database_cores_with_${cores}_cores`, round2((rate * cost.databaseMs) / 1000)],
      ];
    });
    return {
      main_ms: round2(cost.mainMs),
      node_ms: round2(cost.nodeMs),
      database_ms: cost.databaseMs,
      hold_ms: round2(cost.holdMs),
      measured_per_second: figures.perSecond,
      one_node_at_most: Math.floor((MAX_UTILIZATION * 1000) / cost.mainMs),
      database_core_at_most: Math.floor((MAX_UTILIZATION * 1000) / cost.databaseMs),
      all_nodes_at_most: Math.floor((MAX_UTILIZATION * 1000) / cost.holdMs),
      ...Object.fromEntries(predicted),
      two_nodes_over_one: round2(predictThroughput(8, cost, 2) / predictThroughput(4, cost, 1)),
    };
  } finally {
    installed.remove();
    await server.stop();
  }
}

interface MessageCost {
  /** One thread of each node: it receives, stores and records. */
  mainMs: number;
  /** All threads of the node. */
  nodeMs: number;
  databaseMs: number;
  /** How long each result holds the tally of its hour, which all nodes share: until its commit is on disk. */
  holdMs: number;
}

function costOf({ cpuMsOf, databaseMs }: MemoryFigures, holdMs: number): MessageCost {
  const { main, analysis, engine, files } = cpuMsOf;
  return { mainMs: main, nodeMs: main + analysis + engine + files, databaseMs, holdMs };
}

/** The number of nodes whose main threads can handle so many messages per second. */
const nodesFor = (rate: number, { mainMs }: MessageCost): number =>
  Math.ceil((rate * mainMs) / (MAX_UTILIZATION * 1000));

/** Messages per second with so many cores for nodes, on as many nodes as it takes, or on `nodes`. */
function predictThroughput(cores: number, cost: MessageCost, nodes = Infinity): number {
  const perMs = Math.min(cores / cost.nodeMs, nodes / cost.mainMs, 1 / cost.holdMs);
  return Math.floor(MAX_UTILIZATION * 1000 * perMs);
}

/**
 * How long a transaction holds a row that it locks, updates and commits, with two other statements, as the one that records a
 * result does, in milliseconds.
 */
async function measureHold(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('CREATE TABLE held (id int PRIMARY KEY, count int NOT NULL)');
    await client.query('INSERT INTO held VALUES (1, 0), (2, 0)');
    let ms = 0;
    for (let i = 0; i < TRANSACTIONS; i++) {
      await client.query('BEGIN');
      const started = performance.now();
      await client.query('SELECT * FROM held WHERE id = 1 FOR UPDATE');
      await client.query('UPDATE held SET count = count + 1 WHERE id = 1');
      await client.query('SELECT * FROM held WHERE id = 2 FOR UPDATE');
      await client.query('UPDATE held SET count = count + 1 WHERE id = 2');
      await client.query('COMMIT');
      ms += performance.now() - started;
    }
    return ms / TRANSACTIONS;
  } finally {
    await client.end();
  }
}

/** CPU time of all PostgreSQL processes on this machine, including exited ones, in milliseconds. */
function postgresCpuMs(): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [start, rest] = readFileSync(`/proc/${name}/stat`, 'latin1').split(') ');
      if (!start!.endsWith('(postgres')) continue;
      const fields = rest!.split(' ');
      // utime, stime, and those of children that have ended.
      for (const index of [11, 12, 13, 14]) ticks += Number(fields[index]);
    } catch {
      // It has ended.
    }
  }
  return ticks * 10;
}
