/**
 * Step 24: how old the access to receivers is, and the files that are served for a domain. Also linked accounts at the OpenID
 * Connect provider, tries of unsubscribe links, and assistants connected by OAuth.
 */

export const ACCESS_AND_FILES = `
ALTER TABLE receivers ADD COLUMN access TEXT;
ALTER TABLE receivers ADD COLUMN access_since TEXT;
ALTER TABLE receivers ADD COLUMN state TEXT;
CREATE TABLE hosted_files (
  domain_id TEXT NOT NULL PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  policy TEXT,
  logo TEXT,
  certificate TEXT
);
ALTER TABLE members ADD COLUMN oidc_issuer TEXT;
ALTER TABLE members ADD COLUMN oidc_subject TEXT;
ALTER TABLE members ADD COLUMN oidc_linked_at TEXT;
CREATE UNIQUE INDEX members_oidc ON members (oidc_issuer, oidc_subject) WHERE oidc_subject IS NOT NULL;
CREATE TABLE unsubscribe_tries (
  test_id TEXT NOT NULL REFERENCES tests (id) ON DELETE CASCADE,
  method TEXT NOT NULL CHECK (method IN ('POST', 'GET')),
  tries INTEGER NOT NULL,
  requested_at TEXT NOT NULL,
  result TEXT,
  PRIMARY KEY (test_id, method)
);
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
