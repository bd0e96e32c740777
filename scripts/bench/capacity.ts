/**
 * What more cores give: the CPU time of each part for a newsletter on PostgreSQL, and from that the messages a second
 * for some numbers of cores. A model, because the parts have no cores of their own here.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import pg from 'pg';
import { round2 } from './measure.ts';
import { installedCopy, type MemoryFigures, measureMemory } from './memory.ts';
import { signed } from './message-cost.ts';
import { newsletter } from './newsletter.ts';
import { startBenchServer } from './postgres.ts';

const EXECUTABLE = resolve('dist/deliverability');
const MESSAGES = 1000;
const COMMITS = 500;
/** Cores for nodes; the database has others. */
const CORES = [2, 4, 8, 16, 32];
/** Of a core, busy for good: beyond it, queues grow. */
const FULL = 0.9;

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
    const commitMs = await measureCommit(database);
    const parts = partsOf(figures, commitMs);
    const predicted = CORES.map((cores) => [
      `per_second_with_${cores}_cores`,
      predict(cores, parts),
    ]);
    return {
      main_ms: round2(parts.mainMs),
      node_ms: round2(parts.nodeMs),
      database_ms: parts.databaseMs,
      commit_ms: round2(parts.commitMs),
      measured_per_second: figures.perSecond,
      one_node_at_most: Math.floor((FULL * 1000) / parts.mainMs),
      database_core_at_most: Math.floor((FULL * 1000) / parts.databaseMs),
      all_nodes_at_most: Math.floor((FULL * 1000) / parts.commitMs),
      ...Object.fromEntries(predicted),
      two_nodes_over_one: round2(predict(8, parts, 2) / predict(4, parts, 1)),
    };
  } finally {
    installed.remove();
    await server.stop();
  }
}

interface Parts {
  /** One thread of each node: it receives, stores and records. */
  mainMs: number;
  /** All threads of the node. */
  nodeMs: number;
  databaseMs: number;
  /** Each result holds the tally of its hour, which all nodes share, until its commit is on disk. */
  commitMs: number;
}

function partsOf({ cpuMsOf, databaseMs }: MemoryFigures, commitMs: number): Parts {
  const { main, analysis, engine, files } = cpuMsOf;
  return { mainMs: main, nodeMs: main + analysis + engine + files, databaseMs, commitMs };
}

/** Messages a second with so many cores for nodes, on as many nodes as are best, or on `nodes`. */
function predict(cores: number, { mainMs, nodeMs, commitMs }: Parts, nodes?: number): number {
  const byCores = cores / nodeMs;
  const needed = nodes ?? Math.ceil(byCores * mainMs);
  const perMs = Math.min(byCores, needed / mainMs, 1 / commitMs);
  return Math.floor(FULL * 1000 * perMs);
}

/** The time of an update of one row until its commit is on disk, in milliseconds. */
async function measureCommit(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('CREATE TABLE commits (id int PRIMARY KEY, count int NOT NULL)');
    await client.query('INSERT INTO commits VALUES (1, 0)');
    const started = performance.now();
    for (let i = 0; i < COMMITS; i++)
      await client.query('UPDATE commits SET count = count + 1 WHERE id = 1');
    return (performance.now() - started) / COMMITS;
  } finally {
    await client.end();
  }
}

/** Of all PostgreSQL processes of this machine, with those that have ended. */
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
