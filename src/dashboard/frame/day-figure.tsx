/** A chart of days on a page: dates in the language of the reader, and what the chart leaves out in words. */

import { isoTime } from '../../lib/clock.ts';
import { dayChart } from '../../report/day-chart.ts';
import { ChartImage } from '../../report/html/chart.tsx';
import { useReader } from './reader.tsx';
import { Day as DayOf, useDayText } from './times.tsx';

type Input<Day extends { date: string }> = Omit<
  Parameters<typeof dayChart<Day>>[0],
  'today' | 'locale' | 'isLocal'
>;

interface DayFigureProps<Day extends { date: string }> extends Input<Day> {
  id: string;
  size?: 'full' | 'small';
  /** Follows title and dates in the name for screen readers: "peak: 340 per day". */
  summary?: string;
  note?: string;
}

export function DayFigure<Day extends { date: string }>(props: DayFigureProps<Day>) {
  const { id, size, summary, note, ...input } = props;
  const { title, from, to, days } = input;
  const { now, locale, hasOwnLocale } = useReader();
  const dayText = useDayText();
  const today = isoTime(now).slice(0, 10);
  const period = `${dayText(from)} to ${dayText(to)}`;
  const isPartial = days.some(({ date }) => date === today);
  return (
    <>
      <ChartImage
        chart={dayChart({ ...input, today, locale, isLocal: !hasOwnLocale })}
        id={id}
        size={size}
        label={`${title} from ${period}${summary ? `, ${summary}` : ''}`}
      />
      {note && (
        <p class="small muted">
          <DayOf day={from} /> to <DayOf day={to} />
          {` (UTC). ${note}${isPartial ? ' Today is not complete yet.' : ''}`}
        </p>
      )}
    </>
  );
}
