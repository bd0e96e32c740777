/** Step 14: feedback, which is what receivers report about the mail of the domains. */

export const FEEDBACK = `
CREATE TABLE feedback_domains (
  id           TEXT NOT NULL PRIMARY KEY,
  token        TEXT NOT NULL UNIQUE,
  records      TEXT,
  lookup_at    TEXT NOT NULL,
  first_at     TEXT,
  last_at      TEXT,
  stopped_at   TEXT,
  lease        TEXT,
  leased_until TEXT
);
CREATE INDEX feedback_domains_lookup ON feedback_domains (lookup_at);
CREATE TABLE feedback_mails (
  id           TEXT NOT NULL PRIMARY KEY,
  domain_id    TEXT,
  source       TEXT NOT NULL,
  suffix       TEXT,
  size         INTEGER NOT NULL,
  envelope     TEXT,
  received_at  TEXT NOT NULL,
  due_at       TEXT,
  attempts     INTEGER NOT NULL,
  lease        TEXT,
  leased_until TEXT
);
CREATE INDEX feedback_mails_due ON feedback_mails (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX feedback_mails_received ON feedback_mails (received_at);
CREATE TABLE feedback_reporters (
  id       TEXT NOT NULL PRIMARY KEY,
  name     TEXT NOT NULL UNIQUE,
  trusted  INTEGER NOT NULL,
  first_at TEXT NOT NULL,
  last_at  TEXT NOT NULL,
  reports  INTEGER NOT NULL,
  counted  INTEGER NOT NULL
);
CREATE TABLE feedback_reports (
  id           TEXT NOT NULL PRIMARY KEY,
  mail_id      TEXT NOT NULL,
  position     INTEGER NOT NULL,
  type         TEXT,
  status       TEXT NOT NULL,
  reason       TEXT,
  detail       TEXT,
  identity     TEXT,
  figures      TEXT,
  original_id  TEXT,
  reporter_id  TEXT,
  domain_id    TEXT,
  policy_domain TEXT,
  period_from  TEXT,
  period_to    TEXT,
  messages     INTEGER NOT NULL,
  passed       INTEGER NOT NULL,
  failed       INTEGER NOT NULL,
  verified     INTEGER,
  source       TEXT NOT NULL,
  suffix       TEXT,
  repaired     TEXT NOT NULL,
  content      TEXT NOT NULL,
  row_count    INTEGER NOT NULL,
  stored_rows  INTEGER NOT NULL,
  counted_rows INTEGER NOT NULL,
  received_at  TEXT NOT NULL
);
CREATE UNIQUE INDEX feedback_reports_mail ON feedback_reports (mail_id, position);
CREATE UNIQUE INDEX feedback_reports_counted ON feedback_reports (identity) WHERE status = 'counted';
CREATE INDEX feedback_reports_identity ON feedback_reports (identity) WHERE identity IS NOT NULL;
CREATE INDEX feedback_reports_domain ON feedback_reports
  (domain_id, type, status, period_to, period_from, reporter_id, messages);
CREATE INDEX feedback_reports_reporter ON feedback_reports (reporter_id, status, id);
CREATE INDEX feedback_reports_status ON feedback_reports (status, id);
CREATE INDEX feedback_reports_received ON feedback_reports (received_at);
CREATE INDEX feedback_reports_unfinished ON feedback_reports (id)
  WHERE status = 'counted' AND counted_rows < row_count;
CREATE TABLE dmarc_rows (
  report_id     TEXT NOT NULL,
  position      INTEGER NOT NULL,
  domain_id     TEXT NOT NULL,
  day           TEXT NOT NULL,
  address       TEXT,
  count         INTEGER NOT NULL,
  outcome       TEXT NOT NULL,
  dkim          TEXT NOT NULL,
  spf           TEXT NOT NULL,
  disposition   TEXT NOT NULL,
  header_from   TEXT,
  envelope_from TEXT,
  envelope_to   TEXT,
  dkim_domain   TEXT,
  dkim_selector TEXT,
  dkim_result   TEXT,
  spf_domain    TEXT,
  spf_result    TEXT,
  results       TEXT,
  reasons       TEXT,
  counted       INTEGER NOT NULL,
  PRIMARY KEY (report_id, position)
) WITHOUT ROWID;
CREATE INDEX dmarc_rows_address ON dmarc_rows (domain_id, address, day) WHERE counted = 1;
CREATE TABLE dmarc_days (
  domain_id   TEXT NOT NULL,
  day         TEXT NOT NULL,
  messages    INTEGER NOT NULL,
  passed      INTEGER NOT NULL,
  failed      INTEGER NOT NULL,
  none        INTEGER NOT NULL,
  quarantined INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,
  overridden  INTEGER NOT NULL,
  PRIMARY KEY (domain_id, day)
);
CREATE TABLE feedback_addresses (
  id           TEXT NOT NULL PRIMARY KEY,
  domain_id    TEXT NOT NULL,
  address      TEXT NOT NULL,
  first_day    TEXT NOT NULL,
  last_day     TEXT NOT NULL,
  messages     INTEGER NOT NULL,
  passed       INTEGER NOT NULL,
  source_id    TEXT,
  host         TEXT,
  look_up_at   TEXT NOT NULL,
  lease        TEXT,
  leased_until TEXT
);
CREATE INDEX feedback_addresses_due ON feedback_addresses (look_up_at);
CREATE INDEX feedback_addresses_source ON feedback_addresses (source_id);
CREATE INDEX feedback_addresses_domain ON feedback_addresses (domain_id);
CREATE TABLE feedback_sources (
  id        TEXT NOT NULL PRIMARY KEY,
  domain_id TEXT NOT NULL,
  key       TEXT NOT NULL,
  name      TEXT NOT NULL,
  evidence  TEXT NOT NULL,
  mark      TEXT,
  label     TEXT,
  UNIQUE (domain_id, key)
);
CREATE TABLE feedback_source_days (
  source_id   TEXT NOT NULL,
  domain_id   TEXT NOT NULL,
  day         TEXT NOT NULL,
  messages    INTEGER NOT NULL,
  passed      INTEGER NOT NULL,
  dkim        INTEGER NOT NULL,
  spf         INTEGER NOT NULL,
  quarantined INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,
  forwarded   INTEGER NOT NULL,
  PRIMARY KEY (domain_id, day, source_id)
) WITHOUT ROWID;
CREATE INDEX feedback_source_days_source ON feedback_source_days (source_id, day);
CREATE TABLE tls_days (
  domain_id TEXT NOT NULL,
  day       TEXT NOT NULL,
  succeeded INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  PRIMARY KEY (domain_id, day)
);
CREATE TABLE tls_failures (
  report_id    TEXT NOT NULL,
  position     INTEGER NOT NULL,
  domain_id    TEXT NOT NULL,
  day          TEXT NOT NULL,
  result_type  TEXT NOT NULL,
  receiving_mx TEXT,
  sending_ip   TEXT,
  reason_code  TEXT,
  sessions     INTEGER NOT NULL,
  PRIMARY KEY (report_id, position)
);
CREATE INDEX tls_failures_domain ON tls_failures (domain_id, day);
CREATE TABLE complaints (
  id               TEXT NOT NULL PRIMARY KEY,
  report_id        TEXT NOT NULL UNIQUE,
  domain_id        TEXT,
  kind             TEXT NOT NULL,
  arrived_at       TEXT,
  received_at      TEXT NOT NULL,
  day              TEXT NOT NULL,
  provider         TEXT NOT NULL,
  address          TEXT,
  from_domain      TEXT,
  subject          TEXT,
  message_id       TEXT,
  recipient_domain TEXT,
  list_id          TEXT,
  feedback_id      TEXT,
  dkim_domain      TEXT
);
CREATE INDEX complaints_domain ON complaints (domain_id, day);
CREATE INDEX complaints_message ON complaints (message_id) WHERE message_id IS NOT NULL;
CREATE TABLE bounces (
  id               TEXT NOT NULL PRIMARY KEY,
  report_id        TEXT NOT NULL,
  position         INTEGER NOT NULL,
  domain_id        TEXT,
  received_at      TEXT NOT NULL,
  day              TEXT NOT NULL,
  class            TEXT NOT NULL,
  action           TEXT NOT NULL,
  status_code      TEXT,
  diagnostic       TEXT,
  remote_server    TEXT,
  reporting_server TEXT,
  provider         TEXT NOT NULL,
  from_domain      TEXT,
  recipient_domain TEXT,
  message_id       TEXT
);
CREATE UNIQUE INDEX bounces_report ON bounces (report_id, position);
CREATE INDEX bounces_domain ON bounces (domain_id, day);
`;
