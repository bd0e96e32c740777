/** Derives the schema for PostgreSQL from `schema.sql`. */

const TYPES: Record<string, string> = {
  TEXT: 'text COLLATE "C"',
  INTEGER: 'bigint',
  REAL: 'double precision',
  BLOB: 'bytea',
};

/** Only the types and unlogged tables differ, and comments are dropped. */
export const postgresSchema = (schema: string): string =>
  schema
    .replace(/^-- Unlogged.*\nCREATE TABLE/gm, 'CREATE UNLOGGED TABLE')
    .replace(/^ *--.*\n/gm, '')
    .replace(/\b(TEXT|INTEGER|REAL|BLOB)\b/g, (type) => TYPES[type]!);
