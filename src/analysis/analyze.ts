/** Analyzes one message: parses it once, runs all checks concurrently within the deadline, and scores it. */

import type { AskDns } from '../net/dns/reply.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { offlineWebClient, type WebClient } from '../net/http/web.ts';
import type { AuthResult } from './auth-results.ts';
import {
  type AnalysisInput,
  type Check,
  type CheckStatus,
  type Context,
  DEADLINE_MS,
  type Finding,
  type Fix,
  type Setup,
} from './check.ts';
import { CHECKS } from './checks/index.ts';
import type { MailKind } from './consequences.ts';
import { boundedResolver, boundedWeb, createContext, startDeadline } from './context.ts';
import { dkimResult } from './dkim/verify.ts';
import { dmarcResult } from './dmarc/evaluate.ts';
import { withMissingDomains } from './dns/missing-domain.ts';
import { fromDomain } from './dns/names.ts';
import { gradeOf } from './grade.ts';
import { classifyMessage, contextAs, otherKind } from './kind.ts';
import { parseMessage } from './mime/parse-message.ts';
import { providerVerdicts } from './providers/evaluate.ts';
import { arrivedMessage } from './receipt/arrived.ts';
import {
  type Alternative,
  type AnalysisResult,
  type CheckResult,
  factsOf,
  type Grade,
} from './result.ts';
import { RULESET } from './ruleset.ts';
import {
  causesOf,
  dependentFinding,
  type RunCheckOptions,
  runChecks,
  trimEvidence,
  trimFix,
  trimText,
} from './run-checks.ts';
import {
  type CheckIndexes,
  earnedOf,
  findCauses,
  gainOf,
  indexChecks,
  isProblem,
  type Score,
  type ScoredCheck,
  scoreOf,
  type WeightOf,
  weightByPoints,
  wholeScore,
} from './score.ts';
import { spfResult } from './spf/evaluate.ts';
import { summarize } from './summary.ts';
import { checksOfTemplate } from './templates/left-out.ts';
import { mapStrings, type Template } from './templates/template.ts';

/** Parts of an analysis that a page shows while it runs. */
export type AnalysisStep = 'spf' | 'dkim' | 'dmarc' | 'content';
/** `done` for a step of several checks, which has no result of its own. */
export type StepOutcome = CheckStatus | 'done';

export interface AnalyzeOptions {
  resolver: Resolver;
  web?: WebClient;
  /** Without it, lookups that fail are not explained. */
  askDns?: AskDns | null;
  setup?: Setup;
  offline?: boolean;
  deadlineMs?: number;
  checks?: Check[];
  /** Called when a check throws, which is a bug. Users see that the check could not be completed. */
  onFault?(checkId: string, error: unknown): void;
  /** Called once for each step, as soon as it is finished. */
  onStep?(step: AnalysisStep, outcome: StepOutcome): void;
}

/** Rejects only on a bug. Resolves by the deadline, whatever the resolver does. */
export async function analyze(
  input: AnalysisInput,
  options: AnalyzeOptions,
): Promise<AnalysisResult> {
  const deadline = startDeadline(options.deadlineMs ?? DEADLINE_MS);
  try {
    const arrived = input.envelope.file ? arrivedMessage(input.raw) : null;
    const raw = arrived?.raw ?? input.raw;
    const message = await parseMessage(raw);
    const context = createContext({ ...input, raw }, message, {
      resolver: boundedResolver(options.resolver, deadline),
      web: boundedWeb(options.web ?? offlineWebClient, deadline),
      askDns: options.askDns,
      setup: options.setup,
      offline: options.offline,
      lineInFile: arrived?.lineInFile,
    });
    const { template } = context;
    const all = options.checks ?? CHECKS;
    const checks = template ? checksOfTemplate(all, template) : all;
    const run: RunCheckOptions = {
      context,
      deadline,
      subject: 'message',
      onFault: options.onFault,
    };
    const report = stepReporter(checks, options.onStep);
    const separate = await runChecks(checks, run, report);
    const findings = withMissingDomains(checks, separate, fromDomain(context));
    const alternative = await alternativeOf(checks, findings, run);
    const written = asWritten(findings, template);
    return await resultOf(context, checks, written, { alternative, size: input.raw.length });
  } finally {
    deadline.stop();
  }
}

/** The findings with the merge tags of a template in place of their stand-ins. */
const asWritten = (findings: Finding[], template: Template | null): Finding[] =>
  template ? mapStrings(findings, template.restore) : findings;

