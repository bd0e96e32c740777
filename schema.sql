-- The complete current schema. A new database runs this file; an older one runs the numbered steps in
-- src/store/migrations/, and a test proves that both produce the same schema. `npm run generate` derives
-- the row types from it, comments included.
-- Only column types that SQLite and PostgreSQL share. Times are ISO 8601 in UTC; JSON is text; booleans
-- are 0 or 1.

-- What the service stores about itself, such as the proof that the secret key has not changed.
CREATE TABLE service_facts (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
);

-- The requests that all nodes on PostgreSQL have counted; empty on SQLite, where memory has them.
-- Unlogged: losing them in a crash of the server is harmless, and no commit waits for the disk.
CREATE TABLE rate_limits (
  -- The name of the limit and the caller.
  name       TEXT NOT NULL PRIMARY KEY,
  -- The number of the latest time slot.
  slot       INTEGER NOT NULL,
  -- The requests in the latest slots, newest first: `2,0,1`.
  counts     TEXT NOT NULL,
  -- How many requests the last statement allowed.
  allowed    INTEGER NOT NULL,
  -- The number of requests in all slots together.
  capacity   INTEGER NOT NULL,
  -- Milliseconds since the epoch; the row means nothing afterwards.
  expires_at INTEGER NOT NULL
);
CREATE INDEX rate_limits_expiring ON rate_limits (expires_at);

-- Failed attempts to sign in, on all nodes on PostgreSQL; empty on SQLite.
-- Unlogged, as above.
CREATE TABLE failed_attempts (
  -- The account, address, or browser, hashed.
  name           TEXT NOT NULL PRIMARY KEY,
  -- With those in progress.
  failed         INTEGER NOT NULL,
  -- Milliseconds since the epoch.
  last_failed_at INTEGER NOT NULL
);
CREATE INDEX failed_attempts_expiring ON failed_attempts (last_failed_at);

-- The team. Exactly one owner: the code ensures at least one, the index at most one.
CREATE TABLE members (
  -- `mem_…`: member
  id        TEXT NOT NULL PRIMARY KEY,
  email     TEXT NOT NULL UNIQUE,
  name      TEXT NOT NULL,
  role      TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  joined_at TEXT NOT NULL,
  -- `scrypt$…`; null until one is set: the member cannot sign in with a password before that.
  password_hash TEXT,
  -- An IANA name; null: the zone of the browser.
  time_zone     TEXT,
  -- A BCP 47 tag; null: the language of the browser.
  date_locale   TEXT,
  -- The linked account at the OpenID Connect provider: `iss` and `sub`.
  oidc_issuer    TEXT,
  oidc_subject   TEXT,
  oidc_linked_at TEXT,
  -- JSON: the tags to whose domains and tests the member is limited; null for everything.
  tags           TEXT
);
CREATE UNIQUE INDEX members_one_owner ON members (role) WHERE role = 'owner';
CREATE UNIQUE INDEX members_oidc ON members (oidc_issuer, oidc_subject) WHERE oidc_subject IS NOT NULL;

-- Keys are shown once; only their hash is stored, with a readable prefix to tell them apart.
CREATE TABLE api_keys (
  -- `key_…`: API key
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
  last_used_at TEXT,
  -- As in `members`, which limits the key too.
  tags         TEXT
);
CREATE INDEX api_keys_member ON api_keys (member_id);

-- Assistants that members have connected by OAuth: one row for each consent.
CREATE TABLE connected_assistants (
  -- `con_…`: connected assistant
  id             TEXT NOT NULL PRIMARY KEY,
  member_id      TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  -- It contains a registration, or is the URL of the client's metadata document.
  client_id      TEXT NOT NULL,
  -- As the client calls itself, and where its codes go.
  name           TEXT NOT NULL,
  host           TEXT NOT NULL,
  role           TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  livemode       INTEGER NOT NULL,
  writes         INTEGER NOT NULL,
  -- The URL for which its tokens are valid.
  resource       TEXT NOT NULL,
  code_hash      TEXT NOT NULL UNIQUE,
  code_challenge TEXT NOT NULL,
  redirect_uri   TEXT NOT NULL,
  code_used_at   TEXT,
  created_at     TEXT NOT NULL,
  -- That of the code, and then of the newest refresh token.
  expires_at     TEXT NOT NULL,
  last_used_at   TEXT,
  -- As in `members`, which limits the assistant too.
  tags           TEXT
);
CREATE INDEX connected_assistants_member ON connected_assistants (member_id);
CREATE INDEX connected_assistants_expiring ON connected_assistants (expires_at);

-- Used refresh tokens are kept until they expire, to detect that one is used again.
CREATE TABLE assistant_tokens (
  hash         TEXT NOT NULL PRIMARY KEY,
  assistant_id TEXT NOT NULL REFERENCES connected_assistants (id) ON DELETE CASCADE,
  kind         TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  expires_at   TEXT NOT NULL,
  used_at      TEXT
);
CREATE INDEX assistant_tokens_assistant ON assistant_tokens (assistant_id);
CREATE INDEX assistant_tokens_expiring ON assistant_tokens (expires_at);

-- Signed-in browsers. Only the hash of the cookie's token is stored.
CREATE TABLE sessions (
  -- `ses_…`: session
  id           TEXT NOT NULL PRIMARY KEY,
  member_id    TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  hash         TEXT NOT NULL UNIQUE,
  created_at   TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  -- The session ends then, however much it is used.
  expires_at   TEXT NOT NULL,
  ip           TEXT,
  user_agent   TEXT
);
CREATE INDEX sessions_member ON sessions (member_id);
CREATE INDEX sessions_expiring ON sessions (expires_at);

-- Invitations to the team. At most one is open for each address.
CREATE TABLE invitations (
  -- `inv_…`: invitation
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
  -- The email with the link; null if outgoing mail is not configured.
  mail_id     TEXT,
  -- Those of the new member, as in `members`.
  tags        TEXT
);
CREATE UNIQUE INDEX invitations_open ON invitations (email)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- Invitation links that a newer one has replaced: a visitor with an old link is told so.
CREATE TABLE replaced_invitation_links (
  hash          TEXT NOT NULL PRIMARY KEY,
  invitation_id TEXT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
);

-- Links to set a password, from an email or the `owner` command; each works once.
CREATE TABLE password_links (
  hash       TEXT NOT NULL PRIMARY KEY,
  member_id  TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  used_at    TEXT
);
CREATE INDEX password_links_member ON password_links (member_id);

