-- The whole present schema, from top to bottom. A fresh database runs this file; an older one runs
-- the numbered steps in src/store/migrations/, and a test proves that both end alike.
-- Only column types that SQLite and PostgreSQL share; times are ISO 8601 in UTC, JSON is text.

-- What the service keeps about itself, such as the proof that the secret key is still the same.
CREATE TABLE service_facts (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
);

-- The team. Exactly one owner: never none (the code), never two (the index).
CREATE TABLE members (
  id        TEXT NOT NULL PRIMARY KEY,
  email     TEXT NOT NULL UNIQUE,
  name      TEXT NOT NULL,
  role      TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  joined_at TEXT NOT NULL,
  -- `scrypt$…`; null while none is set: such a member cannot sign in with one.
  password_hash TEXT
);
CREATE UNIQUE INDEX members_one_owner ON members (role) WHERE role = 'owner';

-- Keys are shown once; only their hash is kept, and a clear prefix to tell them apart.
CREATE TABLE api_keys (
  id           TEXT NOT NULL PRIMARY KEY,
  member_id    TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  name         TEXT NOT NULL,
  role         TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  livemode     INTEGER NOT NULL,
  hash         TEXT NOT NULL UNIQUE,
  prefix       TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  expires_at   TEXT,
  revoked_at   TEXT,
  last_used_at TEXT
);
CREATE INDEX api_keys_member ON api_keys (member_id);

-- Signed-in browsers. Only the hash of what the cookie holds is kept.
CREATE TABLE sessions (
  id           TEXT NOT NULL PRIMARY KEY,
  member_id    TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  hash         TEXT NOT NULL UNIQUE,
  created_at   TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  -- The end however much it is used.
  expires_at   TEXT NOT NULL,
  ip           TEXT,
  user_agent   TEXT
);
CREATE INDEX sessions_member ON sessions (member_id);
CREATE INDEX sessions_expiring ON sessions (expires_at);

-- One way in for somebody new. At most one is open for an address.
CREATE TABLE invitations (
  id          TEXT NOT NULL PRIMARY KEY,
  email       TEXT NOT NULL,
  role        TEXT NOT NULL CHECK (role IN ('admin', 'member', 'viewer')),
  hash        TEXT NOT NULL UNIQUE,
  -- The member who invited; no reference: they may leave.
  invited_by  TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  expires_at  TEXT NOT NULL,
  accepted_at TEXT,
  revoked_at  TEXT,
  -- The mail that carries the link; null where outgoing mail is not configured.
  mail_id     TEXT
);
CREATE UNIQUE INDEX invitations_open ON invitations (email)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- Links of invitations that a newer one has replaced: whoever opens one is told so.
CREATE TABLE replaced_invitation_links (
  hash          TEXT NOT NULL PRIMARY KEY,
  invitation_id TEXT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
);

-- Links to set a password, by e-mail or from the `owner` command; each works once.
CREATE TABLE password_links (
  hash       TEXT NOT NULL PRIMARY KEY,
  member_id  TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  used_at    TEXT
);
CREATE INDEX password_links_member ON password_links (member_id);

-- Who did what to which object. Nothing here is ever changed.
CREATE TABLE audit_log (
  id           TEXT NOT NULL PRIMARY KEY,
  created_at   TEXT NOT NULL,
  -- The e-mail address stays readable after the member has left; null for the service itself.
  member_id    TEXT,
  member_email TEXT,
  -- Through which key or session.
  key_id       TEXT,
  session_id   TEXT,
  ip           TEXT,
  -- `member.removed`, `test.deleted`, …
  action       TEXT NOT NULL,
  object_type  TEXT NOT NULL,
  object_id    TEXT NOT NULL,
  -- JSON: what changed; never a secret.
  details      TEXT NOT NULL
);
CREATE INDEX audit_log_created ON audit_log (created_at);

