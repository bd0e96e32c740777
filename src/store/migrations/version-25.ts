/** Step 25: the tags of domains, and what the table of domains shows. */

export const DOMAIN_TAGS = `
ALTER TABLE domains ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
DROP INDEX domains_listed;
CREATE INDEX domains_listed ON domains (status, health_status, id, name, tags);
`;

/** What the table of domains shows: see `schema.sql`. */
export const DOMAIN_DIGESTS = `
CREATE TABLE domain_digests (
  id          TEXT NOT NULL PRIMARY KEY,
  read_at     TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('fail', 'warn', 'unknown', 'pass')),
  cost        INTEGER NOT NULL,
  headline    TEXT NOT NULL,
  since       TEXT,
  step        TEXT,
  step_path   TEXT,
  policy      TEXT CHECK (policy IN ('missing', 'none', 'quarantine', 'reject')),
  sub_policy  TEXT,
  pct         INTEGER,
  messages    INTEGER NOT NULL,
  spf_rate    REAL,
  dkim_rate   REAL,
  dmarc_rate  REAL,
  spam_rate   REAL,
  spam_day    TEXT,
  samples     INTEGER NOT NULL,
  inbox_rate  REAL,
  changed_at  TEXT,
  changed     TEXT
);
`;
