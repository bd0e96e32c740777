/** Step 7: test counts, shared links, and scheduled reports. */

export const REPORTS = `
CREATE TABLE test_tallies (
  livemode          INTEGER NOT NULL,
  domain_id         TEXT NOT NULL,
  hour              TEXT NOT NULL,
  tests             INTEGER NOT NULL,
  scored            INTEGER NOT NULL,
  score_sum         INTEGER NOT NULL,
  grade_a           INTEGER NOT NULL,
  grade_b           INTEGER NOT NULL,
  grade_c           INTEGER NOT NULL,
  grade_d           INTEGER NOT NULL,
  grade_f           INTEGER NOT NULL,
  spf_known         INTEGER NOT NULL,
  spf_pass          INTEGER NOT NULL,
  dkim_known        INTEGER NOT NULL,
  dkim_pass         INTEGER NOT NULL,
  dmarc_known       INTEGER NOT NULL,
  dmarc_pass        INTEGER NOT NULL,
  placement_samples INTEGER NOT NULL,
  placement_inbox   INTEGER NOT NULL,
  issues            TEXT NOT NULL,
  PRIMARY KEY (livemode, domain_id, hour)
);
CREATE INDEX test_tallies_hour ON test_tallies (hour);

CREATE TABLE shared_reports (
  id             TEXT NOT NULL PRIMARY KEY,
  livemode       INTEGER NOT NULL,
  title          TEXT,
  token_hash     TEXT NOT NULL UNIQUE,
  token          TEXT NOT NULL,
  created_by     TEXT,
  created_at     TEXT NOT NULL,
  expires_at     TEXT NOT NULL,
  revoked_at     TEXT,
  view_count     INTEGER NOT NULL DEFAULT 0,
  last_viewed_at TEXT
);
CREATE INDEX shared_reports_listed ON shared_reports (livemode, id);
CREATE INDEX shared_reports_expiring ON shared_reports (expires_at);

CREATE TABLE shared_report_tests (
  report_id TEXT NOT NULL REFERENCES shared_reports (id) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  test_id   TEXT NOT NULL,
  PRIMARY KEY (report_id, position)
);
CREATE INDEX shared_report_tests_test ON shared_report_tests (test_id);

CREATE TABLE report_schedules (
  id               TEXT NOT NULL PRIMARY KEY,
  name             TEXT NOT NULL,
  frequency        TEXT NOT NULL CHECK (frequency IN ('daily', 'weekly', 'monthly')),
  recipients       TEXT NOT NULL,
  domains          TEXT,
  include_sections TEXT NOT NULL,
  format           TEXT NOT NULL CHECK (format IN ('html', 'pdf')),
  send_hour        INTEGER NOT NULL,
  timezone         TEXT NOT NULL,
  weekday          TEXT NOT NULL CHECK (weekday IN
    ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')),
  day_of_month     INTEGER NOT NULL,
  enabled          INTEGER NOT NULL,
  next_send_at     TEXT,
  created_at       TEXT NOT NULL,
  lease            TEXT,
  leased_until     TEXT
);
CREATE INDEX report_schedules_due ON report_schedules (next_send_at)
  WHERE next_send_at IS NOT NULL;

CREATE TABLE report_runs (
  id          TEXT NOT NULL PRIMARY KEY,
  schedule_id TEXT NOT NULL REFERENCES report_schedules (id) ON DELETE CASCADE,
  trigger     TEXT NOT NULL CHECK (trigger IN ('schedule', 'manual')),
  slot        TEXT,
  period_from TEXT NOT NULL,
  period_to   TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  error       TEXT
);
CREATE UNIQUE INDEX report_runs_slot ON report_runs (schedule_id, slot) WHERE slot IS NOT NULL;
CREATE INDEX report_runs_listed ON report_runs (schedule_id, id);
CREATE INDEX report_runs_created ON report_runs (created_at);

CREATE TABLE report_copies (
  run_id    TEXT NOT NULL REFERENCES report_runs (id) ON DELETE CASCADE,
  recipient TEXT NOT NULL,
  mail_id   TEXT,
  status    TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'unsubscribed', 'not_configured')),
  error     TEXT,
  sent_at   TEXT,
  PRIMARY KEY (run_id, recipient)
);
CREATE INDEX report_copies_mail ON report_copies (mail_id);

CREATE TABLE report_readers (
  schedule_id TEXT NOT NULL REFERENCES report_schedules (id) ON DELETE CASCADE,
  email       TEXT NOT NULL,
  token_hash  TEXT NOT NULL UNIQUE,
  left_at     TEXT,
  PRIMARY KEY (schedule_id, email)
);
`;

