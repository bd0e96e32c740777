/** `backup`: writes a consistent copy of an SQLite database and of the secret key, while the service runs. */

import { resolve } from 'node:path';
import { type Config, readConfig } from '../config/config.ts';
import { addKey, type KeySource, keySourceOf } from '../keys/key-in-backup.ts';
import { keyFileOf } from '../keys/secret-key.ts';
import { isPostgresUrl } from '../lib/database-url.ts';
import { formatSize } from '../lib/durations.ts';
import { printable, printableJson } from '../lib/log.ts';
import { StoreError } from '../store/errors.ts';
import { backUp } from '../store/sqlite/backup.ts';
import { defineCommand, EXIT, printMessage } from './command.ts';

export const backup = defineCommand({
  name: 'backup',
  summary: 'Back up the SQLite database and the secret key to a new file',
  arguments: [{ name: 'FILE', completion: 'file' }],
  options: {
    'without-key': { description: 'Leave out the secret key, which you keep in another place' },
    json: { description: 'Print the result as JSON' },
  },
  async run({ positionals, values }, io) {
    const { config } = readConfig(io.env);
    const target = resolve(positionals[0]!);
    const source = keySourceOf(config);
    const hasKey = source === 'file' && !values['without-key'];
    const { bytes, version } = backUp(sqliteFileOf(config), target, (facts) => {
      if (hasKey) addKey(facts, config);
    });
    if (values.json)
      io.stdout(
        `${printableJson({ file: target, bytes, schema_version: version, secret_key: hasKey })}\n`,
      );
    else
      printMessage(
        io,
        `Backed up to ${printable(target)} (${formatSize(bytes)}, schema version ${version}).${hasKey ? ' The file contains the secret key, so keep it safe.' : ''}`,
      );
    if (!hasKey) printMessage(io, withoutKeyText(source, config));
    return EXIT.success;
  },
});

/** The path of the database. Throws a StoreError if it is no file. */
export function sqliteFileOf({ DATABASE_URL: location }: Pick<Config, 'DATABASE_URL'>): string {
  if (isPostgresUrl(location))
    throw new StoreError(
      'The database is PostgreSQL. Back it up and restore it with its own tools, such as pg_dump and pg_restore, and keep a copy of DELIVERABILITY_SECRET_KEY.',
    );
  if (location === ':memory:') throw new StoreError('The database is in memory, not in a file.');
  return location;
}

function withoutKeyText(source: KeySource, config: Config): string {
  if (source === 'none')
    return 'WARNING: There is no secret key to back up. If the database was used before, look for its secret.key.';
  const place =
    source === 'variable' ? 'the value of DELIVERABILITY_SECRET_KEY' : printable(keyFileOf(config));
  return `WARNING: The backup does not contain the secret key. Keep a copy of ${place} in another place: without it, queued email, invitations and stored sign-in data in the backup are lost.`;
}
