// @postgres: the executable contains the driver.
// @one-database: uses both databases in any run.
/** The executable of `npm run build`, alone in an empty folder, with a minimal environment. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text as streamText } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { spawn, spawnSync } from '../../scripts/programs.ts';
import { OPEN_LOOPBACK } from '../feedback/mailboxes/mailboxes.ts';
import { dmarc, gzip, mail, text } from '../feedback/reading/builders.ts';
import { startFeedback } from '../feedback/start.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { startDovecot } from '../helpers/dovecot.ts';
import { EXECUTABLE, firstLog, skipUnlessBuilt } from '../helpers/executable.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfFonts, pdfText, pdfWords } from '../helpers/pdf.ts';
import { postgresDatabase, skipWithoutPostgres } from '../helpers/postgres.ts';
import { sendMail } from '../helpers/send.ts';
import { TEST_SECRET_KEY } from '../helpers/store.ts';

const skip = skipUnlessBuilt();

interface Sandbox {
  /** Contains only the executable. */
  folder: string;
  executable: string;
  /** `TMPDIR` is empty; `HOME` does not exist. */
  env: Record<string, string>;
}

function createSandbox(t: TestContext): Sandbox {
  const parent = temporaryFolder(t);
  const folder = join(parent, 'empty');
  const TMPDIR = join(parent, 'tmp');
  for (const path of [folder, TMPDIR]) mkdirSync(path);
  const executable = join(folder, 'deliverability');
  copyFileSync(EXECUTABLE, executable);
  const env = { PATH: '/usr/bin', TMPDIR, HOME: join(parent, 'home') };
  return { folder, executable, env };
}

function run({ executable, env, folder }: Sandbox, args: string[], cwd = folder, input = '') {
  return spawnSync(executable, args, { env, cwd, input, encoding: 'utf8' });
}

/** The executable must leave no files behind, except those it was asked to create. */
function assertNothingLeft({ env, folder }: Sandbox, created: string[] = []): void {
  assert.deepEqual(readdirSync(folder).sort(), ['deliverability', ...created].sort());
  assert.deepEqual(readdirSync(env.TMPDIR!), []);
  assert.equal(existsSync(env.HOME!), false, 'HOME was not created');
}

// Node takes 90 MB, and the fonts for Asian scripts 9 MB.
test('Executable is smaller than 130 MB', { skip }, () => {
  assert.ok(statSync(EXECUTABLE).size < 130e6, `${statSync(EXECUTABLE).size} bytes`);
});

test('Executable prints its version from any directory', { skip }, (t) => {
  const sandbox = createSandbox(t);
  for (const cwd of [sandbox.folder, '/']) {
    const { status, stdout, stderr } = run(sandbox, ['--version'], cwd);
    assert.deepEqual([status, stdout, stderr], [0, `${manifest.version}\n`, '']);
  }
  assertNothingLeft(sandbox);
});

test('Executable analyzes a message in a worker thread', { skip }, (t) => {
  const sandbox = createSandbox(t);
  for (const cwd of [sandbox.folder, '/']) {
    const args = ['check', '-', '--offline', '--json'];
    const { status, stdout, stderr } = run(sandbox, args, cwd, goodMessage());
    assert.equal(status, 0, stderr);
    const { object, checks } = JSON.parse(stdout);
    assert.equal(object, 'test');
    assert.ok(checks.some(({ status }: { status: string }) => status === 'pass'));
  }
  assertNothingLeft(sandbox);
});

test('Executable writes HTML and PDF reports with bundled fonts', {
  skip: skip || skipUnlessInstalled('pdftotext'),
}, (t) => {
  const sandbox = createSandbox(t);
  const subject = 'Größe, Привет, Γειά';
  const args = ['check', '-', '--offline', '--html=report.html', '--pdf=report.pdf'];
  const { status, stderr } = run(sandbox, args, sandbox.folder, goodMessage({ Subject: subject }));
  assert.deepEqual([status, stderr], [0, '']);
  const page = readFileSync(join(sandbox.folder, 'report.html'), 'utf8');
  assert.ok(page.startsWith('<!doctype html>') && page.includes(subject));
  const pdf = readFileSync(join(sandbox.folder, 'report.pdf'));
  assert.ok(pdfWords(pdf).includes(subject));
  assert.equal(pdfFonts(pdf).match(/\+DejaVuSans/g)?.length, 3);
  assertNothingLeft(sandbox, ['report.html', 'report.pdf']);
});

test('Executable writes PDF reports in Japanese and Hindi with bundled fonts', {
  skip: skip || skipUnlessInstalled('pdftotext'),
}, (t) => {
  const sandbox = createSandbox(t);
  const subject = 'ご注文の確認、髙橋様 हिन्दी';
  const args = ['check', '-', '--offline', '--pdf=report.pdf'];
  const { status, stderr } = run(sandbox, args, sandbox.folder, goodMessage({ Subject: subject }));
  assert.deepEqual([status, stderr], [0, '']);
  const pdf = readFileSync(join(sandbox.folder, 'report.pdf'));
  assert.ok(pdfText(pdf).includes(subject));
  for (const font of [/\+NotoSansJP/, /\+NotoSansDevanagari/]) assert.match(pdfFonts(pdf), font);
  assertNothingLeft(sandbox, ['report.pdf']);
});

