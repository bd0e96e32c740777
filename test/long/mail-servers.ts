/** Mail servers and proxies from Debian packages, with the configuration that the documentation shows. */

import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execFileSync, spawn } from '../../scripts/programs.ts';
import { freePort, startDaemon } from '../helpers/daemon.ts';

const PAGE = readFileSync(new URL('../../docs/behind-a-mail-server.md', import.meta.url), 'utf8');

/** The code block whose first line is this comment, with other ports. Throws if the page has no such block. */
export function recipe(name: string, ports: Record<number, number>): string {
  const block = PAGE.split('```').find((part) => part.split('\n')[1] === `# ${name}`);
  if (block === undefined) throw new Error(`The page has no recipe ${name}`);
  const lines = block.split('\n').slice(1);
  return Object.entries(ports).reduce(
    (text, [from, to]) =>
      text.replaceAll(new RegExp(`(?<=[ :]|::)${from}(?=[ ;/\\n}]|$)`, 'g'), String(to)),
    lines.join('\n'),
  );
}

function temporaryFolder(t: TestContext, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  chmodSync(folder, 0o755);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const WAIT_MS = 15_000;

/** Resolves once the port accepts connections. */
async function untilListening(port: number): Promise<void> {
  for (const end = Date.now() + WAIT_MS; ; ) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    if (Date.now() > end) throw new Error(`Nothing listens on port ${port}`);
    await sleep(50);
  }
}

export async function startHaproxy(t: TestContext, target: number): Promise<number> {
  const port = await freePort();
  const file = join(temporaryFolder(t, 'haproxy'), 'haproxy.cfg');
  writeFileSync(file, recipe('haproxy.cfg', { 25: port, 2525: target }));
  const daemon = await startDaemon({
    command: 'haproxy',
    args: () => ['-db', '-V', '-f', file],
    ready: /Loading success|forked|Using|Proxy/,
  });
  t.after(() => daemon.kill());
  await untilListening(port);
  return port;
}

export async function startNginx(
  t: TestContext,
  name: 'nginx-stream.conf' | 'nginx-mail.conf',
  target: number,
): Promise<number> {
  const [port, authPort] = [await freePort(), await freePort()];
  const folder = temporaryFolder(t, 'nginx');
  const module = name === 'nginx-stream.conf' ? 'stream' : 'mail';
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `load_module /usr/lib/nginx/modules/ngx_${module}_module.so;
daemon off; user root; pid ${folder}/pid; error_log stderr notice;
events {}
${recipe(name, { 25: port, 2525: target, 8025: authPort })}`,
  );
  const daemon = await startDaemon({
    command: 'nginx',
    args: () => ['-p', folder, '-c', file],
    ready: /start worker process/,
  });
  t.after(() => daemon.kill());
  await untilListening(port);
  return port;
}

/** `transport` is the recipe for `master.cf`. Clients on loopback may say with XCLIENT who they are. */
export async function startPostfix(
  t: TestContext,
  { transport, target }: { transport: 'postfix-master.cf' | 'postfix-lmtp.cf'; target: number },
  more: string[] = [],
): Promise<number> {
  const port = await freePort();
  const folder = temporaryFolder(t, 'postfix');
  const [queue, data] = [join(folder, 'queue'), join(folder, 'data')];
  mkdirSync(queue);
  mkdirSync(data);
  execFileSync('chown', ['postfix', data]);
  const main = [
    'compatibility_level = 3.6',
    'myhostname = mx.example.net',
    'mydestination =',
    'mynetworks = 192.0.2.255',
    'alias_maps =',
    'inet_protocols = ipv4',
    'inet_interfaces = 127.0.0.1',
    `queue_directory = ${queue}`,
    `data_directory = ${data}`,
    `maillog_file = /var/log/postfix-test-${port}.log`,
    'smtpd_authorized_xclient_hosts = 127.0.0.1',
    'smtp_dns_support_level = disabled',
    'smtp_host_lookup = native',
    'address_verify_map =',
    ...more,
    recipe('postfix-main.cf', { 2525: target }),
  ];
  writeFileSync(join(folder, 'main.cf'), `${main.join('\n')}\n`);
  const services = [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'pickup unix n - n 60 1 pickup',
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'verify unix - - n - 1 verify',
    'proxymap unix - - n - - proxymap',
    'smtp unix - - n - - smtp',
    'relay unix - - n - - smtp',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'anvil unix - - n - 1 anvil',
    'postlog unix-dgram n - n - 1 postlogd',
    recipe(transport, {}),
  ];
  writeFileSync(join(folder, 'master.cf'), `${services.join('\n')}\n`);
  t.after(() => rmSync(`/var/log/postfix-test-${port}.log`, { force: true }));
  execFileSync('postfix', ['-c', folder, 'start'], { stdio: 'pipe' });
  // Its command to stop needs files that are deleted first.
  const master = Number(readFileSync(join(queue, 'pid/master.pid'), 'utf8'));
  t.after(() => process.kill(-master, 'SIGTERM'));
  await untilListening(port);
  return port;
}

/** The folder with the program of the package exim4, which conflicts with Postfix. */
export const EXIM = '/opt/exim4-for-tests/exim4';

export async function startExim(t: TestContext, target: number): Promise<number> {
  const port = await freePort();
  const folder = temporaryFolder(t, 'exim');
  for (const name of ['spool', 'log']) {
    mkdirSync(join(folder, name));
    execFileSync('chown', ['Debian-exim:Debian-exim', join(folder, name)]);
  }
  const file = join(folder, 'exim.conf');
  writeFileSync(
    file,
    `primary_hostname = mx.example.net
exim_path = ${EXIM}
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/spool/exim.pid
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
host_lookup =
rfc1413_hosts =
tls_advertise_hosts =
keep_environment =
queue_run_in_order
acl_smtp_rcpt = rcpt

begin acl
rcpt:
  ${recipe('exim-acl', {})}
  deny

begin routers
${recipe('exim-router', {})}

begin transports
${recipe('exim-transport', { 2525: target })}
`,
  );
  appendFileSync(file, '\n');
  chmodSync(file, 0o644);
  // It writes nothing to its output.
  const child = spawn(EXIM, ['-C', file, '-bdf', '-q1m'], { stdio: 'ignore', detached: true });
  t.after(() => process.kill(-child.pid!, 'SIGKILL'));
  await untilListening(port);
  return port;
}
