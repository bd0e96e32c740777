/** The messages of each day by outcome, as stacked bars with a pattern, and as a table. */

import { isoTime } from '../../lib/clock.ts';
import { ScrollArea } from '../../report/html/components.tsx';
import { formatCount } from '../../report/summary.ts';
import { dayInWords } from '../../report/times.ts';

interface Day {
  date: string;
  messages: number;
  passed: number;
  failed: number;
  quarantined: number;
  rejected: number;
}

const [WIDTH, HEIGHT, GAP] = [600, 160, 0.25];

/** From the bottom up; the last three are what became of the messages that failed. */
const OUTCOMES: { name: string; text: string; count: (day: Day) => number }[] = [
  { name: 'passed', text: 'passed', count: ({ passed }) => passed },
  {
    name: 'failed',
    text: 'failed, delivered',
    count: ({ failed, quarantined, rejected }) => Math.max(0, failed - quarantined - rejected),
  },
  { name: 'quarantined', text: 'failed, quarantined', count: ({ quarantined }) => quarantined },
  { name: 'rejected', text: 'failed, rejected', count: ({ rejected }) => rejected },
];

/** Days without reports are gaps. `from` and `to` are days. */
export function DayChart({ days, from, to }: { days: Day[]; from: string; to: string }) {
  const dates = datesBetween(from, to);
  const byDate = new Map(days.map((day) => [day.date, day]));
  const most = Math.max(1, ...days.map(({ messages }) => messages));
  const step = WIDTH / dates.length;
  const heightOf = (count: number) => (count / most) * HEIGHT;
  return (
    <>
      <svg
        class="day-chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Messages by day from ${dayInWords(from)} to ${dayInWords(to)}, peak: ${formatCount(most)} per day`}
      >
        <defs>
          <pattern id="failed-pattern" width="6" height="6" patternUnits="userSpaceOnUse">
            <rect class="failed-ground" width="6" height="6" />
            <path class="failed-stripe" d="M0 6 6 0" />
          </pattern>
          <pattern id="quarantined-pattern" width="5" height="5" patternUnits="userSpaceOnUse">
            <rect class="failed-ground" width="5" height="5" />
            <rect class="quarantined-dot" width="2" height="2" />
          </pattern>
        </defs>
        {dates.map((date, index) => {
          const day = byDate.get(date);
          if (!day) return null;
          const position = { x: index * step + (step * GAP) / 2, width: step * (1 - GAP) };
          let top = HEIGHT;
          return (
            <g key={date}>
              <title>{`${dayInWords(date)}: ${OUTCOMES.map(({ text, count }) => `${formatCount(count(day))} ${text}`).join('; ')}`}</title>
              {OUTCOMES.map(({ name, count }) => {
                const height = heightOf(count(day));
                top -= height;
                return <rect key={name} class={name} {...position} y={top} height={height} />;
              })}
            </g>
          );
        })}
      </svg>
      <ul class="chart-key small">
        {OUTCOMES.map(({ name, text }) => (
          <li key={name}>
            <span class={`swatch ${name}`} aria-hidden="true" /> {text}
          </li>
        ))}
        <li class="muted">
          {`${dayInWords(from)} to ${dayInWords(to)}, peak: ${formatCount(most)} per day`}
        </li>
      </ul>
      <details class="figures-table">
        <summary>Show as a table</summary>
        <DayTable days={days} />
      </details>
    </>
  );
}

function DayTable({ days }: { days: Day[] }) {
  return (
    <ScrollArea label="Messages by day">
      <table class="compact">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {['Passed', 'Failed', 'Quarantined', 'Rejected'].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map(({ date, passed, failed, quarantined, rejected }) => (
            <tr key={date}>
              <th scope="row">{dayInWords(date)}</th>
              {[passed, failed, quarantined, rejected].map((count, index) => (
                <td key={index} class="number">
                  {formatCount(count)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

const DAY_MS = 86_400_000;

function datesBetween(from: string, to: string): string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, index) =>
    isoTime(Date.parse(from) + index * DAY_MS).slice(0, 10),
  );
}
