/** Step 13: inboxes, whose messages become tests. */

export const INBOXES = `
ALTER TABLE tests ADD COLUMN inbox_id TEXT;
CREATE INDEX tests_inbox ON tests (inbox_id, id) WHERE inbox_id IS NOT NULL;
CREATE INDEX tests_inbox_recent ON tests (created_at, inbox_id, message_size) WHERE inbox_id IS NOT NULL;
CREATE TABLE inboxes (
  id               TEXT NOT NULL PRIMARY KEY,
  token            TEXT NOT NULL UNIQUE,
  livemode         INTEGER NOT NULL,
  name             TEXT,
  kind             TEXT NOT NULL CHECK (kind IN ('auto', 'marketing', 'transactional')),
  metadata         TEXT NOT NULL,
  tags             TEXT NOT NULL,
  domain_id        TEXT,
  created_at       TEXT NOT NULL,
  last_received_at TEXT
);
CREATE INDEX inboxes_listed ON inboxes (livemode, id);
`;
