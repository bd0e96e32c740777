/** The numbered steps that upgrade an older database to the current schema. */

import type { Database as Sqlite } from 'better-sqlite3';
import { ALERTS, COUNT_TESTS, MONITORS_AND_DOMAINS, REPORTS } from './version-7.ts';
import { CONDITIONS_IN_POSTGRES, CONDITIONS_IN_SQLITE, PLACEMENT_COLUMNS } from './version-12.ts';
import { INBOXES } from './version-13.ts';
import { FEEDBACK } from './version-14.ts';
import {
  dropVocabulariesInPostgres,
  dropVocabulariesInSqlite,
  SOURCE_STATES,
  VOCABULARIES,
} from './version-15.ts';
import { SUMS_OF_LONG_PERIODS } from './version-16.ts';
import { IMAGES_AND_PREVIEWS } from './version-17.ts';
import { RECEIVERS } from './version-18.ts';
import { DNS_CHANGES, NEWS, REMINDERS_AND_REFERENCES } from './version-19.ts';
import { LOOKS } from './version-20.ts';
import { REPORTERS } from './version-21.ts';

export interface Migration {
  /** The version that the schema has after this step. */
  version: number;
  /** Runs in the same transaction as the other steps. */
  sqlite(sqlite: Sqlite): void;
  /**
   * The statements for PostgreSQL, in the same transaction as the other steps. Required above
   * `FIRST_POSTGRES_VERSION`; no PostgreSQL database is older.
   */
  postgres?: string;
  /**
   * Whether programs of the previous version keep working after this step, so that nodes can be upgraded
   * one by one. They must find every column as before, and a new column must be nullable or have a
   * default (`test/store/side-by-side.test.ts`).
   */
  sideBySide?: boolean;
}

export const FIRST_POSTGRES_VERSION = 8;

const SHARED_STATE = `
ALTER TABLE events ADD COLUMN position INTEGER;
CREATE INDEX events_position ON events (coalesce(position, 0), id);
CREATE TABLE rate_limits (
  name       TEXT NOT NULL PRIMARY KEY,
  slot       INTEGER NOT NULL,
  counts     TEXT NOT NULL,
  allowed    INTEGER NOT NULL,
  capacity   INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX rate_limits_expiring ON rate_limits (expires_at);
CREATE TABLE failed_attempts (
  name           TEXT NOT NULL PRIMARY KEY,
  failed         INTEGER NOT NULL,
  last_failed_at INTEGER NOT NULL
);
CREATE INDEX failed_attempts_expiring ON failed_attempts (last_failed_at);
`;

const PUBLIC_TESTS_AND_TAGS = `
ALTER TABLE members ADD COLUMN time_zone TEXT;
ALTER TABLE members ADD COLUMN date_locale TEXT;
CREATE TABLE test_tags (
  test_id  TEXT NOT NULL REFERENCES tests (id) ON DELETE CASCADE,
  livemode INTEGER NOT NULL,
  tag      TEXT NOT NULL,
  PRIMARY KEY (test_id, tag)
);
CREATE INDEX test_tags_listed ON test_tags (livemode, tag, test_id);
ALTER TABLE tests ADD COLUMN public_hash TEXT;
ALTER TABLE tests ADD COLUMN public_client TEXT
  CHECK ((public_client IS NULL) = (public_hash IS NULL));
CREATE UNIQUE INDEX tests_public_hash ON tests (public_hash) WHERE public_hash IS NOT NULL;
CREATE INDEX tests_public_client ON tests (public_client, created_at) WHERE public_client IS NOT NULL;
CREATE INDEX tests_public_created ON tests (created_at) WHERE public_hash IS NOT NULL;
DROP INDEX tests_from_domain;
DROP INDEX tests_domain;
DROP INDEX tests_listed;
UPDATE tests SET search = substr(search, 1, 600) WHERE length(search) > 600;
CREATE INDEX tests_listed ON tests (livemode, id, search);
DROP INDEX tests_completed;
CREATE INDEX tests_completed ON tests (livemode, completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX audit_log_member ON audit_log (member_id, id);
CREATE INDEX audit_log_action ON audit_log (action, id);
CREATE INDEX audit_log_object ON audit_log (object_id, id);
CREATE INDEX tests_status ON tests (livemode, status, id) WHERE status <> 'completed';
CREATE INDEX tests_from_domain ON tests (livemode, from_domain, id) WHERE from_domain IS NOT NULL;
CREATE INDEX tests_domain ON tests (livemode, domain_id, id) WHERE domain_id IS NOT NULL;
CREATE INDEX tests_score ON tests (livemode, score, id) WHERE score IS NOT NULL;
CREATE INDEX domains_listed ON domains (status, health_status, id, name);
CREATE INDEX monitors_listed ON monitors (status, id);
CREATE INDEX events_domain ON events (substr(data, 8, 30), id) WHERE type >= 'domain.' AND type < 'domain/';
`;

