/** A small chart of values by day, for a cell of a table. The figures are beside it or in a table. */

import { useDayText } from '../frame/times.tsx';
import { dayAxis } from './day-axis.ts';

const HEIGHT = 28;
/** 0 stays visible, because a gap means that there is no data. */
const MIN_BAR = 2;

interface SparkDay {
  date: string;
  /** From 0 to 1. */
  share: number;
  /** A class of a state, if it has one. */
  state?: 'pass' | 'warn' | 'fail';
  /** What the bar says. */
  text: string;
}

interface SparkProps {
  /** What it shows, for screen readers. */
  label: string;
  /** Days that are missing are gaps. */
  days: SparkDay[];
  from: string;
  to: string;
}

export function Spark({ label, days, from, to }: SparkProps) {
  const axis = dayAxis({ from, to });
  const dayText = useDayText();
  return (
    <svg class="spark" role="img" aria-label={label}>
      <line class="base" x1="0" x2="100%" y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {days.map(({ date, share, state, text }) => {
        const height = Math.max(MIN_BAR, Math.min(1, share) * HEIGHT);
        return (
          <rect key={date} class={state} {...axis.barOf(date)} y={HEIGHT - height} height={height}>
            <title>{`${dayText(date)}: ${text}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