/** Returns a function for each finding, which calls `onStep` when a step is finished. */
function stepReporter(checks: Check[], onStep: AnalyzeOptions['onStep']) {
  let openContentChecks = checks.filter(({ category }) => category === 'content').length;
  return ({ id, category }: Check, { status }: Finding): void => {
    if (id === 'spf' || id === 'dkim' || id === 'dmarc') onStep?.(id, status);
    if (category !== 'content') return;
    openContentChecks -= 1;
    if (openContentChecks === 0) onStep?.('content', 'done');
  };
}

/** The score as the other kind, if the kind is uncertain. Only the checks that depend on the kind run again. */
async function alternativeOf(
  checks: Check[],
  findings: Finding[],
  run: RunCheckOptions,
): Promise<Alternative | null> {
  const { kind, confidence } = run.context.fact(classifyMessage);
  if (confidence !== 'uncertain') return null;
  const context = contextAs(run.context, otherKind(kind));
  const again = checks.filter(({ dependsOnKind }) => dependsOnKind);
  const changed = await runChecks(again, { ...run, context });
  const otherFindings = checks.map((check, index) =>
    check.dependsOnKind ? changed[again.indexOf(check)]! : findings[index]!,
  );
  const { score, grade } = scoreFindings(context, checks, otherFindings);
  return { kind: otherKind(kind), score, grade };
}

interface ScoredFindings {
  scored: ScoredCheck[];
  indexes: CheckIndexes;
  weightOf: WeightOf | undefined;
  /** As it would be with any authentication. */
  details: Score;
  /** null without a score. */
  exact: number | null;
  score: number | null;
  grade: Grade | null;
  /** See `AnalysisResult`. */
  temporary: boolean;
}

function scoreFindings(context: Context, checks: Check[], findings: Finding[]): ScoredFindings {
  const scored = applyDependencies(checks, findings);
  const indexes = indexChecks(scored);
  const weightOf = context.template ? weightByPoints : undefined;
  const details = scoreOf(scored, context.fact(classifyMessage).kind, indexes, weightOf);
  const auth = authCoverage(scored, checks, findings);
  const exact = auth.enough || context.template ? details.exact : null;
  const score = exact === null ? null : wholeScore(exact);
  const grade = score === null ? null : gradeOf(score);
  const temporary = exact === null && auth.temporaryErrors > 0;
  return { scored, indexes, weightOf, details, exact, score, grade, temporary };
}

async function resultOf(
  context: Context,
  checks: Check[],
  findings: Finding[],
  { alternative, size }: { alternative: Alternative | null; size: number },
): Promise<AnalysisResult> {
  const judged = scoreFindings(context, checks, findings);
  const { scored, details, exact, score, grade, temporary } = judged;
  const restored = (text: string | null) =>
    text === null ? null : (context.template?.restore(text) ?? text);
  const kind = context.fact(classifyMessage);
  const gains = checks.map((_, index) => gainAt(index, judged, kind.kind));
  const causes = findCauses(scored, new Map(checks.map(({ id }, index) => [id, gains[index]!])));
  const results = checks.map((check, index) => {
    const finding = findings[index]!;
    const named = scored.find(({ id }) => id === finding.cause?.id);
    const causeId = named && isProblem(named) ? named.id : causes.get(check.id);
    const cause = checks.find(({ id }) => id === causeId);
    return toResult(check, finding, scored[index]!, { gain: gains[index]!, cause }, checks);
  });
  const facts = factsOf(results);
  const partial = {
    score,
    grade,
    uncapped: exact === null ? null : details.uncapped,
    cap: exact === null ? null : details.cap,
    coverage: Math.round(details.coverage * 1000) / 1000,
    temporary,
    from_address: trimmed(context.message.from[0]?.address),
    subject: trimmed(restored(context.message.subject)),
    message_size: size,
    auth_results: context.template ? NO_AUTH : await authResults(context, scored),
    categories: context.template
      ? details.categories.filter(({ score }) => score !== null)
      : details.categories,
    checks: results,
    judged_kind: kind,
    alternative,
    // Provider rules apply only to sent messages.
    providers: context.template ? [] : providerVerdicts(results, kind, facts),
    ruleset: RULESET,
    ...(context.template && { is_template: true as const }),
  };
  return { ...partial, summary: summarize(partial, facts) };
}

const trimmed = (text: string | null | undefined): string | null =>
  text == null ? null : trimText(text);

