/** The findings of monitors: their types, identity and severity, and the comparison of two runs. */

import type { BlocklistTier } from '../analysis/blocklists/blocklist.ts';
import type { CheckStatus } from '../analysis/check.ts';
import type { Severity } from '../analysis/domain/dangers.ts';
import { INBOX_RATE } from '../figures/placement.ts';
import type { MonitorRunRow } from '../store/tables.generated.ts';

/** A blocklist lists a target. Runs of both types have one finding per list. */
export interface BlocklistFinding {
  /** An IP address or a name; in a `domain_health` run, the name of the domain. */
  target: string;
  /** The zone, without an access key: a stable ID. */
  list: string;
  list_name: string;
  tier: BlocklistTier;
  codes: string[];
  /** What the codes mean, for users. */
  meaning: string | null;
}

/** A problem found by a domain check. Listings of `domain_blocklists` are blocklist findings instead. */
export interface DomainFinding {
  id: string;
  /** Only for `dkim_selector`, which checks several. */
  selector: string | null;
  status: CheckStatus;
  severity: Severity;
  title: string;
}

/** The blocklist check of a domain. Runs report its listings one by one instead of the check itself. */
export const LIST_CHECK = 'domain_blocklists';

/** With what to do, on the page of the monitor and in an alert. */
const PLACEMENT_PROBLEMS = {
  no_message: {
    meaning: 'Check the program that sends the message, and its bounces.',
    advice:
      'Check the program that sends the message on a schedule, and look for bounces. It must send to the address of the monitor and to all its seed addresses.',
  },
  no_seed: {
    meaning: 'Send each message to all seed addresses of this monitor too.',
    advice:
      'Send each message to all seed addresses of the monitor too, not only to its own address.',
  },
  spam: {
    meaning: 'The report of the test shows what the provider says about the message.',
    advice:
      'Open the last test of the monitor: its report shows what the provider says about the message, and what to fix first.',
  },
  missing: {
    meaning: 'The provider delayed, rejected or dropped the message. Look for a bounce.',
    advice:
      'Look for a bounce message from the provider. If there is none, check whether the message is still in your mail server’s queue.',
  },
  [INBOX_RATE.name]: {
    meaning: 'Compare the report of this test with an earlier one.',
    advice:
      'Open the last test of the monitor and compare it with an earlier one to see what has changed.',
  },
};

type PlacementProblem = keyof typeof PLACEMENT_PROBLEMS;

/** A newer version may have stored a problem that this one does not know. */
export const adviceFor = (problem: string): { meaning: string; advice: string } =>
  Object.hasOwn(PLACEMENT_PROBLEMS, problem)
    ? PLACEMENT_PROBLEMS[problem as PlacementProblem]
    : {
        meaning: 'The report of the test shows where the message arrived.',
        advice: 'Open the last test of the monitor to see its report.',
      };

export const PLACEMENT_PROBLEM_IDS = Object.keys(PLACEMENT_PROBLEMS) as PlacementProblem[];

/** A problem found by a placement monitor. */
export interface PlacementFinding {
  problem: PlacementProblem;
  /** The ID of the provider; null for a problem of the whole message. */
  provider: string | null;
  severity: Severity;
  /** With the numbers of seed mailboxes. */
  title: string;
}

export type Finding = BlocklistFinding | DomainFinding | PlacementFinding;

/** Where the message of a placement run arrived. `test_id` is null if no message arrived in time. */
export interface RunPlacement {
  test_id: string | null;
  /** Seed mailboxes with a result, and those of them that have it in the inbox or its tabs. */
  samples: number;
  inbox: number;
}

/**
 * Something that a run couldn't check. A null `target` stands for all targets of the list. Every earlier
 * finding that the run couldn't check again is covered by one, even in a run without any result.
 */
export type UnknownPart =
  | { target: string | null; list: string }
  | { id: string; selector: string | null }
  /** A provider none of whose seed mailboxes has a result. Null: all of them. */
  | { provider: string | null };

/**
 * A target and how much is known about it; stored with the run as `changes.targets`. `known` means that
 * enough blocklists answered: without a finding, no tier 1 or 2 list lists the target. It is false if no
 * list is in use, or if only earlier findings are known. Single lists can still be unknown.
 */
interface CheckedTarget {
  /** As in BlocklistFinding. */
  target: string;
  known: boolean;
  /**
   * Whether any tier 1 or 2 list answered about it. If so, `unknown` contains all lists that didn't.
   * Without it, `known` says so: runs that could check nothing, and placement runs.
   */
  answered?: boolean;
}