const PLACEMENT = `
ALTER TABLE tests ADD COLUMN placement_status TEXT NOT NULL DEFAULT 'none'
  CHECK (placement_status IN ('none', 'waiting', 'settled'));
ALTER TABLE tests ADD COLUMN placement_samples INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tests ADD COLUMN placement_inbox INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tests ADD COLUMN placement_summary TEXT;
ALTER TABLE tests ADD COLUMN placement TEXT;
CREATE INDEX tests_placement ON tests (id) WHERE placement_status = 'waiting';
CREATE TABLE seed_mailboxes (
  id              TEXT NOT NULL PRIMARY KEY,
  provider        TEXT NOT NULL,
  address         TEXT NOT NULL,
  next_look_at    TEXT,
  last_read_at    TEXT,
  failures        INTEGER NOT NULL DEFAULT 0,
  error           TEXT,
  error_detail    TEXT,
  lease           TEXT,
  leased_until    TEXT
);
CREATE TABLE placements (
  test_id     TEXT NOT NULL REFERENCES tests (id) ON DELETE CASCADE,
  seed        TEXT NOT NULL,
  provider    TEXT NOT NULL,
  address     TEXT NOT NULL,
  placement   TEXT NOT NULL CHECK (placement IN ('inbox', 'promotions', 'social', 'updates', 'forums', 'spam', 'missing', 'pending', 'unknown')),
  matched_by  TEXT CHECK (matched_by IN ('address', 'token', 'message_id', 'probable')),
  folder      TEXT,
  searched    TEXT NOT NULL DEFAULT '[]',
  reasons     TEXT NOT NULL DEFAULT '[]',
  problem     TEXT,
  detail      TEXT,
  arrived_at  TEXT,
  message_key TEXT,
  created_at  TEXT NOT NULL,
  settled_at  TEXT,
  PRIMARY KEY (test_id, seed)
);
CREATE INDEX placements_open ON placements (seed, test_id) WHERE settled_at IS NULL;
CREATE INDEX placements_matched ON placements (seed, created_at) WHERE message_key IS NOT NULL;
`;

const SEED_CREDENTIALS = `
CREATE TABLE seed_credentials (
  id            TEXT NOT NULL PRIMARY KEY,
  configured    TEXT NOT NULL,
  refresh_token TEXT NOT NULL,
  stored_at     TEXT NOT NULL,
  rejected_at   TEXT
);
`;

/** The statements with the column types of PostgreSQL, which has no `WITHOUT ROWID`. */
const withPostgresTypes = (statements: string): string =>
  statements
    .replaceAll('INTEGER', 'bigint')
    .replaceAll('TEXT', 'text COLLATE "C"')
    .replaceAll('BLOB', 'bytea')
    .replaceAll('REAL', 'double precision')
    .replaceAll(') WITHOUT ROWID', ')');

