/** Step 7: counted tests, shared reports, and reports that are sent by e-mail. */

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