/** The result of a run by itself, before the comparison with the previous run. */
export interface Outcome {
  findings: Finding[];
  unknown: UnknownPart[];
  /** All targets that the run should have checked. */
  targets: CheckedTarget[];
  /** Whether so much is unknown that a run without findings is `unknown` rather than `ok`. */
  allUnknown: boolean;
  /** Whether this earlier finding may persist, because the run couldn't check it. */
  canPersist(previous: Finding): boolean;
  /** Of a placement run. */
  placement?: RunPlacement;
}

/** The outcome of a run that couldn't check anything. */
export function unknownOutcome(targets: string[]): Outcome {
  return {
    findings: [],
    unknown: [],
    targets: targets.map((target) => ({ target, known: false })),
    allUnknown: true,
    canPersist: () => true,
  };
}

/** The unknown part that covers exactly this finding. */
function partOf(finding: Finding): UnknownPart {
  if ('list' in finding) return { target: finding.target, list: finding.list };
  if ('problem' in finding) return { provider: finding.provider };
  return { id: finding.id, selector: finding.selector };
}

/** Whether a finding belongs to an unknown part. */
export function coversFinding(part: UnknownPart, finding: Finding): boolean {
  if ('list' in part)
    return (
      'list' in finding &&
      part.list === finding.list &&
      (part.target === null || part.target === finding.target)
    );
  if ('provider' in part)
    return 'problem' in finding && (part.provider === null || part.provider === finding.provider);
  // A null selector stands for all: not even the selectors are known.
  return (
    'id' in finding &&
    part.id === finding.id &&
    (part.selector === null || part.selector === finding.selector)
  );
}

/** Equal for findings about the same thing, whatever their severity. */
function keyOf(finding: Finding): string {
  if ('list' in finding) return `${finding.target} ${finding.list}`;
  if ('problem' in finding) return `${finding.problem} ${finding.provider ?? ''}`;
  return `${finding.id} ${finding.selector ?? ''}`;
}

/** 0 is for information only, such as a tier 3 listing. */
function severityOf(finding: Finding): 0 | 1 | 2 {
  if ('list' in finding) return finding.tier === 1 ? 2 : finding.tier === 2 ? 1 : 0;
  return finding.severity === 'critical' ? 2 : finding.severity === 'warning' ? 1 : 0;
}

// Comparing a run with the previous one.

export interface Changes {
  appeared: Finding[];
  gone: Finding[];
  /** What couldn't be checked: earlier findings about it are kept. */
  unknown: UnknownPart[];
  targets: CheckedTarget[];
  /** Of placement runs only. */
  placement?: RunPlacement;
}

interface Comparison {
  status: MonitorRunRow['status'];
  /** All current findings: new ones, and earlier ones that couldn't be checked. */
  findings: Finding[];
  changes: Changes;
  /** Whether a relevant finding is new or more severe than before. */
  hasWorsened: boolean;
}

/** `previous`: the findings of the previous run; empty if there was none. */
export function compareRuns(previous: Finding[], outcome: Outcome): Comparison {
  const { unknown } = outcome;
  const foundKeys = new Set(outcome.findings.map(keyOf));
  const byKey = new Map(previous.map((finding) => [keyOf(finding), finding]));
  const previousOf = (finding: Finding) => byKey.get(keyOf(finding));
  const replaced = new Set(outcome.findings.map((finding) => previousOf(finding)));
  const kept = previous.filter(
    (finding) => !foundKeys.has(keyOf(finding)) && outcome.canPersist(finding),
  );
  const findings = [...outcome.findings, ...kept];
  const currentKeys = new Set(findings.map(keyOf));
  const unreported = kept.filter(
    (finding) => !unknown.some((part) => coversFinding(part, finding)),
  );
  return {
    status: statusOf(outcome, kept),
    findings,
    changes: {
      appeared: outcome.findings.filter((finding) => previousOf(finding) === undefined),
      gone: previous.filter(
        (finding) => !currentKeys.has(keyOf(finding)) && !replaced.has(finding),
      ),
      unknown: [...unknown, ...unreported.map(partOf)],
      targets: outcome.targets,
      ...(outcome.placement && { placement: outcome.placement }),
    },
    hasWorsened: outcome.findings.some((finding) => {
      const earlier = previousOf(finding);
      return severityOf(finding) > (earlier ? severityOf(earlier) : 0);
    }),
  };
}

/** Precedence: new findings, then whether the run checked enough, then earlier findings. */
function statusOf({ findings, allUnknown }: Outcome, kept: Finding[]): MonitorRunRow['status'] {
  const isRelevant = (finding: Finding) => severityOf(finding) > 0;
  if (findings.some(isRelevant)) return 'alerting';
  if (allUnknown) return 'unknown';
  return kept.some(isRelevant) ? 'alerting' : 'ok';
}
