/** `backup` and `restore`: one file brings everything back, and nothing is overwritten by mistake. */

// @one-database: about SQLite files.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { backup } from '../../src/commands/backup.ts';
import { restore } from '../../src/commands/restore.ts';
import { readConfig } from '../../src/config/config.ts';
import { checkSecretKey, openSecrets, readSecretKey } from '../../src/keys/secret-key.ts';
import { silentLog } from '../../src/lib/log.ts';
import { SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/open.ts';
import { lockStore } from '../../src/store/sqlite/lock.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { runCommand } from './run.ts';

const KEY = 'a key that is long enough to be one';

interface Installation {
  env: Record<string, string>;
  /** The data folder. */
  folder: string;
  database: string;
  /** Outside the data folder. */
  file: string;
}

/** An installation with a member, a secret key in a file, and a proof of the key. */
async function install(
  t: TestContext,
  variables: Record<string, string> = {},
): Promise<Installation> {
  const outside = temporaryFolder(t);
  const folder = join(outside, 'data');
  const env = { DELIVERABILITY_DATA_DIR: folder, ...variables };
  const { config } = readConfig(env);
  const store = await openStore(config.DATABASE_URL);
  await openSecrets(config, readSecretKey(config), { db: store.db, log: silentLog });
  const row = { email: 'owner@example.com', name: 'Owner', role: 'owner' as const };
  await store.db
    .insertInto('members')
    .values({ id: 'mem_1', joined_at: '2026-11-21T10:00:00.000Z', ...row })
    .execute();
  await store.close();
  return {
    env,
    folder,
    database: join(folder, 'deliverability.db'),
    file: join(outside, 'backup.db'),
  };
}

async function membersIn(env: Record<string, string>): Promise<string[]> {
  const { config } = readConfig(env);
  const { db, close } = await openStore(config.DATABASE_URL, 'require');
  try {
    await checkSecretKey(config, db);
    const facts = await db.selectFrom('service_facts').select('name').execute();
    assert.ok(!facts.some(({ name }) => name === 'secret_key'), 'the key is in the database');
    return (await db.selectFrom('members').select('email').execute()).map(({ email }) => email);
  } finally {
    await close();
  }
}

test('A backup restores the database and its key into an empty folder', async (t) => {
  const { env, folder, file } = await install(t);
  const key = readFileSync(join(folder, 'secret.key'), 'utf8');
  const made = await runCommand(backup, [file, '--json'], env);
  assert.deepEqual(JSON.parse(made.stdout), {
    file,
    bytes: statSync(file).size,
    schema_version: SCHEMA_VERSION,
    secret_key: true,
  });
  assert.equal(made.stderr, '');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  rmSync(folder, { recursive: true });

  const { code, stderr } = await runCommand(restore, [file], env);
  assert.equal(code, 0);
  assert.equal(stderr, `Restored ${join(folder, 'deliverability.db')} from ${file}.\n`);
  assert.deepEqual(await membersIn(env), ['owner@example.com']);
  assert.equal(readFileSync(join(folder, 'secret.key'), 'utf8'), key);
  for (const name of ['secret.key', 'deliverability.db'])
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
  assert.deepEqual(
    readdirSync(folder).filter((name) => /part|before/.test(name)),
    [],
  );
});

test('A backup while the database is in use has what was committed', async (t) => {
  const { env, file, database } = await install(t);
  const unlock = lockStore(database);
  const { db, close } = await openStore(database);
  try {
    await db.updateTable('members').set({ email: 'new@example.com' }).execute();
    assert.equal((await runCommand(backup, [file], env)).code, 0);
    await db.updateTable('members').set({ email: 'later@example.com' }).execute();
  } finally {
    await close();
    unlock();
  }
  await runCommand(restore, [file, '--force'], env);
  assert.deepEqual(await membersIn(env), ['new@example.com']);
});

test('A backup without the key says so loudly, and is restored only beside the key', async (t) => {
  const { env, folder, file } = await install(t);
  const made = await runCommand(backup, [file, '--without-key'], env);
  assert.match(
    made.stderr,
    /WARNING: The backup does not contain the secret key\. Keep a copy of \//,
  );
  const keyFile = join(folder, 'secret.key');
  const key = readFileSync(keyFile);
  rmSync(keyFile);
  await assert.rejects(runCommand(restore, [file, '--force'], env), {
    message: `The backup contains no secret key, and ${keyFile} is missing. First restore the key to this file, or set DELIVERABILITY_SECRET_KEY.`,
  });
  writeFileSync(keyFile, KEY);
  await assert.rejects(runCommand(restore, [file, '--force'], env), /is another one/);
  writeFileSync(keyFile, key);
  await runCommand(restore, [file, '--force'], env);
  assert.deepEqual(await membersIn(env), ['owner@example.com']);
});

test('A key in a variable is not in the backup, and must be the same at the restore', async (t) => {
  const { env, file } = await install(t, { DELIVERABILITY_SECRET_KEY: KEY });
  const made = await runCommand(backup, [file], env);
  assert.match(made.stderr, /Keep a copy of the value of DELIVERABILITY_SECRET_KEY/);
  assert.ok(!readFileSync(file).includes(KEY));
  const other = { ...env, DELIVERABILITY_SECRET_KEY: `${KEY} and another` };
  await assert.rejects(runCommand(restore, [file, '--force'], other), /made with a different key/);
  await runCommand(restore, [file, '--force'], env);
  assert.deepEqual(await membersIn(env), ['owner@example.com']);
});

test('With --force, the previous database and key are kept', async (t) => {
  const first = await install(t);
  const second = await install(t);
  await runCommand(backup, [first.file], first.env);
  await assert.rejects(
    runCommand(restore, [first.file], second.env),
    /^Error: There is a database at .*\. To replace it, add --force\. Its files are kept under another name\.$/,
  );
  const key = readFileSync(join(second.folder, 'secret.key'), 'utf8');
  const { stdout } = await runCommand(restore, [first.file, '--force', '--json'], second.env);
  const { previous_database, previous_key } = JSON.parse(stdout);
  assert.equal(readFileSync(previous_key, 'utf8'), key);
  assert.ok(existsSync(previous_database));
  assert.deepEqual(await membersIn(second.env), ['owner@example.com']);
});

test('A running service refuses the restore', async (t) => {
  const { env, file, database } = await install(t);
  await runCommand(backup, [file], env);
  const unlock = lockStore(database);
  t.after(unlock);
  await assert.rejects(
    runCommand(restore, [file, '--force'], env),
    /Another instance of the service is using .*\. Stop it first\./,
  );
});

test('backup refuses to overwrite a file, and a database that is none', async (t) => {
  const { env, file, database } = await install(t);
  writeFileSync(file, 'mine');
  await assert.rejects(runCommand(backup, [file], env), /exists already\. Choose another name\.$/);
  assert.equal(readFileSync(file, 'utf8'), 'mine');
  rmSync(file);
  await assert.rejects(runCommand(backup, [join(file, 'no', 'folder')], env), /Could not copy/);
  for (const [url, message] of [
    ['postgres://me@db.example/mail', /^Error: The database is PostgreSQL\./],
    ['sqlite::memory:', /in memory/],
    [`sqlite:${file}.missing`, /There is no database at/],
  ] as const) {
    const variables = { DELIVERABILITY_DATABASE_URL: url, DELIVERABILITY_SECRET_KEY: KEY };
    await assert.rejects(runCommand(backup, [file], { ...env, ...variables }), message);
  }
  writeFileSync(database, 'This is no database. '.repeat(50));
  await assert.rejects(runCommand(backup, [file], env), /is not an SQLite database\.$/);
  assert.ok(!existsSync(file));
});

test('restore refuses files that are no intact backups, and changes nothing', async (t) => {
  const { env, file, folder, database } = await install(t);
  await runCommand(backup, [file], env);
  const good = readFileSync(file);
  const other = (change: (sqlite: BetterSqlite.Database) => void) => {
    const path = join(folder, '..', `other-${Math.random()}.db`);
    writeFileSync(path, good);
    const sqlite = new BetterSqlite(path);
    change(sqlite);
    sqlite.close();
    return path;
  };
  const damaged = Buffer.from(good);
  // Beyond the first pages, so that the file opens.
  damaged.fill(0xff, damaged.length - 40_000, damaged.length - 20_000);
  const written = (name: string, content: Buffer | string) => {
    const path = join(folder, '..', name);
    writeFileSync(path, content);
    return path;
  };
  mkdirSync(join(folder, '..', 'directory'));
  const before = readFileSync(database);
  const files = readdirSync(folder);
  for (const [path, message] of [
    [written('damaged.db', damaged), /is damaged|malformed/],
    [written('short.db', good.subarray(0, good.length / 2)), /is damaged|malformed/],
    [written('empty.db', ''), /is not a database of this program/],
    [written('text.db', 'x'.repeat(5000)), /is not an SQLite database/],
    [join(folder, '..', 'directory'), /Could not copy the database/],
    [join(folder, 'missing.db'), /There is no file/],
    [other((sqlite) => sqlite.pragma('user_version = 999')), /has schema version 999/],
    [other((sqlite) => sqlite.exec('DROP TABLE service_facts')), /not a database of this program/],
  ] as const)
    await assert.rejects(runCommand(restore, [path, '--force'], env), message, path);
  assert.deepEqual(readFileSync(database), before);
  const added = readdirSync(folder).filter((name) => !files.includes(name));
  assert.deepEqual(added, ['deliverability.db.lock']);
  assert.deepEqual(await membersIn(env), ['owner@example.com']);
});