// Step 7, alert rules: each incident keeps its condition, and each notification its outcome.

/** Derives the condition from the value, because the rule of an incident may have been deleted. */
const INCIDENTS = `
ALTER TABLE alert_incidents RENAME TO former_incidents;
DROP INDEX alert_incidents_open;
DROP INDEX alert_incidents_listed;
CREATE TABLE alert_incidents (
  id          TEXT NOT NULL PRIMARY KEY,
  alert_id    TEXT NOT NULL,
  subject     TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
  value       TEXT NOT NULL,
  test_id     TEXT,
  run_id      TEXT,
  opened_at   TEXT NOT NULL,
  resolved_at TEXT,
  resolution  TEXT,
  condition   TEXT NOT NULL CHECK (condition IN ('score_below', 'auth_fail', 'blocklist_hit')),
  threshold   INTEGER,
  closing_id  TEXT
);
CREATE UNIQUE INDEX alert_incidents_open ON alert_incidents (alert_id, subject)
  WHERE status = 'open' AND closing_id IS NULL;
CREATE INDEX alert_incidents_closing ON alert_incidents (closing_id, id)
  WHERE closing_id IS NOT NULL;
CREATE INDEX alert_incidents_listed ON alert_incidents (alert_id, id);
CREATE INDEX alert_incidents_status ON alert_incidents (status, id);
CREATE INDEX alert_incidents_resolved ON alert_incidents (resolved_at)
  WHERE resolved_at IS NOT NULL;
INSERT INTO alert_incidents
SELECT former.id, alert_id, subject, status, value, test_id, run_id, opened_at, resolved_at, resolution,
  CASE WHEN json_extract(value, '$.threshold') IS NOT NULL THEN 'score_below'
    WHEN json_extract(value, '$.lists') IS NOT NULL THEN 'blocklist_hit' ELSE 'auth_fail' END,
  json_extract(value, '$.threshold'), NULL
FROM former_incidents AS former;
DROP TABLE former_incidents;
CREATE TABLE alert_closings (
  id         TEXT NOT NULL PRIMARY KEY,
  resolution TEXT NOT NULL,
  alert      TEXT NOT NULL
);
`;

/** Emails that are no longer in the outbox were shown as sent. */
const NOTIFICATIONS = `
ALTER TABLE alert_notifications RENAME TO former_notifications;
DROP INDEX alert_notifications_of;
DROP INDEX alert_notifications_due;
CREATE TABLE alert_notifications (
  id           TEXT NOT NULL PRIMARY KEY,
  incident_id  TEXT,
  alert_id     TEXT NOT NULL,
  news         TEXT NOT NULL CHECK (news IN ('triggered', 'resolved', 'test')),
  channel      TEXT NOT NULL CHECK (channel IN ('email', 'webhook', 'slack')),
  recipient    TEXT,
  status       TEXT NOT NULL CHECK
    (status IN ('queued', 'sent', 'failed', 'unconfigured', 'suppressed')),
  error        TEXT,
  attempts     INTEGER NOT NULL DEFAULT 0,
  mail_id      TEXT,
  created_at   TEXT NOT NULL,
  due_at       TEXT,
  sent_at      TEXT,
  lease        TEXT,
  leased_until TEXT,
  event_id     TEXT
);
CREATE INDEX alert_notifications_of ON alert_notifications (incident_id);
CREATE INDEX alert_notifications_due ON alert_notifications (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX alert_notifications_mail ON alert_notifications (mail_id) WHERE mail_id IS NOT NULL;
CREATE INDEX alert_notifications_recipient ON alert_notifications (alert_id, recipient, created_at)
  WHERE recipient IS NOT NULL;
CREATE INDEX alert_notifications_held ON alert_notifications (alert_id, recipient)
  WHERE channel = 'email' AND status = 'queued' AND mail_id IS NULL;
CREATE INDEX alert_notifications_carried ON alert_notifications (id)
  WHERE channel = 'webhook' AND status = 'queued';
CREATE INDEX alert_notifications_samples ON alert_notifications (created_at)
  WHERE incident_id IS NULL;
INSERT INTO alert_notifications
SELECT former.id, incident_id, alert_id, news, channel, former.recipient,
  CASE WHEN mail_id IS NULL THEN former.status ELSE coalesce(outbox.status, 'sent') END,
  CASE WHEN mail_id IS NULL THEN former.error
    WHEN outbox.id IS NULL THEN 'the outcome of this email is no longer known' ELSE outbox.error END,
  former.attempts, mail_id, former.created_at, former.due_at,
  coalesce(former.sent_at, outbox.sent_at), former.lease, former.leased_until, NULL
FROM former_notifications AS former LEFT JOIN outbox ON outbox.id = former.mail_id;
DROP TABLE former_notifications;
`;