-- Answers to POSTs that carried an Idempotency-Key, for 24 hours.
CREATE TABLE idempotency_keys (
  -- Whose key it is: the API key, the session, or the hash of a link's token.
  caller       TEXT NOT NULL,
  key          TEXT NOT NULL,
  -- Of operation, path, query, mode and body, encrypted: a body may hold a password.
  request_hash TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  -- Null while the request is running.
  status       INTEGER,
  -- Headers and body, encrypted: they may hold a secret that is shown once.
  response     TEXT,
  PRIMARY KEY (caller, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- Mail waiting to be sent, and what became of it.
CREATE TABLE outbox (
  id           TEXT NOT NULL PRIMARY KEY,
  created_at   TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  -- Subject, texts, headers and attachments, encrypted: they hold links. Null once it is over.
  content      TEXT,
  status       TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed')),
  attempts     INTEGER NOT NULL DEFAULT 0,
  due_at       TEXT,
  lease        TEXT,
  leased_until TEXT,
  sent_at      TEXT,
  -- What the server said last, without addresses of links.
  error        TEXT,
  -- When what it says is true no longer, as when its link has run out: it is not sent after that.
  useful_until TEXT,
  -- 1: there may be a lot of its kind, and other mail goes first.
  bulk         INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX outbox_due ON outbox (bulk, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_created ON outbox (created_at);

-- A test: an address that waits for one message, and what was found in it.
CREATE TABLE tests (
  id                TEXT NOT NULL PRIMARY KEY,
  -- The local part of the address, lower case.
  token             TEXT NOT NULL UNIQUE,
  livemode          INTEGER NOT NULL,
  name              TEXT,
  kind              TEXT NOT NULL CHECK (kind IN ('auto', 'marketing', 'transactional')),
  metadata          TEXT NOT NULL,
  status            TEXT NOT NULL CHECK (status IN ('waiting', 'processing', 'completed', 'failed')),
  failure_reason    TEXT CHECK (failure_reason IN ('not_received', 'unreadable', 'analysis_error')),
  created_at        TEXT NOT NULL,
  expires_at        TEXT NOT NULL,
  received_at       TEXT,
  completed_at      TEXT,
  from_address      TEXT,
  from_domain       TEXT,
  subject           TEXT,
  message_size      INTEGER,
  spf               TEXT,
  dkim              TEXT,
  dmarc             TEXT,
  score             INTEGER,
  grade             TEXT,
  summary           TEXT,
  coverage          REAL,
  ruleset           TEXT,
  -- 1 where a submitted message had bare LF throughout and was given CRLF.
  line_ends_converted INTEGER NOT NULL DEFAULT 0,
  -- When the analysis is due; null while none is. Set on a completed test, it is a reanalysis.
  analysis_due_at   TEXT,
  analysis_attempts INTEGER NOT NULL DEFAULT 0,
  -- Who analyses it now, and until when others leave it alone.
  lease             TEXT,
  leased_until      TEXT,
  -- A live share keeps a test beyond the retention time.
  keep_until        TEXT,
  -- Score, grade, ruleset and time of the result before a reanalysis, as JSON.
  previous          TEXT,
  envelope          TEXT,
  categories        TEXT,
  cap               TEXT,
  -- Name and subject in lower case, for the search.
  search            TEXT NOT NULL DEFAULT '',
  -- The checks as the API answers them, as JSON; here, because it is large and lists do not read it.
  checks            TEXT,
  -- Marketing or transactional as it was judged, and the providers' verdicts, as JSON.
  judged_kind       TEXT,
  providers         TEXT,
  -- Of the team's domains, that which is or holds the From domain; no reference: it may be deleted.
  domain_id         TEXT
);
CREATE INDEX tests_listed ON tests (livemode, id);
CREATE INDEX tests_expiring ON tests (expires_at) WHERE status = 'waiting';
CREATE INDEX tests_due ON tests (analysis_due_at) WHERE analysis_due_at IS NOT NULL;
CREATE INDEX tests_from_domain ON tests (from_domain, id);
CREATE INDEX tests_created ON tests (created_at);
CREATE INDEX tests_domain ON tests (domain_id, id) WHERE domain_id IS NOT NULL;

-- Messages as received; those to postmaster belong to no test.
CREATE TABLE messages (
  id          TEXT NOT NULL PRIMARY KEY,
  test_id     TEXT UNIQUE REFERENCES tests (id) ON DELETE CASCADE,
  recipient   TEXT NOT NULL,
  sha256      TEXT NOT NULL,
  size        INTEGER NOT NULL,
  envelope    TEXT NOT NULL,
  received_at TEXT NOT NULL
);
CREATE INDEX messages_received ON messages (received_at);

-- The bytes, in pieces: one large value would stop the process while it is written. Pieces are
-- written before their message, so they refer to nothing; those without one are swept at start.
CREATE TABLE message_chunks (
  message_id TEXT NOT NULL,
  position   INTEGER NOT NULL,
  bytes      BLOB NOT NULL,
  PRIMARY KEY (message_id, position)
);

-- What happened, each written in the transaction of the change that it reports.
CREATE TABLE events (
  id         TEXT NOT NULL PRIMARY KEY,
  type       TEXT NOT NULL,
  livemode   INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  data       TEXT NOT NULL
);
CREATE INDEX events_created ON events (created_at);
CREATE INDEX events_type ON events (type, id);

-- Where events are delivered to.
CREATE TABLE webhook_endpoints (
  id                  TEXT NOT NULL PRIMARY KEY,
  url                 TEXT NOT NULL,
  -- JSON: the types it wants, or `["*"]`.
  events              TEXT NOT NULL,
  description         TEXT,
  enabled             INTEGER NOT NULL,
  -- Encrypted: it is needed for each signature.
  secret              TEXT NOT NULL,
  -- The one before, which signs beside it until then.
  former_secret       TEXT,
  former_secret_until TEXT,
  created_at          TEXT NOT NULL,
  -- When the first attempt failed of those since the last success; null while it works.
  failing_since       TEXT,
  auto_disabled_at    TEXT,
  -- It is gone for everybody; its deliveries are removed piece by piece, and then itself.
  deleted_at          TEXT
);

-- An event on its way to an endpoint, written in the transaction of the event.
CREATE TABLE webhook_deliveries (
  id             TEXT NOT NULL PRIMARY KEY,
  endpoint_id    TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  event_type     TEXT NOT NULL,
  -- The whole event as JSON where it is a sample that reports nothing, and so is not among the events.
  sample         TEXT,
  created_at     TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'held')),
  -- Why it is, or was last, under way. Each begins a round of at most six attempts.
  round_trigger  TEXT NOT NULL CHECK (round_trigger IN ('event', 'test', 'resend', 'recover')),
  round_failures INTEGER NOT NULL DEFAULT 0,
  -- All there ever were, of all rounds.
  attempts       INTEGER NOT NULL DEFAULT 0,
  -- When the next attempt is due; of one under way, when its lease has run out. Null where none is.
  due_at         TEXT,
  -- Set while an attempt is under way.
  lease          TEXT
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (endpoint_id, status, id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);

-- Each written before its call, so that none is made that nobody knows of.
CREATE TABLE webhook_attempts (
  delivery_id      TEXT NOT NULL,
  -- From 1, over all rounds.
  number           INTEGER NOT NULL,
  trigger          TEXT NOT NULL,
  started_at       TEXT NOT NULL,
  -- Null while it is under way, and where it was cut short.
  duration_ms      INTEGER,
  url              TEXT NOT NULL,
  -- JSON; signatures, but no secret.
  request_headers  TEXT NOT NULL,
  response_status  INTEGER,
  -- JSON.
  response_headers TEXT,
  -- Its first 4 KiB.
  response_body    TEXT,
  -- Why it failed; null while it is under way and where it succeeded.
  error            TEXT,
  PRIMARY KEY (delivery_id, number)
);

-- Domains of the team: verified by a TXT record, and looked at every day from then on.
CREATE TABLE domains (
  id                TEXT NOT NULL PRIMARY KEY,
  -- In A-labels, lower case.
  name              TEXT NOT NULL UNIQUE,
  status            TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'failed')),
  -- What the TXT record is to say.
  token             TEXT NOT NULL,
  created_at        TEXT NOT NULL,
  verified_at       TEXT,
  -- When the present search for the record began.
  pending_since     TEXT NOT NULL,
  -- When the last lookup began that is recorded; an older one that ends later is not.
  last_checked_at   TEXT,
  -- What the last lookup came to, in words; null where it found the record.
  last_check_detail TEXT,
  next_check_at     TEXT,
  -- Of a verified one: since when its record has been missing, without a lookup that found it.
  missing_since     TEXT,
  -- JSON arrays: as given; and as seen in received mail, each with when its mail last came.
  given_selectors   TEXT NOT NULL,
  learnt_selectors  TEXT NOT NULL,
  badge_enabled     INTEGER NOT NULL DEFAULT 0,
  health_status     TEXT NOT NULL CHECK (health_status IN ('healthy', 'warning', 'critical', 'unknown')),
  health_score      INTEGER,
  -- JSON, as it is answered.
  health_checks     TEXT NOT NULL,
  -- When the look began.
  health_checked_at TEXT,
  lease             TEXT,
  leased_until      TEXT
);
CREATE INDEX domains_due ON domains (next_check_at) WHERE next_check_at IS NOT NULL;

-- What is looked at again and again.
CREATE TABLE monitors (
  id           TEXT NOT NULL PRIMARY KEY,
  name         TEXT NOT NULL,
  type         TEXT NOT NULL CHECK (type IN ('domain_health', 'blocklist', 'placement')),
  domain_id    TEXT REFERENCES domains (id) ON DELETE CASCADE,
  -- JSON: addresses and names.
  targets      TEXT,
  -- The local part of the permanent address of a placement monitor.
  token        TEXT UNIQUE,
  frequency    TEXT NOT NULL CHECK (frequency IN ('hourly', 'every_6_hours', 'daily', 'weekly')),
  enabled      INTEGER NOT NULL,
  status       TEXT NOT NULL CHECK (status IN ('ok', 'alerting', 'unknown', 'paused')),
  last_run_at  TEXT,
  next_run_at  TEXT,
  created_at   TEXT NOT NULL,
  lease        TEXT,
  leased_until TEXT
);
CREATE INDEX monitors_due ON monitors (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX monitors_domain ON monitors (domain_id) WHERE domain_id IS NOT NULL;

CREATE TABLE monitor_runs (
  id          TEXT NOT NULL PRIMARY KEY,
  monitor_id  TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  started_at  TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('ok', 'alerting', 'unknown')),
  -- JSON: what was found; and what of it is new, gone or not known since the last run that found
  -- out, with whether each target could be looked at.
  findings    TEXT NOT NULL,
  changes     TEXT NOT NULL
);
CREATE INDEX monitor_runs_listed ON monitor_runs (monitor_id, id);
CREATE INDEX monitor_runs_started ON monitor_runs (started_at);

-- Rules: who is told, and by what.
CREATE TABLE alerts (
  id                TEXT NOT NULL PRIMARY KEY,
  name              TEXT NOT NULL,
  condition         TEXT NOT NULL CHECK (condition IN ('score_below', 'auth_fail', 'blocklist_hit')),
  threshold         INTEGER,
  -- JSON.
  channels          TEXT NOT NULL,
  enabled           INTEGER NOT NULL,
  domain_id         TEXT REFERENCES domains (id) ON DELETE CASCADE,
  -- JSON; null: owner and admins.
  recipients        TEXT,
  -- Encrypted: who has it can post there.
  slack_webhook_url TEXT,
  last_triggered_at TEXT,
  created_at        TEXT NOT NULL
);

-- From the first yes of a rule about a subject to the first no.
CREATE TABLE alert_incidents (
  id          TEXT NOT NULL PRIMARY KEY,
  alert_id    TEXT NOT NULL,
  -- The From domain, or what a monitor looks at.
  subject     TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
  -- JSON: the score, the results, or the lists.
  value       TEXT NOT NULL,
  test_id     TEXT,
  run_id      TEXT,
  opened_at   TEXT NOT NULL,
  resolved_at TEXT,
  resolution  TEXT,
  -- Those of the rule when it opened: the rule may ask for something else by now.
  condition   TEXT NOT NULL CHECK (condition IN ('score_below', 'auth_fail', 'blocklist_hit')),
  threshold   INTEGER,
  -- It has come to its end with many others, which are closed piece by piece: it counts no more.
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

-- Why many incidents of a rule end at once, until the last of them is closed.
CREATE TABLE alert_closings (
  id         TEXT NOT NULL PRIMARY KEY,
  resolution TEXT NOT NULL,
  -- JSON: the rule as their events have it.
  alert      TEXT NOT NULL
);

-- What was, or is to be, said of an incident, by each channel.
CREATE TABLE alert_notifications (
  id           TEXT NOT NULL PRIMARY KEY,
  -- Null for the sample of a rule that is tried.
  incident_id  TEXT,
  alert_id     TEXT NOT NULL,
  news         TEXT NOT NULL CHECK (news IN ('triggered', 'resolved', 'test')),
  channel      TEXT NOT NULL CHECK (channel IN ('email', 'webhook', 'slack')),
  -- An e-mail address; null elsewhere.
  recipient    TEXT,
  -- Of a webhook, its deliveries know better while they are kept. `suppressed`: other news say it too.
  status       TEXT NOT NULL CHECK
    (status IN ('queued', 'sent', 'failed', 'unconfigured', 'suppressed')),
  error        TEXT,
  attempts     INTEGER NOT NULL DEFAULT 0,
  -- The mail that carries it; null while it waits for one that tells of many.
  mail_id      TEXT,
  created_at   TEXT NOT NULL,
  due_at       TEXT,
  sent_at      TEXT,
  lease        TEXT,
  leased_until TEXT,
  -- What webhooks carry.
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

-- Completed tests, counted by the hour in which they completed: all together, and those of each domain.
CREATE TABLE test_tallies (
  livemode          INTEGER NOT NULL,
  -- Of the team's domains; '' for all tests together.
  domain_id         TEXT NOT NULL,
  -- When the hour begins.
  hour              TEXT NOT NULL,
  tests             INTEGER NOT NULL,
  -- Those that have a score, and the sum of their scores.
  scored            INTEGER NOT NULL,
  score_sum         INTEGER NOT NULL,
  grade_a           INTEGER NOT NULL,
  grade_b           INTEGER NOT NULL,
  grade_c           INTEGER NOT NULL,
  grade_d           INTEGER NOT NULL,
  grade_f           INTEGER NOT NULL,
  -- Results that are known, and those of them that pass.
  spf_known         INTEGER NOT NULL,
  spf_pass          INTEGER NOT NULL,
  dkim_known        INTEGER NOT NULL,
  dkim_pass         INTEGER NOT NULL,
  dmarc_known       INTEGER NOT NULL,
  dmarc_pass        INTEGER NOT NULL,
  -- Settled seeds, and those of them that had it in the inbox or one of its tabs.
  placement_samples INTEGER NOT NULL,
  placement_inbox   INTEGER NOT NULL,
  -- JSON: how many tests each check found something to put right in, by its id.
  issues            TEXT NOT NULL,
  PRIMARY KEY (livemode, domain_id, hour)
);
CREATE INDEX test_tallies_hour ON test_tallies (hour);

-- Links by which whoever has one reads the reports of some tests.
CREATE TABLE shared_reports (
  id             TEXT NOT NULL PRIMARY KEY,
  livemode       INTEGER NOT NULL,
  title          TEXT,
  token_hash     TEXT NOT NULL UNIQUE,
  -- Encrypted, so that an admin can be shown the link again.
  token          TEXT NOT NULL,
  -- The member who shared; no reference: they may leave.
  created_by     TEXT,
  created_at     TEXT NOT NULL,
  expires_at     TEXT NOT NULL,
  revoked_at     TEXT,
  view_count     INTEGER NOT NULL DEFAULT 0,
  last_viewed_at TEXT
);
CREATE INDEX shared_reports_listed ON shared_reports (livemode, id);
CREATE INDEX shared_reports_expiring ON shared_reports (expires_at);

-- No reference to tests: one that was deleted is said to be gone.
CREATE TABLE shared_report_tests (
  report_id TEXT NOT NULL REFERENCES shared_reports (id) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  test_id   TEXT NOT NULL,
  PRIMARY KEY (report_id, position)
);
CREATE INDEX shared_report_tests_test ON shared_report_tests (test_id);

-- Reports that are sent by e-mail at their times.
CREATE TABLE report_schedules (
  id               TEXT NOT NULL PRIMARY KEY,
  name             TEXT NOT NULL,
  frequency        TEXT NOT NULL CHECK (frequency IN ('daily', 'weekly', 'monthly')),
  -- JSON: addresses; ids of domains, or null for all; sections.
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
  -- Null while it is switched off.
  next_send_at     TEXT,
  created_at       TEXT NOT NULL,
  lease            TEXT,
  leased_until     TEXT
);
CREATE INDEX report_schedules_due ON report_schedules (next_send_at)
  WHERE next_send_at IS NOT NULL;

-- One sending of a schedule: written with the mails that carry it, so that none is made twice.
CREATE TABLE report_runs (
  id          TEXT NOT NULL PRIMARY KEY,
  schedule_id TEXT NOT NULL REFERENCES report_schedules (id) ON DELETE CASCADE,
  trigger     TEXT NOT NULL CHECK (trigger IN ('schedule', 'manual')),
  -- The time of the schedule that it is for; null where somebody asked for it.
  slot        TEXT,
  period_from TEXT NOT NULL,
  period_to   TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  -- Why nothing was sent at all.
  error       TEXT
);
CREATE UNIQUE INDEX report_runs_slot ON report_runs (schedule_id, slot) WHERE slot IS NOT NULL;
CREATE INDEX report_runs_listed ON report_runs (schedule_id, id);
CREATE INDEX report_runs_created ON report_runs (created_at);

-- What became of the copy of each recipient; while it is `queued`, the outbox knows how it goes.
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

-- By whom a schedule is read, and who has left it: they stay away, even where somebody adds them again.
CREATE TABLE report_readers (
  schedule_id TEXT NOT NULL REFERENCES report_schedules (id) ON DELETE CASCADE,
  email       TEXT NOT NULL,
  -- Of the token in the link to leave, which is made out of the secret key anew for each mail.
  token_hash  TEXT NOT NULL UNIQUE,
  left_at     TEXT,
  PRIMARY KEY (schedule_id, email)
);
