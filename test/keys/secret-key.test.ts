/** The secret key: created atomically, checked at each start, and never replaced silently. */

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { execFileSync } from '../../scripts/programs.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { openSecrets, readSecretKey } from '../../src/keys/secret-key.ts';
import { createSecretBox } from '../../src/lib/crypto.ts';
import { silentLog } from '../../src/lib/log.ts';
import { queueMail } from '../../src/outbox/queue.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { openTestStore, sqliteEnvironment } from '../helpers/store.ts';

const FORMER = 'the former key, of enough characters';
const OTHER = 'another key, also of enough characters';

const keyOf = (folder: string) => join(folder, 'secret.key');

const configOf = (folder: string, env: Record<string, string> = {}) =>
  readConfig({ DELIVERABILITY_DATA_DIR: folder, ...env }).config;

/** Opens a database in memory as the service does at startup. */
async function startIn(t: TestContext, folder: string) {
  const store = await openTestStore(t);
  const config = configOf(folder);
  return { found: readSecretKey(config), config, db: store.db };
}

function assertRefused(promise: Promise<unknown>, ...sentences: RegExp[]): Promise<void> {
  return assert.rejects(promise, (error) => {
    assert.ok(error instanceof ConfigError, String(error));
    assert.equal(error.faults.length, 1);
    for (const sentence of sentences) assert.match(error.message, sentence);
    assert.ok(!error.message.includes(FORMER) && !error.message.includes(OTHER));
    return true;
  });
}

test('The first start creates a private secret.key; later starts read it', async (t) => {
  const folder = join(temporaryFolder(t), 'new');
  const { config, db, found } = await startIn(t, folder);
  assert.deepEqual([found, readdirSync(folder)], [null, []], 'nothing is made before it is needed');
  const made = await openSecrets(config, found, { db, log: silentLog });
  assert.deepEqual(readdirSync(folder), ['secret.key']);
  assert.equal(statSync(keyOf(folder)).mode & 0o777, 0o600);
  const key = readSecretKey(config);
  assert.match(key!, /^[\w-]{43}$/);
  assert.equal(createSecretBox(key!).open(made.seal('a', 'b'), 'b'), 'a');
  const again = await openSecrets(config, key, { db, log: silentLog });
  assert.equal(again.open(made.seal('a', 'b'), 'b'), 'a');
});

test('Concurrent first starts end up with the same secret key', async (t) => {
  const folder = temporaryFolder(t);
  const starts = [await startIn(t, folder), await startIn(t, folder)];
  assert.deepEqual(
    starts.map(({ found }) => found),
    [null, null],
  );
  const [one, two] = await Promise.all(
    starts.map(({ config, found, db }) => openSecrets(config, found, { db, log: silentLog })),
  );
  assert.equal(two!.open(one!.seal('a', 'b'), 'b'), 'a');
  assert.deepEqual(readdirSync(folder), ['secret.key']);
});

test('A full disk while writing secret.key leaves no partial file', {
  skip: skipUnlessInstalled('prlimit'),
}, async (t) => {
  const folder = temporaryFolder(t);
  const { config, found, db } = await startIn(t, folder);
  // The maximum file size of this process, enforced by the system.
  const limit = (bytes: string) =>
    execFileSync('prlimit', [`--pid=${process.pid}`, `--fsize=${bytes}:`]);
  limit('0');
  await assertRefused(
    openSecrets(config, found, { db, log: silentLog }).finally(() => limit('unlimited')),
    /Cannot use \S+secret\.key \(EFBIG\)/,
  );
  assert.deepEqual(readdirSync(folder), []);
  await openSecrets(config, readSecretKey(config), { db, log: silentLog });
  assert.match(readSecretKey(config)!, /^[\w-]{43}$/);
});

test('A leftover temporary key file from a crash is ignored', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(`${keyOf(folder)}.abcdefghijkm.new`, 'half a k');
  const { config, found, db } = await startIn(t, folder);
  await openSecrets(config, found, { db, log: silentLog });
  assert.match(readSecretKey(config)!, /^[\w-]{43}$/);
});

