/** Holds what a run found against what stood before: what is new, what is gone, and whether it is worse. */

import type { MonitorRunRow } from '../store/watching-tables.ts';
import {
  coversFinding,
  type Finding,
  gravityOf,
  keyOf,
  LIST_CHECK,
  type LookedAtTarget,
  type Outcome,
  partOf,
  type UnknownPart,
} from './findings.ts';

export interface Changes {
  appeared: Finding[];
  gone: Finding[];
  /** What could not be found out: of these, the former findings stand. */
  unknown: UnknownPart[];
  /** Missing in runs that were stored before it was told. */
  targets?: LookedAtTarget[];
}

export interface Comparison {
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
  const kept = former.filter((one) => !found.has(keyOf(one)) && outcome.mayStand(one));
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
function statusOf({ findings, inTheDark }: Outcome, kept: Finding[]): MonitorRunRow['status'] {
  const counts = (one: Finding) => gravityOf(one) > 0;
  if (findings.some(counts)) return 'alerting';
  if (inTheDark) return 'unknown';
  return kept.some(counts) ? 'alerting' : 'ok';
}
