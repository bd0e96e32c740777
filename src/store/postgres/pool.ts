/** The connections to PostgreSQL: how many, and how values are read. */

import pg from 'pg';

/** One node needs few: most transactions take about a millisecond. */
const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 5_000;

/** `verify` runs on each new connection, which is closed if it rejects. */
export function createPool(
  url: string,
  name: string,
  verify: (client: pg.ClientBase) => Promise<void>,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: name,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
    verify: (client, done) => {
      verify(client).then(() => done(), done);
    },
  });
  // Without listeners, a restart of PostgreSQL would end the process. The pool replaces idle connections;
  // on a borrowed one, the next query fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

// Values in the same JavaScript types as from SQLite. Booleans are stored as 0 and 1.

const { builtins } = pg.types;
const NUMBERS = new Set<number>([builtins.INT8, builtins.NUMERIC]);

const getTypeParser: pg.CustomTypesConfig['getTypeParser'] = (oid, format) =>
  format !== 'binary' && NUMBERS.has(oid) ? parseNumber : pg.types.getTypeParser(oid, format);

/** A count, a sum or a large integer. Throws for an integer that a number cannot represent exactly. */
export function parseNumber(text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    throw new Error(`The database returned ${text}, which is not a safe number.`);
  return number;
}
