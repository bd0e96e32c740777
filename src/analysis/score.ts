/** From what the checks found to category scores, the score, its cap, the grade and each gain. */

import { CATEGORIES, type Category, type CheckStatus } from './check.ts';
import type { Cap, CategoryScore, Grade } from './result.ts';

/** Weights of the categories in the overall score; a category without a check that ran has none. */
export const WEIGHTS: Record<Category, number> = {
  authentication: 35,
  reputation: 20,
  infrastructure: 15,
  compliance: 10,
  content: 10,
  spam_filters: 10,
};

/** One check as the score sees it. */
export interface Scored {
  id: string;
  category: Category;
  points: number;
  status: CheckStatus;
  /** The checks whose failure made this one `skipped`, roots only; empty otherwise. */
  followsFrom: string[];
  /** What it would be if they had not failed, as far as its own finding tells; else `pass`. */
  freed: CheckStatus;
  curedBy: string[][];
  /** Its failure calls for no cap. */
  spared?: boolean;
}

interface CapRule extends Cap {
  applies(failed: (id: string) => boolean, follows: (id: string, root: string) => boolean): boolean;
}

/** Known failures that no other virtue outweighs; the lowest that applies wins. */
const CAPS: CapRule[] = [
  {
    limit: 25,
    reason: 'Neither SPF nor DKIM passes.',
    reference: 'Gmail and Yahoo sender rules: such mail is rejected or sent to spam.',
    applies: (failed) => failed('spf') && failed('dkim'),
  },
  {
    limit: 35,
    reason:
      'The sending address or a domain of the sender is on a blocklist that large receivers use.',
    reference: 'Large receivers reject mail from what such a list names.',
    applies: (failed) => failed('ip_blocklists') || failed('domain_blocklists'),
  },
  {
    limit: 40,
    reason: 'DMARC fails.',
    reference: 'RFC 9989',
    // Also where it cannot pass because From names no one domain; not where there is no record.
    applies: (failed, follows) => failed('dmarc') || follows('dmarc', 'from'),
  },
  {
    limit: 60,
    reason: 'The sending address has no reverse DNS that resolves back to it.',
    reference: 'Gmail 5.7.25',
    applies: (failed) => failed('ptr') || failed('fcrdns'),
  },
  {
    limit: 70,
    reason: 'The message came without TLS.',
    reference: 'Gmail 5.7.29',
    applies: (failed) => failed('tls'),
  },
  {
    limit: 75,
    reason: 'This is marketing mail without one-click unsubscribe.',
    reference: 'RFC 8058; Gmail and Yahoo sender rules',
    applies: (failed, follows) => failed('one_click') || follows('one_click', 'list_unsubscribe'),
  },
];

/** The share of its points that a check earned; null where it does not count. */
export function earnedOf(check: { points: number; status: CheckStatus }): number | null {
  if (check.points === 0) return null;
  if (check.status === 'pass') return check.points;
  if (check.status === 'warn') return check.points / 2;
  return check.status === 'fail' ? 0 : null;
}

export interface Score {
  categories: CategoryScore[];
  /** The weighted mean, 0–100, unrounded; null where nothing counted. */
  uncapped: number | null;
  cap: Cap | null;
  /** The mean after the cap, 0–100, unrounded. */
  exact: number | null;
  coverage: number;
}

/** Category scores, the mean, the cap and the coverage; pure. */
export function scoreOf(checks: Scored[]): Score {
  const categories = CATEGORIES.map((name) => scoreCategory(name, checks)).filter(
    (category) => category !== null,
  );
  const ran = categories.filter((category) => category.points > 0);
  const weight = ran.reduce((sum, category) => sum + category.weight, 0);
  const uncapped =
    weight === 0
      ? null
      : ran.reduce((sum, { earned, points, weight: w }) => sum + (w * 100 * earned) / points, 0) /
        weight;
  const cap = capOf(checks);
  const exact = uncapped === null ? null : cap ? Math.min(uncapped, cap.limit) : uncapped;
  return { categories, uncapped, cap, exact, coverage: coverageOf(checks) };
}

function scoreCategory(name: Category, checks: Scored[]): CategoryScore | null {
  const own = checks.filter((check) => check.category === name && check.points > 0);
  if (own.length === 0) return null;
  // Where no engine is configured there is no such category, not one that was left out.
  if (name === 'spam_filters' && own.every(({ status }) => status === 'skipped')) return null;
  let earned = 0;
  let points = 0;
  for (const check of own) {
    const got = earnedOf(check);
    if (got === null) continue;
    earned += got;
    points += check.points;
  }
  const score = points === 0 ? null : Math.floor((100 * earned) / points + 1e-9);
  return { name, score, weight: WEIGHTS[name], earned, points };
}

function capOf(checks: Scored[]): Cap | null {
  const byId = new Map(checks.map((check) => [check.id, check]));
  const failed = (id: string) => {
    const check = byId.get(id);
    return check?.status === 'fail' && !check.spared;
  };
  const follows = (id: string, root: string) => {
    const check = byId.get(id);
    return check?.status === 'skipped' && check.followsFrom.includes(root);
  };
  const applying = CAPS.filter((cap) => cap.applies(failed, follows));
  const lowest = applying.sort((a, b) => a.limit - b.limit)[0];
  return lowest
    ? { limit: lowest.limit, reason: lowest.reason, reference: lowest.reference }
    : null;
}

/** Points that ran over points that apply; what follows from a failure, or does not apply, is in neither. */
function coverageOf(checks: Scored[]): number {
  let ran = 0;
  let apply = 0;
  for (const check of checks) {
    if (check.status === 'skipped') continue;
    if (check.status === 'error') apply += check.points;
    else if (earnedOf(check) !== null) {
      ran += check.points;
      apply += check.points;
    }
  }
  return apply === 0 ? 1 : ran / apply;
}

/**
 * By how much the score would rise if this one check passed: scored again with it passed, with what
 * was skipped because of it as its own finding has it, and with the failures that it cures gone.
 */
export function gainOf(id: string, checks: Scored[], now: number): number {
  const freed = checks.map((check) => {
    if (check.id === id) return { ...check, status: 'pass' as const };
    const follows = check.followsFrom.length > 0 && check.followsFrom.every((root) => root === id);
    return follows ? { ...check, status: check.freed } : check;
  });
  const passing = new Set(freed.flatMap((check) => (check.status === 'pass' ? [check.id] : [])));
  const isCured = ({ status, curedBy }: Scored) =>
    status === 'fail' &&
    curedBy.some((group) => group.includes(id) && group.every((other) => passing.has(other)));
  const then = scoreOf(
    freed.map((check) => (isCured(check) ? { ...check, status: 'pass' as const } : check)),
  );
  return Math.max(0, Math.round(((then.exact ?? now) - now) * 10) / 10);
}

/** The score that is shown: a whole number, rounded down, so that 100 means nothing was lost. */
export function wholeScore(exact: number): number {
  return Math.floor(exact + 1e-9);
}

export function gradeOf(score: number): Grade {
  if (score >= 90) return 'A';
  if (score >= 80) return 'B';
  if (score >= 70) return 'C';
  return score >= 55 ? 'D' : 'F';
}
