/** Step 25: the tags of domains, and who is limited to them. */

export const DOMAIN_TAGS = `
ALTER TABLE domains ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
DROP INDEX domains_listed;
CREATE INDEX domains_listed ON domains (status, health_status, id, name, tags);
`;

export const LIMITS = `
ALTER TABLE members ADD COLUMN tags TEXT;
ALTER TABLE api_keys ADD COLUMN tags TEXT;
ALTER TABLE connected_assistants ADD COLUMN tags TEXT;
ALTER TABLE invitations ADD COLUMN tags TEXT;
ALTER TABLE tests ADD COLUMN limited_to TEXT;
ALTER TABLE inboxes ADD COLUMN limited_to TEXT;
`;
