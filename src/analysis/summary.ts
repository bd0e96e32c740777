/** The verdict in a sentence or two: what will happen to such mail, and what to do first. */

import type { AnalysisResult, CheckResult, ProviderVerdict } from './result.ts';
import { wholeScore } from './score.ts';

/** The coverage below which it is said what was not checked. */
const KNOWN_ENOUGH = 0.8;

type Unsummarized = Omit<AnalysisResult, 'summary'>;

export function summarize(result: Unsummarized): string {
  return [verdict(result), whatFirst(result), notChecked(result)].filter(Boolean).join(' ');
}

/** What to fix, the greatest gain first, failures before warnings. */
export function toFix(checks: CheckResult[]): CheckResult[] {
  return checks
    .filter(({ status }) => status === 'fail' || status === 'warn')
    .sort((a, b) => b.gain - a.gain || rank(a) - rank(b) || b.points - a.points);
}

const rank = ({ status }: CheckResult): number => (status === 'fail' ? 0 : 1);

function verdict(result: Unsummarized): string {
  const { score, cap, temporary, checks } = result;
  if (score === null)
    return temporary
      ? 'There is no score: too little could be found out about SPF, DKIM and DMARC.'
      : `There is no score: too little is known without ${unasked(checks)}.`;
  if (cap && cap.limit <= 40)
    return `This message is likely to be rejected or sent to spam${byWhom(result)}: ${within(cap.reason)}`;
  if (score >= 90) return goodVerdict(result);
  if (score >= 70) return 'This message is likely to be accepted, with weaknesses.';
  return 'This message is at risk of the spam folder.';
}

/** A high score alone does not say that every provider is content, nor that all is known. */
function goodVerdict({ providers, judged_kind, coverage }: Unsummarized): string {
  const asking = providers.filter(({ rules }) =>
    rules.some(
      ({ applies, status }) =>
        status === 'not_met' && (applies === 'any' || judged_kind.kind === 'marketing'),
    ),
  );
  if (asking.length > 0)
    return `This message is well set up, but ${namesOf(asking)} ${asking.length === 1 ? 'asks' : 'ask'} for more.`;
  const known = coverage >= KNOWN_ENOUGH && providers.every(({ ready }) => ready);
  return known
    ? 'This message meets what the large receivers ask of it.'
    : 'In what could be checked, this message meets what the large receivers ask of it.';
}

const namesOf = (providers: ProviderVerdict[]): string =>
  new Intl.ListFormat('en-GB').format(providers.map(({ name }) => name));

/** The providers one of whose rules for every sender is not met. */
function byWhom({ providers }: Unsummarized): string {
  const refusing = providers.filter(({ rules }) =>
    rules.some(({ applies, status }) => applies === 'any' && status === 'not_met'),
  );
  return refusing.length === 0 ? '' : ` by ${namesOf(refusing)}`;
}

/** A sentence as the second half of another: "DMARC fails." stays, "The mail …" becomes "the mail …". */
const within = (sentence: string): string =>
  sentence.replace(/^[A-Z](?=[a-z ])/, (c) => c.toLowerCase());

/** Which of the three could not be asked about, for lack of an address or of a network. */
function unasked(checks: CheckResult[]): string {
  const names = checks
    .filter(({ id, status }) => ['spf', 'dkim', 'dmarc'].includes(id) && status === 'skipped')
    .map(({ id }) => id.toUpperCase());
  return new Intl.ListFormat('en-GB').format(names);
}

function whatFirst({ checks, cap, score, uncapped }: Unsummarized): string {
  const first = toFix(checks)[0];
  if (!first) return '';
  const lead = cap && first.gain === 0 ? cap.reason : first.title;
  if (score === null || uncapped === null || first.gain === 0) return `First: ${lead}`;
  const exact = cap ? Math.min(uncapped, cap.limit) : uncapped;
  // A gain is rounded to a tenth: half of one more, so that what brings all is said to bring 100.
  const then = wholeScore(exact + first.gain + 0.05);
  return then > score
    ? `First: ${lead} Putting that right alone raises the score from ${score} to ${then}.`
    : `First: ${lead} (+${first.gain})`;
}

function notChecked({ checks, coverage }: Unsummarized): string {
  if (coverage >= KNOWN_ENOUGH) return '';
  const missed = checks.filter(({ status, points }) => status === 'error' && points > 0);
  const count = missed.length === 1 ? '1 check' : `${missed.length} checks`;
  return `${count} could not be made: ${missed.map(({ label }) => label).join(', ')}.`;
}
