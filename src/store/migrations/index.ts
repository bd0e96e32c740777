/** The numbered steps that bring an older database up to the present schema. */

import type { Database as Sqlite } from 'better-sqlite3';
import { ALERTS } from './alerts-kept.ts';
import { COUNT_TESTS } from './count-tests.ts';
import { REPORTS } from './reports.ts';
import { TEAM_AND_MAIL } from './team-and-mail.ts';
import { WATCHING } from './watching.ts';
import { WATCHING_INDEXES } from './watching-indexes.ts';
import { WEBHOOKS } from './webhooks.ts';

export interface Migration {
  /** The `user_version` that the database has after this step. */
  version: number;
  /** What it does, for the log. */
  title: string;
  /** Runs inside one transaction with the others. */
  run(sqlite: Sqlite): void;
}

/** In order, without gaps. Version 1 is the first release: it came from `schema.sql` itself. */
export const MIGRATIONS: Migration[] = [
  {
    version: 2,
    title: 'Tests keep what kind of mail they were judged to be, and the verdicts of providers',
    run(sqlite) {
      sqlite.exec('ALTER TABLE tests ADD COLUMN judged_kind TEXT');
      sqlite.exec('ALTER TABLE tests ADD COLUMN providers TEXT');
    },
  },
  {
    version: 3,
    title: 'Passwords, sessions, invitations, the audit log, idempotency keys and outgoing mail',
    run(sqlite) {
      sqlite.exec(TEAM_AND_MAIL);
    },
  },
  {
    version: 4,
    title: 'The proof of the secret key, links that were replaced, mail that is useful for a time',
    run(sqlite) {
      sqlite.exec(`
        CREATE TABLE service_facts (
          name  TEXT NOT NULL PRIMARY KEY,
          value TEXT NOT NULL
        );
        CREATE TABLE replaced_invitation_links (
          hash          TEXT NOT NULL PRIMARY KEY,
          invitation_id TEXT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
        );
        ALTER TABLE outbox ADD COLUMN useful_until TEXT;
      `);
    },
  },
  {
    version: 5,
    title: 'Webhooks: endpoints, deliveries and attempts',
    run(sqlite) {
      sqlite.exec(WEBHOOKS);
    },
  },
  {
    version: 6,
    title: 'Domains, monitors and alert rules',
    run(sqlite) {
      sqlite.exec(WATCHING);
    },
  },
  {
    version: 7,
    title: 'Counted tests, shared reports, and reports that are sent by e-mail',
    run(sqlite) {
      sqlite.exec(REPORTS);
      sqlite.exec(ALERTS);
      sqlite.exec(WATCHING_INDEXES);
      sqlite.exec(COUNT_TESTS);
    },
  },
];

/** The version that `schema.sql` has. */
export const SCHEMA_VERSION = 7;
