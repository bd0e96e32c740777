/** Copies of a database: equal, complete or not at all, and only into an empty database. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import pg from 'pg';
import { copy } from '../../src/commands/copy.ts';
import { ConfigError } from '../../src/config/config.ts';
import { openSecrets } from '../../src/keys/secret-key.ts';
import { silentLog } from '../../src/lib/log.ts';
import { copyDatabase } from '../../src/store/copy/copy.ts';
import { StoreError } from '../../src/store/errors.ts';
import { openStore, type SchemaMode, type Store } from '../../src/store/open.ts';
import { lockStore } from '../../src/store/sqlite/lock.ts';
import { cleanParameter } from '../../src/store/text.ts';
import { temporaryFolder } from '../helpers/app.ts';
import {
  postgresDatabase,
  releasePostgresDatabase,
  skipUnlessOnPostgres,
} from '../helpers/postgres.ts';
import { fillEveryTable } from './every-table.ts';

const skip = skipUnlessOnPostgres();
const KEY = 'the secret key of this installation';

async function emptyPostgres(t: TestContext): Promise<string> {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  return postgresDatabase(key);
}

async function open(t: TestContext, location: string, mode: SchemaMode): Promise<Store> {
  const store = await openStore(location, mode);
  t.after(() => store.close());
  return store;
}

async function onPostgres(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

function contentOf(path: string): Record<string, unknown[]> {
  const sqlite = new BetterSqlite(path, { readonly: true });
  const tables = sqlite
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .pluck()
    .all() as string[];
  const content = tables.map((table) => [
    table,
    sqlite
      .prepare(`SELECT * FROM ${table}`)
      .all()
      .map((row) => clean(row as object)),
  ]);
  sqlite.close();
  return Object.fromEntries(content.map(([table, rows]) => [table, sorted(rows as object[])]));
}

const clean = (row: object): object =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cleanParameter(value)]));

const sorted = (rows: object[]): object[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Runs the command in this process. */
async function runCopy(args: string[], env: Record<string, string> = {}) {
  const output = { stdout: '', stderr: '' };
  const code = await copy.run(args, {
    env,
    stdin: async () => new Uint8Array(),
    ask: async () => null,
    stdout: (text) => {
      output.stdout += text;
    },
    stderr: (text) => {
      output.stderr += text;
    },
    status: () => {},
    useColor: false,
    isStderrTerminal: false,
    width: 80,
    program: 'deliverability',
    interrupted: new Promise(() => {}),
  });
  return { code, ...output };
}

const rejectsWith = (
  work: Promise<unknown>,
  type: new (...values: never[]) => Error,
  message: RegExp,
) =>
  assert.rejects(work, (error: Error) => {
    assert.ok(error instanceof type, String(error.stack));
    assert.match(error.message, message);
    return true;
  });

test('copy moves every table from SQLite to PostgreSQL and back without a difference', {
  skip,
}, async (t) => {
  const folder = temporaryFolder(t);
  const [first, second] = [join(folder, 'first.db'), join(folder, 'second.db')];
  const names = await fillEveryTable(first, 300);
  const url = await emptyPostgres(t);
  const env = { DELIVERABILITY_DATA_DIR: folder };
  // The made-up rows have no real proof of a key.
  const sqlite = new BetterSqlite(first);
  sqlite.exec("UPDATE service_facts SET name = 'secret_key_proof', value = 'lost' WHERE rowid = 1");
  sqlite.close();

  const there = await runCopy(['--from', `sqlite:${first}`, '--to', url, '--json'], env);
  assert.equal(there.code, 0);
  const back = await runCopy(['--from', url, '--to', `sqlite:${second}`, '--json'], {
    ...env,
    DELIVERABILITY_SECRET_KEY: KEY,
  });
  assert.equal(back.code, 0);

  const { tables } = JSON.parse(there.stdout);
  assert.deepEqual(tables, JSON.parse(back.stdout).tables);
  assert.deepEqual(tables.map(({ name }: { name: string }) => name).sort(), names.sort());
  for (const { name, rows } of tables) assert.equal(rows, 300, name);
  assert.deepEqual(contentOf(second), contentOf(first));
  assert.match(there.stderr, /Set DELIVERABILITY_SECRET_KEY to the content of/);
});