-- Who did what to which object. Rows are never changed.
CREATE TABLE audit_log (
  -- `aud_…`: audit entry
  id           TEXT NOT NULL PRIMARY KEY,
  created_at   TEXT NOT NULL,
  -- Null for the service itself.
  member_id    TEXT,
  -- Still readable after the member has left.
  member_email TEXT,
  -- The key or the session that was used.
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
CREATE INDEX audit_log_member ON audit_log (member_id, id);
CREATE INDEX audit_log_action ON audit_log (action, id);
CREATE INDEX audit_log_object ON audit_log (object_id, id);

-- Responses to POST requests with an Idempotency-Key, kept for 24 hours.
CREATE TABLE idempotency_keys (
  -- Whose key it is: the API key, the session, or the hash of a link's token.
  caller       TEXT NOT NULL,
  key          TEXT NOT NULL,
  -- Hash of operation, path, query, mode and body, encrypted because a body may hold a password.
  request_hash TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  -- Null while the request is running.
  status       INTEGER,
  -- Headers and body, encrypted because they may hold a secret that is shown once. The lease of the request while it
  -- is running.
  response     TEXT,
  PRIMARY KEY (caller, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- Emails that the service sends, and their status.
CREATE TABLE outbox (
  -- `mail_…`: mail in the outbox
  id           TEXT NOT NULL PRIMARY KEY,
  created_at   TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  -- Subject, texts, headers and attachments, encrypted because they hold links. Null once sent or failed.
  content      TEXT,
  status       TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed')),
  attempts     INTEGER NOT NULL DEFAULT 0,
  due_at       TEXT,
  lease        TEXT,
  leased_until TEXT,
  sent_at      TEXT,
  -- The mail server's last reply, without URLs.
  error        TEXT,
  -- Not sent after this time, for example because its link has expired.
  useful_until TEXT,
  -- 1 for emails that may be numerous: other emails are sent first.
  bulk         INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX outbox_due ON outbox (bulk, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_created ON outbox (created_at);

-- A test: an address that accepts one message, and the result of its analysis.
CREATE TABLE tests (
  -- `test_…`: test
  id                TEXT NOT NULL PRIMARY KEY,
  -- The local part of the address, lower case.
  token             TEXT NOT NULL UNIQUE,
  -- 1: live. 0: sandbox. 2: public, which is in no list of the team.
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
  -- 1 if a submitted message had only bare LF line ends, which were converted to CRLF.
  line_ends_converted INTEGER NOT NULL DEFAULT 0,
  -- When the analysis is due; null if none is. On a completed test, it is a reanalysis.
  analysis_due_at   TEXT,
  analysis_attempts INTEGER NOT NULL DEFAULT 0,
  -- The worker that analyzes it, and until when no other worker claims it.
  lease             TEXT,
  leased_until      TEXT,
  -- An active share keeps a test beyond the retention time.
  keep_until        TEXT,
  -- JSON: score, grade, ruleset and time of the result before a reanalysis.
  previous          TEXT,
  envelope          TEXT,
  categories        TEXT,
  cap               TEXT,
  -- The beginning of name and subject in lower case, for the search.
  search            TEXT NOT NULL DEFAULT '',
  -- JSON: the checks as the API returns them. Late in the row: they are large, and lists don't read them.
  checks            TEXT,
  -- JSON: marketing or transactional, as the analysis classified it.
  judged_kind       TEXT,
  -- JSON: the verdicts of mailbox providers.
  providers         TEXT,
  -- The team's domain that equals or contains the From domain; no reference, as it may be deleted.
  domain_id         TEXT,
  -- The SHA-256 of the token in the link of a public test; null for tests of the team.
  public_hash       TEXT,
  -- Groups the public tests that count toward the quota of one client; null for tests of the team.
  public_client     TEXT CHECK ((public_client IS NULL) = (public_hash IS NULL)),
  -- Whether placement is tested, and whether its result is final.
  placement_status  TEXT NOT NULL DEFAULT 'none' CHECK (placement_status IN ('none', 'waiting', 'settled')),
  -- Seed mailboxes that count in summaries, and those of them that had the message in the inbox or its tabs. 0 until settled.
  placement_samples INTEGER NOT NULL DEFAULT 0,
  placement_inbox   INTEGER NOT NULL DEFAULT 0,
  -- JSON: the seed addresses and the placement by provider, for lists. Null without placement.
  placement_summary TEXT,
  -- JSON: the placements of this test as the API returns them, written with each change of `placements`.
  placement         TEXT,
  -- JSON: the number of counted seed mailboxes by provider and placement, such as {"gmail inbox": 2}. Null until settled.
  placement_counts  TEXT,
  -- The placement monitor to whose address the message was sent; no reference, as it may be deleted.
  monitor_id        TEXT,
  -- The inbox to whose address the message was sent; no reference, as it may be deleted.
  inbox_id          TEXT,
  -- JSON: the tags to which its creator was limited: it belongs to no domain without one of them. Null for no limit.
  limited_to        TEXT
);
-- With the text, so that a search reads only the index.
CREATE INDEX tests_listed ON tests (livemode, id, search);
CREATE INDEX tests_expiring ON tests (expires_at) WHERE status = 'waiting';
CREATE INDEX tests_due ON tests (analysis_due_at) WHERE analysis_due_at IS NOT NULL;
-- Without completed tests, which are most: scanning tests_listed finds those soon enough.
CREATE INDEX tests_status ON tests (livemode, status, id) WHERE status <> 'completed';
CREATE INDEX tests_from_domain ON tests (livemode, from_domain, id) WHERE from_domain IS NOT NULL;
CREATE INDEX tests_domain ON tests (livemode, domain_id, id) WHERE domain_id IS NOT NULL;
CREATE INDEX tests_score ON tests (livemode, score, id) WHERE score IS NOT NULL;
CREATE INDEX tests_created ON tests (created_at);
CREATE INDEX tests_completed ON tests (livemode, completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX tests_placement ON tests (id) WHERE placement_status = 'waiting';
CREATE INDEX tests_monitor ON tests (monitor_id, id) WHERE monitor_id IS NOT NULL;
CREATE INDEX tests_inbox ON tests (inbox_id, id) WHERE inbox_id IS NOT NULL;
-- With the size, so that the limits of all inboxes are read from the index.
CREATE INDEX tests_inbox_recent ON tests (created_at, inbox_id, message_size) WHERE inbox_id IS NOT NULL;
CREATE UNIQUE INDEX tests_public_hash ON tests (public_hash) WHERE public_hash IS NOT NULL;
CREATE INDEX tests_public_client ON tests (public_client, created_at) WHERE public_client IS NOT NULL;
CREATE INDEX tests_public_created ON tests (created_at) WHERE public_hash IS NOT NULL;
CREATE INDEX tests_name ON tests (livemode, name, id) WHERE name IS NOT NULL;

-- The tests whose images were loaded, or are being loaded: once, because someone asked.
CREATE TABLE image_loads (
  -- The test.
  id           TEXT NOT NULL PRIMARY KEY REFERENCES tests (id) ON DELETE CASCADE,
  requested_at TEXT NOT NULL,
  -- Null while the images are being loaded.
  loaded_at    TEXT,
  -- The node that loads them, and until when no other node does.
  lease        TEXT,
  leased_until TEXT
);

-- The images of tests that are on web servers. Images in attachments are in the message.
CREATE TABLE test_images (
  test_id    TEXT NOT NULL REFERENCES tests (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('content', 'bimi_logo')),
  url        TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('loaded', 'tracking_pixel', 'failed')),
  -- Why it was not loaded: a code, and a clause for people. Null if it was.
  reason     TEXT,
  detail     TEXT,
  -- By its bytes, not by what the server says.
  media_type TEXT,
  -- In pixels; null if unknown.
  width      INTEGER,
  height     INTEGER,
  -- In bytes.
  size       INTEGER,
  -- At most 2 MB, which takes milliseconds to write. Last, so that lists don't read them.
  bytes      BLOB,
  PRIMARY KEY (test_id, position)
);

-- Requests to the unsubscribe link of a test, because a member asked. The row is stored before the request is sent, so it
-- is never sent again by itself: an old row without a result was interrupted.
CREATE TABLE unsubscribe_tries (
  test_id      TEXT NOT NULL REFERENCES tests (id) ON DELETE CASCADE,
  -- POST is the one-click request. GET is what a browser sends.
  method       TEXT NOT NULL CHECK (method IN ('POST', 'GET')),
  -- How often members asked for it. The other columns are about the last request.
  tries        INTEGER NOT NULL,
  requested_at TEXT NOT NULL,
  -- JSON: status, redirect, time and TLS.
  result       TEXT,
  PRIMARY KEY (test_id, method)
);

-- Inboxes: reusable addresses. Each message to one becomes a new test with its settings.
CREATE TABLE inboxes (
  -- `ibx_…`: inbox
  id               TEXT NOT NULL PRIMARY KEY,
  -- The local part of the address, lower case.
  token            TEXT NOT NULL UNIQUE,
  -- 1: live. 0: sandbox.
  livemode         INTEGER NOT NULL,
  name             TEXT,
  kind             TEXT NOT NULL CHECK (kind IN ('auto', 'marketing', 'transactional')),
  metadata         TEXT NOT NULL,
  -- JSON: the tags of its tests, in alphabetical order.
  tags             TEXT NOT NULL,
  -- The domain that its tests belong to; no reference, as it may be deleted.
  domain_id        TEXT,
  created_at       TEXT NOT NULL,
  last_received_at TEXT,
  -- As in `tests`.
  limited_to       TEXT
);
CREATE INDEX inboxes_listed ON inboxes (livemode, id);

-- The tags of tests.
CREATE TABLE test_tags (
  test_id  TEXT NOT NULL REFERENCES tests (id) ON DELETE CASCADE,
  -- The mode of the test, for the index.
  livemode INTEGER NOT NULL,
  tag      TEXT NOT NULL,
  PRIMARY KEY (test_id, tag)
);
CREATE INDEX test_tags_listed ON test_tags (livemode, tag, test_id);

-- The seed mailboxes of the configuration, each with the node that looks into it.
CREATE TABLE seed_mailboxes (
  -- The name in the configuration.
  id              TEXT NOT NULL PRIMARY KEY,
  provider        TEXT NOT NULL,
  address         TEXT NOT NULL,
  -- When it is next worth connecting, after failures; null: at once.
  next_look_at    TEXT,
  -- The last time that all folders were read.
  last_read_at    TEXT,
  -- Failed looks since then, the code of the last error, and what to do about it.
  failures        INTEGER NOT NULL DEFAULT 0,
  error           TEXT,
  error_detail    TEXT,
  lease           TEXT,
  leased_until    TEXT,
  -- When the first of the failed looks began.
  failing_since   TEXT
);

-- The sign-ins with OAuth 2 to seed mailboxes: from the configuration or the command, or as the provider replaced them.
CREATE TABLE seed_credentials (
  -- The name of the mailbox in the configuration.
  id            TEXT NOT NULL PRIMARY KEY,
  -- A keyed hash of the app and the token in the configuration. As long as they stay the same, this row counts.
  configured    TEXT NOT NULL,
  -- Encrypted.
  refresh_token TEXT NOT NULL,
  stored_at     TEXT NOT NULL,
  -- When the provider last rejected it; null while it works.
  rejected_at   TEXT
);

-- Where the message of a test arrived in each seed mailbox.
CREATE TABLE placements (
  test_id     TEXT NOT NULL REFERENCES tests (id) ON DELETE CASCADE,
  seed        TEXT NOT NULL,
  provider    TEXT NOT NULL,
  -- The address that the sender was told, with the token if the provider has plus addresses.
  address     TEXT NOT NULL,
  placement   TEXT NOT NULL CHECK (placement IN ('inbox', 'promotions', 'social', 'updates', 'forums', 'spam', 'missing', 'pending', 'unknown')),
  -- How the message was recognized; null until it is found.
  matched_by  TEXT CHECK (matched_by IN ('address', 'token', 'message_id', 'probable')),
  -- The folder in which it was found.
  folder      TEXT,
  -- JSON: the folders that were read.
  searched    TEXT NOT NULL DEFAULT '[]',
  -- JSON: what the header fields of the provider say.
  reasons     TEXT NOT NULL DEFAULT '[]',
  -- The code of the reason why it is unknown, and the reason as a sentence.
  problem     TEXT,
  detail      TEXT,
  -- When the provider received it, by its clock.
  arrived_at  TEXT,
  -- The folder, its UIDVALIDITY and the UID, so that no other test matches the same message.
  message_key TEXT,
  created_at  TEXT NOT NULL,
  -- When the placement became final.
  settled_at  TEXT,
  -- When the message was moved to the trash, or was found to be gone.
  cleaned_at  TEXT,
  PRIMARY KEY (test_id, seed)
);
CREATE INDEX placements_open ON placements (seed, test_id) WHERE settled_at IS NULL;
CREATE INDEX placements_matched ON placements (seed, created_at) WHERE message_key IS NOT NULL;

-- Received messages; those to postmaster belong to no test.
CREATE TABLE messages (
  -- `msg_…`: received mail
  id          TEXT NOT NULL PRIMARY KEY,
  test_id     TEXT UNIQUE REFERENCES tests (id) ON DELETE CASCADE,
  recipient   TEXT NOT NULL,
  sha256      TEXT NOT NULL,
  size        INTEGER NOT NULL,
  envelope    TEXT NOT NULL,
  received_at TEXT NOT NULL
);
CREATE INDEX messages_received ON messages (received_at);

-- The bytes of messages in chunks, because writing one large value would block the process. Chunks are
-- written before their message, so they have no reference; orphans are deleted at start.
CREATE TABLE message_chunks (
  message_id TEXT NOT NULL,
  position   INTEGER NOT NULL,
  bytes      BLOB NOT NULL,
  PRIMARY KEY (message_id, position)
);

-- Events, each written in the transaction of the change that it reports.
CREATE TABLE events (
  -- `evt_…`: event
  id         TEXT NOT NULL PRIMARY KEY,
  type       TEXT NOT NULL,
  livemode   INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  data       TEXT NOT NULL,
  -- The order of commits on PostgreSQL, where ids of several nodes are not in that order: no event that commits
  -- later has a lower one. Events of one transaction share it. Null on SQLite.
  position   INTEGER
);
CREATE INDEX events_created ON events (created_at);
CREATE INDEX events_position ON events (coalesce(position, 0), id);
CREATE INDEX events_type ON events (type, id);
-- The ID of the domain, with which the JSON of its events begins.
CREATE INDEX events_domain ON events (substr(data, 8, 30), id) WHERE type >= 'domain.' AND type < 'domain/';

-- URLs that events are delivered to.
CREATE TABLE webhook_endpoints (
  -- `whe_…`: webhook endpoint
  id                  TEXT NOT NULL PRIMARY KEY,
  url                 TEXT NOT NULL,
  -- JSON: the event types that it subscribes to, or `["*"]`.
  events              TEXT NOT NULL,
  description         TEXT,
  enabled             INTEGER NOT NULL,
  -- Encrypted rather than hashed, because each signature needs it.
  secret              TEXT NOT NULL,
  -- The previous secret, which also signs until `former_secret_until`.
  former_secret       TEXT,
  former_secret_until TEXT,
  created_at          TEXT NOT NULL,
  -- When the first attempt since the last success failed; null while deliveries succeed.
  failing_since       TEXT,
  auto_disabled_at    TEXT,
  -- Deleted as far as users can see; its deliveries are removed in batches, then the row.
  deleted_at          TEXT,
  -- Receives the events of this mode only.
  livemode            INTEGER NOT NULL DEFAULT 1
);

-- Deliveries of events to endpoints, written in the transaction of the event.
CREATE TABLE webhook_deliveries (
  -- `whd_…`: delivery
  id             TEXT NOT NULL PRIMARY KEY,
  endpoint_id    TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  event_type     TEXT NOT NULL,
  -- JSON: the whole event if it is a sample, which is not stored in `events`.
  sample         TEXT,
  created_at     TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'held')),
  -- What started the current or last round of at most six attempts.
  round_trigger  TEXT NOT NULL CHECK (round_trigger IN ('event', 'test', 'resend', 'recover')),
  round_failures INTEGER NOT NULL DEFAULT 0,
  -- The number of attempts in all rounds.
  attempts       INTEGER NOT NULL DEFAULT 0,
  -- When the next attempt is due; during an attempt, when its lease expires. Null if none is due.
  due_at         TEXT,
  -- Set during an attempt.
  lease          TEXT,
  -- When the scheduled attempt is due, while a resend before it is due or in progress.
  resumes_at     TEXT
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (endpoint_id, status, id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);

-- Delivery attempts, each written before its request, so that no request goes unrecorded.
CREATE TABLE webhook_attempts (
  delivery_id      TEXT NOT NULL,
  -- From 1, across all rounds.
  number           INTEGER NOT NULL,
  trigger          TEXT NOT NULL,
  started_at       TEXT NOT NULL,
  -- Null during the attempt, and if it was interrupted.
  duration_ms      INTEGER,
  url              TEXT NOT NULL,
  -- JSON; signatures, but no secret.
  request_headers  TEXT NOT NULL,
  response_status  INTEGER,
  -- JSON.
  response_headers TEXT,
  -- Its first 4 KiB.
  response_body    TEXT,
  -- Why it failed; null during the attempt and after a success.
  error            TEXT,
  PRIMARY KEY (delivery_id, number)
);

-- Domains of the team: verified by a TXT record, and checked daily from then on.
CREATE TABLE domains (
  -- `dom_…`: domain
  id                TEXT NOT NULL PRIMARY KEY,
  -- A-labels in lower case.
  name              TEXT NOT NULL UNIQUE,
  status            TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'failed')),
  -- What the TXT record has to contain.
  token             TEXT NOT NULL,
  created_at        TEXT NOT NULL,
  verified_at       TEXT,
  -- When the current search for the record began.
  pending_since     TEXT NOT NULL,
  -- When the last recorded lookup began; an older one that ends later is not recorded.
  last_checked_at   TEXT,
  -- The result of the last lookup in words; null if it found the record.
  last_check_detail TEXT,
  next_check_at     TEXT,
  -- For a verified domain: since when no lookup has found its record.
  missing_since     TEXT,
  -- JSON: the DKIM selectors that the team entered.
  given_selectors   TEXT NOT NULL,
  -- JSON: the DKIM selectors seen in received mail, each with the time of the last message.
  learnt_selectors  TEXT NOT NULL,
  badge_enabled     INTEGER NOT NULL DEFAULT 0,
  health_status     TEXT NOT NULL CHECK (health_status IN ('healthy', 'warning', 'critical', 'unknown')),
  health_score      INTEGER,
  -- JSON: as the API returns it.
  health_checks     TEXT NOT NULL,
  -- When the health check began.
  health_checked_at TEXT,
  lease             TEXT,
  leased_until      TEXT,
  -- When its records are next compared with those of the last look. If it is not verified, when its first lookup is due;
  -- null after it.
  next_look_at      TEXT,
  -- JSON: its records as the last looks found them; null before the first one.
  watched           TEXT,
  -- JSON: its tags, in alphabetical order. They group domains, and members can be limited to them.
  tags              TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX domains_due ON domains (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX domains_looks ON domains (next_look_at) WHERE next_look_at IS NOT NULL;
-- With the name and the tags, so that a search for them reads no row: rows are large.
CREATE INDEX domains_listed ON domains (status, health_status, id, name, tags);

-- What the table of domains and the overview show about each domain, as last read from its sources. Everything in it can be
-- read again, so a missing row means: not read yet.
CREATE TABLE domain_digests (
  -- The ID of the domain.
  id          TEXT NOT NULL PRIMARY KEY,
  -- When reading it began.
  read_at     TEXT NOT NULL,
  -- Its headline, and what its worst problem costs; 0 without one.
  state       TEXT NOT NULL CHECK (state IN ('fail', 'warn', 'unknown', 'pass')),
  cost        INTEGER NOT NULL,
  headline    TEXT NOT NULL,
  since       TEXT,
  -- What to do first, and the page about it; null without a problem.
  step        TEXT,
  step_path   TEXT,
  -- The DMARC policy that applies to it; null if it is not known.
  policy      TEXT CHECK (policy IN ('missing', 'none', 'quarantine', 'reject')),
  sub_policy  TEXT,
  pct         INTEGER,
  -- Messages in DMARC reports of the last 30 days, and which part passed, from 0 to 1; null without reports.
  messages    INTEGER NOT NULL,
  spf_rate    REAL,
  dkim_rate   REAL,
  dmarc_rate  REAL,
  -- The latest that Google published in the last 30 days, and its day.
  spam_rate   REAL,
  spam_day    TEXT,
  -- Messages in seed mailboxes in the last 30 days, and which part arrived in an inbox; null with too few.
  samples     INTEGER NOT NULL,
  inbox_rate  REAL,
  -- When its DNS records last changed, and which: "DMARC, SPF". It outlives the event.
  changed_at  TEXT,
  changed     TEXT
);

-- What the service serves at the hosts mta-sts.<domain> and bimi.<domain>.
CREATE TABLE hosted_files (
  domain_id   TEXT NOT NULL PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  -- JSON: the MTA-STS policy, when it last changed, and until when senders can remember one in enforce mode; null if none
  -- is served.
  policy      TEXT,
  -- The BIMI logo (SVG) and its certificate (PEM).
  logo        TEXT,
  certificate TEXT
);

-- Monitors: what is checked at regular intervals.
CREATE TABLE monitors (
  -- `mon_…`: monitor
  id           TEXT NOT NULL PRIMARY KEY,
  name         TEXT NOT NULL,
  type         TEXT NOT NULL,
  domain_id    TEXT REFERENCES domains (id) ON DELETE CASCADE,
  -- JSON: IP addresses and domain names.
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
CREATE INDEX monitors_listed ON monitors (status, id);

CREATE TABLE monitor_runs (
  -- `run_…`: run
  id          TEXT NOT NULL PRIMARY KEY,
  monitor_id  TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  started_at  TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('ok', 'alerting', 'unknown')),
  -- JSON: what was found.
  findings    TEXT NOT NULL,
  -- JSON: what is new, resolved or unknown since the last run, and whether each target could be checked.
  changes     TEXT NOT NULL
);
CREATE INDEX monitor_runs_listed ON monitor_runs (monitor_id, id);
CREATE INDEX monitor_runs_started ON monitor_runs (started_at);

-- Alert rules: when, through which channels, and whom to notify.
CREATE TABLE alerts (
  -- `alt_…`: alert rule
  id                TEXT NOT NULL PRIMARY KEY,
  name              TEXT NOT NULL,
  condition         TEXT NOT NULL,
  threshold         INTEGER,
  -- JSON.
  channels          TEXT NOT NULL,
  enabled           INTEGER NOT NULL,
  domain_id         TEXT REFERENCES domains (id) ON DELETE CASCADE,
  -- JSON: email addresses; null for the owner and the admins.
  recipients        TEXT,
  -- Encrypted, because anyone who has it can post there.
  slack_webhook_url TEXT,
  last_triggered_at TEXT,
  created_at        TEXT NOT NULL,
  -- How often it reminds of an open incident; null for never.
  reminder_hours    INTEGER,
  -- JSON: it is evaluated only for domains with one of these tags; null for all.
  tags              TEXT
);

-- Incidents: from the first result about a subject that meets a rule's condition until one that does not.
CREATE TABLE alert_incidents (
  -- `inc_…`: incident
  id          TEXT NOT NULL PRIMARY KEY,
  alert_id    TEXT NOT NULL,
  -- Such as the From domain of a test, a monitor's target, or the ID of a source.
  subject     TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
  -- JSON: what the condition found, such as the score or the blocklists.
  value       TEXT NOT NULL,
  test_id     TEXT,
  run_id      TEXT,
  opened_at   TEXT NOT NULL,
  resolved_at TEXT,
  resolution  TEXT,
  -- The rule's condition when the incident opened: the rule may have another by now.
  condition   TEXT NOT NULL,
  threshold   INTEGER,
  -- Set while it is closed with many others, in batches: it no longer counts as open.
  closing_id  TEXT,
  -- Null if none will follow.
  next_reminder_at TEXT
);
CREATE INDEX alert_incidents_reminders ON alert_incidents (next_reminder_at)
  WHERE next_reminder_at IS NOT NULL;
CREATE UNIQUE INDEX alert_incidents_open ON alert_incidents (alert_id, subject)
  WHERE status = 'open' AND closing_id IS NULL;
CREATE INDEX alert_incidents_closing ON alert_incidents (closing_id, id)
  WHERE closing_id IS NOT NULL;
CREATE INDEX alert_incidents_listed ON alert_incidents (alert_id, id);
CREATE INDEX alert_incidents_status ON alert_incidents (status, id);
CREATE INDEX alert_incidents_resolved ON alert_incidents (resolved_at)
  WHERE resolved_at IS NOT NULL;

-- Why many incidents of a rule end at the same time; kept until the last of them is closed.
CREATE TABLE alert_closings (
  id         TEXT NOT NULL PRIMARY KEY,
  resolution TEXT NOT NULL,
  -- JSON: the rule as the events contain it.
  alert      TEXT NOT NULL
);

-- Notifications about incidents, sent or queued: one for each email recipient and each other channel.
CREATE TABLE alert_notifications (
  -- `ntf_…`: notification
  id           TEXT NOT NULL PRIMARY KEY,
  -- Null for a sample.
  incident_id  TEXT,
  alert_id     TEXT NOT NULL,
  news         TEXT NOT NULL,
  channel      TEXT NOT NULL,
  -- An email address; null for other channels.
  recipient    TEXT,
  -- For a webhook, the deliveries of its event are more recent while they are kept. `suppressed`: the
  -- incident was over before it could be sent.
  status       TEXT NOT NULL CHECK
    (status IN ('queued', 'sent', 'failed', 'unconfigured', 'suppressed')),
  error        TEXT,
  attempts     INTEGER NOT NULL DEFAULT 0,
  -- The email that contains it; null while it waits for a digest.
  mail_id      TEXT,
  created_at   TEXT NOT NULL,
  due_at       TEXT,
  sent_at      TEXT,
  lease        TEXT,
  leased_until TEXT,
  -- The event that webhooks deliver.
  event_id     TEXT,
  -- What the service of the channel calls the posted message, so that a later one can change or answer it.
  reference    TEXT,
  -- What is posted, encrypted, if it was composed before the rule changed. Null once it was sent or given up.
  post         TEXT
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

-- Counts of completed tests by the hour of completion: for all tests, and for each domain.
CREATE TABLE test_tallies (
  livemode          INTEGER NOT NULL,
  -- One of the team's domains, or '' for all tests.
  domain_id         TEXT NOT NULL,
  -- The start of the hour.
  hour              TEXT NOT NULL,
  tests             INTEGER NOT NULL,
  -- Tests that have a score.
  scored            INTEGER NOT NULL,
  -- The sum of their scores.
  score_sum         INTEGER NOT NULL,
  grade_a           INTEGER NOT NULL,
  grade_b           INTEGER NOT NULL,
  grade_c           INTEGER NOT NULL,
  grade_d           INTEGER NOT NULL,
  grade_f           INTEGER NOT NULL,
  -- Tests whose SPF result is known; `…_pass` are those of them that pass. DKIM and DMARC likewise.
  spf_known         INTEGER NOT NULL,
  spf_pass          INTEGER NOT NULL,
  dkim_known        INTEGER NOT NULL,
  dkim_pass         INTEGER NOT NULL,
  dmarc_known       INTEGER NOT NULL,
  dmarc_pass        INTEGER NOT NULL,
  -- Seed mailboxes with a known placement; `placement_inbox` are those that had it in the inbox or its tabs.
  placement_samples INTEGER NOT NULL,
  placement_inbox   INTEGER NOT NULL,
  -- JSON: by check id, the number of tests in which the check found a problem.
  issues            TEXT NOT NULL,
  -- JSON: the sums of `placement_counts` of the tests.
  placement_counts  TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (livemode, domain_id, hour)
);
CREATE INDEX test_tallies_hour ON test_tallies (hour);

-- Share links: anyone who has one can read the reports of its tests.
CREATE TABLE shared_reports (
  -- `rpt_…`: shared report
  id             TEXT NOT NULL PRIMARY KEY,
  livemode       INTEGER NOT NULL,
  title          TEXT,
  token_hash     TEXT NOT NULL UNIQUE,
  -- Encrypted rather than hashed, so that an admin can see the link again.
  token          TEXT NOT NULL,
  -- The member who shared; no reference: they may leave.
  created_by     TEXT,
  created_at     TEXT NOT NULL,
  expires_at     TEXT NOT NULL,
  revoked_at     TEXT,
  view_count     INTEGER NOT NULL DEFAULT 0,
  last_viewed_at TEXT,
  -- Whether the shared page shows the messages. Links from before there was a choice show none.
  preview        TEXT NOT NULL DEFAULT 'none' CHECK (preview IN ('none', 'without_images', 'with_images')),
  -- JSON: the link shows the status of the domains with one of these tags, and no tests; null for a link to tests.
  tags           TEXT
);
CREATE INDEX shared_reports_listed ON shared_reports (livemode, id);
CREATE INDEX shared_reports_expiring ON shared_reports (expires_at);

-- The tests of a share link. No reference: the shared page says that a test was deleted.
CREATE TABLE shared_report_tests (
  report_id TEXT NOT NULL REFERENCES shared_reports (id) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  test_id   TEXT NOT NULL,
  PRIMARY KEY (report_id, position)
);
CREATE INDEX shared_report_tests_test ON shared_report_tests (test_id);

-- Scheduled reports by email.
CREATE TABLE report_schedules (
  -- `rps_…`: report schedule
  id               TEXT NOT NULL PRIMARY KEY,
  name             TEXT NOT NULL,
  frequency        TEXT NOT NULL CHECK (frequency IN ('daily', 'weekly', 'monthly')),
  -- JSON: email addresses.
  recipients       TEXT NOT NULL,
  -- JSON: ids of domains; null for all.
  domains          TEXT,
  -- JSON: the sections that the report contains.
  include_sections TEXT NOT NULL,
  format           TEXT NOT NULL CHECK (format IN ('html', 'pdf')),
  send_hour        INTEGER NOT NULL,
  timezone         TEXT NOT NULL,
  weekday          TEXT NOT NULL CHECK (weekday IN
    ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')),
  day_of_month     INTEGER NOT NULL,
  enabled          INTEGER NOT NULL,
  -- Null while the schedule is disabled.
  next_send_at     TEXT,
  created_at       TEXT NOT NULL,
  lease            TEXT,
  leased_until     TEXT,
  -- JSON: covers the domains with one of these tags; null for `domains`, which is otherwise an empty list.
  tags             TEXT,
  -- JSON: the recipients of each tag, who get a report about its domains only; null for `recipients`, otherwise empty.
  recipients_by_tag TEXT
);
CREATE INDEX report_schedules_due ON report_schedules (next_send_at)
  WHERE next_send_at IS NOT NULL;

-- Runs of a schedule, each written in the transaction that queues its emails, so that none is sent twice.
CREATE TABLE report_runs (
  -- `rpr_…`: report run
  id          TEXT NOT NULL PRIMARY KEY,
  schedule_id TEXT NOT NULL REFERENCES report_schedules (id) ON DELETE CASCADE,
  trigger     TEXT NOT NULL CHECK (trigger IN ('schedule', 'manual')),
  -- The scheduled time that it is for; null for a manual run.
  slot        TEXT,
  period_from TEXT NOT NULL,
  period_to   TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  -- Why nothing was sent at all.
  error       TEXT,
  -- The tag that it is about, if its schedule sends a report for each; otherwise empty.
  tag         TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX report_runs_slot ON report_runs (schedule_id, slot, tag) WHERE slot IS NOT NULL;
CREATE INDEX report_runs_listed ON report_runs (schedule_id, id);
CREATE INDEX report_runs_created ON report_runs (created_at);

-- Each recipient's copy of a run; while it is `queued`, the outbox has its state.
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

-- Recipients of a schedule, and who has unsubscribed: they stay unsubscribed even if they are added again.
CREATE TABLE report_readers (
  schedule_id TEXT NOT NULL REFERENCES report_schedules (id) ON DELETE CASCADE,
  email       TEXT NOT NULL,
  -- Hash of the token in the unsubscribe link, which is derived from the secret key again for each email.
  token_hash  TEXT NOT NULL UNIQUE,
  left_at     TEXT,
  PRIMARY KEY (schedule_id, email)
);

-- Feedback: what receivers report about the mail of the team's domains.

-- The address of each domain for feedback, and what is known of its records. A row without its domain means that feedback
-- of a deleted domain is still being deleted.
CREATE TABLE feedback_domains (
  -- The ID of the domain.
  id           TEXT NOT NULL PRIMARY KEY,
  -- The 16 characters of its address after `fb-`.
  token        TEXT NOT NULL UNIQUE,
  -- JSON: the DNS records for feedback, as the last lookup found them; null before it.
  records      TEXT,
  -- When they are looked up again.
  lookup_at    TEXT NOT NULL,
  -- When the first and the last report that counts arrived.
  first_at     TEXT,
  last_at      TEXT,
  -- When the event `feedback.stopped` said that no more reports arrive.
  stopped_at   TEXT,
  lease        TEXT,
  leased_until TEXT
);
CREATE INDEX feedback_domains_lookup ON feedback_domains (lookup_at);

-- Mails and files with reports, as they came. Their bytes are in `message_chunks`.
CREATE TABLE feedback_mails (
  -- `fbm_…`: received report mail
  id           TEXT NOT NULL PRIMARY KEY,
  -- The domain whose address it was sent to; null for uploads.
  domain_id    TEXT,
  -- `smtp`, `https`, `upload` or `imap`.
  source       TEXT NOT NULL,
  -- What follows the + in the address.
  suffix       TEXT,
  size         INTEGER NOT NULL,
  -- JSON: the SMTP session; null for files.
  envelope     TEXT,
  received_at  TEXT NOT NULL,
  -- When it is read, or read again after a failure; null once that is done.
  due_at       TEXT,
  -- How often reading it has begun: what ends the process must not do so forever.
  attempts     INTEGER NOT NULL,
  lease        TEXT,
  leased_until TEXT,
  -- JSON: the trusted servers whose Authentication-Results show who sent it. Null unless it came from a report mailbox.
  authserv     TEXT
);
CREATE INDEX feedback_mails_due ON feedback_mails (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX feedback_mails_received ON feedback_mails (received_at);

-- Mailboxes of the team from which reports are imported.
CREATE TABLE report_mailboxes (
  -- `fbx_…`: report mailbox
  id            TEXT NOT NULL PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE,
  -- The name of a configured seed mailbox whose sign-in it uses; null for a server of its own.
  sign_in       TEXT,
  host          TEXT,
  port          INTEGER,
  -- `implicit` or `starttls`.
  tls           TEXT,
  username      TEXT,
  -- Encrypted.
  password      TEXT,
  -- The trusted authserv-id; null for those of the provider, if it is known.
  authserv_id   TEXT,
  folder        TEXT NOT NULL,
  -- The folder to which messages with reports move; null if they stay.
  move_to       TEXT,
  -- `off`, `hourly` or `daily`.
  schedule      TEXT NOT NULL,
  -- The last message that was read. UIDs are valid only while the folder has this UIDVALIDITY.
  uid_validity  TEXT,
  last_uid      INTEGER NOT NULL,
  -- The message that is being read: stored, but not counted or moved yet.
  pending_mail  TEXT,
  -- The latest import: when it started and ended, and as JSON what it has read so far.
  started_at    TEXT,
  finished_at   TEXT,
  counts        TEXT NOT NULL,
  -- Why the latest import failed, what to do about it, and the number of failures since the last success.
  problem       TEXT,
  problem_detail TEXT,
  failures      INTEGER NOT NULL,
  -- When the next import starts, or this one resumes; null if only a person starts it.
  next_run_at   TEXT,
  lease         TEXT,
  leased_until  TEXT,
  created_at    TEXT NOT NULL
);

-- Who reports: whoever the messages with its reports authenticate.
CREATE TABLE feedback_reporters (
  -- `rep_…`: reporter
  id       TEXT NOT NULL PRIMARY KEY,
  -- What makes it one reporter: its kind in upper case and its identity. Of reporters from before version 21, the name in
  -- their reports, which is in lower case, so that neither can be taken for the other.
  name     TEXT NOT NULL UNIQUE,
  -- 1 if its reports count: it is a known receiver, or a person confirmed it.
  trusted  INTEGER NOT NULL,
  first_at TEXT NOT NULL,
  last_at  TEXT NOT NULL,
  -- The reports of any status, and those that count.
  reports  INTEGER NOT NULL,
  counted  INTEGER NOT NULL,
  -- `known`, `dkim`, `spf` or `file` (named by a file that a person uploaded); null before version 21.
  kind     TEXT,
  -- Its domain, or its address where many share the domain; of files the name in them.
  title    TEXT,
  -- What its first report calls it, in lower case.
  label    TEXT
);

-- Reports. Each mail can have several.
CREATE TABLE feedback_reports (
  -- `fbr_…`: report
  id           TEXT NOT NULL PRIMARY KEY,
  mail_id      TEXT NOT NULL,
  -- Its place in the mail, so that a mail that is read again stores nothing twice.
  position     INTEGER NOT NULL,
  -- `dmarc`, `dmarc_failure`, `tls`, `complaint` or `bounce`; null if it could not be read.
  type         TEXT,
  -- `counted`, `duplicate`, `conflict`, `unconfirmed`, `implausible`, `unverified` or `refused`.
  status       TEXT NOT NULL,
  -- Why it was refused, as a code, and in words.
  reason       TEXT,
  detail       TEXT,
  -- What makes it the same report of a reporter as another, and a hash of its figures. Of a refused one that a known or
  -- confirmed reporter signed, only a hash of its message.
  identity     TEXT,
  figures      TEXT,
  -- The report that it repeats.
  original_id  TEXT,
  reporter_id  TEXT,
  domain_id    TEXT,
  -- The domain that the report names: `domain_id` or one of its subdomains.
  policy_domain TEXT,
  period_from  TEXT,
  period_to    TEXT,
  messages     INTEGER NOT NULL,
  passed       INTEGER NOT NULL,
  failed       INTEGER NOT NULL,
  -- 1 if its mail authenticates a reporter; null if it did not come by mail.
  verified     INTEGER,
  source       TEXT NOT NULL,
  suffix       TEXT,
  -- JSON: what had to be repaired to read it.
  repaired     TEXT NOT NULL,
  -- JSON: what the report says beside its rows.
  content      TEXT NOT NULL,
  -- How many rows it has, how many of them are stored, and how many of those its sources include.
  row_count    INTEGER NOT NULL,
  stored_rows  INTEGER NOT NULL,
  counted_rows INTEGER NOT NULL,
  received_at  TEXT NOT NULL,
  -- What the report calls its reporter, in lower case.
  label        TEXT,
  -- The same as `identity` with that name instead of the reporter: an upload is by it a copy of what came by mail.
  file_identity TEXT,
  -- 1 once its reporter is the one that its mail authenticates; programs before version 21 leave 0.
  attributed   INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX feedback_reports_mail ON feedback_reports (mail_id, position);
CREATE UNIQUE INDEX feedback_reports_counted ON feedback_reports (identity) WHERE status = 'counted';
CREATE INDEX feedback_reports_identity ON feedback_reports (identity) WHERE identity IS NOT NULL;
-- With all that the sums of a period by reporter need.
CREATE INDEX feedback_reports_domain ON feedback_reports
  (domain_id, type, status, period_to, period_from, reporter_id, messages);
-- The few reports whose smallest rows are summed up.
CREATE INDEX feedback_reports_folded ON feedback_reports (domain_id, type, status, period_to, period_from)
  WHERE content LIKE '%"folded_messages":%' AND content NOT LIKE '%"folded_messages":0%';
CREATE INDEX feedback_reports_reporter ON feedback_reports (reporter_id, status, id);
CREATE INDEX feedback_reports_status ON feedback_reports (status, id);
CREATE INDEX feedback_reports_received ON feedback_reports (received_at);
CREATE INDEX feedback_reports_unfinished ON feedback_reports (id)
  WHERE status = 'counted' AND counted_rows < row_count;
CREATE INDEX feedback_reports_taken_out ON feedback_reports (id)
  WHERE status <> 'counted' AND counted_rows > 0;
CREATE INDEX feedback_reports_file ON feedback_reports (file_identity) WHERE file_identity IS NOT NULL;
CREATE INDEX feedback_reports_earlier ON feedback_reports (id) WHERE attributed = 0;

-- The rows of DMARC reports.
CREATE TABLE dmarc_rows (
  report_id     TEXT NOT NULL,
  position      INTEGER NOT NULL,
  domain_id     TEXT NOT NULL,
  -- The first day of the report.
  day           TEXT NOT NULL,
  -- The IP address of the sender; null in the row that sums up the others.
  address       TEXT,
  count         INTEGER NOT NULL,
  outcome       TEXT NOT NULL,
  -- What the receiver evaluated, and what it did.
  dkim          TEXT NOT NULL,
  spf           TEXT NOT NULL,
  disposition   TEXT NOT NULL,
  header_from   TEXT,
  envelope_from TEXT,
  envelope_to   TEXT,
  -- The signature and the SPF result that decided, or the first ones.
  dkim_domain   TEXT,
  dkim_selector TEXT,
  dkim_result   TEXT,
  spf_domain    TEXT,
  spf_result    TEXT,
  -- JSON: all results, if there are more than one of a kind, and the reasons for another disposition.
  results       TEXT,
  reasons       TEXT,
  -- Whether the report counts.
  counted       INTEGER NOT NULL,
  PRIMARY KEY (report_id, position)
) WITHOUT ROWID;
CREATE INDEX dmarc_rows_address ON dmarc_rows (domain_id, address, day) WHERE counted = 1;
-- Failing messages with a valid signature of another domain, such as a tenant of the same service.
CREATE INDEX dmarc_rows_signer ON dmarc_rows (domain_id, dkim_domain, day)
  WHERE counted = 1 AND outcome = 'fail' AND dkim_result = 'pass';

-- What DMARC reports count by day in UTC.
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

-- The addresses that send with a domain in From, as the reports that count name them.
CREATE TABLE feedback_addresses (
  -- The ID of the domain, a space, and the address.
  id           TEXT NOT NULL PRIMARY KEY,
  domain_id    TEXT NOT NULL,
  address      TEXT NOT NULL,
  first_day    TEXT NOT NULL,
  last_day     TEXT NOT NULL,
  messages     INTEGER NOT NULL,
  passed       INTEGER NOT NULL,
  -- The source that it belongs to; null until it has been looked up.
  source_id    TEXT,
  -- The forward-confirmed host name.
  host         TEXT,
  -- When it is looked up, or looked up again.
  look_up_at   TEXT NOT NULL,
  lease        TEXT,
  leased_until TEXT
);
CREATE INDEX feedback_addresses_due ON feedback_addresses (look_up_at);
CREATE INDEX feedback_addresses_source ON feedback_addresses (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX feedback_addresses_domain ON feedback_addresses (domain_id);
-- Addresses without a source: the largest of each domain are looked up first.
CREATE INDEX feedback_addresses_unnamed ON feedback_addresses (domain_id, messages) WHERE source_id IS NULL;

-- Who sends with a domain in From: a sending service, an own server, a forwarder, or a network.
CREATE TABLE feedback_sources (
  -- `src_…`: source
  id        TEXT NOT NULL PRIMARY KEY,
  domain_id TEXT NOT NULL,
  -- What its addresses have in common, such as `service mailchimp` or `host example.net`.
  key       TEXT NOT NULL,
  name      TEXT NOT NULL,
  -- What shows it, in a sentence.
  evidence  TEXT NOT NULL,
  -- What a person said about it: `own`, `forwarder` or `foreign`.
  mark      TEXT,
  label     TEXT,
  -- Days: since when it is new, or failing. Null if it is not.
  new_since TEXT,
  failing_since TEXT,
  -- What shows that the domain uses this sending service, as a sentence; null if nothing does.
  claim     TEXT,
  UNIQUE (domain_id, key)
);

-- What DMARC reports count by source and day in UTC.
CREATE TABLE feedback_source_days (
  source_id   TEXT NOT NULL,
  domain_id   TEXT NOT NULL,
  day         TEXT NOT NULL,
  messages    INTEGER NOT NULL,
  passed      INTEGER NOT NULL,
  -- Messages for which the result of this method is a pass, with alignment.
  dkim        INTEGER NOT NULL,
  spf         INTEGER NOT NULL,
  quarantined INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,
  -- Messages that a receiver took for forwarded ones.
  forwarded   INTEGER NOT NULL,
  PRIMARY KEY (domain_id, day, source_id)
) WITHOUT ROWID;
CREATE INDEX feedback_source_days_source ON feedback_source_days (source_id, day);

-- The same by month in UTC, such as `2026-11`, so that long periods are read from few rows.
CREATE TABLE feedback_source_months (
  source_id   TEXT NOT NULL,
  domain_id   TEXT NOT NULL,
  month       TEXT NOT NULL,
  messages    INTEGER NOT NULL,
  passed      INTEGER NOT NULL,
  dkim        INTEGER NOT NULL,
  spf         INTEGER NOT NULL,
  quarantined INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,
  forwarded   INTEGER NOT NULL,
  PRIMARY KEY (domain_id, month, source_id)
) WITHOUT ROWID;
CREATE INDEX feedback_source_months_source ON feedback_source_months (source_id, month);

-- What TLS reports count by day in UTC.
CREATE TABLE tls_days (
  domain_id TEXT NOT NULL,
  day       TEXT NOT NULL,
  succeeded INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  PRIMARY KEY (domain_id, day)
);

-- The failures in TLS reports.
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

-- Recipients who marked a message as spam, or as not spam.
CREATE TABLE complaints (
  -- `cpl_…`: complaint
  id               TEXT NOT NULL PRIMARY KEY,
  report_id        TEXT NOT NULL UNIQUE,
  domain_id        TEXT,
  -- `abuse`, `fraud`, `virus`, `not-spam` or another type of RFC 5965.
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
CREATE INDEX complaints_listed ON complaints (domain_id, id, day);
CREATE INDEX complaints_message ON complaints (message_id) WHERE message_id IS NOT NULL;

-- Messages that could not be delivered, one for each recipient.
CREATE TABLE bounces (
  -- `bnc_…`: bounce
  id               TEXT NOT NULL PRIMARY KEY,
  report_id        TEXT NOT NULL,
  position         INTEGER NOT NULL,
  domain_id        TEXT,
  received_at      TEXT NOT NULL,
  day              TEXT NOT NULL,
  -- `policy`, `hard`, `soft` or `unknown`.
  class            TEXT NOT NULL,
  action           TEXT NOT NULL,
  status_code      TEXT,
  diagnostic       TEXT,
  remote_server    TEXT,
  reporting_server TEXT,
  provider         TEXT NOT NULL,
  from_domain      TEXT,
  recipient_domain TEXT,
  message_id       TEXT,
  -- 1 if the mail authenticates who sent it; null if it did not come by mail, or before version 21.
  authenticated    INTEGER
);
CREATE UNIQUE INDEX bounces_report ON bounces (report_id, position);
CREATE INDEX bounces_listed ON bounces (domain_id, id, day, class);

-- How many complaints and bounces that count have each value of a column, by day and by month in UTC.
CREATE TABLE feedback_message_sums (
  domain_id TEXT NOT NULL,
  -- What is counted, such as `bounce provider`.
  subject   TEXT NOT NULL,
  -- A day, or a month such as `2026-11`.
  period    TEXT NOT NULL,
  -- Empty if the column is null.
  value     TEXT NOT NULL,
  count     INTEGER NOT NULL,
  PRIMARY KEY (domain_id, subject, period, value)
) WITHOUT ROWID;

-- The accounts at receivers that publish figures: which node fetches from each, and whether it works.
CREATE TABLE receivers (
  -- The name in the configuration.
  id             TEXT NOT NULL PRIMARY KEY,
  receiver       TEXT NOT NULL,
  -- When it is next fetched; null: at once.
  next_fetch_at  TEXT,
  -- When the last fetch started, and when the last one without a problem did.
  attempted_at   TEXT,
  fetched_at     TEXT,
  -- Failed fetches since then, the code of the last problem, and what to do about it.
  failures       INTEGER NOT NULL DEFAULT 0,
  problem        TEXT,
  problem_detail TEXT,
  failing_since  TEXT,
  lease          TEXT,
  leased_until   TEXT,
  -- Identifies the key of the configuration without revealing it; null for a sign-in.
  access         TEXT,
  -- When somebody last signed in, or when the key was first seen.
  access_since   TEXT,
  -- What the last event said about the account, or would have; null before the first fetch.
  state          TEXT
);

-- The sign-ins to receivers with OAuth 2, like those in `seed_credentials`.
CREATE TABLE receiver_credentials (
  id            TEXT NOT NULL PRIMARY KEY,
  configured    TEXT NOT NULL,
  -- Encrypted.
  refresh_token TEXT NOT NULL,
  stored_at     TEXT NOT NULL,
  rejected_at   TEXT
);

-- The domains that an account at Google shows.
CREATE TABLE receiver_domains (
  receiver_id    TEXT NOT NULL,
  -- In A-labels.
  name           TEXT NOT NULL,
  -- What Google says, such as `OWNER` and `VERIFIED`.
  permission     TEXT NOT NULL,
  verification   TEXT,
  -- When the account was last seen to have it.
  listed_at      TEXT NOT NULL,
  -- When its days and its requirements were last read; null: never.
  days_at        TEXT,
  requirements_at TEXT,
  -- Why the last attempt to read them failed; null if it did not.
  problem        TEXT,
  problem_detail TEXT,
  PRIMARY KEY (receiver_id, name)
);
CREATE INDEX receiver_domains_name ON receiver_domains (name);

-- What Google publishes about a domain and a day. What is null was not published.
CREATE TABLE receiver_days (
  name           TEXT NOT NULL,
  -- As Google counts days.
  day            TEXT NOT NULL,
  receiver_id    TEXT NOT NULL,
  -- Rates are from 0 to 1.
  spam_rate      REAL,
  spf_rate       REAL,
  dkim_rate      REAL,
  dmarc_rate     REAL,
  tls_rate       REAL,
  tls_messages   INTEGER,
  -- Messages that were rejected, and temporarily deferred.
  reject_rate    REAL,
  temp_fail_rate REAL,
  -- JSON: the errors by type and reason; null if none were published.
  errors         TEXT,
  -- JSON: the spam rates of feedback loop identifiers; null if none were published.
  feedback_loops TEXT,
  fetched_at     TEXT NOT NULL,
  PRIMARY KEY (name, day, receiver_id)
);

-- Whether a domain meets the requirements of Google for senders.
CREATE TABLE receiver_requirements (
  name        TEXT NOT NULL,
  requirement TEXT NOT NULL,
  receiver_id TEXT NOT NULL,
  -- Such as `COMPLIANT` and `NEEDS_WORK`.
  status      TEXT NOT NULL,
  -- Why, as Google says it.
  reason      TEXT,
  -- When the status was first seen, and what it was before; null if there was none.
  since       TEXT NOT NULL,
  previous    TEXT,
  checked_at  TEXT NOT NULL,
  PRIMARY KEY (name, requirement, receiver_id)
);

-- What Microsoft publishes about an address and a period of activity.
CREATE TABLE receiver_addresses (
  address          TEXT NOT NULL,
  -- The day that was asked for.
  day              TEXT NOT NULL,
  receiver_id      TEXT NOT NULL,
  started_at       TEXT NOT NULL,
  ended_at         TEXT NOT NULL,
  rcpt_commands    INTEGER NOT NULL,
  data_commands    INTEGER NOT NULL,
  recipients       INTEGER NOT NULL,
  -- `GREEN`, `YELLOW` or `RED`; null if none was published.
  filter_result    TEXT,
  -- From 0 to 1, and whether the real rate is below it.
  complaint_rate   REAL,
  is_below_rate    INTEGER NOT NULL DEFAULT 0,
  trap_hits        INTEGER,
  sample_helo      TEXT,
  sample_mail_from TEXT,
  comments         TEXT,
  fetched_at       TEXT NOT NULL,
  PRIMARY KEY (address, day, receiver_id, started_at)
);
CREATE INDEX receiver_addresses_day ON receiver_addresses (day);

-- The addresses about which Microsoft says whether they are blocked.
CREATE TABLE receiver_blocks (
  receiver_id   TEXT NOT NULL,
  first_address TEXT NOT NULL,
  last_address  TEXT NOT NULL,
  blocked       INTEGER NOT NULL,
  details       TEXT NOT NULL,
  -- When this state was first seen.
  since         TEXT NOT NULL,
  checked_at    TEXT NOT NULL,
  PRIMARY KEY (receiver_id, first_address, last_address)
);

-- Name servers at which the service changes records for the team.
CREATE TABLE dns_servers (
  -- `dns_…`: name server
  id         TEXT NOT NULL PRIMARY KEY,
  -- Such as `rfc2136`.
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  -- JSON: what is not secret, such as the address and the name of the key.
  settings   TEXT NOT NULL,
  -- Encrypted JSON.
  secrets    TEXT NOT NULL,
  -- JSON: the zones that may be changed there.
  zones      TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- When the credentials were last tried, and what was wrong with them.
  checked_at TEXT,
  problem    TEXT
);

-- Changes of records at name servers: one set of records with a common name and type each.
CREATE TABLE dns_changes (
  -- `chg_…`: DNS change
  id           TEXT NOT NULL PRIMARY KEY,
  -- The server may have been removed since, and so may the domain.
  server_id    TEXT NOT NULL,
  domain_id    TEXT,
  zone         TEXT NOT NULL,
  name         TEXT NOT NULL,
  type         TEXT NOT NULL,
  -- JSON: the values and the TTL, no values if there was no such record.
  before       TEXT NOT NULL,
  after        TEXT NOT NULL,
  -- What the change is for, in words.
  reason       TEXT NOT NULL,
  -- `applying` until the server has answered, then `applied`, `failed` or `unknown`; `undone` by a later change.
  status       TEXT NOT NULL CHECK (status IN ('applying', 'applied', 'failed', 'unknown', 'undone')),
  error        TEXT,
  -- The change that this one undoes.
  undoes       TEXT,
  created_at   TEXT NOT NULL,
  finished_at  TEXT,
  -- Until then, only the node that started an `applying` change works on it.
  leased_until TEXT
);
CREATE INDEX dns_changes_domain ON dns_changes (domain_id, id);
-- One change at a time for each set of records.
CREATE UNIQUE INDEX dns_changes_applying ON dns_changes (server_id, name, type)
  WHERE status = 'applying';

-- The team's name, logo and color, shown to people outside it. At most one row.
CREATE TABLE brand (
  id    TEXT NOT NULL PRIMARY KEY,
  name  TEXT NOT NULL,
  -- `#rrggbb`
  color TEXT,
  -- PNG or JPEG in base64, without metadata.
  logo  TEXT
);
