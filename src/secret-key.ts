/** The key that encrypts secrets at rest: from the environment, or made once beside the database. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, PREFIX } from './config.ts';
import { randomSecret } from './lib/crypto.ts';

const FILE = 'secret.key';

/** Throws a ConfigError for a file that cannot be read, written, or is empty. */
export function readSecretKey({
  SECRET_KEY,
  DATA_DIR,
  DATABASE_URL,
}: Pick<Config, 'SECRET_KEY' | 'DATA_DIR' | 'DATABASE_URL'>): string {
  if (SECRET_KEY) return SECRET_KEY;
  // What is gone with the process needs no key that outlasts it.
  if (DATABASE_URL === ':memory:') return randomSecret();
  const path = join(DATA_DIR, FILE);
  try {
    if (!existsSync(path)) {
      mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 });
      // `wx`: of two that start at once, one makes it, and both read it.
      writeFileSync(path, `${randomSecret()}\n`, { mode: 0o600, flag: 'wx' });
    }
    chmodSync(path, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(path, error);
  }
  const key = readKey(path);
  if (key.length < 32) throw unusable(path, 'it is too short');
  return key;
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): ConfigError {
  const why = (error as NodeJS.ErrnoException).code ?? String(error);
  return new ConfigError([`${path} cannot be used (${why}); or give ${PREFIX}SECRET_KEY`]);
}
