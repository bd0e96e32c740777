/** Step 22: claims of sending services, and indexes for tenants, for addresses without a source, and for reports with sums of rows. */

/** The rows that count with the customer who signed them from now on, as in `feedback/sources/tenants.ts`. */
const OF_TENANTS = `r.counted = 1 AND r.outcome = 'fail' AND r.dkim_result = 'pass' AND r.address IS NOT NULL
  AND (r.dkim_domain LIKE '%.onmicrosoft.com' OR r.dkim_domain LIKE '%.gappssmtp.com')`;

const FORWARDED = ['"type":"forwarded"', '"type":"mailing_list"', '"type":"trusted_forwarder"']
  .concat('arc=pass')
  .map((text) => `r.reasons LIKE '%${text}%'`)
  .join(' OR ');

/** None of these messages passes, so the other columns stay. */
const takeOutOf = (table: string, period: string, length: number): string => `
INSERT INTO ${table} (source_id, domain_id, ${period}, messages, passed, dkim, spf, quarantined, rejected, forwarded)
SELECT a.source_id, r.domain_id, substr(r.day, 1, ${length}), -sum(r.count), 0, 0, 0,
  -sum(CASE WHEN r.disposition = 'quarantine' THEN r.count ELSE 0 END),
  -sum(CASE WHEN r.disposition = 'reject' THEN r.count ELSE 0 END),
  -sum(CASE WHEN ${FORWARDED} THEN r.count ELSE 0 END)
FROM dmarc_rows r
INNER JOIN feedback_addresses a ON a.id = r.domain_id || ' ' || r.address
WHERE ${OF_TENANTS} AND a.source_id IS NOT NULL
GROUP BY 1, 2, 3
ON CONFLICT (domain_id, ${period}, source_id) DO UPDATE SET
  messages = ${table}.messages + excluded.messages,
  quarantined = ${table}.quarantined + excluded.quarantined,
  rejected = ${table}.rejected + excluded.rejected,
  forwarded = ${table}.forwarded + excluded.forwarded;
DELETE FROM ${table} WHERE messages <= 0;
`;

/** Otherwise, a report from before that is removed would be taken out of sums that do not include it. */
const MOVE_TENANTS = `
${takeOutOf('feedback_source_days', 'day', 10)}
${takeOutOf('feedback_source_months', 'month', 7)}
INSERT INTO feedback_addresses (id, domain_id, address, first_day, last_day, messages, passed, look_up_at)
SELECT r.domain_id || ' ' || r.address, r.domain_id, r.address, min(r.day), max(r.day), -sum(r.count), 0, min(r.day)
FROM dmarc_rows r
WHERE ${OF_TENANTS}
GROUP BY r.domain_id, r.address
ON CONFLICT (id) DO UPDATE SET messages = feedback_addresses.messages + excluded.messages;
DELETE FROM feedback_addresses WHERE messages <= 0
  AND id IN (SELECT r.domain_id || ' ' || r.address FROM dmarc_rows r WHERE ${OF_TENANTS});
INSERT INTO feedback_addresses (id, domain_id, address, first_day, last_day, messages, passed, look_up_at)
SELECT r.domain_id || ' ' || r.dkim_domain, r.domain_id, r.dkim_domain, min(r.day), max(r.day), sum(r.count), 0, min(r.day)
FROM dmarc_rows r
WHERE ${OF_TENANTS}
GROUP BY r.domain_id, r.dkim_domain;
`;

export const CLAIMS = `
ALTER TABLE feedback_sources ADD COLUMN claim TEXT;
DROP INDEX feedback_addresses_source;
CREATE INDEX feedback_addresses_source ON feedback_addresses (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX feedback_reports_folded ON feedback_reports (domain_id, type, status, period_to, period_from)
  WHERE content LIKE '%"folded_messages":%' AND content NOT LIKE '%"folded_messages":0%';
CREATE INDEX feedback_addresses_unnamed ON feedback_addresses (domain_id, messages) WHERE source_id IS NULL;
CREATE INDEX dmarc_rows_signer ON dmarc_rows (domain_id, dkim_domain, day)
  WHERE counted = 1 AND outcome = 'fail' AND dkim_result = 'pass';
${MOVE_TENANTS}`;
