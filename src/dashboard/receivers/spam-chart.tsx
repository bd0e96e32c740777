/** The spam rate at Gmail by day, with the limits that Google sets. */

import { stateOf } from '../../figures/figure.ts';
import { SPAM_GOAL_TEXT, SPAM_LIMIT_TEXT, SPAM_LIMITS } from '../../figures/gmail.ts';
import { rateInWords } from '../../lib/format/numbers.ts';
import { useDayText } from '../frame/times.tsx';
import { dayAxis } from './day-axis.ts';

interface DayRate {
  date: string;
  rate: number;
}

interface ChartProps {
  /** Days that are missing are gaps. */
  rates: DayRate[];
  from: string;
  to: string;
}

const [TOP, HEIGHT, BOTTOM] = [8, 152, 24];
/** A rate of 0 stays visible, because a gap means something else. */
const MIN_BAR = 2;
/** Shows both limits, and leaves room between them however high the rate is. */
const [MIN_SCALE, MAX_SCALE] = [0.004, 0.015];

const LIMITS = [
  { rate: SPAM_LIMITS.fail, state: 'fail' },
  { rate: SPAM_LIMITS.warn, state: 'warn' },
] as const;

export function SpamChart({ rates, from, to }: ChartProps) {
  const peak = Math.max(0, ...rates.map(({ rate }) => rate));
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, peak * 1.1));
  const axis = dayAxis({ from, to });
  const dayText = useDayText();
  const yOf = (rate: number) => TOP + HEIGHT * (1 - Math.min(1, rate / scale));
  return (
    <>
      <svg
        class="rate-chart"
        role="img"
        height={TOP + HEIGHT + BOTTOM}
        aria-label={`Spam rate by day from ${dayText(from)} to ${dayText(to)}, highest ${rateInWords(peak)}. Google’s limits are ${SPAM_GOAL_TEXT} and ${SPAM_LIMIT_TEXT}.`}
      >
        <line class="base" x1="0" x2="100%" y1={TOP + HEIGHT} y2={TOP + HEIGHT} />
        <text x="-8" y={TOP + HEIGHT + 4} text-anchor="end">
          0%
        </text>
        {rates.map(({ date, rate }) => {
          const height = Math.max(MIN_BAR, TOP + HEIGHT - yOf(rate));
          return (
            <rect
              key={date}
              class={stateOf(rate, SPAM_LIMITS)}
              {...axis.barOf(date)}
              y={TOP + HEIGHT - height}
              height={height}
            >
              <title>{`${dayText(date)}: ${rateInWords(rate)}`}</title>
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
          {dayText(from)}
        </text>
        <text x="100%" y={TOP + HEIGHT + 19} text-anchor="end">
          {dayText(to)}
        </text>
      </svg>
      <p class="small muted">
        {`Google asks for less than ${SPAM_GOAL_TEXT} and acts on ${SPAM_LIMIT_TEXT} or more. A gap is a day without data.`}
        {peak > scale && ` Bars above ${rateInWords(scale)} are cut off.`}
      </p>
    </>
  );
}
