/**
 * The verdict in a few sentences: what mailbox providers do with the message, what is not known, and
 * what to fix first.
 */

import type { AppliedConsequence } from './consequences.ts';
import { namedProviders, worstConsequence } from './providers/evaluate.ts';
import {
  type AnalysisResult,
  type CheckResult,
  factsOf,
  type ProviderVerdict,
  providerStatus,
  ruleApplies,
} from './result.ts';
import { wholeScore } from './score.ts';

type Unsummarized = Omit<AnalysisResult, 'summary'>;

type Facts = ReturnType<typeof factsOf>;

/** Callers that show the findings elsewhere cut the summary at ` First: `. */
export function summarize(result: Unsummarized, facts = factsOf(result.checks)): string {
  return [verdict(result, facts), bothScores(result), firstFix(result)].filter(Boolean).join(' ');
}

/**
 * The checks that fail or warn: greatest gain first, failures before warnings. DMARC comes after SPF and
 * DKIM with the same gain, because they are what has to change.
 */
export function checksToFix(checks: CheckResult[]): CheckResult[] {
  return checks
    .filter(({ status }) => status === 'fail' || status === 'warn')
    .sort(
      (a, b) =>
        b.gain - a.gain || rank(a) - rank(b) || isResult(a) - isResult(b) || b.points - a.points,
    );
}

const isResult = ({ id }: CheckResult): number => (id === 'dmarc' ? 1 : 0);

const rank = ({ status }: CheckResult): number => (status === 'fail' ? 0 : 1);

function verdict(result: Unsummarized, facts: Facts): string {
  const { score, temporary, checks, judged_kind } = result;
  if (score === null)
    return temporary
      ? 'This message has no score: fewer than two of SPF, DKIM and DMARC could be checked.'
      : `This message has no score: ${unknownAuthentication(checks)} were not checked.`;
  const worst = worstConsequence((id) => facts.get(id), judged_kind.kind);
  const unknown = unknownFacts(result, facts);
  if (worst) return [consequenceSentence(worst, result), unknown].filter(Boolean).join(' ');
  if (score >= 90) return highScoreVerdict(result, unknown);
  return [lowScoreVerdict(score), unknown].filter(Boolean).join(' ');
}

const lowScoreVerdict = (score: number): string =>
  score >= 70
    ? 'Mailbox providers are likely to accept this message, but it has weaknesses.'
    : 'Mailbox providers may send this message to spam.';

// The worst consequence, and the providers whose rules it breaks.

function consequenceSentence(worst: AppliedConsequence, result: Unsummarized): string {
  const { id, effect, actor, reason } = worst;
  const { providers, judged_kind, score } = result;
  const named = namedProviders(id, providers, judged_kind.kind);
  const names = named.length > 0 ? LIST.format(named) : actor;
  const is = named.length === 1 ? 'is' : 'are';
  const problem = uncapitalized(reason);
  if (effect === 'rejected')
    return `${names} ${is} likely to reject this message or send it to spam: ${problem}`;
  if (effect === 'spam') return `${names} may send this message to spam: ${problem}`;
  if (effect === 'clipped') return `Gmail hides part of this message: ${problem}`;
  const isPoor = score !== null && score < 70;
  if (isPoor) return `${lowScoreVerdict(score)} ${reason}`;
  if (effect === 'weakness') return `${lowScoreVerdict(70)} ${reason}`;
  const unmet = providers.filter((one) => providerStatus(one, judged_kind.kind) === 'not_ready');
  const bulk = judged_kind.kind === 'marketing' ? ', which apply to marketing mail' : '';
  const subject = result.alternative ? `As ${judged_kind.kind} mail, this message` : 'This message';
  const claim = `${subject} does not meet all sender requirements of ${namesOf(unmet)}${bulk}`;
  if (id === 'requirement') return `${claim}.`;
  // Others may have no rule about this problem, and miss another requirement.
  const isCommon = unmet.every(({ name }) => named.includes(name));
  return isCommon ? `${claim}: ${problem}` : `${claim}. The most serious problem: ${problem}`;
}

/** For use after a colon: "DMARC fails." stays, "The sending …" becomes "the sending …". */
const uncapitalized = (sentence: string): string =>
  sentence.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());

// The verdict without any consequence: which requirements the message is known to meet.

function highScoreVerdict(result: Unsummarized, unknown: string): string {
  const { providers, judged_kind, alternative } = result;
  // Mail of the other kind may not meet them.
  const conditions = [
    ...(isAuthenticationOpen(result) ? ['based on the completed checks'] : []),
    ...(alternative ? [`as ${judged_kind.kind} mail`] : []),
  ];
  const subject = capitalized([...conditions, 'this message'].join(', '));
  const isReady = (one: ProviderVerdict) => providerStatus(one, judged_kind.kind) === 'ready';
  const met = providers.filter(isReady);
  const open = providers.filter((one) => !isReady(one));
  if (open.length === 0)
    return [`${subject} meets the sender requirements of ${namesOf(met)}.`, unknown]
      .filter(Boolean)
      .join(' ');
  const of = namesOf(open);
  const claim =
    met.length === 0
      ? `Whether this message meets the sender requirements of ${of} could not be determined.`
      : `${subject} meets the sender requirements of ${namesOf(met)}. Whether it meets those of ${of} could not be determined.`;
  return [claim, unknown].filter(Boolean).join(' ');
}