/** Bulk email is sent after other email; deliveries are looked up by their event. */
const SENDING = `
ALTER TABLE outbox ADD COLUMN bulk INTEGER NOT NULL DEFAULT 0;
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (bulk, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
`;

export const ALERTS = `${INCIDENTS}${NOTIFICATIONS}${SENDING}`;

// Step 7, monitors and domains: the index of monitors by domain, and when each selector was seen.

/** Selectors learned earlier count as seen at the last check of their domain. */
export const MONITORS_AND_DOMAINS = `
CREATE INDEX monitors_domain ON monitors (domain_id) WHERE domain_id IS NOT NULL;
ALTER TABLE domains DROP COLUMN lookups;
UPDATE domains SET learnt_selectors = (
  SELECT json_group_array(
    json_object('selector', value, 'seen_at', coalesce(health_checked_at, created_at)))
  FROM json_each(learnt_selectors)
);
`;

// Step 7: counts the existing tests as `mailtests/tally.ts` counts new ones.

const countWhere = (condition: string) => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

const GRADE_COUNTS = ['A', 'B', 'C', 'D', 'F']
  .map((grade) => countWhere(`grade = '${grade}'`))
  .join(', ');

const AUTHENTICATION_COUNTS = ['spf', 'dkim', 'dmarc']
  .map(
    (name) =>
      `${countWhere(`${name} IS NOT NULL AND ${name} <> 'temperror'`)}, ${countWhere(`${name} = 'pass'`)}`,
  )
  .join(', ');

/**
 * Counts all tests; a job deletes old counts. The checks of a test are by far its largest part, so
 * they are read once, both for its domain and for all tests together. Invalid JSON, which only a manual
 * change can cause, counts as no findings, so that it cannot prevent the service from starting.
 */
export const COUNT_TESTS = `
WITH
completed AS (
  SELECT *, substr(completed_at, 1, 13) || ':00:00.000Z' AS hour
  FROM tests
  WHERE status = 'completed' AND completed_at IS NOT NULL
),
found AS MATERIALIZED (
  SELECT livemode, domain_id, hour, json_extract(entry.value, '$.id') AS issue, count(*) AS tests
  FROM completed,
    json_each(CASE WHEN json_valid(completed.checks) THEN completed.checks ELSE '[]' END) AS entry
  WHERE CASE WHEN entry.type = 'object'
    THEN json_extract(entry.value, '$.status') IN ('fail', 'warn')
      AND json_type(entry.value, '$.id') = 'text'
    ELSE FALSE END
  GROUP BY 1, 2, 3, 4
),
issues AS MATERIALIZED (
  SELECT livemode, domain_id, hour, json_group_object(issue, tests) AS counts
  FROM (
    SELECT livemode, '' AS domain_id, hour, issue, sum(tests) AS tests
    FROM found GROUP BY livemode, hour, issue
    UNION ALL
    SELECT livemode, domain_id, hour, issue, tests FROM found WHERE domain_id IS NOT NULL
  )
  GROUP BY livemode, domain_id, hour
),
counted AS (
  SELECT livemode, '' AS domain_id, hour, score, grade, spf, dkim, dmarc FROM completed
  UNION ALL
  SELECT livemode, domain_id, hour, score, grade, spf, dkim, dmarc FROM completed
  WHERE domain_id IS NOT NULL
)
INSERT INTO test_tallies (livemode, domain_id, hour, tests, scored, score_sum,
  grade_a, grade_b, grade_c, grade_d, grade_f, spf_known, spf_pass, dkim_known, dkim_pass,
  dmarc_known, dmarc_pass, placement_samples, placement_inbox, issues)
SELECT counted.livemode, counted.domain_id, counted.hour, count(*), count(score),
  coalesce(sum(score), 0), ${GRADE_COUNTS}, ${AUTHENTICATION_COUNTS}, 0, 0, coalesce(issues.counts, '{}')
FROM counted
LEFT JOIN issues ON issues.livemode = counted.livemode
  AND issues.domain_id = counted.domain_id AND issues.hour = counted.hour
GROUP BY counted.livemode, counted.domain_id, counted.hour;
`;
