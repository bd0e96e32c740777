/** Errors of the database as a whole, in the same form for both databases. */

/** A problem with the database at start, or with its file; the message is for people. */
export class StoreError extends Error {}

/**
 * The connection to the database was lost or could not be made, or a lock was not released in time. The
 * message contains no password.
 */
export class DatabaseUnavailableError extends Error {}

/** The connection was lost during a commit: the changes may be in effect, now or in a moment. */
export class CommitUnknownError extends DatabaseUnavailableError {}

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
};

/** SQLite: the disk is full. PostgreSQL: `disk_full`. */
export const isOutOfSpace = (error: unknown): boolean =>
  ['SQLITE_FULL', '53100'].includes(codeOf(error));

/** Whether another program held SQLite's lock for too long. */
export const isLocked = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** Whether a unique index or a primary key rejected a row. */
export const isUniqueViolation = (error: unknown): boolean =>
  ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505'].includes(codeOf(error));

/** Whether PostgreSQL rolled the transaction back because of a concurrent one, so it can run again. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));
