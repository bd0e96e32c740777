/** The commands as processes: output and exit codes. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTransport } from 'nodemailer';
import manifest from '../../package.json' with { type: 'json' };
import { check } from '../../src/commands/check/check.ts';
import { COMMANDS } from '../../src/commands/commands.ts';
import { whatNextText } from '../../src/commands/demo/demo.ts';
import { commandHelp } from '../../src/commands/help.ts';
import { PREFIX } from '../../src/config/config.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { postForm } from '../dashboard/pages.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { runProgram, spawnProgram } from '../helpers/program.ts';
import { environmentOf, serveEnvironment, startServe } from '../helpers/serve-process.ts';
import { onPostgres } from '../helpers/store.ts';

/** On PostgreSQL, what these tests start does the same. */
const skip = onPostgres && 'about commands without a database, or with an SQLite file';

test('--help lists every command and each command has help', { skip }, async () => {
  const { code, stdout, stderr } = await runProgram(['--help']);
  assert.deepEqual([code, stderr], [0, '']);
  const terminal = { program: 'deliverability', width: 80 };
  for (const command of COMMANDS) {
    assert.match(stdout, new RegExp(`^ {2}${command.name} +\\S`, 'm'));
    const expected = new RegExp(`^deliverability ${command.name}( .*)?\n(\\S.*\n)*\n[A-Z].*\\.\n`);
    assert.match(commandHelp(command, terminal), expected);
  }
  assert.equal((await runProgram([])).code, 2);
  for (const name of ['--version', '-v', '-V', 'version'])
    assert.equal((await runProgram([name])).stdout, `${manifest.version}\n`);
  const shown = { code: 0, stdout: commandHelp(check, terminal), stderr: '' };
  for (const args of [
    ['help', 'check'],
    ['check', '--help'],
  ])
    assert.deepEqual(await runProgram(args), shown);
  assert.match((await runProgram(['help', 'chekc'])).stderr, /Did you mean check\?/);
});

test('Invalid commands and arguments exit with 2 and explain the error', { skip }, async () => {
  const cases: [string[], RegExp][] = [
    [['chekc'], /Unknown command "chekc"\. Did you mean check\?/],
    [['nonsense'], /Unknown command "nonsense"\. To list the commands, run deliverability --help/],
    [['serve', 'now'], /serve takes no argument "now"[\s\S]*Usage: deliverability serve/],
    [['serve', '--port', '80'], /--port[\s\S]*Usage: deliverability serve/],
    [['owner'], /Missing argument: EMAIL/],
    [['owner', 'nobody'], /"nobody" is not a valid email address/],
    [['owner', '<a@example.com>'], /"<a@example\.com>" is not a valid email address/],
    [['owner', `${'a'.repeat(300)}@example.com`], /"a{100}…" is not a valid email address/],
    [['owner', 'a\u001b[2J@example.com'], /"a·\[2J@example\.com" is not a valid email address/],
    [['owner', 'a\u202eb@example.com'], /"a·b@example\.com" is not a valid email address/],
    [['key'], /Missing argument: NAME/],
    [['key', 'ci', '--role', 'king'], /--role must be viewer, member, admin or owner/],
    [['key', 'ci'], /Missing option: --role ROLE/],
    [['env', '--yaml'], /--yaml/],
  ];
  for (const [args, sentence] of cases) {
    const { code, stdout, stderr } = await runProgram(args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, sentence);
  }
});

