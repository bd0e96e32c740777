/** What an analysis answers: the shape that is stored, served and printed. */

import type { Category, CheckStatus, Fix, Json, Reference } from './check.ts';
import type { JudgedKind } from './kind.ts';

export const AUTH_RESULTS = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'policy',
  'none',
  'temperror',
  'permerror',
] as const;
/** The words of RFC 8601 §2.7. */
export type AuthResult = (typeof AUTH_RESULTS)[number];

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
  /** null where the check did not run (`error`, `skipped`) or only informs. */
  earned: number | null;
  /** By how much the overall score would rise if this alone passed; 0 for what is fine. */
  gain: number;
  reference: Reference;
  fix: Fix | null;
}

export interface CategoryScore {
  name: Category;
  /** 0–100; null where no check of the category ran. */
  score: number | null;
  weight: number;
  earned: number;
  points: number;
}

/** A known failure that holds the score down. */
export interface Cap {
  limit: number;
  reason: string;
  reference: string;
}

export interface AnalysisResult {
  /** 0–100; null where too little is known for an honest one. */
  score: number | null;
  grade: Grade | null;
  /** The weighted mean before the cap, unrounded. */
  uncapped: number | null;
  /** The cap that applies; null where none does. */
  cap: Cap | null;
  /** Points of the checks that ran over the points of those that apply, 0–1. */
  coverage: number;
  /** Temporary errors left fewer than two of SPF, DKIM and DMARC known: try again later. */
  temporary: boolean;
  summary: string;
  from_address: string | null;
  subject: string | null;
  message_size: number;
  auth_results: { spf: AuthResult | null; dkim: AuthResult | null; dmarc: AuthResult | null };
  categories: CategoryScore[];
  checks: CheckResult[];
  /** Marketing or transactional, as it was judged, and why. */
  judged_kind: JudgedKind;
  providers: ProviderVerdict[];
  ruleset: string;
}

/**
 * A result as it comes out of a thread: the checks, by far the largest part, as the JSON in which
 * they are stored and answered, so that the main thread neither reads nor writes them.
 */
export type StoredResult = Omit<AnalysisResult, 'checks'> & { checks: string };

// What one mailbox provider asks of senders, and how the message does by it.

export const PROVIDERS = ['gmail', 'yahoo', 'microsoft', 'apple'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** `unknown`: could not be found out, or cannot be seen in one message. */
export type RuleStatus = 'met' | 'not_met' | 'unknown';

export interface RuleVerdict {
  /** Stable, snake_case: `spf_or_dkim`. */
  id: string;
  /** The rule as the provider states it, in our words, one sentence. */
  title: string;
  /** `any`: every sender. `bulk`: senders of bulk mail (5,000 a day; Apple: any bulk). */
  applies: 'any' | 'bulk';
  status: RuleStatus;
  /** Why, in a sentence. */
  detail: string;
  /** The checks that it rests on; empty where no message can show it. */
  checks: string[];
  /** The reply that the provider publishes for it ("550 5.7.26 …"); null where it publishes none. */
  error: string | null;
}

export interface ProviderVerdict {
  provider: Provider;
  /** `Gmail`, `Yahoo`, … */
  name: string;
  /** Whether every rule that this message can show and that applies to it is met. */
  ready: boolean;
  reference: Reference;
  rules: RuleVerdict[];
}
