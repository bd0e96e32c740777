/** The secret key inside a backup, so that one file is enough to restore everything. */

import { existsSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import type { CopiedFacts } from '../store/sqlite/backup.ts';
import { isKeyOf, keyFileOf, PROOF, readKeyFile } from './secret-key.ts';

/** Only in backups: a running service keeps its key in a file or a variable. */
const FACT = 'secret_key';

/** `variable`: its operator keeps the key. `none`: there is no key yet. */
export type KeySource = 'file' | 'variable' | 'none';

export function keySourceOf(config: Pick<Config, 'SECRET_KEY' | 'DATA_DIR'>): KeySource {
  if (config.SECRET_KEY) return 'variable';
  return existsSync(keyFileOf(config)) ? 'file' : 'none';
}

/** Adds the key of the key file. Throws the error of the file if it can't be read. */
export const addKey = (facts: CopiedFacts, config: Pick<Config, 'DATA_DIR'>): void =>
  facts.set(FACT, readKeyFile(keyFileOf(config)));

/** Removes the key from the restored copy. Null if the backup has none. */
export function takeKey(facts: CopiedFacts): string | null {
  const key = facts.get(FACT) ?? null;
  facts.delete(FACT);
  return key;
}

/** Whether the secrets in the copy can be decrypted with the key. */
export const fits = (facts: CopiedFacts, key: string): boolean => isKeyOf(key, facts.get(PROOF));
