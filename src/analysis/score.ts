/** Computes category scores, the overall score, its cap, the grade and the gain of each fix. */

import { CATEGORIES, type Category, type CheckStatus } from './check.ts';
import type { CheckFact, MailKind } from './consequences.ts';
import { worstConsequence } from './providers/evaluate.ts';
import type { Cap, CategoryScore } from './result.ts';

/** Weights of the categories in the overall score. A category counts only if one of its checks ran. */
export const WEIGHTS: Record<Category, number> = {
  authentication: 35,
  reputation: 20,
  infrastructure: 15,
  compliance: 10,
  content: 10,
  spam_filters: 10,
};

/** The weight of a category, given the points of its checks that ran. */
export type WeightOf = (name: Category, points: number) => number;

const fixedWeight: WeightOf = (name) => WEIGHTS[name];

/** For templates, where some categories have only one check: every point has the same weight. */
export const weightByPoints: WeightOf = (_, points) => points;

/** The properties of a check that determine the score. */
export interface ScoredCheck {
  id: string;
  category: Category;
  points: number;
  status: CheckStatus;
  /** The failed checks that caused this one to be `skipped`, root causes only; empty otherwise. */
  failedCauses: string[];
  /** The status if those checks had passed: the one that its finding declares, or `pass`. */
  statusIfFixed: CheckStatus;
  fixedBy: string[][];
  /** The status that `fixedBy` leads to; `pass` by default. */
  statusWhenFixed?: CheckStatus;
  /** The checks that pass too once the fix of this one is applied. */
  alsoFixes?: string[];
  evidence: CheckFact['evidence'];
}

/** The points that a check earned; null if it does not count. */
export function earnedOf(check: { points: number; status: CheckStatus }): number | null {
  if (check.points === 0) return null;
  if (check.status === 'pass') return check.points;
  if (check.status === 'warn') return check.points / 2;
  return check.status === 'fail' ? 0 : null;
}

export interface Score {
  categories: CategoryScore[];
  /** The weighted mean, 0–100, unrounded; null if no check counted. */
  uncapped: number | null;
  cap: Cap | null;
  /** The mean after the cap, 0–100, unrounded. */
  exact: number | null;
  coverage: number;
}

/** The index of each check by its id; of several with the same id, the last. */
export type CheckIndexes = Map<string, number>;

export const indexChecks = (checks: { id: string }[]): CheckIndexes =>
  new Map(checks.map(({ id }, index) => [id, index]));

/** Category scores, the mean, the cap and the coverage. Pure. */
export function scoreOf(
  checks: ScoredCheck[],
  kind: MailKind = 'transactional',
  indexes = indexChecks(checks),
  weightOf: WeightOf = fixedWeight,
): Score {
  const categories = CATEGORIES.map((name) => scoreCategory(name, checks, weightOf)).filter(
    (category) => category !== null,
  );
  const ran = categories.filter((category) => category.points > 0);
  const weight = ran.reduce((sum, category) => sum + category.weight, 0);
  const uncapped =
    weight === 0
      ? null
      : ran.reduce((sum, { earned, points, weight: w }) => sum + (w * 100 * earned) / points, 0) /
        weight;
  const cap = capOf(checks, kind, indexes);
  const exact = uncapped === null ? null : cap ? Math.min(uncapped, cap.limit) : uncapped;
  return { categories, uncapped, cap, exact, coverage: coverageOf(checks) };
}

function scoreCategory(
  name: Category,
  checks: ScoredCheck[],
  weightOf: WeightOf,
): CategoryScore | null {
  let earned = 0;
  let points = 0;
  let hasChecks = false;
  for (const check of checks) {
    if (check.category !== name || check.points === 0) continue;
    // Without a configured spam filter, the category does not exist.
    hasChecks ||= name !== 'spam_filters' || check.status !== 'skipped';
    const checkEarned = earnedOf(check);
    if (checkEarned === null) continue;
    earned += checkEarned;
    points += check.points;
  }
  if (!hasChecks) return null;
  const score = points === 0 ? null : Math.floor((100 * earned) / points + 1e-9);
  return { name, score, weight: weightOf(name, points), earned, points };
}

/** The cap of the worst consequence of the message, which the headline names. */
function capOf(checks: ScoredCheck[], kind: MailKind, indexes: CheckIndexes): Cap | null {
  const worst = worstConsequence((id) => checks[indexes.get(id) ?? -1], kind);
  return worst ? { limit: worst.limit, reason: worst.reason, reference: worst.reference } : null;
}

