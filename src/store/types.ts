/** The types of an open database. */

import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.generated.ts';

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

export type Engine = 'sqlite' | 'postgres';

/**
 * What opening does with the schema: create or upgrade it; create it, but refuse an older one; or change
 * nothing and refuse every other version.
 */
export type SchemaMode = 'upgrade' | 'create' | 'require';

export interface Store {
  db: Db;
  engine: Engine;
  migration: MigrationResult;
  /** Messages between the nodes of a PostgreSQL database; null on SQLite. */
  hints: Hints | null;
  /** Closes all connections. SQLite: checkpoints the WAL first. */
  close(): Promise<void>;
}

/** Short messages to all nodes that listen, this one too. They arrive within milliseconds or never. */
export interface Hints {
  /** Not in a transaction: PostgreSQL would hold a lock of the whole database at its commit. */
  send(text: string): Promise<void>;
  /**
   * Calls `onConnect` whenever messages may have been missed. Returns a function that ends the connection. Other
   * nodes see `node` as the name of this one.
   */
  listen(node: string, onHint: (text: string) => void, onConnect: () => void): () => Promise<void>;
}

export interface MigrationResult {
  from: number;
  to: number;
  /** The path of the backup made before the first step; null if there were no steps, or on PostgreSQL. */
  backup: string | null;
}
