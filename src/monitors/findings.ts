/** What monitors find: one form for each type, what tells two findings apart, and how grave each is. */

import type { BlocklistTier } from '../analysis/blocklists/blocklist.ts';
import type { CheckStatus } from '../analysis/check.ts';
import type { Severity } from '../analysis/domain/health.ts';
import type { MonitorRunRow } from '../store/tables.generated.ts';

/** A target is listed: in runs of both types, one for each list. */
export interface BlocklistFinding {
  /** An address or a name; in a run of `domain_health`, the name of its domain. */
  target: string;
  /** The zone without a key, which is stable. */
  list: string;
  list_name: string;
  tier: BlocklistTier;
  codes: string[];
  /** What the codes mean, for people. */
  meaning: string | null;
}

/** A check of the domain's health has something to say; what `domain_blocklists` says are the above. */
export interface DomainFinding {
  id: string;
  /** Of `dkim_selector`, which looks at several. */
  selector: string | null;
  status: CheckStatus;
  severity: Severity;
  title: string;
}

/** The check that asks the blocklists about a domain: told list by list, and not by itself any more. */
export const LIST_CHECK = 'domain_blocklists';

export type Finding = BlocklistFinding | DomainFinding;

/**
 * What a run could not find out; `target` null: nothing of this list. Every former finding that the
 * run could not look at is covered by one, also in a run that found out nothing at all.
 */
export type UnknownPart =
  | { target: string | null; list: string }
  | { id: string; selector: string | null };

/**
 * Whether so many blocklists have answered about a target that it is on none that counts (tiers 1
 * and 2) where no finding says so; stored with the run as `changes.targets`. It is false where no
 * list is in use, and where all that is said of a target is what was known before. A single list
 * may be silent all the same: then it stands among the unknown.
 */
interface LookedAtTarget {
  /** As in BlocklistFinding. */
  target: string;
  known: boolean;
  /**
   * Whether any list that counts has answered about it, so that each that did not is named among the
   * unknown; missing in runs that were stored before it was told.
   */
  answered?: boolean;
}

/** What a run came to by itself, before it is held against the last one. */
export interface Outcome {
  findings: Finding[];
  unknown: UnknownPart[];
  /** All that were to be looked at. */
  targets: LookedAtTarget[];
  /** Whether so much is unknown that a run without findings is not in order but unknown. */
  allUnknown: boolean;
  /** Whether it is unknown if this former finding still stands. */
  canPersist(former: Finding): boolean;
}

/** Nothing at all could be found out about these. */
export function nothingKnown(targets: string[]): Outcome {
  return {
    findings: [],
    unknown: [],
    targets: targets.map((target) => ({ target, known: false })),
    allUnknown: true,
    canPersist: () => true,
  };
}

/** The part that is unknown where it is unknown whether a former finding stands. */
const partOf = (finding: Finding): UnknownPart =>
  'list' in finding
    ? { target: finding.target, list: finding.list }
    : { id: finding.id, selector: finding.selector };

/** Whether a part that is unknown is, or holds, that of a finding. */
export function coversFinding(part: UnknownPart, finding: Finding): boolean {
  if ('list' in part)
    return (
      'list' in finding &&
      part.list === finding.list &&
      (part.target === null || part.target === finding.target)
    );
  // Where it is not even known which selectors there are, nothing is known of any.
  return (
    'id' in finding &&
    part.id === finding.id &&
    (part.selector === null || part.selector === finding.selector)
  );
}

/** The same for findings of the same thing, however grave they are. */
function keyOf(finding: Finding): string {
  return 'list' in finding
    ? `${finding.target} ${finding.list}`
    : `${finding.id} ${finding.selector ?? ''}`;
}

/** 0: told only, such as a list on which receivers do not act. */
function gravityOf(finding: Finding): 0 | 1 | 2 {
  if ('list' in finding) return finding.tier === 1 ? 2 : finding.tier === 2 ? 1 : 0;
  return finding.severity === 'critical' ? 2 : finding.severity === 'warning' ? 1 : 0;
}

// Holds what a run found against what stood before: what is new, what is gone, and whether it is worse.

export interface Changes {
  appeared: Finding[];
  gone: Finding[];
  /** What could not be found out: of these, the former findings stand. */
  unknown: UnknownPart[];
  /** Missing in runs that were stored before it was told. */
  targets?: LookedAtTarget[];
}

interface Comparison {
  status: MonitorRunRow['status'];
  /** All that stands now: what was found, and former findings of which nothing is known. */
  findings: Finding[];
  changes: Changes;
  /** A finding is new, or graver than it was; of a first run, whatever counts. */
  worse: boolean;
}

/** `former`: what stood after the last run; empty where there was none. */
export function compare(former: Finding[], outcome: Outcome): Comparison {
  const { unknown } = outcome;
  const found = new Set(outcome.findings.map(keyOf));
  const earlierOf = findFormer(former);
  const replaced = new Set(outcome.findings.map((one) => earlierOf(one)));
  const kept = former.filter((one) => !found.has(keyOf(one)) && outcome.canPersist(one));
  const findings = [...outcome.findings, ...kept];
  const standing = new Set(findings.map(keyOf));
  const untold = kept.filter((one) => !unknown.some((part) => coversFinding(part, one)));
  return {
    status: statusOf(outcome, kept),
    findings,
    changes: {
      appeared: outcome.findings.filter((one) => earlierOf(one) === undefined),
      gone: former.filter((one) => !standing.has(keyOf(one)) && !replaced.has(one)),
      unknown: [...unknown, ...untold.map(partOf)],
      targets: outcome.targets,
    },
    worse: outcome.findings.some((one) => {
      const earlier = earlierOf(one);
      return gravityOf(one) > (earlier ? gravityOf(earlier) : 0);
    }),
  };
}

/**
 * The former finding of the same thing. What lists say of a domain was one finding of its check before
 * each list had its own: where that stood, no list is news.
 */
function findFormer(former: Finding[]): (finding: Finding) => Finding | undefined {
  const before = new Map(former.map((finding) => [keyOf(finding), finding]));
  const ofLists = former.find((one) => 'id' in one && one.id === LIST_CHECK);
  return (finding) => before.get(keyOf(finding)) ?? ('list' in finding ? ofLists : undefined);
}

/** What was seen counts first; what nobody could look at is no order. */
function statusOf({ findings, allUnknown }: Outcome, kept: Finding[]): MonitorRunRow['status'] {
  const counts = (one: Finding) => gravityOf(one) > 0;
  if (findings.some(counts)) return 'alerting';
  if (allUnknown) return 'unknown';
  return kept.some(counts) ? 'alerting' : 'ok';
}
