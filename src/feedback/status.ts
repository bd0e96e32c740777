/** What becomes of a report. Only `counted` ones are part of any sum. */

export const REPORT_STATUSES = [
  'counted',
  'duplicate',
  'conflict',
  'unverified',
  'refused',
] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

/** While the rows of a deleted report are taken out of the sums. No page and no response shows it. */
export const REMOVED = 'removed';

/** The content of a report whose rows were deleted at the end of their retention period. Its sums stay. */
export const EMPTY_CONTENT = '{}';
