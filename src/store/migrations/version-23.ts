/** Step 23: mailboxes from which reports are imported. */

export const REPORT_MAILBOXES = `
ALTER TABLE feedback_mails ADD COLUMN authserv TEXT;
CREATE TABLE report_mailboxes (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  sign_in TEXT,
  host TEXT,
  port INTEGER,
  tls TEXT,
  username TEXT,
  password TEXT,
  authserv_id TEXT,
  folder TEXT NOT NULL,
  move_to TEXT,
  schedule TEXT NOT NULL,
  uid_validity TEXT,
  last_uid INTEGER NOT NULL,
  pending_mail TEXT,
  started_at TEXT,
  finished_at TEXT,
  counts TEXT NOT NULL,
  problem TEXT,
  problem_detail TEXT,
  failures INTEGER NOT NULL,
  next_run_at TEXT,
  lease TEXT,
  leased_until TEXT,
  created_at TEXT NOT NULL
);
`;
