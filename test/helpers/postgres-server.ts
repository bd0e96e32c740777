/** A PostgreSQL server for tests: Debian's package, a temporary folder, a loopback port. */

import { once } from 'node:events';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type ChildProcess, execFileSync, spawn } from '../../scripts/programs.ts';
import { memoryFolder } from './memory-folder.ts';

/** The folder of the newest installed version; null if there is none. Debian does not add it to PATH. */
export function postgresPrograms(): string | null {
  const versionOf = (path: string) => Number(path.split('/').at(-3));
  const found = globSync('/usr/lib/postgresql/*/bin/postgres');
  const newest = found.sort((a, b) => versionOf(a) - versionOf(b)).at(-1);
  return newest === undefined ? null : dirname(newest);
}

export interface PostgresServer {
  /** Without a database name: `${url}/postgres` is the first database. */
  url: string;
  /** Ends the server as a crash of the machine would, but keeps its files, and starts it again after `pauseMs`. */
  crash(pauseMs: number): Promise<void>;
  /** Ends the server and deletes its files. The default ends it as a crash would. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** PostgreSQL refuses to run as root. This user exists on every machine. */
const NOBODY = { uid: 65534, gid: 65534 };

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_connections: 400,
  shared_buffers: '128MB',
};
const FAST = {
  fsync: 'off',
  full_page_writes: 'off',
  // A thousand short-lived databases: nothing grows old.
  autovacuum: 'off',
  jit: 'off',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
};

export interface PostgresOptions {
  /** On the disk, and written to it as in production. Otherwise nothing survives a crash of the machine. */
  durable?: boolean;
}

export async function startPostgres(
  programs: string,
  { durable = false }: PostgresOptions = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(durable ? tmpdir() : memoryFolder(), 'postgres-'));
  const user = process.getuid?.() === 0 ? NOBODY : null;
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder, env: { LC_ALL: 'C.UTF-8', PATH: process.env.PATH } };
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'tests', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const port = await freePort();
  const settings = { ...SETTINGS, ...(durable ? {} : FAST), port };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const start = () =>
    startServer(
      spawn(join(programs, 'postgres'), ['-D', data, ...args], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
  let server = await start();
  const end = () => {
    server.child.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', end);
  /** The default is the signal of `pg_ctl stop --mode immediate`. */
  const kill = async (signal: NodeJS.Signals = 'SIGQUIT') => {
    server.child.kill(signal);
    await server.exited;
  };
  return {
    url: `postgres://tests@127.0.0.1:${port}`,
    async crash(pauseMs) {
      await kill();
      await pause(pauseMs);
      server = await start();
    },
    async stop(signal) {
      process.off('exit', end);
      await kill(signal);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when it accepts connections, after recovery. */
async function startServer(child: ChildProcess) {
  const exited = once(child, 'exit');
  const output: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stderr!).on('line', (line) => {
      if (output.length < 100) output.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    child.on('error', reject);
    child.on('exit', () => reject(new Error(`postgres exited: ${output.join('\n')}`)));
  });
  return { child, exited };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
