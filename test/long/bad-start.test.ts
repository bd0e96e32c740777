/** Errors at start are clear, reported together, and change nothing. */

// @one-database: about SQLite files.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { temporaryFolder } from '../helpers/app.ts';
import { type Environment, type ProgramResult, runProgram } from '../helpers/program.ts';
import { serveEnvironment, startServe } from '../helpers/serve-process.ts';

const serve = (folder: string, env: Environment = {}): Promise<ProgramResult> =>
  runProgram(['serve'], { ...serveEnvironment(folder), ...env });

/** Asserts a clear error message without a stack trace. */
function assertStartError(ended: ProgramResult, code: number, ...sentences: RegExp[]): void {
  assert.equal(ended.code, code, ended.stderr);
  assert.equal(ended.stdout, '');
  for (const sentence of sentences) assert.match(ended.stderr, sentence);
  assert.doesNotMatch(ended.stderr, /\bat .*:\d+:\d+|bug in|undefined|\[object/);
}

test('serve reports every invalid variable at once with exit code 2', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const ended = await serve(folder, {
    DELIVERABILITY_HTTP_PORT: 'eighty',
    DELIVERABILITY_SMTP_MAX_SIZE: 'huge',
    DELIVERABILITY_DNS_SERVERS: 'dns.example',
    DELIVERABILITY_LOG_LEVEL: 'loud',
    DELIVERABILITY_TEST_RETENTION: 'soon',
    DELIVERABILITY_INBOX_DOMAIN: 'no domain',
    DELIVERABILITY_SURFACE: 'half',
    DELIVERABILITY_WORKERS: '0',
    DELIVERABILITY_HTTP_TLS_CERT_FILE: '/cert.pem',
  });
  assertStartError(
    ended,
    2,
    /^ {2}DELIVERABILITY_HTTP_PORT must be a port number .*"eighty"$/m,
    /^ {2}DELIVERABILITY_SMTP_MAX_SIZE must be a size .*"huge"$/m,
    /^ {2}DELIVERABILITY_DNS_SERVERS must be addresses .*"dns.example"$/m,
    /^ {2}DELIVERABILITY_LOG_LEVEL must be one of .*"loud"$/m,
    /^ {2}DELIVERABILITY_TEST_RETENTION must be a duration .*"soon"$/m,
    /^ {2}DELIVERABILITY_INBOX_DOMAIN must be a domain name .*"no domain"$/m,
    /^ {2}DELIVERABILITY_SURFACE must be one of .*"half"$/m,
    /^ {2}DELIVERABILITY_WORKERS must be a whole number .*"0"$/m,
    /^ {2}DELIVERABILITY_HTTP_TLS_KEY_FILE is missing/m,
  );
  assert.equal(ended.stderr.trim().split('\n').length, 11);
  assert.equal(existsSync(folder), false);
});

test('serve warns about an unknown variable and suggests the nearest name', async (t) => {
  const service = await startServe(t, {
    folder: temporaryFolder(t),
    env: { DELIVERABILITY_HTTP_PROT: '8080' },
  });
  const [warning] = service.log.filter(({ level }) => level === 'warn');
  assert.equal(
    warning?.message,
    'DELIVERABILITY_HTTP_PROT is not a known variable. Did you mean DELIVERABILITY_HTTP_PORT?',
  );
});

