/** Step 7, of what is watched: monitors found by their domain, and since when a selector is known. */

/** What was learnt before is taken as seen when its domain was last looked at. */
export const WATCHING_INDEXES = `
CREATE INDEX monitors_domain ON monitors (domain_id) WHERE domain_id IS NOT NULL;
ALTER TABLE domains DROP COLUMN lookups;
UPDATE domains SET learnt_selectors = (
  SELECT json_group_array(
    json_object('selector', value, 'seen_at', coalesce(health_checked_at, created_at)))
  FROM json_each(learnt_selectors)
);
`;
