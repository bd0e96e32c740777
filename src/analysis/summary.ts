/**
 * The headline of a result: what mailbox providers do with the message, in one short sentence. What is not
 * known is a text of its own, because reports show it below the headline.
 */

import { DNS_FAILURES } from '../net/dns/resolver.ts';
import type { AppliedConsequence } from './consequences.ts';
import { causesOf, clauseOf, ONE_MECHANISM, oneMechanism } from './headline-cause.ts';
import { namedProviders, worstConsequence } from './providers/evaluate.ts';
import {
  type AnalysisResult,
  type CheckResult,
  factsOf,
  type ProviderVerdict,
  ruleApplies,
} from './result.ts';
import { wholeScore } from './score.ts';

/** What the headline and the text about unknown results depend on. */
type Summarized = Pick<
  AnalysisResult,
  'score' | 'checks' | 'judged_kind' | 'alternative' | 'providers'
>;

type Unsummarized = Summarized & Pick<AnalysisResult, 'temporary' | 'is_template'>;

/** Longer headlines do not fit on two lines of a report. */
export const MAX_HEADLINE = 90;

/** The headline: one sentence. */
export function summarize(result: Unsummarized, facts = factsOf(result.checks)): string {
  const { score, temporary, checks, judged_kind } = result;
  if (result.is_template) return templateHeadline(checks);
  if (score === null && isDenied(checks))
    return 'This message has no score: the DNS resolver reports existing names as missing.';
  if (score === null)
    return temporary
      ? 'This message has no score: fewer than two of SPF, DKIM and DMARC could be checked.'
      : `This message has no score: ${unknownAuthentication(checks)} were not checked.`;
  const worst = worstConsequence((id) => facts.get(id), judged_kind.kind);
  if (worst) return consequenceHeadline(worst, result, score, facts);
  return score >= 90 ? highScoreHeadline(result) : lowScoreHeadline(score, result, facts);
}

/** The problems of a template. No provider has a verdict: nothing was sent. */
function templateHeadline(checks: CheckResult[]): string {
  const found = checksToFix(checks);
  if (found.length === 0) return 'No problems found in this template.';
  const count = found.length === 1 ? 'a problem' : `${found.length} problems`;
  const start = `This template has ${count}`;
  return firstShort([`${start}: ${LIST.format(found.map(({ label }) => label))}.`, `${start}.`]);
}

/** Whether lookups failed because no answer of the resolver can be right. */
const isDenied = (checks: CheckResult[]): boolean =>
  checks.some(
    ({ evidence: { unanswered } }) =>
      Array.isArray(unanswered) &&
      unanswered.some((lookup) => `${lookup}`.endsWith(DNS_FAILURES.denies)),
  );

/** The first wording that is short enough, or the last one. */
const firstShort = (wordings: string[]): string =>
  wordings.find(({ length }) => length <= MAX_HEADLINE) ?? wordings.at(-1)!;

/**
 * The checks that fail or warn: greatest gain first, causes of others before them, failures before warnings. DMARC
 * comes after SPF and DKIM with the same gain, because they are what has to change. Problems with the same cause
 * follow it.
 */
export function checksToFix(checks: CheckResult[]): CheckResult[] {
  const ranked = rankedByGain(checks);
  const groups = Map.groupBy(ranked, (check) => causeIn(ranked, check));
  return [...groups].flatMap(([cause, group]) => [
    cause,
    ...group.filter((check) => check !== cause),
  ]);
}

const causeIn = (all: CheckResult[], check: CheckResult): CheckResult =>
  (check.goes_with && all.find(({ id }) => id === check.goes_with)) || check;

function rankedByGain(checks: CheckResult[]): CheckResult[] {
  return checks
    .filter(({ status }) => status === 'fail' || status === 'warn')
    .sort(
      (a, b) =>
        b.gain - a.gain ||
        isCause(b) - isCause(a) ||
        asksFirst(b) - asksFirst(a) ||
        rank(a) - rank(b) ||
        isResult(a) - isResult(b) ||
        b.points - a.points,
    );
}

