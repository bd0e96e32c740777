/** Several `serve` processes on one PostgreSQL server, which are killed and started again. */

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { openStore, type Store } from '../../src/store/open.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { skipOrFail } from '../helpers/installed.ts';
import {
  type PostgresServer,
  postgresPrograms,
  startPostgres,
} from '../helpers/postgres-server.ts';
import { type Environment, runProgram } from '../helpers/program.ts';
import type { Random } from '../helpers/random.ts';
import { type Receiver, startReceiver } from '../helpers/receiver.ts';
import {
  type LogLine,
  type StartingProcess,
  serveEnvironment,
  spawnServe,
} from '../helpers/serve-process.ts';
import { TEST_SECRET_KEY } from '../helpers/store.ts';
import { type MailSink, startMailSink } from '../outbox/mail-sink.ts';

export const skipWithoutServer = (): string | false =>
  postgresPrograms()
    ? false
    : skipOrFail('PostgreSQL is not installed: scripts/setup-test-machine.sh');

/** Leases begin with it. */
export const nodeName = (place: number): string => `node-${place}`;

/** A running node. */
export interface Node {
  url: string;
  smtpPort: number;
  process: StartingProcess;
}

export interface Nodes {
  server: PostgresServer;
  /** The URL of the database. */
  location: string;
  /** For the test's own queries. */
  store: Store;
  receiver: Receiver;
  sink: MailSink;
  /** The API key of the owner. */
  key: string;
  /** By place; null while a node is down. */
  running: (Node | null)[];
  start(place: number): Promise<void>;
  /** Starts the node and kills it after `ms` milliseconds, ready or not. */
  startAndKill(place: number, ms: number): Promise<void>;
  /** With `gentleMs`, SIGTERM comes first. */
  kill(place: number, gentleMs?: number): Promise<void>;
  /** A random running node. */
  pick(random: Random): Node | null;
  /** All lines of the level `error` of all processes so far. */
  errors(): LogLine[];
}

/**
 * Starts PostgreSQL, which writes to the disk as in production, and one node for each entry: by how many
 * milliseconds its clock is ahead.
 */
export async function startNodes(t: TestContext, clockOffsetsMs: number[]): Promise<Nodes> {
  const server = await startPostgres(postgresPrograms()!, { durable: true });
  t.after(() => server.stop());
  const location = await createDatabase(server);
  const store = await openStore(location);
  t.after(() => store.close());
  const receiver = await startReceiver(t);
  const sink = await startMailSink(t);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const folder = temporaryFolder(t);
  const env = {
    ...receiver.env,
    DELIVERABILITY_DATABASE_URL: location,
    DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'reports@example.com',
  };
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
  // The recommended rules of the first owner would send mail and events that no test here counts.
  await store.db.deleteFrom('alerts').execute();
  const nodes: Nodes = {
    key,
    server,
    location,
    store,
    receiver,
    sink,
    running,
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
    pick(random) {
      const up = running.filter((node) => node !== null);
      return up.length === 0 ? null : up[random.below(up.length)]!;
    },
    errors: () => processes.flatMap(({ log }) => log.filter(({ level }) => level === 'error')),
  };
  await Promise.all(running.map((_, place) => nodes.start(place)));
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
