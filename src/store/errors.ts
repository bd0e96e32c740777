/** Errors of the database as a whole, in the same form for both databases. */

/** A problem with the database at start, or with its file; the message is for people. */
export class StoreError extends Error {}

/**
 * The connection to the database was lost or could not be made, or a lock was not released in time. The
 * message contains no password.
 */
export class DatabaseUnavailableError extends Error {}

/** The PostgreSQL server accepts no writes: it is a standby, or was set to read-only. */
export class DatabaseReadOnlyError extends DatabaseUnavailableError {}

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

/** SQLite: the file cannot be written, for example because its disk was mounted read-only after errors. */
export const isReadOnly = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_READONLY');

/** SQLite: the disk or the file system failed. Nothing of the transaction is in effect. */
export const isDiskError = (error: unknown): boolean =>
  /^SQLITE_(?:IOERR|CANTOPEN)/.test(codeOf(error));

/** Whether the database cannot be used for now, for whatever reason. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof DatabaseUnavailableError ||
  [isLocked, isOutOfSpace, isReadOnly, isDiskError].some((is) => is(error));

/** Whether a unique index or a primary key rejected a row. */
export const isUniqueViolation = (error: unknown): boolean =>
  ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505'].includes(codeOf(error));

/** Whether PostgreSQL rolled the transaction back because of a concurrent one, so it can run again. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));
