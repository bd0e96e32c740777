/** Counts by day as stacked bars, told apart by pattern too, and as a table. */

import { compactCount, formatCount } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import type { Series as ChartSeries } from '../../report/charts.ts';
import type { DayEvent } from '../../report/day-chart.ts';
import { ScrollArea } from '../../ui/components.tsx';
import { DayFigure } from '../frame/day-figure.tsx';

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
  /** What may explain the counts. */
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
      <details class="figures-table">
        <summary>
          {hrefOf ? 'Show as a table, with the reports of each day' : 'Show as a table'}
        </summary>
        <ScrollArea label={`${title} by day`}>
          <table class="compact">
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                {columns.map(({ title }) => (
                  <th key={title} scope="col" class="number">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.map((day) => (
                <tr key={day.date}>
                  <th scope="row">
                    {hrefOf ? (
                      <a href={hrefOf(day)}>{dayInWords(day.date)}</a>
                    ) : (
                      dayInWords(day.date)
                    )}
                  </th>
                  {columns.map(({ title, count }) => (
                    <td key={title} class="number">
                      {formatCount(count(day))}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      </details>
    </>
  );
}
