/** Step 3: what a team with passwords, invitations and outgoing mail needs. */

export const TEAM_AND_MAIL = `
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
