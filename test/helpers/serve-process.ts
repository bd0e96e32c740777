/** `serve` in a process of its own: what it logs, what its API answers, and how it ends. */

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Stall } from './loop-monitor.ts';
import { type Environment, runProgram, spawnProgram } from './program.ts';

const MONITOR = fileURLToPath(new URL('./loop-monitor.ts', import.meta.url));

export interface LogLine {
  message: string;
  [field: string]: unknown;
}

export interface ServeOptions {
  folder: string;
  env?: Environment;
  /** Preloads the monitor that `stall` asks. */
  monitored?: boolean;
}

export interface StartingProcess {
  signal(name: NodeJS.Signals): void;
  log: LogLine[];
  /** The next line with this message that was not asked for before; null where the process ended without one. */
  line(message: string): Promise<LogLine | null>;
  /** Resolves when the process has ended and all of its output is read. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** What every such service has in common: free ports, addresses by the PROXY protocol, no DNS. */
export function serveEnvironment(folder: string): Environment {
  return {
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_SMTP_NAME: 'mx.inbox.test',
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.test',
    DELIVERABILITY_SMTP_PROXY_PROTOCOL: '127.0.0.1',
    // Nobody listens there; a test that needs answers names its own server.
    DELIVERABILITY_DNS_SERVERS: '127.0.0.1:1',
    // Tests ask more than people do.
    DELIVERABILITY_RATE_LIMIT: '0',
    DELIVERABILITY_LOG_FORMAT: 'json',
  };
}

/** Returns at once: the process may still be starting. */
export async function spawnServe(options: ServeOptions): Promise<StartingProcess> {
  const env = { ...serveEnvironment(options.folder), ...options.env };
  const child = await spawnProgram(['serve'], env, options.monitored ? ['--import', MONITOR] : []);
  const log: LogLine[] = [];
  const told = new Set<LogLine>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  let over = false;
  createInterface(child.stderr).on('line', (text) => {
    log.push(text.startsWith('{') ? JSON.parse(text) : { message: text });
    tell();
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    over = true;
    tell();
    return { code, signal };
  });
  return {
    signal: (name) => void child.kill(name),
    log,
    ended,
    async line(message) {
      const { promise, resolve } = Promise.withResolvers<LogLine | null>();
      const look = () => {
        const found = log.find((line) => line.message === message && !told.has(line));
        if (!found && !over) return;
        if (found) told.add(found);
        listeners.delete(look);
        resolve(found ?? null);
      };
      listeners.add(look);
      look();
      return promise;
    },
  };
}

export interface ServeProcess extends StartingProcess {
  smtpPort: number;
  url: string;
  /** Answers the parsed body; rejects on any other status. */
  call<T>(method: string, path: string, options?: CallOptions): Promise<T>;
  createTest(): Promise<Test>;
  /** The test when it has ended; rejects where it has not within the service's longest wait. */
  testEnded(id: string): Promise<Test>;
  /** The longest stall of the main thread since the last call, or the start. */
  stall(): Promise<Stall>;
}

interface CallOptions {
  body?: string | Uint8Array;
  type?: string;
  status?: number;
}

/** Resolves when it is ready; it is killed with its test where it still runs. */
export async function startServe(t: TestContext, options: ServeOptions): Promise<ServeProcess> {
  const key = await ownerKey(options);
  const started = await spawnServe(options);
  t.after(async () => {
    started.signal('SIGKILL');
    await started.ended;
  });
  const ready = await started.line('ready');
  if (!ready) throw new Error(`serve did not start: ${JSON.stringify(started.log)}`);
  const url = String(ready.api);
  const call: ServeProcess['call'] = async (method, path, call = {}) => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (call.body !== undefined) headers['content-type'] = call.type ?? 'application/json';
    const response = await fetch(url + path, { method, headers, body: call.body as never });
    const text = await response.text();
    if (response.status !== (call.status ?? 200))
      throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  return {
    ...started,
    url,
    smtpPort: Number(String(ready.smtp).split(':').at(-1)),
    call,
    createTest: () => call<Test>('POST', '/v1/tests', { body: '{}', status: 201 }),
    async testEnded(id) {
      const test = await call<Test>('GET', `/v1/tests/${id}?wait=50`);
      if (test.status === 'completed' || test.status === 'failed') return test;
      throw new Error(`test ${id} is still ${test.status}`);
    },
    async stall() {
      started.signal('SIGUSR2');
      return (await started.line('longest stall')) as unknown as Stall;
    },
  };
}

async function ownerKey({ folder, env }: ServeOptions): Promise<string> {
  const environment = { ...serveEnvironment(folder), ...env };
  const { stdout, stderr } = await runProgram(
    ['owner', 'owner@example.com', '--json'],
    environment,
  );
  if (!stdout) throw new Error(`owner failed: ${stderr}`);
  return JSON.parse(stdout).key;
}