test('owner creates the owner, replaces them with --replace and prints a working key', async (t) => {
  const folder = temporaryFolder(t);
  const env = await environmentOf({ folder });
  const first = await runProgram(['owner', 'first@example.com'], env);
  assert.equal(first.code, 0);
  assert.match(first.stdout, /^dlv_live_\S+\n$/);
  assert.match(
    first.stderr,
    /^first@example\.com is now the owner\. This API key is shown only once:$/m,
  );
  const typo = await runProgram(['owner', 'frist@example.com'], env);
  assert.deepEqual([typo.code, typo.stdout], [2, '']);
  assert.match(
    typo.stderr,
    /No member has the address frist@example\.com\. The owner is first@example\.com\. .* add --replace\. .* Nothing was changed\.$/m,
  );
  const same = await runProgram(['owner', 'First@example.com'], env);
  assert.equal(same.code, 0, 'the current owner needs no --replace');
  const second = await runProgram(['owner', 'owner@example.com', '--replace', '--json'], env);
  const { key, ...member } = JSON.parse(second.stdout);
  assert.equal(second.code, 0);
  assert.match(
    second.stderr,
    /^The owner was first@example\.com, whose password, .* are now revoked\.$/m,
  );
  assert.doesNotMatch(second.stderr, /admin/);
  assert.match(member.id, /^mem_/);
  assert.deepEqual([member.email, member.role], ['owner@example.com', 'owner']);
  const { url } = await startServe(t, { folder });
  assert.equal(await statusFor(url, key), 200);
  assert.equal(await statusFor(url, first.stdout.trim()), 401, 'key of the previous owner address');
  assert.equal(await statusFor(url, `${key}x`), 401);
});

/** A command cannot tell a PostgreSQL database from the right one by its name. */
const MISSING = onPostgres
  ? /^There is no owner yet\. Run: deliverability owner/
  : /^There is no database at \/.* where the service runs/;

test('key creates API keys of any role while the service runs', async (t) => {
  const folder = temporaryFolder(t);
  const env = await environmentOf({ folder });
  const wrongFolder = await runProgram(['key', 'ci', '--role', 'viewer'], env);
  assert.deepEqual([wrongFolder.code, wrongFolder.stdout], [2, '']);
  assert.match(wrongFolder.stderr, MISSING);
  const { url } = await startServe(t, { folder });
  const plain = await runProgram(['key', 'ci', '--role', 'viewer'], env);
  assert.match(plain.stdout, /^dlv_live_\S+\n$/);
  assert.equal(await statusFor(url, plain.stdout.trim()), 200);
  assert.equal(await statusFor(url, plain.stdout.trim(), 'POST'), 403);
  const sandbox = await runProgram(['key', 'ci', '--role', 'member', '--test', '--json'], env);
  const { key, livemode, role } = JSON.parse(sandbox.stdout);
  assert.match(key, /^dlv_test_/);
  assert.deepEqual([livemode, role], [false, 'member']);
  assert.equal(await statusFor(url, key, 'POST'), 201);
});

