/** Step 12: placement by provider, placement monitors, and alerts about placement and seed mailboxes. */

export const PLACEMENT_COLUMNS = `
ALTER TABLE tests ADD COLUMN placement_counts TEXT;
ALTER TABLE tests ADD COLUMN monitor_id TEXT;
CREATE INDEX tests_monitor ON tests (monitor_id, id) WHERE monitor_id IS NOT NULL;
ALTER TABLE test_tallies ADD COLUMN placement_counts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE seed_mailboxes ADD COLUMN failing_since TEXT;
ALTER TABLE placements ADD COLUMN cleaned_at TEXT;
`;

const CONDITIONS =
  "'score_below', 'auth_fail', 'blocklist_hit', 'placement_problem', 'seed_failing'";

/** SQLite cannot change a constraint, so the tables are copied. */
export const CONDITIONS_IN_SQLITE = `
ALTER TABLE alerts RENAME TO former_alerts;
CREATE TABLE alerts (
  id                TEXT NOT NULL PRIMARY KEY,
  name              TEXT NOT NULL,
  condition         TEXT NOT NULL CHECK (condition IN (${CONDITIONS})),
  threshold         INTEGER,
  channels          TEXT NOT NULL,
  enabled           INTEGER NOT NULL,
  domain_id         TEXT REFERENCES domains (id) ON DELETE CASCADE,
  recipients        TEXT,
  slack_webhook_url TEXT,
  last_triggered_at TEXT,
  created_at        TEXT NOT NULL
);
INSERT INTO alerts SELECT * FROM former_alerts;
DROP TABLE former_alerts;
ALTER TABLE alert_incidents RENAME TO former_incidents;
DROP INDEX alert_incidents_open;
DROP INDEX alert_incidents_closing;
DROP INDEX alert_incidents_listed;
DROP INDEX alert_incidents_status;
DROP INDEX alert_incidents_resolved;
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
  resolution  TEXT,
  condition   TEXT NOT NULL CHECK (condition IN (${CONDITIONS})),
  threshold   INTEGER,
  closing_id  TEXT
);
CREATE UNIQUE INDEX alert_incidents_open ON alert_incidents (alert_id, subject)
  WHERE status = 'open' AND closing_id IS NULL;
CREATE INDEX alert_incidents_closing ON alert_incidents (closing_id, id)
  WHERE closing_id IS NOT NULL;
CREATE INDEX alert_incidents_listed ON alert_incidents (alert_id, id);
CREATE INDEX alert_incidents_status ON alert_incidents (status, id);
CREATE INDEX alert_incidents_resolved ON alert_incidents (resolved_at)
  WHERE resolved_at IS NOT NULL;
INSERT INTO alert_incidents SELECT * FROM former_incidents;
DROP TABLE former_incidents;
`;

const replaceCheck = (table: string): string => `
ALTER TABLE ${table} DROP CONSTRAINT ${table}_condition_check;
ALTER TABLE ${table} ADD CONSTRAINT ${table}_condition_check CHECK (condition IN (${CONDITIONS}));
`;

export const CONDITIONS_IN_POSTGRES = `${replaceCheck('alerts')}${replaceCheck('alert_incidents')}`;
