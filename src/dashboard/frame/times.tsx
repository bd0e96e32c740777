/** Times in the zone of the reader, with the exact time on hover. */

import { dayFormat, formatTime } from '../../lib/format/times.ts';
import { useReader } from './reader.tsx';
import { relativeTime } from './relative-time.ts';

export { formatTime } from '../../lib/format/times.ts';
export { durationText, relativeTime } from './relative-time.ts';

interface TimeProps {
  /** ISO 8601. */
  at: string;
  /** Only the day. */
  day?: boolean;
}

/**
 * A time in words: "5 min ago", "in 3 h", or a date if it is more than a week away. The script of the page
 * keeps the words up to date. It replaces the exact time by the one in the zone and language of the browser, unless
 * the reader has chosen them.
 */
export function Ago({ at }: Pick<TimeProps, 'at'>) {
  const { now } = useReader();
  const text = relativeTime(Date.parse(at), now);
  return text === null ? (
    <Time at={at} day />
  ) : (
    <TimeElement at={at} format="ago">
      {text}
    </TimeElement>
  );
}

/** The time of something planned: "now" once it is due, because it starts within seconds. */
export function Due({ at }: Pick<TimeProps, 'at'>) {
  return Date.parse(at) <= useReader().now ? <>now</> : <Ago at={at} />;
}

/** The exact time, or the day. */
export function Time({ at, day = false }: TimeProps) {
  const { timeZone, locale } = useReader();
  return (
    <TimeElement at={at} format={day ? 'day' : 'time'}>
      {formatTime(at, { timeZone, locale, day })}
    </TimeElement>
  );
}

/** For charts, where only the language that the member has chosen is known. */
export function useDayText(): (day: string) => string {
  const { locale } = useReader();
  const format = dayFormat(locale, true);
  return (day) => format.format(new Date(day));
}

/** A day such as `2026-11-21`, which is the same in every time zone. */
export function Day({ day }: { day: string }) {
  const { locale, hasOwnLocale } = useReader();
  return (
    <time
      dateTime={day}
      data-format="day"
      data-local={hasOwnLocale ? undefined : ''}
      data-zone="UTC"
    >
      {formatTime(day, { timeZone: null, locale, day: true })}
    </time>
  );
}

interface TimeElementProps {
  at: string;
  format: 'ago' | 'day' | 'time';
  children: string;
}

function TimeElement({ at, format, children }: TimeElementProps) {
  const { timeZone, locale, hasOwnLocale } = useReader();
  const isLocal = timeZone === null || !hasOwnLocale;
  return (
    <time
      dateTime={at}
      title={formatTime(at, { timeZone, locale })}
      data-format={format}
      data-local={isLocal ? (hasOwnLocale ? locale : '') : undefined}
      data-zone={isLocal ? (timeZone ?? undefined) : undefined}
    >
      {children}
    </time>
  );
}
