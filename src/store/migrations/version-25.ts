/** Step 25: tags of domains, what is limited to them, and the brand of the team. */

export const DOMAIN_TAGS = `
ALTER TABLE domains ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
DROP INDEX domains_listed;
CREATE INDEX domains_listed ON domains (status, health_status, id, name, tags);
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