async function statusFor(url: string, key: string, method = 'GET'): Promise<number> {
  const response = await fetch(`${url}/v1/tests`, {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
  await response.arrayBuffer();
  return response.status;
}

test('env prints every variable with its current value', { skip }, async () => {
  const env = { DELIVERABILITY_HTTP_PORT: '8081', DELIVERABILITY_WOKRERS: '3' };
  const { code, stdout, stderr } = await runProgram(['env', '--json'], env);
  assert.equal(code, 0);
  assert.match(stderr, /DELIVERABILITY_WOKRERS .*Did you mean DELIVERABILITY_WORKERS\?/);
  const rows = JSON.parse(stdout) as { name: string; value: string; help: string }[];
  assert.deepEqual(
    rows.map(({ name }) => name),
    Object.keys(VARIABLES).map((name) => PREFIX + name),
  );
  const value = (name: string) => rows.find((row) => row.name === PREFIX + name)?.value;
  assert.equal(value('HTTP_PORT'), '8081');
  assert.equal(value('BASE_URL'), 'http://127.0.0.1:8081');
  const text = (await runProgram(['env'], env)).stdout;
  assert.match(text, /^DELIVERABILITY_HTTP_PORT=8081\n {4}\S.*\(default: 8080\)$/m);
  const wrong = await runProgram(['env'], { DELIVERABILITY_HTTP_PORT: 'x' });
  assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
});

test('openapi prints the document the service serves', async (t) => {
  const folder = temporaryFolder(t);
  const { url } = await startServe(t, { folder });
  const { code, stdout } = await runProgram(['openapi'], serveEnvironment(folder));
  assert.equal(code, 0);
  const printed = JSON.parse(stdout);
  assert.equal(printed.openapi, '3.1.0');
  const served = (await (await fetch(`${url}/openapi.json`)).json()) as typeof printed;
  assert.deepEqual(printed.paths, served.paths);
});

test('A data folder that cannot be used is blamed on the variable that names it', {
  skip,
}, async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const [env, says] of [
    [{ DELIVERABILITY_DATA_DIR: file }, /DELIVERABILITY_DATA_DIR cannot be used\. A part /],
    [
      { DELIVERABILITY_DATA_DIR: join(file, 'a') },
      /DELIVERABILITY_DATA_DIR cannot be used\. A part /,
    ],
    [{ DELIVERABILITY_DATA_DIR: '/proc/none' }, /DELIVERABILITY_DATA_DIR cannot be used\. /],
    [{ DELIVERABILITY_DATABASE_URL: `sqlite:${file}/a.db` }, /DELIVERABILITY_DATABASE_URL cannot/],
  ] as const)
    for (const args of [['serve'], ['owner', 'a@example.com']]) {
      const { code, stderr } = await runProgram(args, env);
      assert.deepEqual([code, says.test(stderr)], [2, true], stderr);
      assert.equal(/DATA_DIR/.test(stderr) && /DATABASE_URL/.test(stderr), false, stderr);
    }
});

test('demo --once runs through and writes nothing', { skip }, async (t) => {
  const { code, stdout, stderr } = await runProgram(['demo', '--once'], {
    DELIVERABILITY_DATA_DIR: join(temporaryFolder(t), 'none'),
  });
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /SPF pass {3}DKIM pass {3}DMARC pass[\s\S]*SPF fail {3}DKIM none/);
});

test('The three commands that the demo names work as they are written', { skip }, async (t) => {
  const { stdout } = await runProgram(['demo', '--once']);
  const [, next = ''] = stdout.split('What next\n');
  const commands = [...next.matchAll(/^ {4}deliverability (.+)$/gm)].map(([, args]) =>
    args!.split(' '),
  );
  assert.deepEqual(commands, [['domain', 'example.com'], ['serve'], ['owner', 'you@example.com']]);
  const [domain, serve, owner] = commands;
  const dns = await startDnsServer({ 'example.com': { TXT: ['v=spf1 -all'] } });
  t.after(() => dns.close());
  const checked = await runProgram(domain!, {
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
  });
  assert.ok(checked.code === 0 || checked.code === 1, checked.stderr);
  assert.match(checked.stdout, /example\.com/);
  const env = {
    DELIVERABILITY_DATA_DIR: join(temporaryFolder(t), 'data'),
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
  };
  const service = await spawnProgram(serve!, env);
  t.after(() => service.kill('SIGKILL'));
  let log = '';
  for await (const part of service.stderr.setEncoding('utf8')) {
    log += part;
    if (log.includes('"ready"')) break;
  }
  const created = await runProgram(owner!, env);
  assert.equal(created.code, 0, created.stderr);
  assert.match(created.stderr, /To sign in, set a password/);
  // From source, they begin with what starts the program there.
  const text = whatNextText({ program: 'npm start --', width: 80, useColor: false });
  assert.match(text, /^ {4}npm start -- serve$/m);
});

test('serve with an option names the variable, exits with 2 and starts nothing', {
  skip,
}, async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const env = { DELIVERABILITY_DATA_DIR: folder };
  const { code, stdout, stderr } = await runProgram(['serve', '--port', '8080'], env);
  assert.deepEqual([code, stdout], [2, '']);
  assert.equal(
    stderr,
    'serve has no option --port. Set DELIVERABILITY_HTTP_PORT=8080 or DELIVERABILITY_SMTP_PORT=8080.\nTo list the variables, run deliverability env.\nUsage: deliverability serve\n',
  );
  assert.equal(existsSync(folder), false);
});

