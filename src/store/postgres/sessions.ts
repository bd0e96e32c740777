/** The connections of this program to a PostgreSQL database, by the name that each gives itself. */

import { sql } from 'kysely';
import type { ClientBase } from 'pg';
import { SCHEMA_VERSION } from '../migrations/index.ts';
import type { Db } from '../types.ts';

const PREFIX = 'deliverability/';

/** The `application_name` of a service and of most commands: the schema version that the program knows. */
export const SERVICE_SESSION = `${PREFIX}${SCHEMA_VERSION}`;

/** The `application_name` of a command that needs the database for itself. */
export const EXCLUSIVE_SESSION = 'deliverability-copy';

const LISTENER_PREFIX = 'deliverability wake-ups ';
/** PostgreSQL cuts longer names. */
const MAX_NAME_BYTES = 63;

/** The `application_name` of the connection on which a node waits for hints. */
export const listenerSession = (node: string): string =>
  `${LISTENER_PREFIX}${node}`.slice(0, MAX_NAME_BYTES);

/** The names of the nodes other than this one that wait for hints, in alphabetical order. Long names are cut. */
export async function otherNodes(db: Db, node: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like ${`${LISTENER_PREFIX}%`}
      and application_name <> ${listenerSession(node)}
    order by 1`.execute(db);
  return rows.map(({ name }) => name.slice(LISTENER_PREFIX.length));
}

/** The schema version of the program behind each connection, except this one. */
export async function runningPrograms(client: Pick<ClientBase, 'query'>): Promise<number[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE $1`,
    [`${PREFIX}%`],
  );
  return rows.map(({ name }) => Number(name.slice(PREFIX.length)));
}