/** In order, without gaps. Version 1 is the first release, created by `schema.sql`. */
export const MIGRATIONS: Migration[] = [
  {
    // The detected mail type of tests, and the verdicts of mailbox providers.
    version: 2,
    sqlite(sqlite) {
      sqlite.exec('ALTER TABLE tests ADD COLUMN judged_kind TEXT');
      sqlite.exec('ALTER TABLE tests ADD COLUMN providers TEXT');
    },
  },
  {
    // Passwords, sessions, invitations, audit log, idempotency keys and outgoing email.
    version: 3,
    sqlite(sqlite) {
      sqlite.exec(TEAM_AND_MAIL);
    },
  },
  {
    // The proof of the secret key, replaced invitation links, and emails that expire.
    version: 4,
    sqlite(sqlite) {
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
    // Webhooks.
    version: 5,
    sqlite(sqlite) {
      sqlite.exec(WEBHOOKS);
    },
  },
  {
    // Domains, monitors and alert rules.
    version: 6,
    sqlite(sqlite) {
      sqlite.exec(DOMAINS_AND_MONITORS);
    },
  },
  {
    // Test counts, shared links, and scheduled reports.
    version: 7,
    sqlite(sqlite) {
      sqlite.exec(REPORTS);
      sqlite.exec(ALERTS);
      sqlite.exec(MONITORS_AND_DOMAINS);
      sqlite.exec(COUNT_TESTS);
    },
  },
  {
    // The mode of webhook endpoints, resends of deliveries that wait, and summaries of exact periods.
    version: 8,
    sqlite(sqlite) {
      sqlite.exec('ALTER TABLE webhook_endpoints ADD COLUMN livemode INTEGER NOT NULL DEFAULT 1');
      sqlite.exec('ALTER TABLE webhook_deliveries ADD COLUMN resumes_at TEXT');
      sqlite.exec(
        'CREATE INDEX tests_completed ON tests (completed_at) WHERE completed_at IS NOT NULL',
      );
    },
  },
  {
    // The order of events, rate limits, and failed attempts of several nodes.
    version: 9,
    sqlite(sqlite) {
      sqlite.exec(SHARED_STATE);
    },
    postgres: withPostgresTypes(SHARED_STATE).replaceAll('CREATE TABLE', 'CREATE UNLOGGED TABLE'),
  },
  {
    // How members see dates, tags of tests, public tests, and indexes for filtered lists.
    version: 10,
    sqlite(sqlite) {
      sqlite.exec(PUBLIC_TESTS_AND_TAGS);
    },
    postgres: withPostgresTypes(PUBLIC_TESTS_AND_TAGS),
    sideBySide: true,
  },
  {
    // Placement in seed mailboxes.
    version: 11,
    sqlite(sqlite) {
      sqlite.exec(PLACEMENT);
    },
    postgres: withPostgresTypes(PLACEMENT),
    sideBySide: true,
  },
  {
    // Placement by provider, placement monitors, alerts about placement and seed mailboxes, and sign-ins with OAuth 2
    // to them. Older programs don't know the conditions of these alerts.
    version: 12,
    sqlite(sqlite) {
      sqlite.exec(PLACEMENT_COLUMNS);
      sqlite.exec(CONDITIONS_IN_SQLITE);
      sqlite.exec(SEED_CREDENTIALS);
    },
    postgres: `${withPostgresTypes(PLACEMENT_COLUMNS)}${CONDITIONS_IN_POSTGRES}${withPostgresTypes(SEED_CREDENTIALS)}`,
  },
  {
    // Inboxes. Older programs would reject their messages for good.
    version: 13,
    sqlite(sqlite) {
      sqlite.exec(INBOXES);
    },
    postgres: withPostgresTypes(INBOXES),
  },
  {
    // Feedback: new tables only.
    version: 14,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(FEEDBACK);
    },
    postgres: withPostgresTypes(FEEDBACK),
  },
  {
    // Conditions, channels and monitor types are checked by the program. Older programs fail on new ones.
    version: 15,
    sqlite(sqlite) {
      dropVocabulariesInSqlite(sqlite, VOCABULARIES);
      sqlite.exec(SOURCE_STATES);
    },
    postgres: `${dropVocabulariesInPostgres(VOCABULARIES)}${withPostgresTypes(SOURCE_STATES)}`,
  },
  {
    // Sums of sources by month, and of complaints and bounces. Older programs would not keep them.
    version: 16,
    sqlite(sqlite) {
      sqlite.exec(SUMS_OF_LONG_PERIODS);
    },
    postgres: withPostgresTypes(SUMS_OF_LONG_PERIODS),
  },
  {
    // Images of tests, and whether shared links show messages. Older programs show none, and load no images.
    version: 17,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(IMAGES_AND_PREVIEWS);
    },
    postgres: withPostgresTypes(IMAGES_AND_PREVIEWS),
  },
  {
    // What Google and Microsoft publish: new tables only.
    version: 18,
    sideBySide: true,
    sqlite(sqlite) {
      sqlite.exec(RECEIVERS);
    },
    postgres: withPostgresTypes(RECEIVERS),
  },
  {
    // Reminders, further channels, and changes of DNS records. Older programs would give up posts to channels that they
    // do not know.
    version: 19,
    sqlite(sqlite) {
      dropVocabulariesInSqlite(sqlite, NEWS);
      sqlite.exec(REMINDERS_AND_REFERENCES);
      sqlite.exec(DNS_CHANGES);
    },
    postgres: `${dropVocabulariesInPostgres(NEWS)}${withPostgresTypes(REMINDERS_AND_REFERENCES)}${withPostgresTypes(DNS_CHANGES)}`,
  },
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
];

