/** The verdict in a sentence or two: what will happen to such mail, and what to do first. */

import type { AnalysisResult, CheckResult } from './result.ts';

type Unsummarized = Omit<AnalysisResult, 'summary'>;

export function summarize(result: Unsummarized): string {
  return [verdict(result), whatFirst(result), notChecked(result)].filter(Boolean).join(' ');
}

/** What to put right, the greatest gain first, failures before warnings. */
export function toFix(checks: CheckResult[]): CheckResult[] {
  return checks
    .filter(({ status }) => status === 'fail' || status === 'warn')
    .sort((a, b) => b.gain - a.gain || rank(a) - rank(b) || b.points - a.points);
}

const rank = ({ status }: CheckResult): number => (status === 'fail' ? 0 : 1);

function verdict({ score, cap, temporary }: Unsummarized): string {
  if (score === null)
    return temporary
      ? 'There is no score: too little could be found out about SPF, DKIM and DMARC.'
      : 'There is no score: SPF, DKIM and DMARC could not be asked about.';
  if (cap && cap.limit <= 40) return 'This message is likely to be rejected or sent to spam.';
  if (score >= 90) return 'This message meets what the large receivers ask of it.';
  if (score >= 70) return 'This message is likely to be accepted, with weaknesses.';
  return 'This message is at risk of the spam folder.';
}

function whatFirst({ checks, cap }: Unsummarized): string {
  const first = toFix(checks)[0];
  if (!first) return '';
  const lead = cap && first.gain === 0 ? cap.reason : first.title;
  return first.gain > 0 ? `First: ${lead} (+${first.gain})` : `First: ${lead}`;
}

function notChecked({ checks, coverage }: Unsummarized): string {
  if (coverage >= 0.8) return '';
  const missed = checks.filter(({ status, points }) => status === 'error' && points > 0);
  return `${missed.length} checks could not be made: ${missed.map(({ label }) => label).join(', ')}.`;
}
