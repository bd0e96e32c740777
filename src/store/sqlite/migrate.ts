/** Migrates an SQLite database to the current schema: creates a new one directly, upgrades an older one step by step. */

import type { Database as Sqlite } from 'better-sqlite3';
import { StoreError } from '../errors.ts';
import { MIGRATIONS, type Migration, SCHEMA_VERSION } from '../migrations/index.ts';
import { SCHEMA } from '../schema.generated.ts';
import { requireUpgradable } from '../schema-mode.ts';
import type { MigrationResult } from '../types.ts';

export interface MigrationTarget {
  schema: string;
  version: number;
  steps: Pick<Migration, 'version' | 'sqlite'>[];
}

const CURRENT: MigrationTarget = { schema: SCHEMA, version: SCHEMA_VERSION, steps: MIGRATIONS };

/**
 * Runs `schema.sql` on an empty database. Backs up an older one, then runs the missing steps.
 * All changes are in one transaction, so a crash leaves the database unchanged. Throws a StoreError
 * for a database of a newer version, of one before `FIRST_VERSION`, or of another program.
 */
export function migrate(sqlite: Sqlite, target: MigrationTarget = CURRENT): MigrationResult {
  const from = sqlite.pragma('user_version', { simple: true }) as number;
  const { version: to } = target;
  if (from > to)
    throw new StoreError(
      `The database has schema version ${from}, but this program supports only versions up to ${to}. Run the newer program, or restore a backup.`,
    );
  if (from === to) return { from, to, backup: null };
  if (from === 0) {
    if (sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table'").get())
      throw new StoreError('The file is an SQLite database of another program.');
    applyInTransaction(sqlite, to, () => sqlite.exec(target.schema));
    return { from, to, backup: null };
  }
  requireUpgradable(from);
  const backup = makeBackup(sqlite, from);
  const missingSteps = target.steps.filter((step) => step.version > from);
  applyInTransaction(sqlite, to, () => {
    for (const step of missingSteps) step.sqlite(sqlite);
  });
  return { from, to, backup };
}

function applyInTransaction(sqlite: Sqlite, version: number, change: () => void): void {
  sqlite
    .transaction(() => {
      change();
      sqlite.pragma(`user_version = ${version}`);
    })
    .immediate();
}

/** Makes a consistent copy next to the database, under an unused name that contains its version. */
function makeBackup(sqlite: Sqlite, version: number): string | null {
  if (sqlite.memory) return null;
  for (let attempt = 1; ; attempt++) {
    const path = `${sqlite.name}.version-${version}${attempt > 1 ? `-${attempt}` : ''}.backup`;
    try {
      sqlite.prepare('VACUUM INTO ?').run(path);
      return path;
    } catch (error) {
      if (!(error as Error).message.includes('already exists') || attempt > 99) throw error;
    }
  }
}
