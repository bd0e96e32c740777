/** The spam rate at Gmail and other rates that Google publishes: in words, and how bad they are. */

/** Google’s own limits for the share of mail in inboxes that recipients report as spam. */
export const SPAM_LIMIT = 0.003;
export const SPAM_GOAL = 0.001;

export function spamRateState(rate: number): 'pass' | 'warn' | 'fail' {
  if (rate >= SPAM_LIMIT) return 'fail';
  return rate >= SPAM_GOAL ? 'warn' : 'pass';
}

/** A rate from 0 to 1 as `0.29%`, rounded down: what is below a limit never looks as if it had reached it. */
export function rateInWords(rate: number): string {
  if (rate <= 0) return '0%';
  const digits = rate < 0.1 ? 100 : 10;
  const percent = Math.floor(rate * 100 * digits + 1e-9) / digits;
  return percent === 0 ? '<0.01%' : `${percent}%`;
}
