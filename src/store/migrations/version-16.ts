/** Step 16: sums of sources by month, and of complaints and bounces. */

const SUMS = ['messages', 'passed', 'dkim', 'spf', 'quarantined', 'rejected', 'forwarded'];

/** Each value of a column that is counted, with the rows to which that applies. */
const MESSAGE_SUBJECTS = [
  ['bounce class', 'bounces', 'class', ''],
  ['bounce provider', 'bounces', 'provider', ''],
  ['bounce server', 'bounces', "coalesce(reporting_server, '')", ''],
  ['bounce status', 'bounces', "coalesce(status_code, '')", ''],
  ['complaint kind', 'complaints', 'kind', ''],
  ['complaint provider', 'complaints', 'provider', " AND kind = 'abuse'"],
  [
    'complaint sender',
    'complaints',
    "coalesce(address, '') || ' ' || coalesce(dkim_domain, '')",
    " AND kind = 'abuse'",
  ],
] as const;

const countByDay = MESSAGE_SUBJECTS.map(
  ([subject, table, value, condition]) => `
INSERT INTO feedback_message_sums (domain_id, subject, period, value, count)
  SELECT m.domain_id, '${subject}', day, ${value}, count(*)
  FROM ${table} m JOIN feedback_reports r ON r.id = m.report_id
  WHERE r.status = 'counted' AND m.domain_id IS NOT NULL${condition} GROUP BY 1, 3, 4;`,
).join('');

/** Fills the sums from what is stored. A million rows by day take seconds: they are read once, in the order of their key. */
export const FILL_SUMS = `
INSERT INTO feedback_source_months (domain_id, month, source_id, ${SUMS.join(', ')})
  SELECT domain_id, substr(day, 1, 7), source_id, ${SUMS.map((name) => `sum(${name})`).join(', ')}
  FROM feedback_source_days GROUP BY 1, 2, 3;${countByDay}
INSERT INTO feedback_message_sums (domain_id, subject, period, value, count)
  SELECT domain_id, subject, substr(period, 1, 7), value, sum(count)
  FROM feedback_message_sums GROUP BY 1, 2, 3, 4;
`;

export const SUMS_OF_LONG_PERIODS = `
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
CREATE TABLE feedback_message_sums (
  domain_id TEXT NOT NULL,
  subject   TEXT NOT NULL,
  period    TEXT NOT NULL,
  value     TEXT NOT NULL,
  count     INTEGER NOT NULL,
  PRIMARY KEY (domain_id, subject, period, value)
) WITHOUT ROWID;
DROP INDEX complaints_domain;
CREATE INDEX complaints_listed ON complaints (domain_id, id, day);
DROP INDEX bounces_domain;
CREATE INDEX bounces_listed ON bounces (domain_id, id, day, class);
${FILL_SUMS}`;
