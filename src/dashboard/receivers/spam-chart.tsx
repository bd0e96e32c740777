/** The spam rate at Gmail by day, with the limits that Google sets. */

import { rateInWords, SPAM_GOAL, SPAM_LIMIT, spamRateState } from '../../report/spam-rate.ts';
import { dayInWords } from '../../report/times.ts';
import { dayAxis } from './day-axis.ts';

interface Day {
  date: string;
  spam_rate: number | null;
}

interface ChartProps {
  /** Days without a rate are gaps. */
  days: Day[];
  from: string;
  to: string;
}

const [TOP, HEIGHT, BOTTOM] = [8, 152, 24];
/** A rate of 0 stays visible, because a gap means something else. */
const MIN_BAR = 2;
/** Shows both limits, and leaves room between them however high the rate is. */
const [MIN_SCALE, MAX_SCALE] = [0.004, 0.015];

const LIMITS = [
  { rate: SPAM_LIMIT, state: 'fail' },
  { rate: SPAM_GOAL, state: 'warn' },
] as const;

export function SpamChart({ days, from, to }: ChartProps) {
  const known = days.filter((day): day is Day & { spam_rate: number } => day.spam_rate !== null);
  const peak = Math.max(0, ...known.map(({ spam_rate }) => spam_rate));
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, peak * 1.1));
  const axis = dayAxis({ from, to });
  const yOf = (rate: number) => TOP + HEIGHT * (1 - Math.min(1, rate / scale));
  return (
    <>
      <svg
        class="rate-chart"
        role="img"
        height={TOP + HEIGHT + BOTTOM}
        aria-label={`Spam rate by day from ${dayInWords(from)} to ${dayInWords(to)}, highest ${rateInWords(peak)}. Google’s limits are 0.1% and 0.3%.`}
      >
        <line class="base" x1="0" x2="100%" y1={TOP + HEIGHT} y2={TOP + HEIGHT} />
        <text x="-8" y={TOP + HEIGHT + 4} text-anchor="end">
          0%
        </text>
        {known.map(({ date, spam_rate }) => {
          const height = Math.max(MIN_BAR, TOP + HEIGHT - yOf(spam_rate));
          return (
            <rect
              key={date}
              class={spamRateState(spam_rate)}
              {...axis.barOf(date)}
              y={TOP + HEIGHT - height}
              height={height}
            >
              <title>{`${dayInWords(date)}: ${rateInWords(spam_rate)}`}</title>
            </rect>
          );
        })}
        {LIMITS.map(({ rate, state }) => (
          <g key={state} class={state}>
            <line class="limit" x1="0" x2="100%" y1={yOf(rate)} y2={yOf(rate)} />
            <text class="limit-name" x="-8" y={yOf(rate) + 5} text-anchor="end">
              {rateInWords(rate)}
            </text>
          </g>
        ))}
        <text x="0" y={TOP + HEIGHT + 19}>
          {dayInWords(from)}
        </text>
        <text x="100%" y={TOP + HEIGHT + 19} text-anchor="end">
          {dayInWords(to)}
        </text>
      </svg>
      <p class="small muted">
        Google asks for less than 0.1% and acts on 0.3% or more. A gap is a day without data.
        {peak > scale && ` Bars above ${rateInWords(scale)} are cut off.`}
      </p>
    </>
  );
}
