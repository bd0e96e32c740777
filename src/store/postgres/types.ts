/** The schema as PostgreSQL needs it: `schema.sql` and the steps of migrations are written for SQLite. */

const TYPES: Record<string, string> = {
  TEXT: 'text COLLATE "C"',
  INTEGER: 'bigint',
  REAL: 'double precision',
  BLOB: 'bytea',
};

/** Only the types, unlogged tables and the storage of rows differ. Comments are dropped. */
export const withPostgresTypes = (statements: string): string =>
  statements
    .replace(/^-- Unlogged.*\nCREATE TABLE/gm, 'CREATE UNLOGGED TABLE')
    .replace(/^ *--.*\n/gm, '')
    .replace(/^\) WITHOUT ROWID;/gm, ');')
    .replace(/\b(TEXT|INTEGER|REAL|BLOB)\b/g, (type) => TYPES[type]!);
