/** The messages of each day by outcome, as a chart and as a table. */

import { OUTCOMES, STOPPED, type StoppedCounts, stoppedOf } from '../../figures/dmarc.ts';
import type { DayEvent } from '../../report/day-chart.ts';
import { CountChart, type Series } from './count-chart.tsx';

interface Day extends StoppedCounts {
  date: string;
  passed: number;
  failed: number;
}

/** The last ones are what became of the messages that failed. */
const SERIES: Series<Day>[] = [
  { title: 'Passed', count: ({ passed }) => passed, fill: 'solid' },
  {
    title: 'Failed, delivered',
    count: (day) => Math.max(0, day.failed - stoppedOf(day)),
    fill: 'striped',
  },
  ...STOPPED.map(
    ({ name, fill }): Series<Day> => ({
      title: `Failed, ${name}`,
      count: (day) => day[name],
      fill,
    }),
  ),
];

const COLUMNS = OUTCOMES.map(({ name, title }) => ({ title, count: (day: Day) => day[name] }));

/** Days without reports are gaps. `from` and `to` are days. */
export const DayChart = (period: {
  days: Day[];
  from: string;
  to: string;
  events?: DayEvent[];
  hrefOf?(day: Day): string;
}) => (
  <CountChart title="Messages" series={SERIES} columns={COLUMNS} lacking="reports" {...period} />
);
