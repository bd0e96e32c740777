/** The executable as users have it, with a data folder of its own, to be measured from outside. */

import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type ChildProcess, execFileSync, spawn } from '../programs.ts';
import { databaseVariables } from './postgres.ts';

const WAIT_MS = 100;
const MAX_WAITS = 3000;

/** As users have it: how much of a file the kernel maps at once depends on how it was written. */
export function installedCopy(executable: string): { path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'installed-'));
  const path = join(folder, basename(executable));
  copyFileSync(executable, path);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

type Command = [program: string, ...args: string[]];

/** A data folder with an owner. */
export interface Installation {
  command: Command;
  folder: string;
  env: Record<string, string>;
  /** An API key of the owner. */
  key: string;
  remove(): void;
}

interface InstallationOptions {
  dnsPort: number;
  workers: number;
  /** The URL of a PostgreSQL database. */
  database?: string;
}

/** Creates a data folder for `command serve`. */
export function newInstallation(
  command: Command,
  { dnsPort, workers, database }: InstallationOptions,
): Installation {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const env = {
    PATH: '/usr/bin:/bin',
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_INBOX_DOMAIN: 'bench.example',
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dnsPort}`,
    DELIVERABILITY_LOG_FORMAT: 'json',
    DELIVERABILITY_RATE_LIMIT: '0',
    DELIVERABILITY_WORKERS: String(workers),
    ...databaseVariables(database),
  };
  const [program, ...args] = command;
  const { key } = JSON.parse(
    execFileSync(program, [...args, 'owner', 'owner@bench.example', '--json'], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { command, folder, env, key, remove };
}

export interface RunningService {
  pid: number;
  /** The URL of its API. */
  api: string;
  smtpPort: number;
  stop(): Promise<void>;
}

/** Starts `command serve`, and waits until it is ready. */
export async function startServe(
  { command: [program, ...args], env }: Installation,
  variables: NodeJS.ProcessEnv = {},
): Promise<RunningService> {
  const child = spawn(program, [...args, 'serve'], {
    env: { ...env, ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const ready = JSON.parse(await lineWith(createInterface(child.stderr), '"ready"'));
    return {
      pid: child.pid!,
      api: ready.api,
      smtpPort: Number(ready.smtp.split(':').at(-1)),
      stop: () => end(child),
    };
  } catch (error) {
    await end(child);
    throw error;
  }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function lineWith(lines: ReturnType<typeof createInterface>, part: string): Promise<string> {
  for await (const line of lines) if (line.includes(part)) return line;
  throw new Error('serve ended before it was ready');
}

/** Creates tests that wait for a message. */
export async function createTests(url: string, key: string, count: number) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const call = async <T>(method: string, path: string, body?: string): Promise<T> => {
    const response = await fetch(url + path, { method, headers, body });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    return (await response.json()) as T;
  };
  const tests: { address: string }[] = [];
  for (let i = 0; i < count; i++) tests.push(await call('POST', '/v1/tests', '{}'));
  return {
    tokens: tests.map(({ address }) => address.slice(0, address.indexOf('@'))),
    /** One request for all tests: one per test would add to the measured CPU time. Throws if an analysis failed. */
    async completed() {
      const open = () => call<{ data: object[] }>('GET', '/v1/tests?status=processing&limit=1');
      for (let waits = 0; (await open()).data.length > 0; waits++) {
        if (waits >= MAX_WAITS) throw new Error('the analyses took too long');
        await pause(WAIT_MS);
      }
      const failed = await call<{ data: object[] }>('GET', '/v1/tests?status=failed&limit=1');
      if (failed.data.length > 0) throw new Error('an analysis failed');
    },
  };
}
