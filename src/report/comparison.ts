/** Compares two results: what improved, what got worse, and the points that explain the difference in score. */

import type { Classification } from '../analysis/kind.ts';
import type { CheckResult, Readiness } from '../analysis/result.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { roundTogether } from './content.ts';
import type { ReportedResult } from './report.ts';

/** The part of a result that a comparison reads. */
export interface ComparedResult
  extends Pick<
    ReportedResult,
    | 'score'
    | 'grade'
    | 'cap'
    | 'from_address'
    | 'auth_results'
    | 'categories'
    | 'checks'
    | 'providers'
    | 'ruleset'
  > {
  judged_kind: Pick<Classification, 'kind'>;
}

/** `other`: neither better nor worse, such as a check that ran only once. */
export type Change = 'improved' | 'worse' | 'other' | 'same';

export interface ComparedCheck {
  id: string;
  label: string;
  /** Null if the result does not contain the check. */
  before: CheckResult | null;
  after: CheckResult | null;
  change: Change;
}

/** One reason for the difference in score. */
export interface ScoreStep {
  /** The ID of the check; null for caps, weights and rounding. */
  check: string | null;
  text: string;
  /** To one decimal, never 0. */
  points: number;
}

export interface ComparedProvider {
  name: string;
  before: Readiness | null;
  after: Readiness | null;
  change: Change;
}

export interface ComparedAuth {
  name: 'SPF' | 'DKIM' | 'DMARC';
  before: string | null;
  after: string | null;
  change: Change;
}

export interface Comparison {
  /** The change of the score in whole points; null if one of the results has no score. */
  difference: number | null;
  /** They add up to the difference exactly as shown. */
  steps: ScoreStep[];
  /** Largest effect first, as are those of `worse` and `other`. */
  improved: ComparedCheck[];
  worse: ComparedCheck[];
  other: ComparedCheck[];
  /** Problems first. */
  same: ComparedCheck[];
  authentication: ComparedAuth[];
  providers: ComparedProvider[];
  /** Why the results cannot be compared one to one, as sentences. */
  caveats: string[];
}

export function compareResults(before: ComparedResult, after: ComparedResult): Comparison {
  const losses = { before: lossesOf(before), after: lossesOf(after) };
  const effectOf = ({ id }: ComparedCheck) =>
    (losses.before.get(id) ?? 0) - (losses.after.get(id) ?? 0);
  const checks = pairChecks(before.checks, after.checks);
  const only = (change: Change) =>
    checks
      .filter((check) => check.change === change)
      .toSorted((a, b) => Math.abs(effectOf(b)) - Math.abs(effectOf(a)));
  return {
    difference: before.score === null || after.score === null ? null : after.score - before.score,
    steps: scoreSteps(before, after, checks),
    improved: only('improved'),
    worse: only('worse'),
    other: only('other'),
    same: checks
      .filter(({ change }) => change === 'same')
      .toSorted((a, b) => problemRank(a.after!) - problemRank(b.after!)),
    authentication: compareAuthentication(before, after),
    providers: compareProviders(before, after),
    caveats: caveatsOf(before, after),
  };
}

// Checks.

function pairChecks(before: CheckResult[], after: CheckResult[]): ComparedCheck[] {
  const earlier = new Map(before.map((check) => [check.id, check]));
  const later = new Map(after.map((check) => [check.id, check]));
  return [...new Set([...later.keys(), ...earlier.keys()])].map((id) => {
    const pair = { before: earlier.get(id) ?? null, after: later.get(id) ?? null };
    return { id, label: (pair.after ?? pair.before)!.label, ...pair, change: changeOf(pair) };
  });
}

/** Only these can be compared: the others are no verdict. */
const STATUS_RANKS: Partial<Record<CheckResult['status'], number>> = { fail: 0, warn: 1, pass: 2 };

function changeOf({ before, after }: Pick<ComparedCheck, 'before' | 'after'>): Change {
  if (before?.status === after?.status) return 'same';
  return rankChange(before && STATUS_RANKS[before.status], after && STATUS_RANKS[after.status]);
}

function rankChange(before: number | null | undefined, after: number | null | undefined): Change {
  if (before == null || after == null) return before === after ? 'same' : 'other';
  if (before === after) return 'same';
  return after > before ? 'improved' : 'worse';
}

const PROBLEM_ORDER: CheckResult['status'][] = ['fail', 'warn', 'error', 'info', 'pass', 'skipped'];
const problemRank = ({ status }: CheckResult): number => PROBLEM_ORDER.indexOf(status);

// The points that explain the difference. The score is 100 less what each check loses, less what a cap holds back.

/** What each check takes from the score, by its ID, unrounded. Checks that lose nothing are missing. */
function lossesOf({ checks, categories }: ComparedResult): Map<string, number> {
  const counted = categories.filter(({ points }) => points > 0);
  const totalWeight = counted.reduce((sum, { weight }) => sum + weight, 0);
  const byName = new Map(counted.map((category) => [category.name, category]));
  const losses = new Map<string, number>();
  for (const { id, category: name, points, earned } of checks) {
    const category = byName.get(name);
    if (!category || earned === null || earned >= points) continue;
    const share = (points - earned) / category.points;
    losses.set(id, (100 * category.weight * share) / totalWeight);
  }
  return losses;
}

const sumOf = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);

/** The unrounded score before and after its cap. */
function unroundedScores(result: ComparedResult): { uncapped: number; exact: number } {
  const uncapped = 100 - sumOf(lossesOf(result).values());
  return { uncapped, exact: result.cap ? Math.min(uncapped, result.cap.limit) : uncapped };
}

