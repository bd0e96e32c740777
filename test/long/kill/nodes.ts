/** Several `serve` processes on one PostgreSQL server, which are killed and started again. */

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { openStore, type Store } from '../../../src/store/open.ts';
import { untilAvailable } from '../../../src/store/until-available.ts';
import { temporaryFolder } from '../../helpers/app.ts';
import { skipOrFail } from '../../helpers/installed.ts';
import {
  type PostgresServer,
  postgresPrograms,
  startPostgres,
} from '../../helpers/postgres-server.ts';
import { type Environment, runProgram } from '../../helpers/program.ts';
import type { Random } from '../../helpers/random.ts';
import { type StartingProcess, serveEnvironment, spawnServe } from '../../helpers/serve-process.ts';
import type { Loads } from './all-loads.ts';
import { errorsIn } from './log-errors.ts';
import { type Address, createSite, type Site, startClients } from './site.ts';

export const skipWithoutServer = (): string | false =>
  postgresPrograms()
    ? false
    : skipOrFail('PostgreSQL is not installed: scripts/setup-test-machine.sh');

/** Leases begin with it. */
const nodeName = (place: number): string => `node-${place}`;

/** Where nodes claim work. */
const LEASED = [
  'tests',
  'webhook_deliveries',
  'outbox',
  'report_schedules',
  'alert_notifications',
] as const;

/** A running node. */
export interface Node extends Address {
  process: StartingProcess;
}

export interface Nodes {
  server: PostgresServer;
  /** For the test's own queries. */
  store: Store;
  site: Site;
  /** Ends the clients once their last unit is done. */
  stopClients(): Promise<void>;
  /** By place; null while a node is down. */
  running: (Node | null)[];
  start(place: number): Promise<void>;
  /** Starts the node and kills it after `ms` milliseconds, ready or not. */
  startAndKill(place: number, ms: number): Promise<void>;
  /** With `gentleMs`, SIGTERM comes first. */
  kill(place: number, gentleMs?: number): Promise<void>;
  /** How many rows of work the node has claimed. */
  countLeases(place: number): Promise<number>;
  /** All errors that the processes have logged so far. */
  errors(): ReturnType<typeof errorsIn>;
}

/**
 * Starts PostgreSQL, which writes to the disk as in production, and one node for each entry: by how many
 * milliseconds its clock is ahead.
 */
export async function startNodes(
  t: TestContext,
  clockOffsetsMs: number[],
  { loads, env: loadEnv }: Pick<Loads, 'loads' | 'env'>,
  random: Random,
): Promise<Nodes> {
  const server = await startPostgres(postgresPrograms()!, { durable: true });
  t.after(() => server.stop());
  const location = await createDatabase(server);
  const store = await openStore(location);
  t.after(() => store.close());
  const folder = temporaryFolder(t);
  const env = { ...loadEnv, DELIVERABILITY_DATABASE_URL: location };
  const processes: StartingProcess[] = [];
  t.after(async () => {
    for (const { signal } of processes) signal('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
  });
  const spawnNode = async (place: number): Promise<StartingProcess> => {
    const process = await spawnServe({
      ...nodeOptions(folder, env, place),
      clockOffsetMs: clockOffsetsMs[place],
    });
    processes.push(process);
    return process;
  };
  const running: (Node | null)[] = clockOffsetsMs.map(() => null);
  const key = await ownerKey({ ...serveEnvironment(folder), ...env });
  for (const load of loads) await load.prepare?.(store.db);
  const site = createSite({
    key,
    random,
    pick() {
      const up = running.filter((node) => node !== null);
      return up.length === 0 ? null : up[random.below(up.length)]!;
    },
    write: (work) => untilAvailable(() => work(store.db)),
  });
  const nodes: Nodes = {
    server,
    store,
    site,
    running,
    stopClients: async () => {},
    async start(place) {
      const process = await spawnNode(place);
      const ready = await process.nextLine('ready');
      assert.ok(ready, `node ${place} did not start: ${JSON.stringify(process.log)}`);
      const smtpPort = Number(String(ready.smtp).split(':').at(-1));
      running[place] = { url: String(ready.api), smtpPort, process };
    },
    async startAndKill(place, ms) {
      const process = await spawnNode(place);
      await Promise.race([process.nextLine('ready'), sleep(ms)]);
      process.signal('SIGKILL');
      await process.ended;
    },
    async kill(place, gentleMs) {
      const { process } = running[place]!;
      running[place] = null;
      if (gentleMs !== undefined) {
        process.signal('SIGTERM');
        await Promise.race([process.ended, sleep(gentleMs)]);
      }
      process.signal('SIGKILL');
      await process.ended;
    },
    async countLeases(place) {
      let total = 0;
      for (const table of LEASED) {
        const leased = await store.db
          .selectFrom(table)
          .select('id')
          .where('lease', 'like', `${nodeName(place)}:%`)
          .execute();
        total += leased.length;
      }
      return total;
    },
    errors: () => processes.flatMap(({ log }) => errorsIn(log)),
  };
  await Promise.all(running.map((_, place) => nodes.start(place)));
  nodes.stopClients = startClients(t, site, loads);
  return nodes;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function createDatabase({ url }: PostgresServer): Promise<string> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  await client.query('CREATE DATABASE nodes');
  await client.end();
  return `${url}/nodes`;
}

/** Each node has its own folder, as on its own machine. */
function nodeOptions(parent: string, env: Environment, place: number) {
  const folder = join(parent, nodeName(place));
  mkdirSync(folder, { recursive: true });
  return { folder, env: { ...env, DELIVERABILITY_NODE_NAME: nodeName(place) } };
}

async function ownerKey(env: Environment): Promise<string> {
  const { stdout, stderr } = await runProgram(['owner', 'owner@example.com', '--json'], env);
  if (!stdout) throw new Error(stderr);
  return JSON.parse(stdout).key;
}