/** If the kind is uncertain: the score as either kind. */
function bothScores({ score, judged_kind, alternative }: Unsummarized): string {
  if (!alternative || score === null || alternative.score === null) return '';
  if (alternative.score === score)
    return `It is unclear whether this is marketing mail, but the score is ${score} either way.`;
  return `It is unclear whether this is marketing mail: the score is ${score} as ${judged_kind.kind} mail and ${alternative.score} as ${alternative.kind} mail.`;
}

/** A provider can be satisfied with SPF alone. But nobody should rely on it while DKIM is unknown. */
const isAuthenticationOpen = ({ checks }: Unsummarized): boolean =>
  checks.some(({ id, status }) => ['spf', 'dkim', 'dmarc'].includes(id) && status === 'error');

const capitalized = (sentence: string): string =>
  `${sentence[0]!.toUpperCase()}${sentence.slice(1)}`;

const namesOf = (providers: ProviderVerdict[]): string =>
  LIST.format(providers.map(({ name }) => name));

const LIST = new Intl.ListFormat('en-GB');

/** Lists which of SPF, DKIM and DMARC were skipped because an address or the network is missing. */
function unknownAuthentication(checks: CheckResult[]): string {
  const names = checks
    .filter(({ id }) => ['spf', 'dkim', 'dmarc'].includes(id))
    .filter(({ status }) => status === 'skipped' || status === 'error')
    .map(({ id }) => id.toUpperCase());
  return LIST.format(names);
}

// What is not known.

const BLOCKLIST_CHECKS = ['ip_blocklists', 'domain_blocklists', 'link_blocklists'];
const MAX_LABELS = 4;

/** Names the checks that did not complete, and those without which a requirement is unknown. */
function unknownFacts(result: Unsummarized, facts: Facts): string {
  const open = openChecks(result, facts);
  const silent = open.filter(({ id }) => BLOCKLIST_CHECKS.includes(id)).flatMap(silentLists);
  const others = open.filter(({ id }) => !BLOCKLIST_CHECKS.includes(id) || silent.length === 0);
  return [
    silent.length > 0
      ? `${LIST.format([...new Set(silent)])} did not respond: blocklists are not fully checked.`
      : '',
    others.length > 0 ? `Not checked: ${labelsOf(others)}.` : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** These have nothing to compare if From has no single domain. */
const NEED_FROM = ['dmarc', 'dmarc_policy', 'dmarc_record', 'spf_alignment', 'dkim_alignment'];

/** Without checks that a known problem prevented. */
function openChecks({ checks, providers, judged_kind }: Unsummarized, facts: Facts): CheckResult[] {
  const required = new Set(
    providers.flatMap(({ rules }) =>
      rules
        .filter((rule) => rule.status === 'unknown' && ruleApplies(rule, judged_kind.kind))
        .flatMap((rule) => rule.checks),
    ),
  );
  // The finding that caused a check to be skipped already says what is wrong.
  const isFromInvalid = facts.get('from')?.status === 'fail';
  const isExplained = ({ id, status }: CheckResult) =>
    facts.get(id)!.failedCauses.length > 0 ||
    (isFromInvalid && status === 'skipped' && NEED_FROM.includes(id));
  return checks.filter((check) => isOpen(check, required) && !isExplained(check));
}

const isOpen = ({ id, status, points }: CheckResult, required: Set<string>): boolean =>
  (status === 'error' && points > 0) || (status === 'skipped' && required.has(id));

/** The tier-1 lists without an answer. */
function silentLists({ status, evidence: { lists } }: CheckResult): string[] {
  if (status !== 'error' || !Array.isArray(lists)) return [];
  return lists.flatMap((list) => {
    if (typeof list !== 'object' || list === null || Array.isArray(list)) return [];
    const isSilent = list.tier === 1 && (list.status === 'error' || list.status === 'left_out');
    return isSilent && typeof list.name === 'string' ? [list.name] : [];
  });
}

function labelsOf(checks: CheckResult[]): string {
  const labels = checks.map(({ label }) => label);
  const more = labels.length - MAX_LABELS;
  return LIST.format(more > 0 ? [...labels.slice(0, MAX_LABELS), `${more} more`] : labels);
}

// What to fix first.

function firstFix(result: Unsummarized): string {
  const { checks, cap, score } = result;
  const topIssue = checksToFix(checks)[0];
  if (!topIssue) return '';
  const problem = cap && topIssue.gain === 0 ? cap.reason : topIssue.title;
  const after = scoreAfterFix(result, topIssue);
  return after === null
    ? `First: ${problem}`
    : `First: ${problem} Fixing this alone raises the score from ${score} to ${after}.`;
}

/** The score if only this check passed, in whole points; null if it does not rise by a whole point. */
export function scoreAfterFix(
  { score, uncapped, cap }: Pick<AnalysisResult, 'score' | 'uncapped' | 'cap'>,
  { gain }: Pick<CheckResult, 'gain'>,
): number | null {
  if (score === null || uncapped === null || gain === 0) return null;
  const exact = cap ? Math.min(uncapped, cap.limit) : uncapped;
  // Gains are rounded to a tenth. Adding half a tenth lets the fix of the last problem reach 100.
  const after = Math.min(100, wholeScore(exact + gain + 0.05));
  return after > score ? after : null;
}
