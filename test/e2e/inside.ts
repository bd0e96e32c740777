/** Internal details that clients must not see, and the state that a rejected request must not change. */

import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Db } from '../../src/store/open.ts';
import { tableNames } from '../helpers/stored-bytes.ts';

/** Texts of internal errors; no request contains them. */
export const INSIDE =
  /node_modules|\bat [\w.<>]+ \(|\.tsx?:\d|file:\/\/\/\w+\/\w+\/(src|dist)|SQLITE|SqliteError|no such (table|column)|syntax error|(Type|Range|Reference|Syntax)Error|Cannot (read|convert)|is not (a function|iterable)|\[object Object\]|deliverability-(?!verify=)\w{6}\b|scrypt|"stack":/;

type Row = Record<string, unknown>;

const COUNTERS = ['rate_limits', 'failed_attempts'];

/**
 * The whole database, except for when credentials were last used, and what SQLite's only node counts in memory.
 * In any order, because PostgreSQL moves changed rows.
 */
export async function contentsOf(db: Db): Promise<string> {
  const all: Record<string, string[]> = {};
  for (const name of await tableNames(db)) {
    if (COUNTERS.includes(name)) continue;
    const { rows } = await sql<Row>`select * from ${sql.table(name)}`.execute(db);
    all[name] = rows.map(({ last_used_at: _, ...row }) => JSON.stringify(row)).sort();
  }
  assert.ok('audit_log' in all && 'outbox' in all && 'idempotency_keys' in all);
  return JSON.stringify(all);
}
