/** Step 24: assistants that are connected by OAuth. */

export const CONNECTED_ASSISTANTS = `
CREATE TABLE connected_assistants (
  id TEXT NOT NULL PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  livemode INTEGER NOT NULL,
  writes INTEGER NOT NULL,
  resource TEXT NOT NULL,
  code_hash TEXT NOT NULL UNIQUE,
  code_challenge TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_used_at TEXT,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  last_used_at TEXT
);
CREATE INDEX connected_assistants_member ON connected_assistants (member_id);
CREATE INDEX connected_assistants_expiring ON connected_assistants (expires_at);
CREATE TABLE assistant_tokens (
  hash TEXT NOT NULL PRIMARY KEY,
  assistant_id TEXT NOT NULL REFERENCES connected_assistants (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  expires_at TEXT NOT NULL,
  used_at TEXT
);
CREATE INDEX assistant_tokens_assistant ON assistant_tokens (assistant_id);
CREATE INDEX assistant_tokens_expiring ON assistant_tokens (expires_at);
`;
