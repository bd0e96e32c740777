/** What monitors find: one form for each type, what tells two findings apart, and how grave each is. */

import type { CheckStatus } from '../analysis/check.ts';
import type { Severity } from '../analysis/domain/domain-health.ts';
import type { BlocklistTier } from '../analysis/reputation/blocklist.ts';

/** A target is listed. */
export interface BlocklistFinding {
  target: string;
  /** The zone without a key, which is stable. */
  list: string;
  list_name: string;
  tier: BlocklistTier;
  codes: string[];
  /** What the codes mean, for people. */
  meaning: string | null;
}

/** A check of the domain's health has something to say. */
export interface DomainFinding {
  id: string;
  /** Of `dkim_selector`, which looks at several. */
  selector: string | null;
  status: CheckStatus;
  severity: Severity;
  title: string;
}

export type Finding = BlocklistFinding | DomainFinding;

/** What a run could not find out; `target` null: nothing of this list. */
export type UnknownPart =
  | { target: string | null; list: string }
  | { id: string; selector: string | null };

/** What a run came to by itself, before it is held against the last one. */
export interface Outcome {
  findings: Finding[];
  unknown: UnknownPart[];
  /** Whether so much is unknown that a run without findings is not in order but unknown. */
  inTheDark: boolean;
  /** Whether it is unknown if this former finding still stands. */
  mayStand(former: Finding): boolean;
}

/** Nothing at all could be found out. */
export const NOTHING_KNOWN: Outcome = {
  findings: [],
  unknown: [],
  inTheDark: true,
  mayStand: () => true,
};

/** The same for findings of the same thing, however grave they are. */
export function keyOf(finding: Finding): string {
  return 'list' in finding
    ? `${finding.target} ${finding.list}`
    : `${finding.id} ${finding.selector ?? ''}`;
}

/** 0: told only, such as a list on which receivers do not act. */
export function gravityOf(finding: Finding): 0 | 1 | 2 {
  if ('list' in finding) return finding.tier === 1 ? 2 : finding.tier === 2 ? 1 : 0;
  return finding.severity === 'critical' ? 2 : finding.severity === 'warning' ? 1 : 0;
}
