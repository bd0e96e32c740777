/** Step 15: vocabularies that grow are declared in the program, and sources say what is new about them. */

import type { Database as Sqlite } from 'better-sqlite3';

/** Columns that had a CHECK constraint with a list of values. */
export const VOCABULARIES: Column[] = [
  ['monitors', 'type'],
  ['alerts', 'condition'],
  ['alert_incidents', 'condition'],
  ['alert_notifications', 'channel'],
];

export type Column = [table: string, name: string];

/**
 * Removes the constraints from the stored statements, which SQLite documents for this purpose
 * (https://www.sqlite.org/lang_altertable.html, section 7): the rows do not change, and other tables refer to these.
 */
export function dropVocabulariesInSqlite(sqlite: Sqlite, columns: Column[]): void {
  sqlite.unsafeMode(true);
  sqlite.pragma('writable_schema = ON');
  try {
    const select = sqlite.prepare(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?",
    );
    const update = sqlite.prepare(
      "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?",
    );
    for (const [table, column] of columns) {
      const statement = select.pluck().get(table) as string;
      const check = new RegExp(`\\s+CHECK\\s*\\(\\s*${column} IN \\([^)]*\\)\\s*\\)`);
      update.run(statement.replace(check, ''), table);
    }
    // Otherwise, this and other connections would keep the statements that they have read.
    const version = sqlite.pragma('schema_version', { simple: true }) as number;
    sqlite.pragma(`schema_version = ${version + 1}`);
  } finally {
    sqlite.pragma('writable_schema = RESET');
    sqlite.unsafeMode(false);
  }
}

export const dropVocabulariesInPostgres = (columns: Column[]): string =>
  columns
    .map(([table, column]) => `ALTER TABLE ${table} DROP CONSTRAINT ${table}_${column}_check;\n`)
    .join('');

export const SOURCE_STATES = `
ALTER TABLE feedback_sources ADD COLUMN new_since TEXT;
ALTER TABLE feedback_sources ADD COLUMN failing_since TEXT;
`;