/** The version of `schema.sql`. */
export const SCHEMA_VERSION = 21;

// Step 3: teams with passwords and invitations, and outgoing email.

const TEAM_AND_MAIL = `
ALTER TABLE members ADD COLUMN password_hash TEXT;
CREATE TABLE sessions (
  id           TEXT NOT NULL PRIMARY KEY,
  member_id    TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  hash         TEXT NOT NULL UNIQUE,
  created_at   TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  expires_at   TEXT NOT NULL,
  ip           TEXT,
  user_agent   TEXT
);
CREATE INDEX sessions_member ON sessions (member_id);
CREATE INDEX sessions_expiring ON sessions (expires_at);
CREATE TABLE invitations (
  id          TEXT NOT NULL PRIMARY KEY,
  email       TEXT NOT NULL,
  role        TEXT NOT NULL CHECK (role IN ('admin', 'member', 'viewer')),
  hash        TEXT NOT NULL UNIQUE,
  invited_by  TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  expires_at  TEXT NOT NULL,
  accepted_at TEXT,
  revoked_at  TEXT,
  mail_id     TEXT
);
CREATE UNIQUE INDEX invitations_open ON invitations (email)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE TABLE password_links (
  hash       TEXT NOT NULL PRIMARY KEY,
  member_id  TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  used_at    TEXT
);
CREATE INDEX password_links_member ON password_links (member_id);
CREATE TABLE audit_log (
  id           TEXT NOT NULL PRIMARY KEY,
  created_at   TEXT NOT NULL,
  member_id    TEXT,
  member_email TEXT,
  key_id       TEXT,
  session_id   TEXT,
  ip           TEXT,
  action       TEXT NOT NULL,
  object_type  TEXT NOT NULL,
  object_id    TEXT NOT NULL,
  details      TEXT NOT NULL
);
CREATE INDEX audit_log_created ON audit_log (created_at);
CREATE TABLE idempotency_keys (
  caller       TEXT NOT NULL,
  key          TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  status       INTEGER,
  response     TEXT,
  PRIMARY KEY (caller, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
CREATE TABLE outbox (
  id           TEXT NOT NULL PRIMARY KEY,
  created_at   TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  content      TEXT,
  status       TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed')),
  attempts     INTEGER NOT NULL DEFAULT 0,
  due_at       TEXT,
  lease        TEXT,
  leased_until TEXT,
  sent_at      TEXT,
  error        TEXT
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_created ON outbox (created_at);
`;

// Step 5: webhook endpoints, deliveries and attempts.

const WEBHOOKS = `
CREATE TABLE webhook_endpoints (
  id                  TEXT NOT NULL PRIMARY KEY,
  url                 TEXT NOT NULL,
  events              TEXT NOT NULL,
  description         TEXT,
  enabled             INTEGER NOT NULL,
  secret              TEXT NOT NULL,
  former_secret       TEXT,
  former_secret_until TEXT,
  created_at          TEXT NOT NULL,
  failing_since       TEXT,
  auto_disabled_at    TEXT,
  deleted_at          TEXT
);
CREATE TABLE webhook_deliveries (
  id             TEXT NOT NULL PRIMARY KEY,
  endpoint_id    TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  event_type     TEXT NOT NULL,
  sample         TEXT,
  created_at     TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'held')),
  round_trigger  TEXT NOT NULL CHECK (round_trigger IN ('event', 'test', 'resend', 'recover')),
  round_failures INTEGER NOT NULL DEFAULT 0,
  attempts       INTEGER NOT NULL DEFAULT 0,
  due_at         TEXT,
  lease          TEXT
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (endpoint_id, status, id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);
CREATE TABLE webhook_attempts (
  delivery_id      TEXT NOT NULL,
  number           INTEGER NOT NULL,
  trigger          TEXT NOT NULL,
  started_at       TEXT NOT NULL,
  duration_ms      INTEGER,
  url              TEXT NOT NULL,
  request_headers  TEXT NOT NULL,
  response_status  INTEGER,
  response_headers TEXT,
  response_body    TEXT,
  error            TEXT,
  PRIMARY KEY (delivery_id, number)
);
`;

// Step 6: domains, monitors with runs, and alert rules with incidents.

