/** A PostgreSQL server for one benchmark, on disk and durable like the SQLite file it is compared with. */

import pg from 'pg';
import { postgresPrograms, startPostgres } from '../../test/helpers/postgres-server.ts';

interface BenchServer {
  /** Creates an empty database and resolves with its URL. */
  create(name: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startBenchServer(): Promise<BenchServer> {
  const programs = postgresPrograms();
  if (programs === null) throw new Error('PostgreSQL is not installed');
  const { url, stop } = await startPostgres(programs, { durable: true });
  return {
    async create(name) {
      const client = new pg.Client({ connectionString: `${url}/postgres` });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return `${url}/${name}`;
    },
    stop: () => stop('SIGINT'),
  };
}

/** The variables of a service that uses this PostgreSQL database; none for SQLite. */
export const databaseVariables = (url: string | undefined): Record<string, string> =>
  url
    ? {
        DELIVERABILITY_DATABASE_URL: url,
        DELIVERABILITY_SECRET_KEY: 'the secret key of all benchmarked nodes',
      }
    : {};
