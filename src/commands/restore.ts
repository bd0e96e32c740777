/** `restore`: replaces the SQLite database and the key file with those of a backup. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Config, readConfig } from '../config/config.ts';
import { fits, takeKey } from '../keys/key-in-backup.ts';
import { createKeyFile, keyFileOf, readKeyFile } from '../keys/secret-key.ts';
import { printable, printableJson } from '../lib/log.ts';
import { StoreError } from '../store/errors.ts';
import { type CopiedFacts, restoreBackup, setAside } from '../store/sqlite/backup.ts';
import { lockStore } from '../store/sqlite/lock.ts';
import { sqliteFileOf } from './backup.ts';
import { defineCommand, EXIT, printMessage } from './command.ts';
import { prepareDataFolder } from './configure.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore the SQLite database and the secret key from a backup',
  arguments: [{ name: 'FILE', completion: 'file' }],
  options: {
    force: {
      description: 'Replace an existing database. Its files are kept under another name',
    },
    json: { description: 'Print the result as JSON' },
  },
  async run({ positionals, values }, io) {
    const { config } = readConfig(io.env);
    const path = sqliteFileOf(config);
    const source = resolve(positionals[0]!);
    prepareDataFolder(config, io);
    const unlock = lockStore(path);
    try {
      if (existsSync(path) && !values.force)
        throw new StoreError(
          `There is a database at ${path}. To replace it, add --force. Its files are kept under another name.`,
        );
      let key: string | null = null;
      const { previous, version } = restoreBackup(source, path, (facts) => {
        key = takeKey(facts);
        requireKey(facts, key, config);
      });
      const previousKey = key === null || config.SECRET_KEY ? null : replaceKey(key, config);
      if (values.json)
        io.stdout(
          `${printableJson({ database: path, schema_version: version, previous_database: previous, previous_key: previousKey })}\n`,
        );
      else {
        printMessage(io, `Restored ${printable(path)} from ${printable(source)}.`);
        for (const kept of [previous, previousKey])
          if (kept) printMessage(io, `The previous file is kept as ${printable(kept)}.`);
      }
      return EXIT.success;
    } finally {
      unlock();
    }
  },
});

/** Throws a StoreError if the service could not decrypt the secrets of the restored database. */
function requireKey(facts: CopiedFacts, key: string | null, config: Config): void {
  const file = keyFileOf(config);
  if (config.SECRET_KEY) {
    if (!fits(facts, config.SECRET_KEY))
      throw new StoreError(
        'The backup was made with a different key from DELIVERABILITY_SECRET_KEY. Set the variable to the key of the backup.',
      );
  } else if (key === null && !fits(facts, existsSync(file) ? readKeyFile(file) : ''))
    throw new StoreError(
      `The backup contains no secret key, and ${file} is ${existsSync(file) ? 'another one' : 'missing'}. First restore the key to this file, or set DELIVERABILITY_SECRET_KEY.`,
    );
}

/** The name under which the previous key file is kept; null if it is missing or has the same key. */
function replaceKey(key: string, config: Config): string | null {
  const file = keyFileOf(config);
  if (existsSync(file) && readKeyFile(file) === key) return null;
  const previous = setAside(file);
  createKeyFile(file, key);
  return previous;
}
