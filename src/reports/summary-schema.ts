/** The summary of a period as the API answers it (contract §5). */

import * as v from 'valibot';
import { Time } from '../http/schemas.ts';
import { PERIODS } from './summary.ts';

const Period = v.picklist(PERIODS, `must be one of ${PERIODS.join(', ')}`);

export const SummaryQuery = v.strictObject({
  period: v.optional(Period, 'week'),
  domain_id: v.optional(
    v.pipe(
      v.string('must be the id of a domain'),
      v.minLength(1, 'must be the id of a domain'),
      v.maxLength(100, 'must have at most 100 characters'),
    ),
  ),
});

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** The mean of the scores, rounded to two digits after the point; 0 where there is none. */
const MeanScore = v.pipe(v.number(), v.minValue(0), v.maxValue(100));
/** A fraction, rounded to four digits after the point; 0 where nothing is known. */
const Rate = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

export const ReportSummary = v.object({
  object: v.literal('report_summary'),
  period: Period,
  // The beginning of an hour: the present one is the last of the period.
  from: Time,
  to: Time,
  total_tests: Count,
  avg_score: MeanScore,
  inbox_rate: Rate,
  placement_samples: Count,
  grades: v.object({ A: Count, B: Count, C: Count, D: Count, F: Count }),
  auth_rates: v.object({ spf: Rate, dkim: Rate, dmarc: Rate }),
  top_issues: v.array(v.object({ check: v.string(), issue: v.string(), count: Count })),
  // The same time before `from`.
  previous: v.object({ total_tests: Count, avg_score: MeanScore, inbox_rate: Rate }),
  trend: v.array(v.object({ from: Time, tests: Count, avg_score: MeanScore, inbox_rate: Rate })),
});