const DOMAINS_AND_MONITORS = `
CREATE TABLE domains (
  id                TEXT NOT NULL PRIMARY KEY,
  name              TEXT NOT NULL UNIQUE,
  status            TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'failed')),
  token             TEXT NOT NULL,
  created_at        TEXT NOT NULL,
  verified_at       TEXT,
  pending_since     TEXT NOT NULL,
  lookups           INTEGER NOT NULL DEFAULT 0,
  last_checked_at   TEXT,
  last_check_detail TEXT,
  next_check_at     TEXT,
  missing_since     TEXT,
  given_selectors   TEXT NOT NULL,
  learnt_selectors  TEXT NOT NULL,
  badge_enabled     INTEGER NOT NULL DEFAULT 0,
  health_status     TEXT NOT NULL CHECK (health_status IN ('healthy', 'warning', 'critical', 'unknown')),
  health_score      INTEGER,
  health_checks     TEXT NOT NULL,
  health_checked_at TEXT,
  lease             TEXT,
  leased_until      TEXT
);
CREATE INDEX domains_due ON domains (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE TABLE monitors (
  id           TEXT NOT NULL PRIMARY KEY,
  name         TEXT NOT NULL,
  type         TEXT NOT NULL CHECK (type IN ('domain_health', 'blocklist', 'placement')),
  domain_id    TEXT REFERENCES domains (id) ON DELETE CASCADE,
  targets      TEXT,
  token        TEXT UNIQUE,
  frequency    TEXT NOT NULL CHECK (frequency IN ('hourly', 'every_6_hours', 'daily', 'weekly')),
  enabled      INTEGER NOT NULL,
  status       TEXT NOT NULL CHECK (status IN ('ok', 'alerting', 'unknown', 'paused')),
  last_run_at  TEXT,
  next_run_at  TEXT,
  created_at   TEXT NOT NULL,
  lease        TEXT,
  leased_until TEXT
);
CREATE INDEX monitors_due ON monitors (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE TABLE monitor_runs (
  id          TEXT NOT NULL PRIMARY KEY,
  monitor_id  TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  started_at  TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('ok', 'alerting', 'unknown')),
  findings    TEXT NOT NULL,
  changes     TEXT NOT NULL
);
CREATE INDEX monitor_runs_listed ON monitor_runs (monitor_id, id);
CREATE INDEX monitor_runs_started ON monitor_runs (started_at);
CREATE TABLE alerts (
  id                TEXT NOT NULL PRIMARY KEY,
  name              TEXT NOT NULL,
  condition         TEXT NOT NULL CHECK (condition IN ('score_below', 'auth_fail', 'blocklist_hit')),
  threshold         INTEGER,
  channels          TEXT NOT NULL,
  enabled           INTEGER NOT NULL,
  domain_id         TEXT REFERENCES domains (id) ON DELETE CASCADE,
  recipients        TEXT,
  slack_webhook_url TEXT,
  last_triggered_at TEXT,
  created_at        TEXT NOT NULL
);
CREATE TABLE alert_incidents (
  id          TEXT NOT NULL PRIMARY KEY,
  alert_id    TEXT NOT NULL,
  subject     TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
  value       TEXT NOT NULL,
  test_id     TEXT,
  run_id      TEXT,
  opened_at   TEXT NOT NULL,
  resolved_at TEXT,
  resolution  TEXT
);
CREATE UNIQUE INDEX alert_incidents_open ON alert_incidents (alert_id, subject)
  WHERE status = 'open';
CREATE INDEX alert_incidents_listed ON alert_incidents (alert_id, id);
CREATE TABLE alert_notifications (
  id           TEXT NOT NULL PRIMARY KEY,
  incident_id  TEXT,
  alert_id     TEXT NOT NULL,
  news         TEXT NOT NULL CHECK (news IN ('triggered', 'resolved', 'test')),
  channel      TEXT NOT NULL CHECK (channel IN ('email', 'webhook', 'slack')),
  recipient    TEXT,
  status       TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'unconfigured')),
  error        TEXT,
  attempts     INTEGER NOT NULL DEFAULT 0,
  mail_id      TEXT,
  created_at   TEXT NOT NULL,
  due_at       TEXT,
  sent_at      TEXT,
  lease        TEXT,
  leased_until TEXT
);
CREATE INDEX alert_notifications_of ON alert_notifications (incident_id);
CREATE INDEX alert_notifications_due ON alert_notifications (due_at) WHERE due_at IS NOT NULL;
ALTER TABLE tests ADD COLUMN domain_id TEXT;
CREATE INDEX tests_domain ON tests (domain_id, id) WHERE domain_id IS NOT NULL;
`;
