/** One analysis: parse once, run every check side by side within the deadline, score. */

import { errorMessage } from '../lib/errors.ts';
import type { Resolver } from '../net/resolver.ts';
import { noWeb, type Web } from '../net/web.ts';
import { authResults } from './auth-results.ts';
import { boundedResolver, boundedWeb, type Deadline, LATE, startDeadline } from './bounds.ts';
import {
  type AnalysisInput,
  type Check,
  type CheckStatus,
  type Context,
  DEADLINE_MS,
  type Finding,
} from './check.ts';
import { CHECKS } from './checks.ts';
import { createContext } from './context.ts';
import { judgedKind } from './kind.ts';
import { parseMessage } from './parse-message.ts';
import { providerVerdicts } from './providers/providers.ts';
import type { AnalysisResult, CheckResult } from './result.ts';
import { earnedOf, gainOf, gradeOf, type Scored, scoreOf, wholeScore } from './score.ts';
import type { Setup } from './setup.ts';
import { summarize } from './summary.ts';
import { trimEvidence, trimText } from './trim.ts';

/** The version of the checks, points, weights and caps; changes whenever a score could. */
export const RULESET = '2026.11.2';

export interface AnalyzeOptions {
  resolver: Resolver;
  web?: Web;
  setup?: Setup;
  offline?: boolean;
  deadlineMs?: number;
  checks?: Check[];
  /** Told of a check that threw: a bug, shown to the user as "could not be found out". */
  onFault?(checkId: string, error: unknown): void;
}

/** One result; rejects only for what is a bug. Ends within the deadline whatever the resolver does. */
export async function analyze(
  input: AnalysisInput,
  options: AnalyzeOptions,
): Promise<AnalysisResult> {
  const deadline = startDeadline(options.deadlineMs ?? DEADLINE_MS);
  try {
    const message = await parseMessage(input.raw);
    const context = createContext(input, message, {
      resolver: boundedResolver(options.resolver, deadline),
      web: boundedWeb(options.web ?? noWeb, deadline),
      setup: options.setup,
      offline: options.offline,
    });
    const checks = options.checks ?? CHECKS;
    const findings = await Promise.all(
      checks.map((check) => runCheck(check, context, deadline, options)),
    );
    return await resultOf(context, checks, findings);
  } finally {
    deadline.stop();
  }
}

async function runCheck(
  check: Check,
  context: Context,
  deadline: Deadline,
  options: AnalyzeOptions,
): Promise<Finding> {
  try {
    const finding = check.run(context);
    if (!(finding instanceof Promise)) return finding;
    const first = await Promise.race([finding, deadline.passed]);
    return first === LATE ? timedOut(check) : first;
  } catch (error) {
    options.onFault?.(check.id, error);
    return {
      status: 'error',
      title: `${check.label} could not be checked.`,
      detail: `This is a fault of the tester, not of your message (${errorMessage(error).slice(0, 80)}).`,
    };
  }
}

function timedOut(check: Check): Finding {
  return {
    status: 'error',
    title: `${check.label} could not be checked in time.`,
    detail: 'timed out: what it asked was not answered before the analysis had to end.',
  };
}

async function resultOf(
  context: Context,
  checks: Check[],
  findings: Finding[],
): Promise<AnalysisResult> {
  const scored = applyDependencies(checks, findings);
  const score = scoreOf(scored);
  const auth = authKnowledge(scored);
  const exact = auth.enough ? score.exact : null;
  const results = checks.map((check, index) =>
    toResult(
      check,
      findings[index]!,
      scored[index]!,
      exact === null ? 0 : gain(scored, index, exact),
    ),
  );
  const judged = context.fact(judgedKind);
  const whole = exact === null ? null : wholeScore(exact);
  const partial = {
    score: whole,
    grade: whole === null ? null : gradeOf(whole),
    uncapped: exact === null ? null : score.uncapped,
    cap: exact === null ? null : score.cap,
    coverage: Math.round(score.coverage * 1000) / 1000,
    temporary: !auth.enough && auth.errors > 0,
    from_address: trimmed(context.message.from[0]?.address),
    subject: trimmed(context.message.subject),
    message_size: context.message.size,
    auth_results: await authResults(context, scored),
    categories: score.categories,
    checks: results,
    judged_kind: judged,
    providers: providerVerdicts(results, judged),
    ruleset: RULESET,
  };
  return { ...partial, summary: summarize(partial) };
}

const trimmed = (text: string | null | undefined): string | null =>
  text == null ? null : trimText(text);

function gain(scored: Scored[], index: number, exact: number): number {
  const { id, status } = scored[index]!;
  return status === 'warn' || status === 'fail' ? gainOf(id, scored, exact) : 0;
}

/** How many of SPF, DKIM and DMARC are known; fewer than two make no honest score. */
function authKnowledge(scored: Scored[]): { enough: boolean; errors: number } {
  const three = scored.filter(({ id }) => id === 'spf' || id === 'dkim' || id === 'dmarc');
  const errors = three.filter(({ status }) => status === 'error').length;
  const unasked = three.filter(
    ({ status, followsFrom }) => status === 'skipped' && followsFrom.length === 0,
  ).length;
  return { enough: three.length - errors - unasked >= 2, errors };
}

/** What depends on a failed check becomes `skipped`, so that one cause is one finding. */
function applyDependencies(checks: Check[], findings: Finding[]): Scored[] {
  const places = new Map(checks.map(({ id }, index) => [id, index]));
  const rootsOf = (index: number): string[] => {
    const depends = dependenciesOf(checks[index]!, findings[index]!);
    const roots = new Set<string>();
    for (const id of depends) {
      const parent = places.get(id);
      if (parent === undefined) continue;
      const above = rootsOf(parent);
      if (above.length > 0) for (const root of above) roots.add(root);
      else if (findings[parent]!.status === 'fail') roots.add(id);
    }
    return roots.size > 0 ? [...roots] : NO_ROOTS;
  };
  return checks.map(({ id, category, points, curedBy = [] }, index) => {
    const followsFrom = rootsOf(index);
    const own = findings[index]!;
    const status = followsFrom.length > 0 ? 'skipped' : own.status;
    const cures = own.curedBy ?? curedBy;
    const freed = freedStatus(own);
    const spared = own.uncapped ?? false;
    return { id, category, points, status, followsFrom, freed, curedBy: cures, spared };
  });
}

/** A finding with the very cause of another goes with it; so does one that had nothing to look at. */
function freedStatus({ status, dependsOn }: Finding): CheckStatus {
  return dependsOn || status === 'skipped' ? 'pass' : status;
}

const NO_ROOTS: string[] = [];

function dependenciesOf({ dependsOn = NO_ROOTS }: Check, finding: Finding): string[] {
  return finding.dependsOn ? [...dependsOn, ...finding.dependsOn] : dependsOn;
}

function toResult(check: Check, finding: Finding, scored: Scored, gained: number): CheckResult {
  const follows = scored.followsFrom.length > 0;
  return {
    id: check.id,
    category: check.category,
    label: check.label,
    status: scored.status,
    title: follows
      ? `${check.label}: follows from ${scored.followsFrom.join(' and ')}.`
      : trimText(finding.title),
    detail: follows ? `follows from ${scored.followsFrom.join(', ')}` : trimText(finding.detail),
    evidence: trimEvidence(finding.evidence ?? {}),
    points: check.points,
    earned: earnedOf(scored),
    gain: gained,
    reference: finding.reference ?? check.reference,
    fix: follows ? null : (finding.fix ?? null),
  };
}
