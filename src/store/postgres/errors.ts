/** Recognizes errors of the connection to PostgreSQL, and explains those at start. */

import { databaseLabel } from '../../lib/database-url.ts';
import { errorMessage } from '../../lib/errors.ts';
import { DatabaseReadOnlyError, DatabaseUnavailableError, StoreError } from '../errors.ts';

interface PgError extends Error {
  code?: string;
  syscall?: string;
}

/**
 * SQLSTATE: connection exceptions, too many connections, shutdown, crash, not started yet. 55P03: a lock that another transaction held for too long. 25P03: a transaction
 * that did nothing for too long.
 */
const UNAVAILABLE_STATE = /^(08...|53300|57P0[1-35]|25P03|55P03)$/;
const READ_ONLY_TRANSACTION = '25006';
/** Errors that `pg` reports without a code. */
const UNAVAILABLE_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Client was closed|Query read timeout)/;

export const READ_ONLY_TEXT = 'the database is unavailable: the PostgreSQL server is read-only';

/** A lost or refused connection, or a read-only server, as a DatabaseUnavailableError; any other error unchanged. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code = '', syscall, message } = error as PgError;
  if (code === READ_ONLY_TRANSACTION)
    return new DatabaseReadOnlyError(READ_ONLY_TEXT, { cause: error });
  const isUnavailable =
    UNAVAILABLE_STATE.test(code) ||
    (syscall !== undefined && code !== '') ||
    UNAVAILABLE_MESSAGE.test(message);
  return isUnavailable
    ? new DatabaseUnavailableError(`the database is unavailable: ${reasonOf(error)}`, {
        cause: error,
      })
    : error;
}

/** A StoreError that says what to do. It never contains the password. */
export function startError(url: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const cause = error instanceof DatabaseUnavailableError ? error.cause : error;
  const { code = '' } = (cause ?? {}) as PgError;
  const label = databaseLabel(url);
  const known: Record<string, string> = {
    '28P01': 'wrong user name or password. Check DELIVERABILITY_DATABASE_URL',
    '28000': `${reasonOf(cause)}. Check the user name, and pg_hba.conf on the server`,
    '3D000': 'the database does not exist. Create it with UTF8 encoding, or correct its name',
    '42501': `${reasonOf(cause)}. Grant the user CREATE on the database and its schema`,
    ECONNREFUSED: 'nothing accepts connections there. Check the host and the port',
    ENOENT: 'there is no socket in this folder. Check the host',
    ENOTFOUND: 'the host does not exist. Check its name',
    EAI_AGAIN: 'the name of the host cannot be resolved at the moment',
  };
  return new StoreError(`Could not open the database ${label}: ${known[code] ?? reasonOf(cause)}.`);
}

/** Connections to several addresses fail with an AggregateError, which has no message. */
function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return errorMessage(first).replace(/\.$/, '');
}
