/** The spam rate at Gmail by day, with the limits that Google sets. */

import { stateOf } from '../../figures/figure.ts';
import { SPAM_GOAL_TEXT, SPAM_LIMIT_TEXT, SPAM_LIMITS } from '../../figures/gmail.ts';
import { rateInWords } from '../../lib/format/numbers.ts';
import { roundUp } from '../../report/charts.ts';
import type { DayEvent } from '../../report/day-chart.ts';
import { DayFigure } from '../frame/day-figure.tsx';

interface ChartProps {
  /** Days that are missing are gaps. */
  rates: { date: string; rate: number }[];
  from: string;
  to: string;
  events: DayEvent[];
}

/** Shows both limits, and leaves room between them however high the rate is. */
const [MIN_SCALE, MAX_SCALE] = [0.004, 0.015];

const LIMITS = [
  { value: SPAM_LIMITS.fail, state: 'fail' as const },
  { value: SPAM_LIMITS.warn, state: 'warn' as const },
];

export function SpamChart({ rates, ...period }: ChartProps) {
  const peak = Math.max(0, ...rates.map(({ rate }) => rate));
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, roundUp(peak)));
  const cut = peak > scale ? ` Bars above ${rateInWords(scale)} are cut off.` : '';
  return (
    <DayFigure
      id="spam-rate"
      title="Spam rate by day"
      days={rates}
      {...period}
      read={({ rate }) => {
        const state = stateOf(rate, SPAM_LIMITS);
        return { value: rate, state: state === 'pass' ? undefined : state };
      }}
      max={scale}
      isShare
      limits={LIMITS}
      format={rateInWords}
      emptyText="no data"
      summary={`highest ${rateInWords(peak)}. Google’s limits are ${SPAM_GOAL_TEXT} and ${SPAM_LIMIT_TEXT}.`}
      note={`Google asks for less than ${SPAM_GOAL_TEXT} and acts on ${SPAM_LIMIT_TEXT} or more. A gap is a day without data.${cut}`}
    />
  );
}
