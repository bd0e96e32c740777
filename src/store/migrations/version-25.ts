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
