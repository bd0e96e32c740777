/** The chart of a shared report: the score of each test, in the order in which they are shown. */

import type { Chart } from './chart.ts';
import { reportName, type Share } from './share.ts';

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
