/** The types of an open database. */

import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.generated.ts';

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

export type Engine = 'sqlite' | 'postgres';

export interface Store {
  db: Db;
  engine: Engine;
  migration: MigrationResult;
  /** Closes all connections. SQLite: checkpoints the WAL first. */
  close(): Promise<void>;
}

export interface MigrationResult {
  from: number;
  to: number;
  /** The path of the backup made before the first step; null if there were no steps, or on PostgreSQL. */
  backup: string | null;
}
