/** `migrate`: upgrades the database to the schema of this program, as `serve` does, and says what it did. */

import { existsSync } from 'node:fs';
import { readConfig } from '../config/config.ts';
import { databaseLabel, isPostgresUrl } from '../lib/database-url.ts';
import { printable, printableJson } from '../lib/log.ts';
import { StoreError } from '../store/errors.ts';
import { openStore } from '../store/open.ts';
import { lockStore } from '../store/sqlite/lock.ts';
import type { MigrationResult } from '../store/types.ts';
import { defineCommand, EXIT, printMessage } from './command.ts';

export const migrate = defineCommand({
  name: 'migrate',
  summary: 'Upgrade the database to this version, as the service does at its start',
  options: { json: { description: 'Print the versions and the path of the backup as JSON' } },
  async run({ values }, io) {
    const { config } = readConfig(io.env);
    const result = await upgrade(config.DATABASE_URL);
    const label = databaseLabel(config.DATABASE_URL);
    if (values.json)
      io.stdout(
        `${printableJson({ database: label, from: result.from, to: result.to, backup: result.backup })}\n`,
      );
    else printMessage(io, resultText(label, result));
    return EXIT.success;
  },
});

async function upgrade(location: string): Promise<MigrationResult> {
  const isFile = !isPostgresUrl(location);
  if (isFile && !existsSync(location))
    throw new StoreError(`There is no database at ${location}. The service creates one.`);
  const unlock = isFile ? lockStore(location) : () => {};
  try {
    const store = await openStore(location, 'upgrade');
    await store.close();
    return store.migration;
  } finally {
    unlock();
  }
}

function resultText(label: string, { from, to, backup }: MigrationResult): string {
  if (from === to) return `${printable(label)} is up to date (schema version ${to}).`;
  if (from === 0) return `Created the tables of ${printable(label)} (schema version ${to}).`;
  const kept = backup === null ? '' : ` The database as it was is kept in ${printable(backup)}.`;
  return `Upgraded ${printable(label)} from schema version ${from} to ${to}.${kept}`;
}
