/** Times relative to now. The script of the pages uses this file too. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Null if the time is more than a week away. Both in milliseconds since the epoch. */
export function relativeTime(time: number, now: number): string | null {
  const distance = Math.abs(now - time);
  if (distance < MINUTE) return time <= now ? 'just now' : 'in less than a minute';
  if (distance >= 7 * DAY) return null;
  const amount = durationText(distance);
  return time < now ? `${amount} ago` : `in ${amount}`;
}

/** The largest unit only: "5 min", "3 h", "2 days". In milliseconds. */
export function durationText(ms: number): string {
  if (ms < MINUTE) return `${Math.round(ms / 1000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  const days = Math.floor(ms / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}