test('A too short secret.key is rejected before the database is created', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(keyOf(folder), '\n');
  await assertRefused(
    startTestService(t, { folder, env: sqliteEnvironment(folder) }),
    /Cannot use \S+secret\.key \(the key is too short: restore the file from a backup, or delete it on/,
  );
  assert.ok(!existsSync(join(folder, 'deliverability.db')));
});

async function assertNoDatabase(t: TestContext, folder: string, ...sentences: RegExp[]) {
  const database = join(temporaryFolder(t), 'd.db');
  const env = {
    ...sqliteEnvironment(folder),
    DELIVERABILITY_DATABASE_URL: `sqlite:${database}`,
  };
  await assertRefused(startTestService(t, { folder, env }), ...sentences);
  assert.ok(!existsSync(database));
}

test('A data directory that cannot be created is reported before the database is created', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, 'not a folder');
  await assertNoDatabase(t, join(file, 'data'), /A part of the path \S+data is a file\./);
});

test('A read-only data directory is reported before the database is created', {
  skip: process.getuid?.() === 0 && 'root may write anywhere',
}, async (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o500);
  await assertNoDatabase(
    t,
    folder,
    /Cannot create the secret key\. The user \S+ cannot write to the data directory/,
    /Make this user its owner \(chown -R \S+ \S+\), or choose another directory\./,
  );
});

test('An in-memory database uses a temporary secret key', (t) => {
  const folder = join(temporaryFolder(t), 'none');
  const config = configOf(folder, { DELIVERABILITY_DATABASE_URL: 'sqlite::memory:' });
  assert.notEqual(readSecretKey(config), readSecretKey(config));
  assert.ok(!existsSync(folder));
});

/** Runs `work` in a service that is then stopped. */
async function run(
  t: TestContext,
  folder: string,
  key?: string,
  use: (service: Awaited<ReturnType<typeof startTestService>>) => Promise<unknown> = async () => {},
) {
  const env: Record<string, string> = {
    ...sqliteEnvironment(folder),
    // Nothing listens there, so emails stay queued.
    DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:1',
    DELIVERABILITY_MAIL_FROM: 'notices@example.com',
  };
  if (key) env.DELIVERABILITY_SECRET_KEY = key;
  await t.test('Service starts', async (t) => {
    const service = await startTestService(t, { folder, env });
    await service.app.scheduler.stop();
    await use(service);
  });
}

const databaseOf = (folder: string) => join(folder, 'deliverability.db');

/** Runs in the database of a stopped service. */
async function inDatabase<T>(folder: string, use: (db: Db) => Promise<T>): Promise<T> {
  const store = await openStore(databaseOf(folder));
  try {
    return await use(store.db);
  } finally {
    await store.close();
  }
}

const forgetProof = (folder: string) =>
  inDatabase(folder, (db) => db.deleteFrom('service_facts').execute());
const proofOf = (folder: string) =>
  inDatabase(folder, (db) =>
    db.selectFrom('service_facts').selectAll().where('name', '=', 'secret_key_proof').execute(),
  );

const startWith = (t: TestContext, folder: string, key?: string) =>
  startTestService(t, {
    folder,
    env: {
      ...sqliteEnvironment(folder),
      ...(key ? { DELIVERABILITY_SECRET_KEY: key } : {}),
    },
  });

test('A changed SECRET_KEY is rejected; the previous one is accepted again', async (t) => {
  const folder = temporaryFolder(t);
  await run(t, folder, FORMER);
  const proof = await proofOf(folder);
  assert.deepEqual(
    proof.map(({ name }) => name),
    ['secret_key_proof'],
  );
  await assertRefused(
    startWith(t, folder, OTHER),
    /DELIVERABILITY_SECRET_KEY has changed/,
    /Set DELIVERABILITY_SECRET_KEY to the previous key, or restore \S+secret\.key from a backup\./,
    /If the key is lost, see docs\/backup\.md\./,
  );
  await assertRefused(
    startWith(t, folder),
    /secret\.key is missing, and \S+deliverability\.db has/,
  );
  assert.ok(!existsSync(keyOf(folder)), 'nothing is made in its place');
  writeFileSync(keyOf(folder), OTHER);
  await assertRefused(startWith(t, folder), /secret\.key has changed/);
  rmSync(keyOf(folder));
  assert.deepEqual(await proofOf(folder), proof);
  await run(t, folder, FORMER);
});

