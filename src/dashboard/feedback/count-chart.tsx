/** Counts by day as stacked bars, told apart by pattern too, and as a table. */

import { compactCount, formatCount } from '../../lib/format/numbers.ts';
import type { Series as ChartSeries } from '../../report/charts.ts';
import type { DayEvent } from '../../report/day-chart.ts';
import { DayFigure } from '../frame/day-figure.tsx';
import { DayTable } from '../receivers/day-table.tsx';

export interface Series<Day> extends ChartSeries {
  count(day: Day): number;
}

interface ChartProps<Day> {
  /** What is counted, such as "Complaints". */
  title: string;
  /** The lowest in the bar first. */
  series: Series<Day>[];
  /** The columns of the table; by default, the series. */
  columns?: Pick<Series<Day>, 'title' | 'count'>[];
  /** Days without any are left out. */
  days: Day[];
  from: string;
  to: string;
  /** What a day that is left out lacks: "reports". */
  lacking: string;
  events?: DayEvent[];
  /** The reports of a day. */
  hrefOf?(day: Day): string;
}

export function CountChart<Day extends { date: string }>(props: ChartProps<Day>) {
  const { title, series, columns = series, days, from, to, lacking, events, hrefOf } = props;
  // "Messages" are counted as "1 message".
  const noun = title.toLowerCase().replace(/s$/, '');
  const partsOf = (day: Day) => series.map(({ count }) => count(day));
  const sumOf = (day: Day) => partsOf(day).reduce((sum, count) => sum + count, 0);
  const most = Math.max(0, ...days.map(sumOf));
  return (
    <>
      <DayFigure
        id={`${title.toLowerCase()}-by-day`}
        title={`${title} by day`}
        days={days}
        from={from}
        to={to}
        read={(day) => ({
          value: sumOf(day),
          parts: partsOf(day),
          text: formatCount(sumOf(day), noun),
        })}
        series={series}
        events={events}
        emptyText={`no ${lacking}`}
        format={formatCount}
        formatScale={compactCount}
        summary={`peak: ${formatCount(most)} per day`}
        note={`The peak is ${formatCount(most)} on a day. A gap is a day without ${lacking}.`}
      />
      <DayTable<Day>
        label={`${title} by day`}
        summary={hrefOf ? 'Show as a table, with the reports of each day' : 'Show as a table'}
        rows={days}
        keyOf={({ date }) => date}
        hrefOf={hrefOf}
        columns={columns.map(({ title: name, count }) => ({
          title: name,
          number: true,
          cell: (day) => formatCount(count(day)),
        }))}
      />
    </>
  );
}