/** Whether it names the setup that causes other problems. */
const isCause = ({ evidence }: CheckResult): number => (evidence.setup === undefined ? 0 : 1);

/** If the server is not the sender's, no other fix helps. */
const asksFirst = ({ id, fix }: CheckResult): number => (id === 'spf' && fix?.caution ? 1 : 0);

const isResult = ({ id }: CheckResult): number => (id === 'dmarc' ? 1 : 0);

const rank = ({ status }: CheckResult): number => (status === 'fail' ? 0 : 1);

type Facts = ReturnType<typeof factsOf>;

function lowScoreHeadline(score: number, { checks }: Unsummarized, facts: Facts): string {
  const clauses = checksToFix(checks).flatMap(({ id }) => clauseOf(facts.get(id)) ?? []);
  return score >= 70
    ? firstShort([...clauses, 'it has weaknesses'].map((clause) => `${LIKELY}, but ${clause}.`))
    : firstShort([...clauses.map((clause) => `${SPAM}: ${clause}.`), `${SPAM}.`]);
}

const LIKELY = 'Mailbox providers are likely to accept this message';
const SPAM = 'Mailbox providers may send this message to spam';

// The worst consequence, and the providers whose rules it breaks.

function consequenceHeadline(
  { id, effect, actor, problem, isSetup = false }: AppliedConsequence,
  result: Unsummarized,
  score: number,
  facts: Facts,
): string {
  const { providers, judged_kind } = result;
  const find = (check: string) => facts.get(check);
  const problems = isSetup ? [problem] : [...causesOf(id, find), problem];
  const named = namedProviders(id, providers, judged_kind.kind);
  const actors = [...(named.length > 0 ? namings(named).slice(0, 2) : []), actor];
  const short = (write: (problem: string) => string[]) => firstShort(problems.flatMap(write));
  const acting = (one: string, many = one) =>
    short((cause) =>
      actors.map((name) => `${name} ${named.includes(name) ? one : many}: ${cause}.`),
    );
  if (effect === 'rejected')
    return acting('is likely to reject this message', 'are likely to reject this message');
  if (effect === 'spam') return acting('may send this message to spam');
  if (effect === 'clipped') return `Gmail hides part of this message: ${problem}.`;
  const subject = subjectOf(result);
  const broken = id === 'requirement' ? providers.filter((one) => one.status === 'not_ready') : [];
  const clauses = broken.flatMap((one) => brokenRule(one, result, facts));
  if (score < 70) return firstShort([...clauses, ...problems].map((text) => `${SPAM}: ${text}.`));
  if (id === 'replaced_from')
    return firstShort([...titlesOf(result, 'from'), `${LIKELY}, but ${problem}.`]);
  if (effect === 'weakness')
    return firstShort(
      ONE_MECHANISM.includes(id) && !isSetup
        ? oneMechanism(find)
        : problems.map((cause) => `${LIKELY}, but ${cause}.`),
    );
  if (id === 'requirement') {
    const claims = namings(namesOf(broken)).map((names) => `${subject} breaks rules of ${names}`);
    return firstShort([
      ...clauses.flatMap((clause) => claims.map((claim) => `${claim}: ${clause}.`)),
      ...clauses.map((clause) => `It breaks provider rules: ${clause}.`),
      ...claims.map((claim) => `${claim}.`),
    ]);
  }
  return short((cause) => [
    ...(named.length > 0 ? namings(named) : []).map(
      (names) => `${subject} breaks rules of ${names}: ${cause}.`,
    ),
    `${subject} breaks provider rules: ${cause}.`,
  ]);
}

const titlesOf = ({ checks }: Summarized, wanted: string): string[] =>
  checks.filter(({ id }) => id === wanted).map(({ title }) => title);