test('demo prints an address, an account, and reports and domains that open', {
  skip,
}, async (t) => {
  const demo = await spawnProgram(['demo']);
  t.after(() => demo.kill('SIGKILL'));
  const output = await new Promise<string>((resolve, reject) => {
    let text = '';
    demo.stdout.setEncoding('utf8').on('data', (part) => {
      text += part;
      if (text.includes('Press Ctrl-C')) resolve(text);
    });
    demo.on('close', () => reject(new Error(text)));
  });
  const [, url] = /^ {2}(http:\/\/127\.0\.0\.1:[1-9]\d+)\/sign-in$/m.exec(output)!;
  assert.doesNotMatch(output, /:0\b(?!\d)\//);
  // Links and DNS records are copied, so they stay whole.
  const long = output
    .split('\n')
    .filter((line) => line.length > 80 && line.trim().includes(' ') && !/ TXT v=/.test(line));
  assert.deepEqual(long, []);
  const [, email] = /Email address: (\S+)/.exec(output)!;
  const [, password] = /Password: +(\S+)/.exec(output)!;
  const service = { url: url! } as Parameters<typeof postForm>[0];
  const signedIn = await postForm(service, '/sign-in', { email: email!, password: password! });
  assert.equal(signedIn.status, 303);
  const reports = [...output.matchAll(/^ {2}(http\S+\/tests\/test_\w+)$/gm)].map(
    ([, link]) => link!,
  );
  assert.equal(reports.length, 2);
  for (const link of reports) {
    const response = await fetch(link, { headers: { cookie: signedIn.cookie! } });
    assert.equal(response.status, 200);
    assert.match(await response.text(), /How the score is calculated/);
  }
  const domains = [...output.matchAll(/^ {2}(http\S+\/domains\/dom_\w+)$/gm)];
  const [bad, good] = await Promise.all(
    domains.map(async ([, link]) => {
      const response = await fetch(link!, { headers: { cookie: signedIn.cookie! } });
      return response.text();
    }),
  );
  assert.match(bad!, /Outlook blocks your sending address 198\.51\.100\.66/);
  assert.match(good!, /No problems found/);
  await sendOwnMail(output, url!);
  demo.removeAllListeners('close');
  demo.kill('SIGINT');
  const [code] = await once(demo, 'close');
  assert.equal(code, 0);
});

/** Gets a test address and sends to the SMTP port that the demo prints, as any program does. The demo knows the sender's domain. */
async function sendOwnMail(output: string, url: string): Promise<void> {
  const [, key] = /API_KEY=(\S+)/.exec(output)!;
  const [, port] = /SMTP listens on 127\.0\.0\.1:(\d+)/.exec(output)!;
  const headers = { authorization: `Bearer ${key}` };
  const created = await fetch(`${url}/v1/tests`, { method: 'POST', headers });
  const { id, address } = (await created.json()) as { id: string; address: string };
  const transport = createTransport({ port: Number(port), tls: { rejectUnauthorized: false } });
  await transport.sendMail({ from: 'me@good.example', to: address, subject: 'Hello', text: 'Hi!' });
  const response = await fetch(`${url}/v1/tests/${id}?wait=20`, { headers });
  const test = (await response.json()) as { status: string; envelope: { client_ip: string } };
  assert.deepEqual([test.status, test.envelope.client_ip], ['completed', '127.0.0.1']);
}

test('owner in a folder without a database says that it creates one', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const env = serveEnvironment(folder);
  const first = await runProgram(['owner', 'owner@example.com', '--json'], env);
  assert.equal(first.code, 0);
  assert.match(
    first.stderr,
    /^There was no database at \/.*, so this command creates a new one\. /,
  );
  JSON.parse(first.stdout);
  const second = await runProgram(['owner', 'owner@example.com', '--json'], env);
  assert.deepEqual([second.code, second.stderr], [0, '']);
});