test('Executable reads a DMARC report in a thread', { skip }, (t) => {
  const sandbox = createSandbox(t);
  const { status, stdout, stderr } = run(sandbox, ['feedback', 'parse', '-'], '/', dmarc({}));
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /DMARC report by receiver ltd about example\.com/);
  assertNothingLeft(sandbox);
});

test('Executable imports reports from a folder with a Cyrillic name', {
  skip: skip || skipUnlessInstalled('dovecot'),
}, async (t) => {
  const sandbox = createSandbox(t);
  const dovecot = await startDovecot();
  t.after(() => dovecot.kill());
  const attachment = { type: 'application/gzip', content: gzip(dmarc({})) };
  const client = await dovecot.client('ann');
  await client.mailboxCreate('Отчёты & more');
  await client.append('Отчёты & more', Buffer.from(mail([text('A report.'), attachment])));
  await client.logout();
  const { service } = await startFeedback(t, { env: OPEN_LOOPBACK });
  const folder = encodeURIComponent('Отчёты & more');
  const child = spawn(
    sandbox.executable,
    ['feedback', 'import', '--imap', `${dovecot.url('ann')}/${folder}`],
    {
      cwd: sandbox.folder,
      env: {
        ...sandbox.env,
        DELIVERABILITY_BASE_URL: service.url,
        DELIVERABILITY_API_KEY: service.key,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  assert.equal(await streamText(child.stdout), '1 message: 1 unverified.\n');
});

test('Executable runs demo --once', { skip }, (t) => {
  const sandbox = createSandbox(t);
  const { status, stdout, stderr } = run(sandbox, ['demo', '--once']);
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /SPF pass {3}DKIM pass {3}DMARC pass[\s\S]*SPF fail {3}DKIM none/);
  assertNothingLeft(sandbox);
});

test('Executable serves from an empty directory and exits on SIGTERM', { skip }, async (t) => {
  const sandbox = createSandbox(t);
  const ports = { DELIVERABILITY_HTTP_PORT: '0', DELIVERABILITY_SMTP_PORT: '0' };
  const child = spawn(sandbox.executable, ['serve'], {
    cwd: sandbox.folder,
    env: { ...sandbox.env, ...ports },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const { api } = await firstLog(child, 'ready');
  const health = await fetch(`${api}/healthz`);
  assert.equal(((await health.json()) as { status: string }).status, 'ok');
  // The documents are in the executable.
  const chapter = await (await fetch(`${api}/help/scoring`)).text();
  assert.match(chapter, /<h2 id="grades">Grades<\/h2>/);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  assertNothingLeft(sandbox, ['data']);
});

test('Executable receives, analyzes and reports a message with PostgreSQL', {
  skip: skip || skipWithoutPostgres(),
}, async (t) => {
  const sandbox = createSandbox(t);
  const dns = await startDnsServer();
  t.after(() => dns.close());
  // `temporaryFolder` releases the database of its folder.
  const url = await postgresDatabase(join(sandbox.folder, '..'));
  Object.assign(sandbox.env, {
    DELIVERABILITY_DATABASE_URL: url,
    DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.test',
    DELIVERABILITY_SMTP_PROXY_PROTOCOL: '127.0.0.1',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
  });
  const owner = run(sandbox, ['owner', 'owner@example.com', '--json']);
  assert.equal(owner.status, 0, owner.stderr);
  const authorization = `Bearer ${JSON.parse(owner.stdout).key}`;
  const child = spawn(sandbox.executable, ['serve'], {
    cwd: sandbox.folder,
    env: sandbox.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const { api, smtp } = await firstLog(child, 'ready');
  const call = async (path: string, method = 'GET') => {
    const init = { method, headers: { authorization, 'content-type': 'application/json' } };
    const response = await fetch(api + path, method === 'POST' ? { ...init, body: '{}' } : init);
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return response;
  };
  const created = (await (await call('/v1/tests', 'POST')).json()) as Record<string, string>;
  const port = Number(smtp!.split(':').at(-1));
  await sendMail({ port, to: created.address!, raw: goodMessage({ Subject: 'Über PostgreSQL' }) });
  const done = (await (await call(`/v1/tests/${created.id}?wait=50`)).json()) as { status: string };
  assert.equal(done.status, 'completed');
  assert.match(await (await call(`/v1/tests/${created.id}/report.html`)).text(), /Über PostgreSQL/);
  const { database } = (await (await call('/readyz')).json()) as { database: { engine: string } };
  assert.equal(database.engine, 'postgres');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);

  const copied = run(sandbox, ['copy', '--from', url, '--to', 'sqlite:copy.db', '--json']);
  assert.equal(copied.status, 0, copied.stderr);
  const { tables } = JSON.parse(copied.stdout) as { tables: { name: string; rows: number }[] };
  assert.equal(tables.find(({ name }) => name === 'messages')?.rows, 1);
});

test('Executable unpacks the database addon to HOME when TMPDIR is unusable', { skip }, (t) => {
  const sandbox = createSandbox(t);
  sandbox.env.TMPDIR = join(sandbox.folder, 'none');
  const { status, stderr } = run(sandbox, ['owner', 'owner@example.com']);
  assert.equal(status, 0, stderr);
  assert.deepEqual(readdirSync(join(sandbox.env.HOME!, '.cache')), ['pkg']);
});
