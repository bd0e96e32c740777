/** Shared links to one or more reports, with the sentences that their page and PDF share. */

import { addressDomain } from '../lib/domain-names.ts';
import type { Chart } from './charts.ts';
import type { Report, StoredShare } from './report.ts';

/** A shared link with its redacted reports. */
export type Share = Omit<StoredShare, 'reports'> & { reports: Report[] };

/** From this number of reports on, pages omit the evidence of passed checks to limit their size. */
const MIN_BRIEF_REPORTS = 21;

export const isBrief = ({ reports }: Share): boolean => reports.length >= MIN_BRIEF_REPORTS;

/** In a PDF, a full report takes about nine pages and cannot be collapsed; a brief one takes at most two. */
const MIN_BRIEF_PDF_REPORTS = 2;

export const isBriefPdf = ({ reports }: Share): boolean => reports.length >= MIN_BRIEF_PDF_REPORTS;

/** The title that the team chose, or a default. */
export function shareTitle({ title, reports: { length } }: Share): string {
  if (title !== null) return title;
  return length === 1 ? 'Deliverability report' : `${length} deliverability tests`;
}

/** The name of the test, else its subject or ID. */
export const reportName = ({ name, subject, id }: Report): string =>
  name ?? subject ?? id ?? 'Untitled message';

export const fromDomainOf = ({ from_address }: Report): string | null =>
  from_address === null ? null : addressDomain(from_address);

/** How many tests were deleted; null if none. */
export function deletedTestsSentence({ deletedTests, reports }: Share): string | null {
  if (deletedTests === 0) return null;
  if (reports.length === 0) return 'All tests in this report have been deleted.';
  return deletedTests === 1
    ? '1 test in this report has been deleted.'
    : `${deletedTests} tests in this report have been deleted.`;
}

/** The range and mean of the scores; null if there are none. */
export function scoresSentence({ reports }: Share): string | null {
  const scores = reports.map(({ score }) => score).filter((score) => score !== null);
  if (scores.length === 0) return null;
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const mean = Math.floor(scores.reduce((sum, score) => sum + score, 0) / scores.length);
  const range =
    low === high
      ? `${scores.length === 1 ? 'The only score is' : 'All scores are'} ${low}`
      : `Scores from ${low} to ${high}, ${mean} on average`;
  const unscored = reports.length - scores.length;
  if (unscored === 0) return `${range}.`;
  return `${range}; ${unscored === 1 ? '1 test has' : `${unscored} tests have`} no score.`;
}

/** The score of each test in the order shown; null with fewer than two tests or without any score. */
export function scoresChart({ reports }: Share): Chart | null {
  if (reports.length < 2 || reports.every(({ score }) => score === null)) return null;
  return {
    title: 'Score of each test',
    buckets: reports.map((report, index) => ({
      label: String(index + 1),
      name: `${testNumber(index)}, ${reportName(report).slice(0, 100)}`,
      value: report.score,
      emptyText: 'no score',
    })),
    max: 100,
    format: String,
  };
}

/** Links the name of a test to its label in the chart. */
export const testNumber = (index: number): string => `Test ${index + 1}`;
