/** Step 6: domains, monitors with their runs, and rules with their incidents. */

export const WATCHING = `
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