test('A missing secret.key is not recreated; the restored file is accepted', async (t) => {
  const folder = temporaryFolder(t);
  await run(t, folder);
  const key = readFileSync(keyOf(folder));
  rmSync(keyOf(folder));
  const before = readdirSync(folder);
  await assertRefused(startWith(t, folder), /secret\.key is missing/, /restore \S+ from a backup/);
  assert.deepEqual(readdirSync(folder), before);
  writeFileSync(keyOf(folder), key);
  await run(t, folder);
});

test('After the documented reset command the service starts with a new secret key', async (t) => {
  const folder = temporaryFolder(t);
  await run(t, folder, FORMER, ({ app }) =>
    app.db.transaction().execute((tx) => queueMail(tx, app, { to: 'a@example.net', ...TEXT })),
  );
  const [command] = /^ *sqlite3 .*$/m.exec(
    readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8'),
  )!;
  const [, sql] = /"(.*)"/.exec(command)!;
  const sqlite = new BetterSqlite(databaseOf(folder));
  sqlite.exec(sql!);
  sqlite.close();
  await run(t, folder, undefined, async ({ logged, app }) => {
    assert.ok(
      logged.some(
        ({ level, message }) =>
          level === 'warn' && /secrets encrypted with the previous key are lost/.test(message),
      ),
    );
    const { status } = await app.db.selectFrom('outbox').select('status').executeTakeFirstOrThrow();
    assert.equal(status, 'queued');
  });
  await run(t, folder);
  await assertRefused(startWith(t, folder, FORMER), /has changed/);
});

const TEXT = { subject: 'A subject', text: 'A text', html: '<p>A text</p>' };

/** The secrets of a database without a proof. */
const SEALED: Record<string, Parameters<typeof run>[3]> = {
  'a queued mail': ({ app }) =>
    app.db.transaction().execute((tx) => queueMail(tx, app, { to: 'a@example.net', ...TEXT })),
  'a stored idempotent response': ({ call }) =>
    call('POST', '/v1/tests', { json: {}, headers: { 'idempotency-key': 'one' } }),
};
for (const [what, seal] of Object.entries(SEALED))
  test(`A database without key proof is verified by ${what}`, async (t) => {
    const folder = temporaryFolder(t);
    await run(t, folder, FORMER, seal);
    await forgetProof(folder);
    await assertRefused(startWith(t, folder, OTHER), /SECRET_KEY has changed/);
    await assertRefused(startWith(t, folder), /secret\.key is missing/);
    assert.ok(!existsSync(keyOf(folder)));
    assert.deepEqual(await proofOf(folder), []);
    await run(t, folder, FORMER);
    assert.equal((await proofOf(folder)).length, 1);
  });

test('A damaged row is not taken as evidence of a wrong secret key', async (t) => {
  const folder = temporaryFolder(t);
  await run(t, folder, FORMER, async ({ app }) => {
    for (const to of ['a@example.net', 'b@example.net'])
      await app.db.transaction().execute((tx) => queueMail(tx, app, { to, ...TEXT }));
    const damaged = { content: 'damaged' };
    await app.db
      .updateTable('outbox')
      .set(damaged)
      .where('recipient', '=', 'b@example.net')
      .execute();
  });
  await forgetProof(folder);
  await run(t, folder, FORMER);
  assert.equal((await proofOf(folder)).length, 1);
});

test('A database without encrypted data and proof accepts the given secret key', async (t) => {
  const folder = temporaryFolder(t);
  await run(t, folder, FORMER);
  await forgetProof(folder);
  await run(t, folder, OTHER);
  await assertRefused(startWith(t, folder, FORMER), /has changed/);
});
