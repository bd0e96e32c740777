/** A PostgreSQL server for one benchmark, on disk and durable like the SQLite file it is compared with. */

import { tmpdir } from 'node:os';
import pg from 'pg';
import { postgresPrograms, startPostgres } from '../../test/helpers/postgres-server.ts';

interface BenchDatabase {
  /** Of an empty database. */
  url: string;
  stop(): Promise<void>;
}

export async function benchDatabase(): Promise<BenchDatabase> {
  const programs = postgresPrograms();
  if (programs === null) throw new Error('PostgreSQL is not installed');
  const { url, stop } = await startPostgres(programs, {
    parent: tmpdir(),
    settings: { fsync: 'on', full_page_writes: 'on' },
  });
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  await client.query('CREATE DATABASE bench');
  await client.end();
  return { url: `${url}/bench`, stop: () => stop('SIGINT') };
}

/** The variables of a service that uses this PostgreSQL database; none for SQLite. */
export const databaseVariables = (url: string | undefined): Record<string, string> =>
  url
    ? {
        DELIVERABILITY_DATABASE_URL: url,
        DELIVERABILITY_SECRET_KEY: 'the secret key of all benchmarked nodes',
      }
    : {};
