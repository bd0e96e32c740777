/** Step 20: hourly looks at the records of verified domains. */

export const LOOKS = `
ALTER TABLE domains ADD COLUMN next_look_at TEXT;
ALTER TABLE domains ADD COLUMN watched TEXT;
UPDATE domains SET next_look_at = next_check_at WHERE status = 'verified';
CREATE INDEX domains_looks ON domains (next_look_at) WHERE next_look_at IS NOT NULL;
`;
