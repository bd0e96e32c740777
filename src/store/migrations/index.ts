/** The numbered steps that upgrade an older database to the current schema. */

import type { Database as Sqlite } from 'better-sqlite3';
import { withPostgresTypes } from '../postgres/types.ts';
import { LOOKS } from './version-20.ts';
import { REPORTERS } from './version-21.ts';
import { CLAIMS } from './version-22.ts';
import { REPORT_MAILBOXES } from './version-23.ts';
import { ACCESS_AND_FILES } from './version-24.ts';
import { DOMAIN_DIGESTS, DOMAIN_TAGS, LIMITED_TO_TAGS, LIMITS } from './version-25.ts';

export interface Migration {
  /** The version that the schema has after this step. */
  version: number;
  /** Runs in the same transaction as the other steps. */
  sqlite(sqlite: Sqlite): void;
  /** The statements for PostgreSQL, in the same transaction as the other steps. */
  postgres: string;
  /**
   * Whether programs of the previous version keep working after this step, so that nodes can be upgraded
   * one by one. They must find every column as before, and a new column must be nullable or have a
   * default (`test/store/side-by-side.test.ts`).
   */
  sideBySide?: boolean;
}

/** The oldest schema that this program upgrades. */
export const FIRST_VERSION = 19;

/** The last commit with that schema. It upgrades all older databases. */
export const LAST_COMMIT_OF_FIRST_VERSION = '7b09e38f';

/** In order, without gaps, from `FIRST_VERSION` on. */
export const MIGRATIONS: Migration[] = [
  {
    // Hourly looks. A domain that an older program verifies is looked at after its next health check.
    version: 20,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(LOOKS);
    },
    postgres: withPostgresTypes(LOOKS),
  },
  {
    // Reporters are who their mail authenticates. What older programs count meanwhile is attributed afterwards.
    version: 21,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(REPORTERS);
    },
    postgres: withPostgresTypes(REPORTERS),
  },
  {
    // Claims and tenants of sending services. Sources that older versions add have no claim until the next lookup, and what older
    // versions count stays with the address.
    version: 22,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(CLAIMS);
    },
    postgres: withPostgresTypes(CLAIMS),
  },
  {
    // Report mailboxes. Until they stop, older versions verify imported messages by DKIM alone.
    version: 23,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(REPORT_MAILBOXES);
    },
    postgres: withPostgresTypes(REPORT_MAILBOXES),
  },
  {
    // Older versions sign in by address alone and keep the links, refuse the tokens of assistants, and answer 404 at the hosts of files.
    // Sign-ins at receivers with an older version count from when their token was last replaced.
    version: 24,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(ACCESS_AND_FILES);
    },
    postgres: withPostgresTypes(ACCESS_AND_FILES),
  },
  {
    // Older versions leave tags as they are, and do not know limits: a limited member would see everything there.
    version: 25,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(DOMAIN_TAGS + LIMITS + LIMITED_TO_TAGS + DOMAIN_DIGESTS);
    },
    postgres: withPostgresTypes(DOMAIN_TAGS + LIMITS + LIMITED_TO_TAGS + DOMAIN_DIGESTS),
  },
];

/** The version of `schema.sql`. */
export const SCHEMA_VERSION = 25;
