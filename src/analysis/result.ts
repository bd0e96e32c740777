/** The result of an analysis, as it is stored, served and printed. */

import type { AuthResult } from './auth-results.ts';
import type { Category, CheckStatus, Fix, Json, Reference } from './check.ts';
import type { CheckFact, MailKind } from './consequences.ts';
import type { Classification, Kind } from './kind.ts';

export type Grade = 'A' | 'B' | 'C' | 'D' | 'F';

export interface CheckResult {
  id: string;
  category: Category;
  label: string;
  status: CheckStatus;
  title: string;
  detail: string;
  evidence: { [key: string]: Json };
  points: number;
  /** null if the check did not run (`error`, `skipped`) or only informs. */
  earned: number | null;
  /** How much the overall score would rise if only this check were fixed; 0 if it has no problem. */
  gain: number;
  /** The check whose fix cures this problem too; null if there is none. */
  goes_with: string | null;
  reference: Reference;
  fix: Fix | null;
}

/** The detail of a check that was skipped because the checks with these labels failed. */
export const dependencyDetail = (labels: string[]): string =>
  `Not checked: ${labels.join(', ')} failed.`;

const DEPENDENCY_DETAIL = /^Not checked: (.+) failed\.$/s;

/** The labels of the failed checks because of which a check was skipped. */
export function failedDependencies({
  status,
  detail,
}: Pick<CheckResult, 'status' | 'detail'>): string[] {
  const found = status === 'skipped' ? DEPENDENCY_DETAIL.exec(detail) : null;
  return found?.[1]?.split(', ') ?? [];
}

/** The start of the reason why a check is skipped for a template. */
export const LEFT_OUT = 'Not checked: this is a template, and ';

const NONE: string[] = [];

export interface ReportedFact extends CheckFact {
  label: string;
  title: string;
}

/** What the consequences depend on, by the id of the check. */
export function factsOf(checks: CheckResult[]): Map<string, ReportedFact> {
  const facts = new Map<string, ReportedFact>();
  for (const check of checks) {
    const { id, status, evidence, label, title } = check;
    const failedCauses =
      status === 'skipped' ? failedDependencies(check).map((name) => idOf(name, checks)) : NONE;
    facts.set(id, { id, status, evidence, failedCauses, label, title });
  }
  return facts;
}

const idOf = (label: string, checks: CheckResult[]): string =>
  checks.findLast((check) => check.label === label)?.id ?? label;

export interface CategoryScore {
  name: Category;
  /** 0–100; null if no check of the category ran. */
  score: number | null;
  weight: number;
  earned: number;
  points: number;
}

/** The highest score possible while a certain failure remains. */
export interface Cap {
  limit: number;
  reason: string;
  reference: string;
}

/** The score that the message has if it is of the other kind. */
export interface Alternative {
  kind: Kind;
  score: number | null;
  grade: Grade | null;
}

export interface AnalysisResult {
  /** 0–100; null if fewer than two of SPF, DKIM and DMARC of a message are known. */
  score: number | null;
  grade: Grade | null;
  /** The weighted mean before the cap, unrounded. */
  uncapped: number | null;
  /** The cap that applies; null if none does. */
  cap: Cap | null;
  /** Points of the checks that ran, divided by those that apply, 0–1. */
  coverage: number;
  /** There is no score because of temporary errors: worth a retry. */
  temporary: boolean;
  summary: string;
  from_address: string | null;
  subject: string | null;
  message_size: number;
  auth_results: { spf: AuthResult | null; dkim: AuthResult | null; dmarc: AuthResult | null };
  categories: CategoryScore[];
  checks: CheckResult[];
  /** Marketing or transactional, and why. */
  judged_kind: Classification;
  /** The score as the other kind; null unless the kind is uncertain. */
  alternative: Alternative | null;
  providers: ProviderVerdict[];
  ruleset: string;
  /** Set for a template: its score covers its content, and nothing about sending. Missing for messages. */
  is_template?: true;
}

/**
 * A result as it leaves the analysis thread. `checks` and `providers`, by far the largest parts, are already
 * the JSON that is stored and served, so the main thread never copies, parses or serializes their objects.
 */
export type StoredResult = Omit<AnalysisResult, 'checks' | 'providers'> & {
  checks: string;
  providers: string;
};

// Provider rules, and whether the message meets them.

export const PROVIDERS = ['gmail', 'yahoo', 'microsoft', 'apple'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** `unknown`: could not be determined, or a single message cannot show it. */
export type RuleStatus = 'met' | 'not_met' | 'unknown';

export interface RuleVerdict {
  /** Stable, snake_case: `spf_or_dkim`. */
  id: string;
  /** The provider's requirement in our words, one or two sentences. */
  title: string;
  /** `any`: every sender. `bulk`: bulk senders (5,000 messages a day; Apple: any bulk mail). */
  applies: 'any' | 'bulk';
  status: RuleStatus;
  /** Why the rule has this status. */
  detail: string;
  /** The ids of the checks that determine the status; empty if no message can show it. */
  checks: string[];
  /** The SMTP reply that the provider documents for a violation ("550 5.7.26"); null if there is none. */
  error: string | null;
}

/** `unknown`: no rule that applies is known to be unmet, but at least one could not be determined. */
export const READINESS = ['ready', 'not_ready', 'unknown'] as const;
export type Readiness = (typeof READINESS)[number];

export interface ProviderVerdict {
  provider: Provider;
  /** `Gmail`, `Yahoo`, … */
  name: string;
  /** Whether the message is known to meet every rule that applies to it and that a message can show. */
  ready: boolean;
  status: Readiness;
  reference: Reference;
  rules: RuleVerdict[];
}

/** Whether a rule counts for a message: those for bulk senders count for marketing mail only. */
export const ruleApplies = ({ applies }: Pick<RuleVerdict, 'applies'>, kind: MailKind): boolean =>
  kind === 'marketing' || applies === 'any';

export function readinessOf(rules: RuleVerdict[], kind: MailKind): Readiness {
  const counted = rules.filter((rule) => ruleApplies(rule, kind));
  if (counted.some(({ status }) => status === 'not_met')) return 'not_ready';
  // A rule without checks says nothing about this message.
  return counted.some(({ status, checks }) => status === 'unknown' && checks.length > 0)
    ? 'unknown'
    : 'ready';
}