for (const kind of ['HTTP', 'SMTP'])
  test(`serve exits with 3 when the ${kind} port is in use`, async (t) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    const folder = temporaryFolder(t);
    const ended = await serve(folder, { [`DELIVERABILITY_${kind}_PORT`]: String(port) });
    assertStartError(
      ended,
      3,
      new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port}: the port is in use\\.`, 'm'),
    );
    // Nothing is left that prevents the next start.
    await startServe(t, { folder });
  });

test('serve says what to do when a mail server has port 25', async (t) => {
  const other = createServer().listen(25, '127.0.0.25');
  const isListening = await once(other, 'listening').then(
    () => true,
    () => false,
  );
  if (!isListening) return t.skip('this user cannot listen on port 25');
  t.after(() => other.close());
  const ended = await serve(temporaryFolder(t), {
    DELIVERABILITY_SMTP_HOST: '127.0.0.25',
    DELIVERABILITY_SMTP_PORT: '25',
  });
  assertStartError(ended, 3, /set DELIVERABILITY_SMTP_PORT=2525/, /docs\/behind-a-mail-server\.md/);
});

test('serve exits with 2 and names the variable when the data directory cannot be created', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, 'not a folder');
  const ended = await serve(join(file, 'data'));
  assertStartError(
    ended,
    2,
    /DELIVERABILITY_DATA_DIR cannot be used\. A part of the path \S+ is a file/,
  );
  assert.equal(readFileSync(file, 'utf8'), 'not a folder');
});

test('serve exits with 3 on a newer database and leaves it unchanged', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'deliverability.db');
  const newer = new BetterSqlite(path);
  newer.exec('CREATE TABLE later (a TEXT); PRAGMA user_version = 999');
  newer.close();
  const before = readFileSync(path);
  assertStartError(
    await serve(folder),
    3,
    /has schema version 999, but this program supports only versions up to \d+/,
  );
  assert.ok(readFileSync(path).equals(before));
  assert.ok(!existsSync(join(folder, 'secret.key')), 'no secret key was created');
});

test('serve exits with 3 when the database file is not SQLite', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'deliverability.db');
  writeFileSync(path, 'a letter, not a database; '.repeat(100));
  assertStartError(await serve(folder), 3, /deliverability\.db is not an SQLite database/);
});

test('serve exits with 2 when the secret key changed or is missing', async (t) => {
  const folder = temporaryFolder(t);
  const first = await startServe(t, { folder });
  first.signal('SIGTERM');
  await first.ended;
  const key = join(folder, 'secret.key');
  const kept = readFileSync(key);
  const env = { DELIVERABILITY_SECRET_KEY: 'another key, of enough characters' };
  assertStartError(
    await serve(folder, env),
    2,
    /^ {2}DELIVERABILITY_SECRET_KEY has changed, and .*\. Set DELIVERABILITY_SECRET_KEY to .*\.$/m,
  );
  rmSync(key);
  const before = readdirSync(folder);
  assertStartError(
    await serve(folder),
    2,
    new RegExp(`^ {2}${key} is missing, and .*a backup\\.`, 'm'),
  );
  assert.deepEqual(readdirSync(folder), before);
  // Everything that needs no secret continues to work.
  const other = await runProgram(['key', 'ci', '--role', 'viewer'], serveEnvironment(folder));
  assert.equal(other.code, 0);
  writeFileSync(key, kept);
  await startServe(t, { folder });
});

test('serve exits with 2 when the OpenID Connect issuer uses plain http', async (t) => {
  const folder = temporaryFolder(t);
  const ended = await serve(folder, {
    DELIVERABILITY_OIDC_ISSUER: 'http://login.example',
    DELIVERABILITY_OIDC_CLIENT_ID: 'tests',
    DELIVERABILITY_OIDC_CLIENT_SECRET: 's3cret',
  });
  assertStartError(ended, 2, /^ {2}DELIVERABILITY_OIDC_ISSUER must be an https URL.*"$/m);
  assert.deepEqual(readdirSync(folder), []);
});

test('serve exits with 3 when the database path is a directory', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'deliverability.db'));
  assertStartError(await serve(folder), 3, /Could not open the database .*deliverability\.db/);
});

test('serve exits with 2 when a TLS certificate is missing or invalid', async (t) => {
  const folder = temporaryFolder(t);
  const none = join(folder, 'none.pem');
  const letter = join(folder, 'letter.pem');
  writeFileSync(letter, 'a letter, not a certificate');
  for (const kind of ['HTTP', 'SMTP']) {
    const name = `DELIVERABILITY_${kind}_TLS_CERT_FILE`;
    const start = (file: string) =>
      serve(folder, { [name]: file, [`DELIVERABILITY_${kind}_TLS_KEY_FILE`]: file });
    assertStartError(
      await start(none),
      2,
      new RegExp(`Cannot read the file in ${name}: ${none} .ENOENT`),
    );
    assertStartError(await start(letter), 2, new RegExp(`${name} .* a certificate and its key`));
  }
});

test('A second serve on the same data directory exits with 3; the first keeps running', async (t) => {
  const folder = temporaryFolder(t);
  const first = await startServe(t, { folder });
  const before = readdirSync(folder);
  assertStartError(
    await serve(folder),
    3,
    /^Another instance of the service is using .*Stop it first\.$/m,
  );
  assert.deepEqual(readdirSync(folder), before);
  assert.equal((await first.createTest()).status, 'waiting');
});