/** Points of checks that ran, divided by points of checks that apply. Skipped checks count in neither. */
function coverageOf(checks: ScoredCheck[]): number {
  let ranPoints = 0;
  let applicablePoints = 0;
  for (const check of checks) {
    if (check.status === 'skipped') continue;
    if (check.status === 'error') applicablePoints += check.points;
    else if (earnedOf(check) !== null) {
      ranPoints += check.points;
      applicablePoints += check.points;
    }
  }
  return applicablePoints === 0 ? 1 : ranPoints / applicablePoints;
}

/**
 * How much the score would rise if this check passed, to a tenth of a point, with those that its fix
 * also fixes. Checks skipped only because of them get their `statusIfFixed`, and failures that they fix
 * are gone too. `current` is the exact score of `checks`.
 */
export function gainOf(
  id: string,
  checks: ScoredCheck[],
  current: number,
  kind: MailKind = 'transactional',
  indexes = indexChecks(checks),
  weightOf: WeightOf = fixedWeight,
): number {
  const after = afterFix(id, checks);
  const { exact } = scoreOf(after, kind, indexes, weightOf);
  return Math.max(0, Math.round(((exact ?? current) - current) * 10) / 10);
}

/** The problems that are gone once the fix of this check is applied, itself included. */
function curedBy(id: string, checks: ScoredCheck[]): Set<string> {
  const after = afterFix(id, checks);
  const cured = checks.filter((check, index) => isProblem(check) && !isProblem(after[index]!));
  return new Set(cured.map((check) => check.id));
}

export const isProblem = ({ status }: ScoredCheck): boolean =>
  status === 'fail' || status === 'warn';

/**
 * For each problem that the fix of another one cures too: the id of that other check, its cause. A cause is at least as
 * serious, or the setup of the sender. `gains` by id: of several, the one whose fix gains most.
 */
export function findCauses(checks: ScoredCheck[], gains: Map<string, number>): Map<string, string> {
  const problems = checks.filter(isProblem);
  const cures = new Map(problems.map(({ id }) => [id, curedBy(id, checks)]));
  const causes = new Map<string, string>();
  // DMARC is a result of SPF and DKIM, so its fix is always one of theirs.
  const isEarlier = (a: ScoredCheck, b: ScoredCheck) =>
    a.id !== 'dmarc' && (b.id === 'dmarc' || problems.indexOf(a) < problems.indexOf(b));
  const isCause = (a: ScoredCheck, b: ScoredCheck) =>
    a !== b &&
    (a.status === 'fail' || b.status === 'warn' || a.evidence.setup !== undefined) &&
    cures.get(a.id)!.has(b.id) &&
    (!cures.get(b.id)!.has(a.id) || isEarlier(a, b));
  for (const effect of problems) {
    const roots = problems.filter(
      (one) => isCause(one, effect) && !problems.some((other) => isCause(other, one)),
    );
    const [root] = roots.toSorted((a, b) => (gains.get(b.id) ?? 0) - (gains.get(a.id) ?? 0));
    if (root) causes.set(effect.id, root.id);
  }
  return causes;
}

/** Each fixed check can fix others, or let them be checked, so this repeats until nothing changes. */
function afterFix(id: string, checks: ScoredCheck[]): ScoredCheck[] {
  const own = [id, ...(checks.find((check) => check.id === id)?.alsoFixes ?? [])];
  const fixed = new Set(own);
  let current = checks.map((check) => {
    const isFixed = own.includes(check.id) && ['fail', 'warn', 'skipped'].includes(check.status);
    // The evidence describes the problem, which would be gone.
    return isFixed ? { ...check, status: 'pass' as CheckStatus, evidence: {} } : check;
  });
  for (let count = 0; count < fixed.size; ) {
    count = fixed.size;
    const before = current;
    const passes = (other: string) =>
      before.some((check) => check.id === other && check.status === 'pass');
    const isFixed = ({ status, fixedBy }: ScoredCheck) =>
      status === 'fail' &&
      fixedBy.some((group) => group.some((one) => fixed.has(one)) && group.every(passes));
    current = current.map((check) => {
      if (isFixed(check)) {
        fixed.add(check.id);
        return { ...check, status: check.statusWhenFixed ?? 'pass' };
      }
      const { failedCauses: causes, status, statusIfFixed } = check;
      const isGone =
        status === 'skipped' && causes.length > 0 && causes.every((one) => fixed.has(one));
      if (!isGone) return check;
      if (statusIfFixed === 'pass') fixed.add(check.id);
      return { ...check, status: statusIfFixed };
    });
  }
  return current;
}

/** The score that people see: a whole number, rounded down so that 100 means no points were lost. */
export function wholeScore(exact: number): number {
  return Math.floor(exact + 1e-9);
}

/** The table of weights in docs/scoring.md, as Markdown without a final line break. */
export const weightTable = (): string =>
  [
    '| category | weight |',
    '|---|---|',
    ...CATEGORIES.map((name) => `| ${name} | ${WEIGHTS[name]} |`),
  ].join('\n');
