/** The sentences and figures that every form of the report has in common. */

import type { CheckStatus } from '../analysis/check.ts';
import type { Cap, CheckResult } from '../analysis/result.ts';
import type { Reported } from './report.ts';

/** How many findings are told in full; the rest take a line each. */
export const FIRST_FINDINGS = 5;

/** The verdict of a summary alone: what to do first and what was not checked have places of their own. */
export function verdictOf(summary: string): string {
  return summary.replace(/ First: .*$/s, '');
}

export function capSentence({ reason, limit }: Cap): string {
  return `${reason} Until this is fixed no score above ${limit} is possible.`;
}

/** Which checks could not be made; null where all could that apply. */
export function missedSentence({ checks, coverage }: Reported): string | null {
  const missed = checks.filter(({ status, points }) => status === 'error' && points > 0);
  if (missed.length === 0) return null;
  const labels = missed.map(({ label }) => label).join(', ');
  return `${missed.length} of ${checks.length} checks could not be made (coverage ${Math.round(coverage * 100)} %): ${labels}.`;
}

/** Skipped because another check failed, not because it does not apply. */
export function followsFromAnother({ status, detail }: CheckResult): boolean {
  return status === 'skipped' && detail.startsWith('follows from');
}

/** 28.5, 12: points and gains as people read them, to a tenth. */
export function formatPoints(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The word for a status, always shown beside its icon and colour. */
export const STATUS_WORDS: Record<CheckStatus, string> = {
  fail: 'Required',
  warn: 'Recommended',
  pass: 'Passed',
  info: 'For your information',
  error: 'Unknown',
  skipped: 'Does not apply',
};

/** What no score can tell. */
export const BEYOND_THE_SCORE =
  'The score tells what can be seen in one message and in the DNS. Receivers also weigh your reputation with them and how their users treat your mail, which nobody can see from outside: a good score keeps you from being refused for a fault of your own, and promises nothing more.';

/** `spam_filters` → `Spam filters`. */
export function categoryName(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
