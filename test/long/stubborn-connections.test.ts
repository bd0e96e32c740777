/** Thousands of connections that stay: the service serves others meanwhile, and all file handles come back. */

// @waits: for the time limits of connections, two minutes. Good clients may wait ten seconds.
// @one-database: about connections of clients.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { spawn } from '../../scripts/programs.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { bundleProgram, runProgram } from '../helpers/program.ts';
import { serveEnvironment } from '../helpers/serve-process.ts';

const FILE_LIMIT = 1024;
const STUBBORN = 3000;
/** In a row, from one address of 127.0.0.0/8: below the limits per client. */
const PER_ADDRESS = 12;
/** The longest applicable timeout, 2 min for the request body, with the linger time and the intervals of the checks. */
const RECOVERY_MS = 130_000;
/** Generous: client and attackers share this process and the machine. */
const MAX_WAIT_MS = 10_000;

const LIMITS_FILE = '/proc/self/limits';

interface Service {
  pid: number;
  url: string;
  httpPort: number;
  smtpPort: number;
  key: string;
  log: Record<string, unknown>[];
}

/** Runs `serve` with a limit of 1,024 open files. */
async function startLimited(t: TestContext): Promise<Service> {
  const folder = temporaryFolder(t);
  const env = {
    ...serveEnvironment(folder),
    PATH: process.env.PATH ?? '',
    DELIVERABILITY_SMTP_PROXY_PROTOCOL: '',
    DELIVERABILITY_BLOCKLISTS: '-all',
  };
  const { stdout } = await runProgram(['owner', 'owner@example.com', '--json'], env);
  const command = [process.execPath, await bundleProgram(), 'serve'];
  const child = spawn('sh', ['-c', `ulimit -n ${FILE_LIMIT}; exec "$@"`, 'sh', ...command], {
    env,
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const log: Service['log'] = [];
  const ready = Promise.withResolvers<Record<string, unknown>>();
  createInterface(child.stderr).on('line', (line) => {
    const entry = line.startsWith('{') ? JSON.parse(line) : { message: line };
    log.push(entry);
    if (entry.message === 'ready') ready.resolve(entry);
  });
  void exited.then(() => ready.reject(new Error(`serve ended: ${JSON.stringify(log)}`)));
  const { api, smtp } = await ready.promise;
  return {
    pid: child.pid!,
    url: String(api),
    httpPort: Number(new URL(String(api)).port),
    smtpPort: Number(String(smtp).split(':').at(-1)),
    key: JSON.parse(stdout).key,
    log,
  };
}

const openFiles = ({ pid }: Service): number => readdirSync(`/proc/${pid}/fd`).length;

/** Without the pipes and polls of threads, of which more may start. */
function openSockets({ pid }: Service): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(`${folder}/${name}`).startsWith('socket:');
    } catch {
      // Closed in the meantime.
      return false;
    }
  }).length;
}

