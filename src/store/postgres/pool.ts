/** The connections to PostgreSQL: how many, how long they wait, and how values are read. */

import type { Socket } from 'node:net';
import pg from 'pg';

export interface PoolLimits {
  connections: number;
  /** How long a query waits for a connection: a new one, or a place in the pool. */
  connectMs: number;
  /** How long a statement waits for a lock; 0 for this and the following: without end. */
  lockMs: number;
  /** After that time without a byte from the server, the connection counts as lost. */
  silenceMs: number;
  /** After that time between two statements, the server ends a transaction: its node may have vanished. */
  idleTransactionMs: number;
}

/** One node needs few connections: most transactions take about a millisecond. */
export const SERVICE_LIMITS: PoolLimits = {
  connections: 10,
  connectMs: 5_000,
  lockMs: 5_000,
  silenceMs: 30_000,
  idleTransactionMs: 30_000,
};
/** For a command that copies a database: its transaction waits while the other database works. */
export const UNLIMITED: PoolLimits = {
  ...SERVICE_LIMITS,
  lockMs: 0,
  silenceMs: 0,
  idleTransactionMs: 0,
};
const KEEP_ALIVE_DELAY_MS = 10_000;

interface PoolOptions {
  /** The `application_name` of the connections. */
  name: string;
  limits: PoolLimits;
  /** Runs on each new connection, which is closed if it rejects. */
  verify(client: pg.ClientBase): Promise<void>;
}

export function createPool(url: string, { name, limits, verify }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: name,
    max: limits.connections,
    connectionTimeoutMillis: limits.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    types: { getTypeParser },
    async onConnect(client) {
      limitSilence(client, limits.silenceMs);
      await client.query(sessionSettings(limits));
    },
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

/**
 * Not parameters of the connection, which PgBouncer rejects. There is no `statement_timeout`: with synchronous
 * replication, a commit that it interrupts succeeds although the standby may not have it.
 */
const sessionSettings = ({
  lockMs,
  idleTransactionMs,
}: Pick<PoolLimits, 'lockMs' | 'idleTransactionMs'>): string =>
  `SET lock_timeout = ${lockMs}; SET idle_in_transaction_session_timeout = ${idleTransactionMs}`;

/** Runs `work` without time limits: migrations wait for those of another node, and can take long. */
export async function withPatientConnection<T>(
  pool: pg.Pool,
  limits: PoolLimits,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    limitSilence(client, 0);
    await client.query(sessionSettings({ lockMs: 0, idleTransactionMs: 0 }));
    const result = await work(client);
    limitSilence(client, limits.silenceMs);
    await client.query(sessionSettings(limits));
    // Kept open, so that a command that needs the database for itself sees this node.
    client.release();
    return result;
  } catch (error) {
    // Closed, because it may have no limits.
    client.release(true);
    throw error;
  }
}

/** If the network drops packets, no error arrives. The time limit of `pg` would keep the connection. */
function limitSilence(client: pg.ClientBase, ms: number): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('timeout');
  stream.setTimeout(ms);
  stream.on('timeout', () => stream.destroy());
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
