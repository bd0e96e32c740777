/** The verdict in one or two sentences: what mailbox providers do with the message, and what to fix first. */

import type { AnalysisResult, CheckResult, ProviderVerdict } from './result.ts';
import { wholeScore } from './score.ts';

/** Below this coverage, the summary lists the checks that did not complete. */
const MIN_COVERAGE = 0.8;

type Unsummarized = Omit<AnalysisResult, 'summary'>;

/** Callers that show the findings elsewhere cut the summary at ` First: `. */
export function summarize(result: Unsummarized): string {
  return [verdict(result), firstFix(result), incompleteChecks(result)].filter(Boolean).join(' ');
}

/** The checks that fail or warn: greatest gain first, failures before warnings. */
export function checksToFix(checks: CheckResult[]): CheckResult[] {
  return checks
    .filter(({ status }) => status === 'fail' || status === 'warn')
    .sort((a, b) => b.gain - a.gain || rank(a) - rank(b) || b.points - a.points);
}

const rank = ({ status }: CheckResult): number => (status === 'fail' ? 0 : 1);

function verdict(result: Unsummarized): string {
  const { score, cap, temporary, checks } = result;
  if (score === null)
    return temporary
      ? 'This message has no score: fewer than two of SPF, DKIM and DMARC could be checked.'
      : `This message has no score: ${skippedAuthentication(checks)} were not checked.`;
  if (cap && cap.limit <= 40)
    return `${rejectingProviders(result)} likely to reject this message or send it to spam: ${uncapitalized(cap.reason)}`;
  if (score >= 90) return highScoreVerdict(result);
  if (score >= 70)
    return 'Mailbox providers are likely to accept this message, but it has weaknesses.';
  return 'Mailbox providers may send this message to spam.';
}

/** A high score alone does not mean that every provider rule is met, or that all are known. */
function highScoreVerdict({ providers, judged_kind, coverage }: Unsummarized): string {
  const unmet = providers.filter(({ rules }) =>
    rules.some(
      ({ applies, status }) =>
        status === 'not_met' && (applies === 'any' || judged_kind.kind === 'marketing'),
    ),
  );
  if (unmet.length > 0)
    return `This message scores well, but it does not meet all sender requirements of ${namesOf(unmet)}.`;
  const meets = `message meets the sender requirements of ${namesOf(providers)}.`;
  const isKnown = coverage >= MIN_COVERAGE && providers.every(({ ready }) => ready);
  return isKnown ? `This ${meets}` : `Based on the completed checks, this ${meets}`;
}

const namesOf = (providers: ProviderVerdict[]): string =>
  LIST.format(providers.map(({ name }) => name));

const LIST = new Intl.ListFormat('en-GB');

/** The providers with an unmet rule for every sender, and the verb. */
function rejectingProviders({ providers }: Unsummarized): string {
  const rejecting = providers.filter(({ rules }) =>
    rules.some(({ applies, status }) => applies === 'any' && status === 'not_met'),
  );
  if (rejecting.length === 0) return 'Mailbox providers are';
  return `${namesOf(rejecting)} ${rejecting.length === 1 ? 'is' : 'are'}`;
}

/** For use after a colon: "DMARC fails." stays, "The sending …" becomes "the sending …". */
const uncapitalized = (sentence: string): string =>
  sentence.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());

/** Lists which of SPF, DKIM and DMARC were skipped because an address or the network is missing. */
function skippedAuthentication(checks: CheckResult[]): string {
  const names = checks
    .filter(({ id, status }) => ['spf', 'dkim', 'dmarc'].includes(id) && status === 'skipped')
    .map(({ id }) => id.toUpperCase());
  return LIST.format(names);
}

function firstFix({ checks, cap, score, uncapped }: Unsummarized): string {
  const first = checksToFix(checks)[0];
  if (!first) return '';
  const problem = cap && first.gain === 0 ? cap.reason : first.title;
  if (score === null || uncapped === null || first.gain === 0) return `First: ${problem}`;
  const exact = cap ? Math.min(uncapped, cap.limit) : uncapped;
  // Gains are rounded to a tenth. Adding half a tenth lets the fix of the last problem reach 100.
  const next = wholeScore(exact + first.gain + 0.05);
  return next > score
    ? `First: ${problem} Fixing this alone raises the score from ${score} to ${next}.`
    : `First: ${problem} (+${first.gain})`;
}

function incompleteChecks({ checks, coverage }: Unsummarized): string {
  if (coverage >= MIN_COVERAGE) return '';
  const incomplete = checks.filter(({ status, points }) => status === 'error' && points > 0);
  const count = incomplete.length === 1 ? '1 check' : `${incomplete.length} checks`;
  return `${count} could not be completed: ${incomplete.map(({ label }) => label).join(', ')}.`;
}