/** A request on a new connection. */
async function call(service: Service, method: string, path: string, body?: string) {
  const started = performance.now();
  const sent = request(service.url + path, {
    method,
    agent: false,
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    localAddress: '127.1.0.1',
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const content = await text(response);
  assert.ok(response.statusCode < 300, `${method} ${path}: ${response.statusCode} ${content}`);
  return { ms: performance.now() - started, body: JSON.parse(content) };
}

/** What a good client does: creates a test, sends its message, and reads the test. */
async function useService(service: Service): Promise<number> {
  const created = await call(service, 'POST', '/v1/tests', '{}');
  const started = performance.now();
  while (!(await deliver(service, created.body.address))) await pause(100);
  const sentMs = performance.now() - started;
  const read = await call(service, 'GET', `/v1/tests/${created.body.id}`);
  assert.notEqual(read.body.status, 'waiting');
  return Math.max(created.ms, sentMs, read.ms);
}

/** False if the service asks to try again later, as it may while every other connection is at work. */
async function deliver({ smtpPort }: Service, to: string): Promise<boolean> {
  const socket = connect({ port: smtpPort, host: '127.0.0.1', localAddress: '127.1.0.2' });
  await once(socket, 'connect');
  const transport = createTransport({
    connection: socket,
    name: 'mail.example.com',
    tls: { rejectUnauthorized: false },
  });
  try {
    await transport.sendMail({
      envelope: { from: 'bounce@example.com', to },
      raw: 'From: a@example.com\r\nSubject: a\r\n\r\nText\r\n',
    });
    return true;
  } catch (error) {
    if ((error as { responseCode?: number }).responseCode === 421) return false;
    throw error;
  } finally {
    transport.close();
  }
}

const HELLO = 'EHLO client.example.com\r\n';
const half = (line: string) => `${line}\r\nHost: a\r\n`;
/** What the connections send, in turn; they never close their side. */
const KINDS: [port: 'httpPort' | 'smtpPort', reads: boolean, bytes: (test: string) => string][] = [
  ['httpPort', true, () => half('GET / HTTP/1.1')],
  ['httpPort', true, () => ''],
  [
    'httpPort',
    true,
    () =>
      `${half('POST /v1/sessions HTTP/1.1')}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  ],
  ['httpPort', true, () => 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['httpPort', true, () => 'nonsense\r\n\r\n'],
  // The OpenAPI document is the largest response without credentials.
  ['httpPort', false, () => 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(12)],
  ['smtpPort', true, () => ''],
  ['smtpPort', true, () => `${HELLO}STARTTLS\r\n`],
  ['smtpPort', true, () => 'QUIT\r\n'],
  [
    'smtpPort',
    true,
    (test) => `${HELLO}MAIL FROM:<a@example.com>\r\nRCPT TO:<${test}>\r\nDATA\r\nSubject: a\r\n`,
  ],
  ['smtpPort', false, () => HELLO.repeat(500)],
];

function openStubborn(service: Service, index: number, test: string): Socket {
  const [port, reads, bytes] = KINDS[index % KINDS.length]!;
  const group = Math.floor(index / PER_ADDRESS);
  const socket = connect({
    port: service[port],
    host: '127.0.0.1',
    localAddress: `127.0.${1 + Math.floor(group / 200)}.${1 + (group % 200)}`,
    allowHalfOpen: true,
  });
  socket.on('error', () => {}).on('connect', () => socket.write(bytes(test)));
  return reads ? socket.resume() : socket.pause();
}

test('3,000 connections that clients never close, at 1,024 open files, neither stop the service nor keep handles', {
  skip: !existsSync(LIMITS_FILE) && `${LIMITS_FILE} does not exist`,
  timeout: 420_000,
}, async (t) => {
  const service = await startLimited(t);
  const warning = service.log.find(({ file_limit }) => file_limit === FILE_LIMIT);
  assert.match(String(warning?.message), /open files.*LimitNOFILE=2100/);
  const { body } = await call(service, 'POST', '/v1/tests', '{}');
  await useService(service);
  await pause(500);
  const [before, socketsBefore] = [openFiles(service), openSockets(service)];
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });

  let [most, slowest] = [0, 0];
  const watch = setInterval(() => {
    most = Math.max(most, openFiles(service));
  }, 20);
  t.after(() => clearInterval(watch));
  while (sockets.length < STUBBORN) {
    for (let i = 0; i < 150; i++) sockets.push(openStubborn(service, sockets.length, body.address));
    slowest = Math.max(slowest, await useService(service));
  }
  const lastOpened = performance.now();
  let freed = 0;
  while (freed === 0) {
    slowest = Math.max(slowest, await useService(service));
    await pause(1000);
    const elapsed = performance.now() - lastOpened;
    const left = openSockets(service);
    if (left <= socketsBefore) freed = elapsed;
    else assert.ok(elapsed < RECOVERY_MS, `${left} sockets, ${socketsBefore} at the start`);
  }
  t.diagnostic(
    `open files: ${before} before, at most ${most}, ${openFiles(service)} after ${Math.round(freed)} ms; slowest use ${Math.round(slowest)} ms`,
  );
  assert.ok(most > before + 100 && most < FILE_LIMIT, `${most} open files`);
  assert.ok(slowest < MAX_WAIT_MS, `${slowest} ms`);
  assert.deepEqual(
    service.log.filter(({ level }) => level === 'error'),
    [],
  );
  const limits = service.log.filter(({ message }) =>
    /^connection limit reached/.test(String(message)),
  );
  assert.ok(limits.length >= 2 && limits.length < 10, `${limits.length} lines about limits`);
});
