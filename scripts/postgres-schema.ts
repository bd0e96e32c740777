/** The form of `schema.sql` for PostgreSQL. */

const TYPES: Record<string, string> = {
  TEXT: 'text COLLATE "C"',
  INTEGER: 'bigint',
  REAL: 'double precision',
  BLOB: 'bytea',
};

/** Only the types differ; comments are dropped. */
export const postgresSchema = (schema: string): string =>
  schema
    .replace(/^ *--.*\n/gm, '')
    .replace(/\b(TEXT|INTEGER|REAL|BLOB)\b/g, (type) => TYPES[type]!);
