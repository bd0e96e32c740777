/** docs/reverse-proxies.md, docs/getting-started.md and docs/vm.md: examples work as shown. */

// @one-database: about documents.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { execFile, spawn } from '../../scripts/programs.ts';
import { readConfig } from '../../src/config/config.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { makeTestAuthority } from '../helpers/authority.ts';
import { freePort } from '../helpers/daemon.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { codeBlocks, pathWithProgram } from '../helpers/installed-program.ts';
import { accept, invite, tokenOf } from '../team/team-service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(join(ROOT, 'docs', name), 'utf8');
const PROXIES = read('reverse-proxies.md');
const run = promisify(execFile);
const HOST = 'mail.example.com';

/** The example between two comments. */
function example(document: string, name: string): string {
  const section = document.split(`<!-- ${name} -->`)[1]!.split(`<!-- /${name} -->`)[0]!;
  return /```\w+\n([\s\S]*?)```/.exec(section)![1]!;
}

const settings = (document: string) =>
  Object.fromEntries(
    [...example(document, 'settings').matchAll(/^(?:export )?(\w+)=(.*)$/gm)].map(
      ([, name, value]) => [name!, value!],
    ),
  );

interface Proxy {
  program: string;
  /** The configuration file, from the example of the document. */
  configure(example: string, at: Setting): string;
  args(file: string): string[];
}

interface Setting {
  folder: string;
  https: number;
  http: number;
  service: number;
}

const NGINX: Proxy = {
  program: 'nginx',
  configure: (text, { folder, https, http, service }) =>
    `daemon off;\nuser root;\npid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${[
      'client_body',
      'proxy',
      'fastcgi',
      'uwsgi',
      'scgi',
    ]
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join('\n')}\n${text
      .replace('listen 80;', `listen 127.0.0.1:${http};`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${https} ssl`)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${service}`)
      .replace(/\/etc\/ssl\/\S+\.pem/, `${folder}/cert.pem`)
      .replace(/\/etc\/ssl\/\S+\.key/, `${folder}/key.pem`)}\n}\n`,
  args: (file) => ['-c', file, '-e', 'stderr'],
};

const CADDY: Proxy = {
  program: 'caddy',
  configure: (text, { folder, https, http, service }) =>
    `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n\tdefault_bind 127.0.0.1\n}\n${text
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${service}`)
      .replace('{\n', `{\n\ttls ${folder}/cert.pem ${folder}/key.pem\n`)}`,
  args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
};

/** Starts the service and the proxy; returns a function that runs curl through it. */
async function startProxy(t: TestContext, proxy: Proxy, text: string, path: string) {
  const folder = temporaryFolder(t);
  const [https, http] = [await freePort(), await freePort()];
  const origin = `https://${HOST}:${https}`;
  const service = await startTestService(t, {
    env: { ...settings(PROXIES), DELIVERABILITY_BASE_URL: `${origin}${path}` },
  });
  const authority = await makeTestAuthority();
  const { cert, key } = await authority.issue([HOST]);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  writeFileSync(join(folder, 'ca.pem'), authority.ca);
  const file = join(folder, 'config');
  writeFileSync(file, proxy.configure(text, { folder, https, http, service: service.http.port }));
  const env = { PATH: process.env.PATH, HOME: folder };
  const child = spawn(proxy.program, proxy.args(file), {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (part) => {
    log += part;
  });
  t.after(async () => {
    // SIGKILL would leave nginx's worker processes, which keep the pipe open.
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  });
  const curl = async (args: string[]): Promise<string> => {
    const options = ['-sS', '--cacert', join(folder, 'ca.pem'), '--max-time', '60'];
    const resolved = [https, http].flatMap((port) => ['--resolve', `${HOST}:${port}:127.0.0.1`]);
    const all = [
      ...options,
      ...resolved,
      '--retry',
      '20',
      '--retry-connrefused',
      '--retry-delay',
      '1',
    ];
    return (await run('curl', [...all, ...args], { cwd: folder, maxBuffer: 2 ** 26 })).stdout;
  };
  return { service, folder, origin, http, curl, url: `${origin}${path}`, log: () => log };
}

const pathExample = (whole: string, location: string) =>
  whole.replace(/ {4}location \/ \{[\s\S]*?\n {4}\}\n/, location);

const NGINX_EXAMPLE = example(PROXIES, 'nginx');
const ROWS: [Proxy, string, path: string][] = [
  [NGINX, NGINX_EXAMPLE, ''],
  [NGINX, pathExample(NGINX_EXAMPLE, example(PROXIES, 'nginx path')), '/deliverability'],
  [CADDY, example(PROXIES, 'caddy'), ''],
  [CADDY, example(PROXIES, 'caddy path'), '/deliverability'],
];

