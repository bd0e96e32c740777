/** Several reports behind one link, and the sentences that the page and the PDF say of them alike. */

import { addressDomain } from '../lib/domain-names.ts';
import type { Chart } from './charts.ts';
import type { Report, StoredShare } from './report.ts';

/** With its reports as strangers may see them. */
export type Share = Omit<StoredShare, 'reports'> & { reports: Report[] };

/** Of more reports, what passed is told without its evidence, lest nobody could load them. */
const BRIEF_FROM = 21;

export const isBrief = ({ reports }: Share): boolean => reports.length >= BRIEF_FROM;

/** On paper a whole report has about nine pages, and nothing to fold. */
const BRIEF_PDF_FROM = 6;

export const isBriefPdf = ({ reports }: Share): boolean => reports.length >= BRIEF_PDF_FROM;

/** What the team called it, else what it is. */
export function shareTitle({ title, reports: { length } }: Share): string {
  if (title !== null) return title;
  return length === 1 ? 'Deliverability report' : `${length} deliverability tests`;
}

/** What people call the test. */
export const reportName = ({ name, subject, id }: Report): string =>
  name ?? subject ?? id ?? 'A message';

export const fromDomainOf = ({ from_address }: Report): string | null =>
  from_address === null ? null : addressDomain(from_address);

/** null where none is. */
export function missingSentence({ missing, reports }: Share): string | null {
  if (missing === 0) return null;
  if (reports.length === 0) return 'The tests of this report have been deleted since.';
  return missing === 1
    ? 'One test of this report has been deleted since.'
    : `${missing} tests of this report have been deleted since.`;
}

/** How the scores lie; null where there are none. */
export function scoresSentence({ reports }: Share): string | null {
  const scores = reports.map(({ score }) => score).filter((score) => score !== null);
  if (scores.length === 0) return null;
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const mean = Math.floor(scores.reduce((sum, score) => sum + score, 0) / scores.length);
  const range =
    low === high ? `Every score is ${low}` : `Scores from ${low} to ${high}, ${mean} on average`;
  const without = reports.length - scores.length;
  if (without === 0) return `${range}.`;
  return `${range}; ${without === 1 ? 'one test has' : `${without} tests have`} no score.`;
}

// The chart of a shared report: the score of each test, in the order in which they are shown.

/** null where there are not two tests, or none of them has a score. */
export function scoresChart({ reports }: Share): Chart | null {
  if (reports.length < 2 || reports.every(({ score }) => score === null)) return null;
  return {
    title: 'Score of each test',
    buckets: reports.map((report, index) => ({
      label: String(index + 1),
      name: `${testNumber(index)}, ${reportName(report).slice(0, 100)}`,
      value: report.score,
      none: 'no score',
    })),
    top: 100,
    format: String,
  };
}

/** What the labels of the chart count, for beside the name of the test. */
export const testNumber = (index: number): string => `Test ${index + 1}`;
