/** Counts by day as stacked bars, told apart by pattern too, and as a table. */

import { DAY_MS } from '../../lib/durations.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { ScrollArea } from '../../ui/components.tsx';

export interface Series<Day> {
  title: string;
  count(day: Day): number;
  /** A class of `style.ts`. */
  look: 'solid' | 'striped' | 'dotted' | 'hollow';
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
  /** The reports of a day. */
  hrefOf?(day: Day): string;
}

const [WIDTH, HEIGHT, GAP] = [600, 160, 0.25];

export function CountChart<Day extends { date: string }>(props: ChartProps<Day>) {
  const { title, series, columns = series, days, from, to, hrefOf } = props;
  const sumOf = (day: Day) => series.reduce((sum, { count }) => sum + count(day), 0);
  const most = Math.max(1, ...days.map(sumOf));
  const step = WIDTH / (dayNumber(to, from) + 1);
  const width = step * (1 - GAP);
  return (
    <>
      <svg
        class="day-chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} by day from ${dayInWords(from)} to ${dayInWords(to)}, peak: ${formatCount(most)} per day`}
      >
        <defs>
          <pattern id="striped-pattern" width="6" height="6" patternUnits="userSpaceOnUse">
            <rect class="pattern-ground" width="6" height="6" />
            <path class="pattern-stripe" d="M0 6 6 0" />
          </pattern>
          <pattern id="dotted-pattern" width="5" height="5" patternUnits="userSpaceOnUse">
            <rect class="pattern-ground" width="5" height="5" />
            <rect class="pattern-dot" width="2" height="2" />
          </pattern>
        </defs>
        {days.map((day) => {
          const x = dayNumber(day.date, from) * step + (step * GAP) / 2;
          let y = HEIGHT;
          return (
            <g key={day.date}>
              <title>{`${dayInWords(day.date)}, ${inWords(day, series)}`}</title>
              {series.map(({ title, count, look }) => {
                const height = (count(day) / most) * HEIGHT;
                if (height === 0) return null;
                y -= height;
                return <rect key={title} class={look} x={x} y={y} width={width} height={height} />;
              })}
            </g>
          );
        })}
      </svg>
      <ul class="chart-key small">
        {series.length > 1 &&
          series.map(({ title, look }) => (
            <li key={title}>
              <span class={`swatch ${look}`} aria-hidden="true" /> {title}
            </li>
          ))}
        <li class="muted">
          {`${dayInWords(from)} to ${dayInWords(to)}, peak: ${formatCount(most)} per day`}
        </li>
      </ul>
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

const inWords = <Day,>(day: Day, series: Series<Day>[]): string =>
  series.map(({ title, count }) => `${title.toLowerCase()}: ${formatCount(count(day))}`).join(', ');

const dayNumber = (day: string, from: string): number =>
  Math.round((Date.parse(day) - Date.parse(from)) / DAY_MS);
