/** Formats counts and shares for people. */

/** Rounded down: 100% always means all, and 0% always means none. */
export function formatPercent(share: number): string {
  if (share <= 0) return '0%';
  return share < 0.01 ? '<1%' : `${Math.floor(Math.min(1, share) * 100 + 1e-9)}%`;
}

/** A rate from 0 to 1 as `0.29%`, rounded down: what is below a limit never looks as if it had reached it. */
export function rateInWords(rate: number): string {
  if (rate <= 0) return '0%';
  const digits = rate < 0.1 ? 100 : 10;
  const percent = Math.floor(rate * 100 * digits + 1e-9) / digits;
  return percent === 0 ? '<0.01%' : `${percent}%`;
}

const COUNT = new Intl.NumberFormat('en-GB');

/** `1,204 tests`, `1 test`. */
export function formatCount(count: number, noun?: string, plural = `${noun}s`): string {
  const number = COUNT.format(count);
  return noun ? `${number} ${count === 1 ? noun : plural}` : number;
}

const COMPACT = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 3,
});

/** `1.2M`, `40K`, `999`: where there is little space, such as beside a chart. */
export const compactCount = (count: number): string => COMPACT.format(count);
