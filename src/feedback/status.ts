/** What becomes of a report. Only `counted` ones are part of any sum. */

export const REPORT_STATUSES = [
  'counted',
  'duplicate',
  'conflict',
  'unverified',
  'refused',
] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];