/** What breaks the rules of the provider, as clauses. */
const brokenRule = (
  { rules }: ProviderVerdict,
  { judged_kind }: Unsummarized,
  facts: Facts,
): string[] =>
  rules
    .filter((rule) => rule.status === 'not_met' && ruleApplies(rule, judged_kind.kind))
    .flatMap(({ checks }) => checks.flatMap((id) => clauseOf(facts.get(id)) ?? []));

/** If the kind of mail is uncertain, the headline holds for one kind only. */
function subjectOf({ alternative, judged_kind, checks }: Unsummarized): string {
  if (alternative) return `As ${judged_kind.kind} mail, it`;
  const vendor = checks.find(({ id }) => id === 'from')?.evidence.sent_by;
  return typeof vendor === 'string' ? `This message from ${vendor}` : 'This message';
}

const namesOf = (providers: ProviderVerdict[]): string[] => providers.map(({ name }) => name);

/** Names as a list, the longest wording first. */
const namings = (names: string[]): string[] =>
  names.length < 3
    ? [LIST.format(names)]
    : [
        LIST.format(names),
        `${names[0]} and ${names.length - 1} others`,
        `${names.length} providers`,
      ];

// The headline without any consequence: which rules the message is known to meet.

function highScoreHeadline(result: Unsummarized): string {
  const { providers } = result;
  const isReady = (one: ProviderVerdict) => one.status === 'ready';
  const met = namesOf(providers.filter(isReady));
  const open = namesOf(providers.filter((one) => !isReady(one)));
  if (met.length === 0)
    return firstShort(
      namings(open).map((names) => `Whether this message meets the rules of ${names} is unknown.`),
    );
  const claim = `${subjectOf(result)} meets the rules of`;
  if (open.length > 0)
    return firstShort(
      namings(met).flatMap((names) =>
        namings(open).map((others) => `${claim} ${names}; for ${others}, that is unknown.`),
      ),
    );
  const condition = isAuthenticationOpen(result) ? ', as far as checked' : '';
  return firstShort(namings(met).map((names) => `${claim} ${names}${condition}.`));
}

/** A provider can be satisfied with SPF alone. But nobody should rely on it while DKIM is unknown. */
const isAuthenticationOpen = ({ checks }: Summarized): boolean =>
  checks.some(({ id, status }) => ['spf', 'dkim', 'dmarc'].includes(id) && status === 'error');

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

/**
 * What is not known: checks that did not complete, those without which a provider rule is unknown, and the
 * score as the other kind of mail. Null if everything is known.
 */
export function unknownResults(result: Summarized): string | null {
  const open = openChecks(result);
  const silent = open.filter(({ id }) => BLOCKLIST_CHECKS.includes(id)).flatMap(silentLists);
  const others = open.filter(({ id }) => !BLOCKLIST_CHECKS.includes(id) || silent.length === 0);
  const sentences = [
    silent.length > 0
      ? `${LIST.format([...new Set(silent)])} did not respond: blocklists are not fully checked.`
      : '',
    others.length > 0 ? `Not checked: ${labelsOf(others)}.` : '',
    bothScores(result),
  ].filter(Boolean);
  return sentences.length > 0 ? sentences.join(' ') : null;
}

/** If the kind is uncertain: the score as either kind. */
function bothScores({ score, judged_kind, alternative }: Summarized): string {
  if (!alternative || score === null || alternative.score === null) return '';
  if (alternative.score === score)
    return `It is unclear whether this is marketing mail, but the score is ${score} either way.`;
  return `It is unclear whether this is marketing mail: the score is ${score} as ${judged_kind.kind} mail and ${alternative.score} as ${alternative.kind} mail.`;
}

/** These have nothing to compare if From has no single domain. */
const NEED_FROM = ['dmarc', 'dmarc_policy', 'dmarc_record', 'spf_alignment', 'dkim_alignment'];

/** Without checks that a known problem prevented. */
function openChecks({ checks, providers, judged_kind }: Summarized): CheckResult[] {
  const facts = factsOf(checks);
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
