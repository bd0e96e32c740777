/** Brings a database to the present schema: a fresh one at once, an older one step by step. */

import type { Database as Sqlite } from 'better-sqlite3';
import { MIGRATIONS, type Migration, SCHEMA_VERSION } from './migrations/index.ts';
import { SCHEMA } from './schema.generated.ts';

/** What is wrong with a database file as a whole; the message is for people. */
export class StoreError extends Error {}

export interface Migrated {
  from: number;
  to: number;
  /** The copy that was made before the first step; null where none was needed. */
  backup: string | null;
}

export interface Target {
  schema: string;
  version: number;
  steps: Migration[];
}

const PRESENT: Target = { schema: SCHEMA, version: SCHEMA_VERSION, steps: MIGRATIONS };

/**
 * Executes `schema.sql` on an empty database, the missing steps on an older one after a copy of it
 * has been made beside it. All in one transaction: a crash leaves the database as it was. Throws a
 * StoreError for a database of a newer program and for one that is not ours.
 */
export function migrate(sqlite: Sqlite, target: Target = PRESENT): Migrated {
  const from = sqlite.pragma('user_version', { simple: true }) as number;
  const { version: to } = target;
  if (from > to)
    throw new StoreError(
      `The database has version ${from}, this program knows versions up to ${to}. Run the newer program, or restore a backup.`,
    );
  if (from === to) return { from, to, backup: null };
  if (from === 0) {
    if (sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table'").get())
      throw new StoreError('The file is an SQLite database of some other program.');
    inOneTransaction(sqlite, to, () => sqlite.exec(target.schema));
    return { from, to, backup: null };
  }
  const backup = copyBeside(sqlite, from);
  const missing = target.steps.filter((step) => step.version > from);
  inOneTransaction(sqlite, to, () => {
    for (const step of missing) step.run(sqlite);
  });
  return { from, to, backup };
}

function inOneTransaction(sqlite: Sqlite, version: number, change: () => void): void {
  sqlite
    .transaction(() => {
      change();
      sqlite.pragma(`user_version = ${version}`);
    })
    .immediate();
}

/** A consistent copy, named after its version; one that an earlier try left is replaced. */
function copyBeside(sqlite: Sqlite, version: number): string | null {
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
