/** How bad a spam rate at Gmail is: the limits are Google’s. */

import { SPAM_GOAL, SPAM_LIMIT } from '../../picture/gmail.ts';

export function spamRateState(rate: number): 'pass' | 'warn' | 'fail' {
  if (rate >= SPAM_LIMIT) return 'fail';
  return rate >= SPAM_GOAL ? 'warn' : 'pass';
}
