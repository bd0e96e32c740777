/** Step 24: accounts of members at the OpenID Connect provider, and tries of unsubscribe links. */

export const LINKED_ACCOUNTS = `
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
`;
