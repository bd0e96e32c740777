/** What becomes of a report. Only `counted` ones are part of any sum. */

export const REPORT_STATUSES = [
  'counted',
  'duplicate',
  'conflict',
  'unconfirmed',
  'implausible',
  'unverified',
  'refused',
] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

/** What a report that is no copy becomes. The rows of each are stored, and those of `counted` ones are part of the sums. */
export const VERDICTS = ['counted', 'unconfirmed', 'implausible', 'unverified'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** While the rows of a deleted report are taken out of the sums. No page and no response shows it. */
export const REMOVED = 'removed';

/** The content of a report whose rows were deleted at the end of their retention period. Its sums stay. */
export const EMPTY_CONTENT = '{}';
