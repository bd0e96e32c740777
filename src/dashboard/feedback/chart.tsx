/** The messages of each day by outcome, as a chart and as a table. */

import { CountChart, type Series } from './count-chart.tsx';

interface Day {
  date: string;
  passed: number;
  failed: number;
  quarantined: number;
  rejected: number;
}

/** The last three are what became of the messages that failed. */
const OUTCOMES: Series<Day>[] = [
  { title: 'Passed', count: ({ passed }) => passed, look: 'solid' },
  {
    title: 'Failed, delivered',
    count: ({ failed, quarantined, rejected }) => Math.max(0, failed - quarantined - rejected),
    look: 'striped',
  },
  { title: 'Failed, quarantined', count: ({ quarantined }) => quarantined, look: 'dotted' },
  { title: 'Failed, rejected', count: ({ rejected }) => rejected, look: 'hollow' },
];

const COLUMNS = [
  { title: 'Passed', count: ({ passed }: Day) => passed },
  { title: 'Failed', count: ({ failed }: Day) => failed },
  { title: 'Quarantined', count: ({ quarantined }: Day) => quarantined },
  { title: 'Rejected', count: ({ rejected }: Day) => rejected },
];

/** Days without reports are gaps. `from` and `to` are days. */
export const DayChart = (period: {
  days: Day[];
  from: string;
  to: string;
  hrefOf?(day: Day): string;
}) => <CountChart title="Messages" series={OUTCOMES} columns={COLUMNS} {...period} />;