for (const [proxy, text, path] of ROWS)
  test(`Behind ${proxy.program}${path && ' below a path'}, pages, uploads, waiting and client addresses work`, {
    skip: skipUnlessInstalled(proxy.program),
  }, async (t) => {
    const { service, folder, origin, http, curl, url } = await startProxy(t, proxy, text, path);
    const code = ['-o', join(folder, 'body'), '-w', '%{http_code} %{redirect_url}'];
    // Pages and what they load.
    const page = await curl([`${url}/sign-in`]);
    const style = / href="([^"]+\.css[^"]*)"/.exec(page)![1]!;
    assert.ok(style.startsWith(`${path}/`), style);
    assert.match(await curl([...code, new URL(style, origin).href]), /^200 /);
    if (proxy === NGINX) {
      const moved = await curl([...code, `http://${HOST}:${http}${path}/sign-in`]);
      assert.match(moved, /^301 https:/);
    }
    // The address of the client, whatever it claims.
    const email = 'member@example.com';
    const password = 'four words make one';
    await accept(service, tokenOf(await invite(service, { email })), { password });
    const signIn = await curl([
      '--interface',
      '127.0.0.5',
      '-H',
      'X-Forwarded-For: 203.0.113.9',
      '-D',
      '-',
      '-H',
      'Content-Type: application/json',
      '-d',
      JSON.stringify({ email, password }),
      `${url}/v1/sessions`,
    ]);
    assert.match(signIn, /^set-cookie: .*; Secure/im, signIn);
    const sessions = await service.app.db.selectFrom('sessions').select('ip').execute();
    assert.ok(
      sessions.some(({ ip }) => ip === '127.0.0.5'),
      JSON.stringify(sessions),
    );
    assert.ok(!sessions.some(({ ip }) => ip === '203.0.113.9'));
    // An upload that is larger than the defaults of proxies, and a response that takes a while.
    const key = ['-H', `Authorization: Bearer ${service.key}`];
    const body = `${'x'.repeat(75)}\n`.repeat(270_000);
    writeFileSync(join(folder, 'large.eml'), goodMessage({}, body));
    const type = ['-H', 'Content-Type: message/rfc822', '--data-binary', '@large.eml'];
    const uploaded = JSON.parse(await curl([...key, ...type, `${url}/v1/tests/raw`]));
    assert.equal(uploaded.object, 'test', JSON.stringify(uploaded));
    const waiting = JSON.parse(await curl([...key, '-X', 'POST', `${url}/v1/tests`]));
    const startedAt = performance.now();
    const waited = JSON.parse(await curl([...key, `${url}/v1/tests/${waiting.id}?wait=3`]));
    assert.equal(waited.status, 'waiting');
    assert.ok(performance.now() - startedAt > 2_900);
  });

test('The examples wait longer than the API lets a request wait', () => {
  const times = [
    ...PROXIES.matchAll(/(?:proxy_read_timeout|proxy_send_timeout|readTimeout:) (\d+)s/g),
  ];
  assert.ok(times.length >= 5);
  for (const [text, seconds] of times) assert.ok(Number(seconds) > 60, text);
});

test('The settings of docs/vm.md are valid', () => {
  const { config } = readConfig(settings(read('vm.md')));
  assert.deepEqual(
    [config.SMTP_PORT, config.INBOX_DOMAIN, config.BASE_URL],
    [25, 'inbox.example.com', 'https://mail.example.com'],
  );
});

/** Answers every query with NXDOMAIN (RFC 1035 §4.1.1), but knows the name servers of com, as every resolver does. */
const DNS_SERVER = `const socket = require('node:dgram').createSocket('udp4');
const END = 21;
const ANSWER = Buffer.from('c00c00020001000000ff0005026e73c00c', 'hex');
socket.on('message', (query, { port, address }) => {
  const isCom = query.subarray(12, END - 2).toString('hex').toLowerCase() === '03636f6d000002';
  query.writeUInt16BE(isCom ? 0x8180 : 0x8183, 2);
  if (isCom) query.writeUInt16BE(1, 6);
  const parts = isCom ? [query.subarray(0, END), ANSWER, query.subarray(END)] : [query];
  socket.send(Buffer.concat(parts), port, address);
}).bind(5353, '127.0.0.1');`;

test('Every command of docs/getting-started.md works as shown, in one shell', {
  skip: skipUnlessInstalled('swaks') || skipUnlessInstalled('jq') || skipUnlessInstalled('unshare'),
}, async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'examples'));
  writeFileSync(
    join(folder, 'examples/message.eml'),
    readFileSync(join(ROOT, 'examples/message.eml')),
  );
  const commands = codeBlocks(read('getting-started.md'), 'sh');
  assert.ok(commands.length >= 6);
  // Its own network, because the commands use the default ports. Its DNS server knows no other names.
  const script = [
    'ip link set lo up',
    `'${process.execPath}' -e "$DNS_SERVER" & dns=$!; disown; trap 'kill $dns' EXIT`,
    ...commands,
    'wait',
  ].join('\n');
  const env = {
    PATH: await pathWithProgram(t),
    HOME: folder,
    DNS_SERVER,
    DELIVERABILITY_DNS_SERVERS: '127.0.0.1:5353',
  };
  const options = { cwd: folder, env, timeout: 120_000 };
  const { stdout } = await run('unshare', ['--net', 'bash', '-ec', script], options);
  assert.match(stdout, /No score {2}message\.eml/);
  assert.match(stdout, /250 2\.6\.0 Accepted as msg_/);
  assert.match(stdout, /^"completed"\n"[^"\n]{10,90}"$/m);
  assert.match(stdout, /^http:\/\/127\.0\.0\.1:8080\/tests\/test_\w+$/m);
});
