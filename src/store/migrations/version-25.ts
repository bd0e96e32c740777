/** Step 25: the tags of domains, and a first look at domains that are not verified. */

export const DOMAIN_TAGS = `
ALTER TABLE domains ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
DROP INDEX domains_listed;
CREATE INDEX domains_listed ON domains (status, health_status, id, name, tags);
UPDATE domains SET next_look_at = created_at WHERE status = 'pending' AND health_checked_at IS NULL;
`;
