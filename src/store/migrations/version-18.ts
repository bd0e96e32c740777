/** Step 18: what Google and Microsoft publish about domains and addresses. New tables only. */

export const RECEIVERS = `
CREATE TABLE receivers (
  id             TEXT NOT NULL PRIMARY KEY,
  receiver       TEXT NOT NULL,
  next_fetch_at  TEXT,
  attempted_at   TEXT,
  fetched_at     TEXT,
  failures       INTEGER NOT NULL DEFAULT 0,
  problem        TEXT,
  problem_detail TEXT,
  failing_since  TEXT,
  lease          TEXT,
  leased_until   TEXT
);
CREATE TABLE receiver_credentials (
  id            TEXT NOT NULL PRIMARY KEY,
  configured    TEXT NOT NULL,
  refresh_token TEXT NOT NULL,
  stored_at     TEXT NOT NULL,
  rejected_at   TEXT
);
CREATE TABLE receiver_domains (
  receiver_id    TEXT NOT NULL,
  name           TEXT NOT NULL,
  permission     TEXT NOT NULL,
  verification   TEXT,
  listed_at      TEXT NOT NULL,
  days_at        TEXT,
  requirements_at TEXT,
  problem        TEXT,
  problem_detail TEXT,
  PRIMARY KEY (receiver_id, name)
);
CREATE INDEX receiver_domains_name ON receiver_domains (name);
CREATE TABLE receiver_days (
  name           TEXT NOT NULL,
  day            TEXT NOT NULL,
  receiver_id    TEXT NOT NULL,
  spam_rate      REAL,
  spf_rate       REAL,
  dkim_rate      REAL,
  dmarc_rate     REAL,
  tls_rate       REAL,
  tls_messages   INTEGER,
  reject_rate    REAL,
  temp_fail_rate REAL,
  errors         TEXT,
  feedback_loops TEXT,
  fetched_at     TEXT NOT NULL,
  PRIMARY KEY (name, day, receiver_id)
);
CREATE TABLE receiver_requirements (
  name        TEXT NOT NULL,
  requirement TEXT NOT NULL,
  receiver_id TEXT NOT NULL,
  status      TEXT NOT NULL,
  reason      TEXT,
  since       TEXT NOT NULL,
  previous    TEXT,
  checked_at  TEXT NOT NULL,
  PRIMARY KEY (name, requirement, receiver_id)
);
CREATE TABLE receiver_addresses (
  address          TEXT NOT NULL,
  day              TEXT NOT NULL,
  receiver_id      TEXT NOT NULL,
  started_at       TEXT NOT NULL,
  ended_at         TEXT NOT NULL,
  rcpt_commands    INTEGER NOT NULL,
  data_commands    INTEGER NOT NULL,
  recipients       INTEGER NOT NULL,
  filter_result    TEXT,
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
CREATE TABLE receiver_blocks (
  receiver_id   TEXT NOT NULL,
  first_address TEXT NOT NULL,
  last_address  TEXT NOT NULL,
  blocked       INTEGER NOT NULL,
  details       TEXT NOT NULL,
  since         TEXT NOT NULL,
  checked_at    TEXT NOT NULL,
  PRIMARY KEY (receiver_id, first_address, last_address)
);
`;