function gainAt(
  index: number,
  { scored, indexes, weightOf, exact }: ScoredFindings,
  kind: MailKind,
): number {
  const { id } = scored[index]!;
  return isProblem(scored[index]!) && exact !== null
    ? gainOf(id, scored, exact, kind, indexes, weightOf)
    : 0;
}

/** Whether at least two of SPF, DKIM and DMARC are known, as a score requires. */
function authCoverage(
  scored: ScoredCheck[],
  checks: Check[],
  findings: Finding[],
): { enough: boolean; temporaryErrors: number } {
  const auth = scored.filter(({ id }) => id === 'spf' || id === 'dkim' || id === 'dmarc');
  const errors = auth.filter(({ status }) => status === 'error');
  const skipped = auth.filter(
    ({ status, failedCauses }) => status === 'skipped' && failedCauses.length === 0,
  ).length;
  // DMARC is then unknown for the same reason.
  const isDkimPermanent = findings[checks.findIndex(({ id }) => id === 'dkim')]?.isPermanent;
  const temporary = errors.filter(({ id }) => id === 'spf' || !isDkimPermanent);
  return {
    enough: auth.length - errors.length - skipped >= 2,
    temporaryErrors: temporary.length,
  };
}

const NO_GROUPS: string[][] = [];

/** The checks as the score sees them: those that depend on a failed one are `skipped`. */
function applyDependencies(checks: Check[], findings: Finding[]): ScoredCheck[] {
  const causes = causesOf(checks, findings);
  return checks.map(({ id, category, points, fixedBy = NO_GROUPS }, index) => {
    const failedCauses = causes[index]!;
    const finding = findings[index]!;
    const status = failedCauses.length > 0 ? 'skipped' : finding.status;
    return {
      id,
      category,
      points,
      status,
      failedCauses,
      statusIfFixed: statusIfFixed(finding),
      fixedBy: finding.fixedBy ?? fixedBy,
      statusWhenFixed: finding.statusWhenFixed,
      alsoFixes: finding.alsoFixes,
      evidence: finding.evidence ?? {},
    };
  });
}

/** The status once all causes are fixed. By default, a finding that declares its cause, or had nothing to check, passes. */
function statusIfFixed({ status, dependsOn, statusWhenFixed }: Finding): CheckStatus {
  return dependsOn || status === 'skipped' ? (statusWhenFixed ?? 'pass') : status;
}

function toResult(
  check: Check,
  finding: Finding,
  scored: ScoredCheck,
  { gain, cause }: { gain: number; cause: Check | undefined },
  checks: Check[],
): CheckResult {
  const { failedCauses } = scored;
  const reported =
    failedCauses.length > 0 ? dependentFinding(check, finding, failedCauses, checks) : finding;
  return {
    id: check.id,
    category: check.category,
    label: check.label,
    status: scored.status,
    title: trimText(reported.title),
    detail: trimText(reported.detail),
    evidence: trimEvidence(reported.evidence ?? {}),
    points: check.points,
    earned: earnedOf(scored),
    gain,
    goes_with: cause?.id ?? null,
    reference: reported.reference ?? check.reference,
    fix: reported.fix ? trimFix(fixWith(cause, reported.fix, finding)) : null,
  };
}

/** The fix, which names the cause first. */
function fixWith(cause: Check | undefined, fix: Fix, finding: Finding): Fix {
  if (!cause) return fix;
  const step =
    finding.cause?.id === cause.id ? finding.cause.step : `its fix solves this too. ${fix.text}`;
  return { ...fix, text: `Goes with “${cause.label}”: ${step}` };
}

// The RFC 8601 results of SPF, DKIM and DMARC, from the facts that the checks share.

const NO_AUTH: AnalysisResult['auth_results'] = { spf: null, dkim: null, dmarc: null };

/** null if not evaluated. A check that timed out is `temperror`; its fact is not awaited. */
export async function authResults(
  context: Context,
  scored: ScoredCheck[],
): Promise<AnalysisResult['auth_results']> {
  const timedOut = (id: string) => scored.find((check) => check.id === id)?.status === 'error';
  const resultFor = async (
    id: string,
    fact: (context: Context) => Promise<{ result: AuthResult | null }>,
  ): Promise<AuthResult | null> => (timedOut(id) ? 'temperror' : (await context.fact(fact)).result);
  const [spf, dkim, dmarc] = await Promise.all([
    resultFor('spf', spfResult),
    resultFor('dkim', dkimResult),
    resultFor('dmarc', dmarcResult),
  ]);
  return { spf, dkim, dmarc };
}
