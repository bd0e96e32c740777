/** The key that encrypts secrets at rest: where it comes from, and the proof that it is still the one of before. */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, ConfigError, PREFIX } from '../config/config.ts';
import {
  answerPurpose,
  createSecretBox,
  mailPurpose,
  randomSecret,
  randomToken,
  type SecretBox,
} from '../lib/crypto.ts';
import type { Log } from '../lib/log.ts';
import type { Db, Tx } from '../store/open.ts';

const FILE = 'secret.key';

type KeyConfig = Pick<Config, 'SECRET_KEY' | 'DATA_DIR' | 'DATABASE_URL'>;

const fileOf = ({ DATA_DIR }: KeyConfig): string => join(DATA_DIR, FILE);

/**
 * null where none is given and there is no file yet: `openSecrets` makes it, once the database is
 * open. Throws a ConfigError for a file that cannot be used, and for a folder that takes none.
 */
export function readSecretKey(config: KeyConfig): string | null {
  if (config.SECRET_KEY) return config.SECRET_KEY;
  // What is gone with the process needs no key that outlasts it.
  if (config.DATABASE_URL === ':memory:') return randomSecret();
  const path = fileOf(config);
  try {
    if (existsSync(path)) return readKeyFile(path);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    accessSync(dirname(path), constants.W_OK);
    return null;
  } catch (error) {
    throw unusable(path, error);
  }
}

function readKeyFile(path: string): string {
  chmodSync(path, 0o600);
  const key = readFileSync(path, 'utf8').trim();
  if (key.length < 32)
    throw new Error(
      'it is too short: restore it from the backup, or remove it where there never was another',
    );
  return key;
}

/** In its place only when it is whole and on the disk; of two that make it at once, both get the first one. */
function makeKeyFile(path: string): string {
  // What a crash leaves of this has a name that nobody reads.
  const draft = `${path}.${randomToken(12)}.new`;
  try {
    writeFileSync(draft, `${randomSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true });
    try {
      // Unlike a renaming, this replaces nothing.
      linkSync(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    rmSync(draft);
    syncFolder(dirname(path));
    return readKeyFile(path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw unusable(path, error);
  }
}

/** Only then the name of a new file in it outlasts a power cut. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function unusable(path: string, error: unknown): ConfigError {
  const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  return new ConfigError([`${path} cannot be used (${why}); or give ${PREFIX}SECRET_KEY`]);
}

const PROOF = 'secret_key_proof';
/** What an operator writes in place of the proof to go on without the former key (README, "Backup"). */
const LOST = 'lost';

/**
 * What seals and opens with this key, the one that `readSecretKey` found; without one it is made
 * here. Throws a ConfigError where the database has secrets that the key does not open: with another
 * one they would be lost without a word.
 */
export async function openSecrets(
  config: KeyConfig,
  found: string | null,
  { db, log }: { db: Db; log: Log },
): Promise<SecretBox> {
  const path = fileOf(config);
  return db.transaction().execute(async (tx) => {
    const proof = await findProof(tx);
    const kept = proof === LOST ? [] : proof ? [opensProof(proof)] : await newestSecrets(tx);
    if (kept.length > 0 && found === null) throw otherKey(config, `${path} is missing`);
    const secrets = createSecretBox(found ?? makeKeyFile(path));
    if (kept.length > 0 && !kept.some((opens) => opens(secrets)))
      throw otherKey(
        config,
        `${config.SECRET_KEY ? `${PREFIX}SECRET_KEY` : path} is not the key of before`,
      );
    if (proof === LOST) log.warn('what the former secret key has encrypted is given up');
    if (!proof || proof === LOST) await writeProof(tx, secrets);
    return secrets;
  });
}

function otherKey(config: KeyConfig, what: string): ConfigError {
  return new ConfigError([
    `${what}, and ${config.DATABASE_URL} has secrets that only the former one opens. Give back the former ${PREFIX}SECRET_KEY, or restore ${fileOf(config)} from the backup. If it is lost for good, "Backup" in README.md says what is lost with it and how to go on.`,
  ]);
}

async function findProof(tx: Tx): Promise<string | undefined> {
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

/** Whether something that was sealed opens. */
type Opens = (secrets: SecretBox) => boolean;

const opensProof =
  (proof: string): Opens =>
  (secrets) =>
    secrets.open(proof, PROOF) !== null;

/** Enough to tell a wrong key from a damaged row. */
const SAMPLES = 20;

/** All that could be sealed in a database of the versions before the proof. */
async function newestSecrets(tx: Tx): Promise<Opens[]> {
  const mails = await tx
    .selectFrom('outbox')
    .select(['id', 'content'])
    .where('content', 'is not', null)
    .orderBy('id', 'desc')
    .limit(SAMPLES)
    .execute();
  const answers = await tx
    .selectFrom('idempotency_keys')
    .select(['caller', 'key', 'response'])
    .where('response', 'is not', null)
    .orderBy('created_at', 'desc')
    .limit(SAMPLES)
    .execute();
  return [
    ...mails.map(
      ({ id, content }): Opens =>
        (secrets) =>
          secrets.open(content!, mailPurpose(id)) !== null,
    ),
    ...answers.map(
      ({ caller, key, response }): Opens =>
        (secrets) =>
          secrets.open(response!, answerPurpose({ caller, key })) !== null,
    ),
  ];
}
