/** Statements that count rows which a benchmark has inserted itself. */

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

/** Sums up sources by month, and complaints and bounces, from the rows of days. */
export const FILL_SUMS = `
INSERT INTO feedback_source_months (domain_id, month, source_id, ${SUMS.join(', ')})
  SELECT domain_id, substr(day, 1, 7), source_id, ${SUMS.map((name) => `sum(${name})`).join(', ')}
  FROM feedback_source_days GROUP BY 1, 2, 3;${countByDay}
INSERT INTO feedback_message_sums (domain_id, subject, period, value, count)
  SELECT domain_id, subject, substr(period, 1, 7), value, sum(count)
  FROM feedback_message_sums GROUP BY 1, 2, 3, 4;
`;

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

/** Counts all tests as `mailtests/tally.ts` counts new ones. */
export const COUNT_TESTS = `
WITH
completed AS (
  SELECT *, substr(completed_at, 1, 13) || ':00:00.000Z' AS hour
  FROM tests
  WHERE status = 'completed' AND completed_at IS NOT NULL
),
found AS MATERIALIZED (
  SELECT livemode, domain_id, hour, json_extract(entry.value, '$.id') AS issue, count(*) AS tests
  FROM completed, json_each(completed.checks) AS entry
  WHERE json_extract(entry.value, '$.status') IN ('fail', 'warn')
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
