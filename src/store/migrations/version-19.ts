/** Step 19: reminders of open incidents, references to posted messages, and changes of records at name servers. */

import type { Column } from './version-15.ts';

/** What a notification says: the program declares it. */
export const NEWS: Column[] = [['alert_notifications', 'news']];

export const REMINDERS_AND_REFERENCES = `
ALTER TABLE alerts ADD COLUMN reminder_hours INTEGER;
ALTER TABLE alert_incidents ADD COLUMN next_reminder_at TEXT;
CREATE INDEX alert_incidents_reminders ON alert_incidents (next_reminder_at)
  WHERE next_reminder_at IS NOT NULL;
ALTER TABLE alert_notifications ADD COLUMN reference TEXT;
ALTER TABLE alert_notifications ADD COLUMN post TEXT;
`;

export const DNS_CHANGES = `
CREATE TABLE dns_servers (
  id         TEXT NOT NULL PRIMARY KEY,
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  settings   TEXT NOT NULL,
  secrets    TEXT NOT NULL,
  zones      TEXT NOT NULL,
  created_at TEXT NOT NULL,
  checked_at TEXT,
  problem    TEXT
);

CREATE TABLE dns_changes (
  id           TEXT NOT NULL PRIMARY KEY,
  server_id    TEXT NOT NULL,
  domain_id    TEXT,
  zone         TEXT NOT NULL,
  name         TEXT NOT NULL,
  type         TEXT NOT NULL,
  before       TEXT NOT NULL,
  after        TEXT NOT NULL,
  reason       TEXT NOT NULL,
  status       TEXT NOT NULL CHECK (status IN ('applying', 'applied', 'failed', 'unknown', 'undone')),
  error        TEXT,
  undoes       TEXT,
  created_at   TEXT NOT NULL,
  finished_at  TEXT,
  leased_until TEXT
);
CREATE INDEX dns_changes_domain ON dns_changes (domain_id, id);
CREATE UNIQUE INDEX dns_changes_applying ON dns_changes (server_id, name, type)
  WHERE status = 'applying';
`;
