/** Step 25: the tags of domains, and who is limited to them. A first look at domains that are not verified. */

export const DOMAIN_TAGS = `
ALTER TABLE domains ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
DROP INDEX domains_listed;
CREATE INDEX domains_listed ON domains (status, health_status, id, name, tags);
UPDATE domains SET next_look_at = created_at WHERE status = 'pending' AND health_checked_at IS NULL;
`;

export const LIMITS = `
ALTER TABLE members ADD COLUMN tags TEXT;
ALTER TABLE api_keys ADD COLUMN tags TEXT;
ALTER TABLE connected_assistants ADD COLUMN tags TEXT;
ALTER TABLE invitations ADD COLUMN tags TEXT;
ALTER TABLE tests ADD COLUMN limited_to TEXT;
ALTER TABLE inboxes ADD COLUMN limited_to TEXT;
`;

/** What the table of domains shows: see `schema.sql`. */
export const DOMAIN_DIGESTS = `
CREATE TABLE domain_digests (
  id          TEXT NOT NULL PRIMARY KEY,
  read_at     TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('fail', 'warn', 'unknown', 'pass')),
  cost        INTEGER NOT NULL,
  headline    TEXT NOT NULL,
  since       TEXT,
  step        TEXT,
  step_path   TEXT,
  policy      TEXT CHECK (policy IN ('missing', 'none', 'quarantine', 'reject')),
  sub_policy  TEXT,
  pct         INTEGER,
  messages    INTEGER NOT NULL,
  spf_rate    REAL,
  dkim_rate   REAL,
  dmarc_rate  REAL,
  spam_rate   REAL,
  spam_day    TEXT,
  samples     INTEGER NOT NULL,
  inbox_rate  REAL,
  changed_at  TEXT,
  changed     TEXT
);
`;

/** Older versions find a schedule that is limited to tags without domains, and one for each client without recipients. */
export const LIMITED_TO_TAGS = `
ALTER TABLE alerts ADD COLUMN tags TEXT;
ALTER TABLE shared_reports ADD COLUMN tags TEXT;
ALTER TABLE report_schedules ADD COLUMN tags TEXT;
ALTER TABLE report_schedules ADD COLUMN recipients_by_tag TEXT;
ALTER TABLE report_runs ADD COLUMN tag TEXT NOT NULL DEFAULT '';
DROP INDEX report_runs_slot;
CREATE UNIQUE INDEX report_runs_slot ON report_runs (schedule_id, slot, tag) WHERE slot IS NOT NULL;
CREATE TABLE brand (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  color TEXT,
  logo TEXT
);
`;
