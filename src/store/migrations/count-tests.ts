/** Step 7: counts the tests that there are, as `mailtests/tally.ts` has counted them since. */

const IS = (condition: string) => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

const GRADES = ['A', 'B', 'C', 'D', 'F'].map((grade) => IS(`grade = '${grade}'`)).join(', ');

const RESULTS = ['spf', 'dkim', 'dmarc']
  .map(
    (name) => `${IS(`${name} IS NOT NULL AND ${name} <> 'temperror'`)}, ${IS(`${name} = 'pass'`)}`,
  )
  .join(', ');

/**
 * All of them: counts of long ago are deleted by their job. The checks of a test are by far its largest
 * part, so they are read once, for its domain and for all together; such as cannot be read (somebody
 * wrote into the file) count as without findings, rather than keep the service from starting.
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
INSERT INTO test_tallies
SELECT counted.livemode, counted.domain_id, counted.hour, count(*), count(score),
  coalesce(sum(score), 0), ${GRADES}, ${RESULTS}, 0, 0, coalesce(issues.counts, '{}')
FROM counted
LEFT JOIN issues ON issues.livemode = counted.livemode
  AND issues.domain_id = counted.domain_id AND issues.hour = counted.hour
GROUP BY counted.livemode, counted.domain_id, counted.hour;
`;
