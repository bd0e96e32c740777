/** Derives the schema for PostgreSQL from that for SQLite. */

const TYPES: Record<string, string> = {
  TEXT: 'text COLLATE "C"',
  INTEGER: 'bigint',
  REAL: 'double precision',
  BLOB: 'bytea',
};

/** Only the types, unlogged tables and the storage of rows differ, and comments are dropped. */
export const postgresSchema = (schema: string): string =>
  schema
    .replace(/^-- Unlogged.*\nCREATE TABLE/gm, 'CREATE UNLOGGED TABLE')
    .replace(/^ *--.*\n/gm, '')
    .replace(/^\) WITHOUT ROWID;/gm, ');')
    .replace(/\b(TEXT|INTEGER|REAL|BLOB)\b/g, (type) => TYPES[type]!);