function scoreSteps(
  before: ComparedResult,
  after: ComparedResult,
  checks: ComparedCheck[],
): ScoreStep[] {
  if (before.score === null || after.score === null) return [];
  const exact = [
    ...checkSteps(before, after, checks),
    ...capSteps(before, after),
    roundingStep(before, after),
  ];
  const tenths = roundTogether(
    exact.map(({ points }) => points),
    after.score - before.score,
  );
  return exact
    .map((step, index) => ({ ...step, points: tenths[index]! / 10 }))
    .filter(({ points }) => points !== 0);
}

/** A step for each check whose status changed, and one for all others. Largest effect first. */
function checkSteps(
  before: ComparedResult,
  after: ComparedResult,
  checks: ComparedCheck[],
): ScoreStep[] {
  const [lostBefore, lostAfter] = [lossesOf(before), lossesOf(after)];
  const steps = checks
    .filter(({ change }) => change !== 'same')
    .map(({ id, label }) => ({
      check: id,
      text: label,
      points: (lostBefore.get(id) ?? 0) - (lostAfter.get(id) ?? 0),
    }))
    .toSorted((a, b) => Math.abs(b.points) - Math.abs(a.points));
  const total = sumOf(lostBefore.values()) - sumOf(lostAfter.values());
  const points = total - sumOf(steps.map((step) => step.points));
  const text = 'Unchanged problems weigh differently, because other checks counted';
  return [...steps, { check: null, text, points }];
}

function capSteps(before: ComparedResult, after: ComparedResult): ScoreStep[] {
  const heldBack = (result: ComparedResult) => {
    const { uncapped, exact } = unroundedScores(result);
    return uncapped - exact;
  };
  const isSame = before.cap?.reason === after.cap?.reason;
  const step = (text: string, points: number) => ({ check: null, text, points });
  if (isSame && before.cap && after.cap)
    return [
      step(
        `Points held back by the cap of ${after.cap.limit}: ${after.cap.reason}`,
        heldBack(before) - heldBack(after),
      ),
    ];
  return [
    ...(before.cap
      ? [step(`Cap of ${before.cap.limit} lifted: ${before.cap.reason}`, heldBack(before))]
      : []),
    ...(after.cap
      ? [step(`New cap of ${after.cap.limit}: ${after.cap.reason}`, -heldBack(after))]
      : []),
  ];
}

/** Scores are rounded down. More than that comes from a ruleset that calculated differently. */
function roundingStep(before: ComparedResult, after: ComparedResult): ScoreStep {
  const rest = (result: ComparedResult) => result.score! - unroundedScores(result).exact;
  const isRounding = [before, after].every((result) => rest(result) < 1e-6 && rest(result) > -1);
  return {
    check: null,
    text: isRounding ? 'Scores are rounded down' : 'Older results were calculated differently',
    points: rest(after) - rest(before),
  };
}

// Authentication and providers.

const AUTHENTICATION = [
  ['SPF', 'spf'],
  ['DKIM', 'dkim'],
  ['DMARC', 'dmarc'],
] as const;

/** Null if a result says nothing about the message. */
const authRank = (result: string | null): number | null =>
  result === null || result === 'temperror' ? null : result === 'pass' ? 1 : 0;

const compareAuthentication = (before: ComparedResult, after: ComparedResult): ComparedAuth[] =>
  AUTHENTICATION.map(([name, key]) => {
    const results = { before: before.auth_results[key], after: after.auth_results[key] };
    const change = rankChange(authRank(results.before), authRank(results.after));
    // Such as "fail" and "none".
    const isOther = change === 'same' && results.before !== results.after;
    return { name, ...results, change: isOther ? 'other' : change };
  });

const READINESS_RANKS: Record<Readiness, number | null> = { not_ready: 0, ready: 1, unknown: null };

function compareProviders(before: ComparedResult, after: ComparedResult): ComparedProvider[] {
  const readinessIn = ({ providers }: ComparedResult) =>
    new Map(providers.map((verdict) => [verdict.name, verdict.status]));
  const [earlier, later] = [readinessIn(before), readinessIn(after)];
  return [...new Set([...later.keys(), ...earlier.keys()])].map((name) => {
    const verdicts = { before: earlier.get(name) ?? null, after: later.get(name) ?? null };
    const rank = (readiness: Readiness | null) => readiness && READINESS_RANKS[readiness];
    return { name, ...verdicts, change: rankChange(rank(verdicts.before), rank(verdicts.after)) };
  });
}

function caveatsOf(before: ComparedResult, after: ComparedResult): string[] {
  const kinds = [before.judged_kind.kind, after.judged_kind.kind];
  const domains = [before, after].map(({ from_address }) => addressDomain(from_address ?? ''));
  return [
    ...(kinds[0] !== kinds[1]
      ? [
          `The first message was scored as ${kinds[0]} mail, the second as ${kinds[1]} mail. Different rules apply.`,
        ]
      : []),
    ...(before.ruleset !== after.ruleset
      ? [
          `The results come from different versions of the rules (${before.ruleset} and ${after.ruleset}). Reanalyze the older one to compare both by the same rules.`,
        ]
      : []),
    ...(domains[0] && domains[1] && domains[0] !== domains[1]
      ? [`The messages come from different domains: ${domains[0]} and ${domains[1]}.`]
      : []),
  ];
}