test('copy refuses a target that is not empty and changes nothing in it', { skip }, async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  await fillEveryTable(path, 3);
  const url = await emptyPostgres(t);
  await onPostgres(url, "INSERT INTO service_facts VALUES ('theirs', 'x')");
  const source = await open(t, path, 'require');
  const target = await open(t, url, 'create');
  await rejectsWith(copyDatabase(source, target), StoreError, /table service_facts has rows/);
  assert.deepEqual(await onPostgres(url, 'SELECT * FROM service_facts'), [
    { name: 'theirs', value: 'x' },
  ]);
  assert.deepEqual(await onPostgres(url, 'SELECT * FROM members'), []);
});

test('A copy that fails halfway leaves the target empty, and can be repeated', {
  skip,
}, async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  await fillEveryTable(path, 3);
  const url = await emptyPostgres(t);
  const source = await open(t, path, 'require');
  const target = await open(t, url, 'create');
  // SQLite accepts text in a column of integers.
  const sqlite = new BetterSqlite(path);
  t.after(() => sqlite.close());
  sqlite.exec("UPDATE report_schedules SET send_hour = 'noon'");
  await rejectsWith(
    copyDatabase(source, target),
    Error,
    /Could not copy rows of the table report_schedules: .*noon/,
  );
  assert.deepEqual(await onPostgres(url, 'SELECT 1 FROM members'), []);
  sqlite.exec('UPDATE report_schedules SET send_hour = 12');
  const tables = await copyDatabase(source, target);
  assert.ok(tables.every(({ rows }) => rows === 3));
});

test('copy notices a value that the target stores differently', { skip }, async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  await fillEveryTable(path, 3);
  const url = await emptyPostgres(t);
  await onPostgres(
    url,
    `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
       $$BEGIN NEW.name = NEW.name || ' '; RETURN NEW; END$$;
     CREATE TRIGGER spoil BEFORE INSERT ON monitors FOR EACH ROW EXECUTE FUNCTION spoil()`,
  );
  const source = await open(t, path, 'require');
  const target = await open(t, url, 'create');
  await rejectsWith(copyDatabase(source, target), StoreError, /copy of the table monitors differs/);
  assert.deepEqual(await onPostgres(url, 'SELECT 1 FROM members'), []);
});

test('copy refuses databases in use, a wrong key and unsuitable arguments', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'a.db');
  const url = await emptyPostgres(t);
  const store = await openStore(path);
  const config = { SECRET_KEY: KEY, DATA_DIR: folder, DATABASE_URL: path };
  await openSecrets(config, KEY, { db: store.db, log: silentLog });
  await store.close();
  const env = { DELIVERABILITY_DATA_DIR: folder, DELIVERABILITY_SECRET_KEY: KEY };
  const there = ['--from', `sqlite:${path}`, '--to', url];

  const unlock = lockStore(path);
  await rejectsWith(runCopy(there, env), StoreError, /Another instance of the service is using/);
  unlock();

  const other = { ...env, DELIVERABILITY_SECRET_KEY: 'the secret key of something else' };
  await rejectsWith(runCopy(there, other), ConfigError, /SECRET_KEY is another key/);
  const none = { DELIVERABILITY_DATA_DIR: folder };
  await rejectsWith(runCopy(there, none), ConfigError, /secret\.key is missing/);

  const service = await openStore(url);
  await rejectsWith(runCopy(there, env), StoreError, /A service is connected to the PostgreSQL/);
  await service.close();

  const missing = ['--from', `sqlite:${folder}/none.db`, '--to', url];
  await rejectsWith(runCopy(missing, env), StoreError, /There is no database at/);
  await rejectsWith(runCopy(['--from', url, '--to', url], env), Error, /the other PostgreSQL/);
  await rejectsWith(runCopy(['--from', url], env), Error, /Missing option: --to URL/);
  const memory = ['--from', 'sqlite::memory:', '--to', url];
  await rejectsWith(runCopy(memory, env), Error, /--from must not be a database in memory/);

  const old = new BetterSqlite(path);
  old.pragma('user_version = 20');
  old.close();
  await rejectsWith(runCopy(there, env), StoreError, /schema version 20, but this command needs/);
  const unchanged = new BetterSqlite(path, { readonly: true });
  assert.equal(unchanged.pragma('user_version', { simple: true }), 20);
  unchanged.close();
});
