/** Runs `serve` in a separate process, with access to its log, API and exit code. */

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Stall } from './loop-monitor.ts';
import { type Environment, runProgram, spawnProgram } from './program.ts';
import { storeSmtpKeyPair } from './smtp-key-pair.ts';
import { databaseEnvironment } from './store.ts';

const MONITOR = fileURLToPath(new URL('./loop-monitor.ts', import.meta.url));
const CLOCK_OFFSET = fileURLToPath(new URL('./clock-offset.ts', import.meta.url));

export interface LogLine {
  message: string;
  [field: string]: unknown;
}

export interface ServeOptions {
  folder: string;
  env?: Environment;
  /** Preloads the monitor that `stall` needs. */
  monitored?: boolean;
  /** How far the clock of the process is ahead, if it is not right. */
  clockOffsetMs?: number;
}

export interface StartingProcess {
  pid: number;
  signal(name: NodeJS.Signals): void;
  log: LogLine[];
  /** The next unread line with this message; null if the process ends without one. */
  nextLine(message: string): Promise<LogLine | null>;
  /** Resolves when the process has ended and all of its output has been read. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** The common environment: free ports, client addresses by the PROXY protocol, no DNS. */
export function serveEnvironment(folder: string): Environment {
  return {
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_SMTP_NAME: 'mx.inbox.test',
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.test',
    DELIVERABILITY_SMTP_PROXY_PROTOCOL: '127.0.0.1',
    // Nothing listens there; tests that need DNS set their own server.
    DELIVERABILITY_DNS_SERVERS: '127.0.0.1:1',
    // Tests exceed the normal limit.
    DELIVERABILITY_RATE_LIMIT: '0',
    DELIVERABILITY_LOG_FORMAT: 'json',
  };
}

/** Returns immediately; the process may still be starting. */
export async function spawnServe(options: ServeOptions): Promise<StartingProcess> {
  const env = await environmentOf(options);
  await storeSmtpKeyPair(options.folder);
  const preloads = [
    ...(options.monitored ? [MONITOR] : []),
    ...(options.clockOffsetMs ? [CLOCK_OFFSET] : []),
  ];
  const child = await spawnProgram(
    ['serve'],
    { ...env, TEST_CLOCK_OFFSET_MS: String(options.clockOffsetMs ?? 0) },
    preloads.flatMap((file) => ['--import', file]),
  );
  const log: LogLine[] = [];
  const returned = new Set<LogLine>();
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  let hasEnded = false;
  createInterface(child.stderr).on('line', (text) => {
    log.push(text.startsWith('{') ? JSON.parse(text) : { message: text });
    notify();
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    hasEnded = true;
    notify();
    return { code, signal };
  });
  return {
    pid: child.pid!,
    signal: (name) => void child.kill(name),
    log,
    ended,
    async nextLine(message) {
      const { promise, resolve } = Promise.withResolvers<LogLine | null>();
      const check = () => {
        const found = log.find((line) => line.message === message && !returned.has(line));
        if (!found && !hasEnded) return;
        if (found) returned.add(found);
        listeners.delete(check);
        resolve(found ?? null);
      };
      listeners.add(check);
      check();
      return promise;
    },
  };
}

export interface ServeProcess extends StartingProcess {
  /** The API key of the owner. */
  key: string;
  smtpPort: number;
  url: string;
  /** Resolves with the parsed body; rejects on an unexpected status. */
  call<T>(method: string, path: string, options?: CallOptions): Promise<T>;
  createTest(): Promise<Test>;
  /** Resolves with the test when it is done; rejects after the longest wait that the API allows. */
  testEnded(id: string): Promise<Test>;
  /** The longest stall of the main thread since the last call or the start. */
  stall(): Promise<Stall>;
}

interface CallOptions {
  body?: string | Uint8Array;
  type?: string;
  status?: number;
}

/** Large messages are analyzed one after the other, so the last of many may need minutes. */
const MAX_WAITS = 5;

/** Resolves when the service is ready. It is killed when the test ends. */
export async function startServe(t: TestContext, options: ServeOptions): Promise<ServeProcess> {
  const key = await ownerKey(options);
  const started = await spawnServe(options);
  t.after(async () => {
    started.signal('SIGKILL');
    await started.ended;
  });
  const ready = await started.nextLine('ready');
  if (!ready) throw new Error(`serve did not start: ${JSON.stringify(started.log)}`);
  const url = String(ready.api);
  const call: ServeProcess['call'] = async (method, path, call = {}) => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (call.body !== undefined) headers['content-type'] = call.type ?? 'application/json';
    const response = await fetch(url + path, { method, headers, body: call.body as never });
    const text = await response.text();
    if (response.status !== (call.status ?? 200))
      throw new Error(`${method} ${path} responded ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  return {
    ...started,
    key,
    url,
    smtpPort: Number(String(ready.smtp).split(':').at(-1)),
    call,
    createTest: () => call<Test>('POST', '/v1/tests', { body: '{}', status: 201 }),
    async testEnded(id) {
      let status = '';
      for (let round = 0; round < MAX_WAITS; round++) {
        const test = await call<Test>('GET', `/v1/tests/${id}?wait=50`);
        if (test.status === 'completed' || test.status === 'failed') return test;
        status = test.status;
      }
      throw new Error(`test ${id} is still ${status}`);
    },
    async stall() {
      started.signal('SIGUSR2');
      return (await started.nextLine('longest stall')) as unknown as Stall;
    },
  };
}

/** The environment of `serve`, also for other commands on the same database. */
export const environmentOf = async ({ folder, env }: ServeOptions): Promise<Environment> => ({
  ...serveEnvironment(folder),
  ...(await databaseEnvironment(folder)),
  ...env,
});

/** Runs the `owner` command, and returns the API key that it prints. */
export async function ownerKey(options: ServeOptions): Promise<string> {
  const environment = await environmentOf(options);
  const { stdout, stderr } = await runProgram(
    ['owner', 'owner@example.com', '--json'],
    environment,
  );
  if (!stdout) throw new Error(`owner failed: ${stderr}`);
  return JSON.parse(stdout).key;
}
