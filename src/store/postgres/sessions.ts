/** The connections of this program to a PostgreSQL database, by the name that each gives itself. */

import type { ClientBase } from 'pg';
import { SCHEMA_VERSION } from '../migrations/index.ts';

const PREFIX = 'deliverability/';

/** The `application_name` of a service and of most commands: the schema version that the program knows. */
export const SERVICE_SESSION = `${PREFIX}${SCHEMA_VERSION}`;

/** The `application_name` of a command that needs the database for itself. */
export const EXCLUSIVE_SESSION = 'deliverability-copy';

/** The schema version of the program behind each connection, except this one. */
export async function runningPrograms(client: Pick<ClientBase, 'query'>): Promise<number[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE $1`,
    [`${PREFIX}%`],
  );
  return rows.map(({ name }) => Number(name.slice(PREFIX.length)));
}
