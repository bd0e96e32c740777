/** Numbers in sentences. */

/** A rate from 0 to 1 as `0.29%`, rounded down: what is below a limit never looks as if it had reached it. */
export function rateInWords(rate: number): string {
  if (rate <= 0) return '0%';
  const digits = rate < 0.1 ? 100 : 10;
  const percent = Math.floor(rate * 100 * digits + 1e-9) / digits;
  return percent === 0 ? '<0.01%' : `${percent}%`;
}
