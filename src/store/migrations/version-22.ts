/** Step 22: claims of sending services, and indexes for tenants and for addresses without a source. */

export const CLAIMS = `
ALTER TABLE feedback_sources ADD COLUMN claim TEXT;
DROP INDEX feedback_addresses_source;
CREATE INDEX feedback_addresses_source ON feedback_addresses (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX feedback_addresses_unnamed ON feedback_addresses (domain_id, messages) WHERE source_id IS NULL;
CREATE INDEX dmarc_rows_signer ON dmarc_rows (domain_id, dkim_domain, day)
  WHERE counted = 1 AND outcome = 'fail' AND dkim_result = 'pass';
`;
