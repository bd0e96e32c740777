/** The key that encrypts secrets at rest, and the check that it is still the same key. */

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, ConfigError, PREFIX } from '../config/config.ts';
import {
  createSecretBox,
  mailPurpose,
  randomSecret,
  randomToken,
  responsePurpose,
  type SecretBox,
} from '../lib/crypto.ts';
import { databaseLabel } from '../lib/database-url.ts';
import { createWritableFolder, folderProblem } from '../lib/folders.ts';
import type { Log } from '../lib/log.ts';
import { type Db, lockName, type Tx, transact } from '../store/open.ts';

const FILE = 'secret.key';

type KeyConfig = Pick<Config, 'SECRET_KEY' | 'DATA_DIR' | 'DATABASE_URL'>;

export const keyFileOf = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string => join(DATA_DIR, FILE);

/**
 * The configured key or the key file. null if there is neither: `openSecrets` creates the file once the
 * database is open. Throws a ConfigError if the file can't be read or its folder isn't writable.
 */
export function readSecretKey(config: KeyConfig): string | null {
  if (config.SECRET_KEY) return config.SECRET_KEY;
  // A database in memory needs no key that outlives the process.
  if (config.DATABASE_URL === ':memory:') return randomSecret();
  const path = keyFileOf(config);
  try {
    if (existsSync(path)) return readKeyFile(path);
  } catch (error) {
    throw unusableKeyFile(path, error);
  }
  const folder = dirname(path);
  try {
    createWritableFolder(folder);
  } catch (error) {
    throw new ConfigError([
      `Cannot create the secret key. ${folderProblem(folder, error)} Or set ${PREFIX}SECRET_KEY instead.`,
    ]);
  }
  return null;
}

export function readKeyFile(path: string): string {
  chmodSync(path, 0o600);
  const key = readFileSync(path, 'utf8').trim();
  if (key.length < 32)
    throw new Error(
      'the key is too short: restore the file from a backup, or delete it on a new installation',
    );
  return key;
}

/** Creates the key file atomically and durably. If there is one, or two processes race, the first file stays. */
export function createKeyFile(path: string, key = randomSecret()): string {
  // A crash can leave this file behind, but nothing reads it.
  const tempPath = `${path}.${randomToken(12)}.new`;
  try {
    writeFileSync(tempPath, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
    try {
      // Unlike a rename, a link never replaces a file.
      linkSync(tempPath, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    rmSync(tempPath);
    syncFolder(dirname(path));
    return readKeyFile(path);
  } catch (error) {
    rmSync(tempPath, { force: true });
    throw unusableKeyFile(path, error);
  }
}

/** Makes a new file in the folder survive a power failure. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function unusableKeyFile(path: string, error: unknown): ConfigError {
  const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  return new ConfigError([
    `Cannot use ${path} (${reason}). Fix the file, or set ${PREFIX}SECRET_KEY instead.`,
  ]);
}

/** The fact that proves a key: a text encrypted with it. */
export const PROOF = 'secret_key_proof';
/** Operators set the proof to this value to continue without the previous key (docs/backup.md). */
const LOST = 'lost';

/**
 * A box that encrypts and decrypts with the key that `readSecretKey` found, or with a new one. Throws a
 * ConfigError if the database has secrets that the key can't decrypt, because they would silently be
 * lost.
 */
export async function openSecrets(
  config: KeyConfig,
  key: string | null,
  { db, log }: { db: Db; log: Log },
): Promise<SecretBox> {
  const path = keyFileOf(config);
  return transact(db, async (tx) => {
    // Of two nodes that start with different keys on an empty database, the second must fail.
    await lockName(tx, PROOF);
    const proof = await findProof(tx);
    const keyChecks =
      proof === LOST ? [] : proof ? [canOpenProof(proof)] : await sampleKeyChecks(tx);
    if (keyChecks.length > 0 && key === null) throw keyMismatch(config, `${path} is missing`);
    const secrets = createSecretBox(key ?? createKeyFile(path));
    if (keyChecks.length > 0 && !keyChecks.some((canOpen) => canOpen(secrets)))
      throw keyMismatch(config, `${config.SECRET_KEY ? `${PREFIX}SECRET_KEY` : path} has changed`);
    if (proof === LOST) log.warn('secrets encrypted with the previous key are lost');
    if (!proof || proof === LOST) await writeProof(tx, secrets);
    return secrets;
  });
}

/**
 * Throws a ConfigError if the configured key can't decrypt the secrets of the database, or if there is none.
 * Unlike `openSecrets` it writes nothing.
 */
export async function checkSecretKey(config: KeyConfig, tx: Db | Tx): Promise<void> {
  const proof = await findProof(tx);
  const keyChecks = proof === LOST ? [] : proof ? [canOpenProof(proof)] : await sampleKeyChecks(tx);
  if (keyChecks.length === 0) return;
  const path = keyFileOf(config);
  if (!config.SECRET_KEY && !existsSync(path)) throw keyMismatch(config, `${path} is missing`);
  const secrets = createSecretBox(config.SECRET_KEY || readKeyFile(path));
  if (!keyChecks.some((canOpen) => canOpen(secrets)))
    throw keyMismatch(config, `${config.SECRET_KEY ? `${PREFIX}SECRET_KEY` : path} is another key`);
}

function keyMismatch(config: KeyConfig, problem: string): ConfigError {
  return new ConfigError([
    `${problem}, and ${databaseLabel(config.DATABASE_URL)} has secrets that only the previous key can decrypt. Set ${PREFIX}SECRET_KEY to the previous key, or restore ${keyFileOf(config)} from a backup. If the key is lost, see docs/backup.md.`,
  ]);
}

async function findProof(tx: Db | Tx): Promise<string | undefined> {
  const row = await tx
    .selectFrom('service_facts')
    .select('value')
    .where('name', '=', PROOF)
    .executeTakeFirst();
  return row?.value;
}

async function writeProof(tx: Tx, secrets: SecretBox): Promise<void> {
  const value = secrets.seal('deliverability', PROOF);
  await tx
    .insertInto('service_facts')
    .values({ name: PROOF, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** Whether the box can decrypt a certain secret. */
type CanOpen = (secrets: SecretBox) => boolean;

/** Whether the key is the one that the database was used with; also if it has no secrets. */
export const isKeyOf = (key: string, proof: string | undefined): boolean =>
  proof === undefined || proof === LOST || canOpenProof(proof)(createSecretBox(key));

const canOpenProof =
  (proof: string): CanOpen =>
  (secrets) =>
    secrets.open(proof, PROOF) !== null;

/** Enough to tell a wrong key from a damaged row. */
const MAX_SAMPLES = 20;

/** Checks against the newest secrets, for a database created before the proof existed. */
async function sampleKeyChecks(tx: Db | Tx): Promise<CanOpen[]> {
  const mails = await tx
    .selectFrom('outbox')
    .select(['id', 'content'])
    .where('content', 'is not', null)
    .orderBy('id', 'desc')
    .limit(MAX_SAMPLES)
    .execute();
  const responses = await tx
    .selectFrom('idempotency_keys')
    .select(['caller', 'key', 'response'])
    .where('response', 'is not', null)
    .orderBy('created_at', 'desc')
    .limit(MAX_SAMPLES)
    .execute();
  return [
    ...mails.map(
      ({ id, content }): CanOpen =>
        (secrets) =>
          secrets.open(content!, mailPurpose(id)) !== null,
    ),
    ...responses.map(
      ({ caller, key, response }): CanOpen =>
        (secrets) =>
          secrets.open(response!, responsePurpose({ caller, key })) !== null,
    ),
  ];
}
