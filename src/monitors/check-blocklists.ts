/** Queries the enabled blocklists about each target of a monitor. */

import type { BlocklistInUse } from '../analysis/blocklists/blocklist.ts';
import { type ListOutcome, queryLists } from '../analysis/blocklists/query.ts';
import { addressSubject, nameSubject } from '../analysis/blocklists/subjects.ts';
import { boundedResolver, startDeadline } from '../analysis/context.ts';
import type { App } from '../app.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import type { BlocklistFinding, Finding, Outcome, UnknownPart } from './findings.ts';

/** Bounds a run. Lists that don't answer in time are unknown. */
const TIMEOUT_MS = 25_000;
/** Targets queried concurrently: blocklists refuse clients that query too fast. */
const TARGET_BATCH_SIZE = 5;

interface TargetOutcome {
  target: string;
  outcomes: ListOutcome[];
}

/** `targets` are normalized addresses and names. */
export async function queryBlocklists(
  { backgroundResolver, blocklists }: Pick<App, 'backgroundResolver' | 'blocklists'>,
  targets: string[],
): Promise<Outcome> {
  const lists = await blocklists.inUse();
  const deadline = startDeadline(TIMEOUT_MS);
  try {
    const outcomesByTarget = new Map<string, ListOutcome[]>();
    // Grouped by kind, because a list that is silent about a whole batch is then skipped.
    // Each target gets its own resolver limits, which are meant for a single message.
    for (const group of Map.groupBy(targets, kindOf).values())
      await queryInBatches(group, lists, outcomesByTarget, (inUse, target) =>
        queryTarget(boundedResolver(backgroundResolver, deadline), inUse, target),
      );
    return outcomeOf(
      targets.map((target) => ({ target, outcomes: outcomesByTarget.get(target)! })),
    );
  } finally {
    deadline.stop();
  }
}

function kindOf(target: string): 'name' | 'ipv4' | 'ipv6' {
  const address = normalizeAddress(target);
  return address === null ? 'name' : address.includes(':') ? 'ipv6' : 'ipv4';
}

/** Queries targets of one kind and adds their outcomes to `outcomesByTarget`. */
async function queryInBatches(
  targets: string[],
  inUse: BlocklistInUse[],
  outcomesByTarget: Map<string, ListOutcome[]>,
  query: (lists: BlocklistInUse[], target: string) => Promise<ListOutcome[]>,
): Promise<void> {
  let lists = inUse;
  for (let first = 0; first < targets.length; first += TARGET_BATCH_SIZE) {
    const batch = targets.slice(first, first + TARGET_BATCH_SIZE);
    const batchOutcomes = await Promise.all(batch.map((target) => query(lists, target)));
    for (const [index, target] of batch.entries())
      outcomesByTarget.set(target, batchOutcomes[index]!);
    lists = skipUnresponsive(lists, batchOutcomes.flat());
  }
}

/**
 * Skips lists that answered for no target of a batch, because waiting for them again would use up the
 * run's time. A single lost answer skips no list: all batches but the last one are full.
 */
function skipUnresponsive(lists: BlocklistInUse[], outcomes: ListOutcome[]): BlocklistInUse[] {
  return lists.map((inUse) => {
    const listOutcomes = outcomes.filter(({ list }) => list.zone === inUse.list.zone);
    const isUnresponsive = listOutcomes.length > 0 && listOutcomes.every(isSilent);
    return isUnresponsive
      ? { ...inUse, fault: 'The list did not respond for the previous targets.' }
      : inUse;
  });
}

function queryTarget(
  resolver: Resolver,
  lists: BlocklistInUse[],
  target: string,
): Promise<ListOutcome[]> {
  const address = normalizeAddress(target);
  const subject = address === null ? nameSubject(target) : addressSubject(address);
  return queryLists(resolver, listsCovering(target, lists), [subject]);
}

/** The lists that cover a target's kind. */
function listsCovering(target: string, lists: BlocklistInUse[]): BlocklistInUse[] {
  const address = normalizeAddress(target);
  return lists.filter(({ list }) =>
    address === null
      ? list.kind === 'domain'
      : list.kind === 'ip' && (list.ipv6 || !address.includes(':')),
  );
}

/** Targets that no tier 1 or 2 list covers, so that their status is always unknown. */
export function uncoveredTargets(targets: string[], lists: BlocklistInUse[]): string[] {
  return targets.filter(
    (target) => !listsCovering(target, lists).some(({ list }) => list.tier < 3),
  );
}

const SILENT = ['error', 'left_out'];

const isSilent = ({ status }: ListOutcome): boolean => SILENT.includes(status);

/** As in a report, a target isn't clean unless the most important lists have answered. */
function outcomeOf(all: TargetOutcome[]): Outcome {
  const silent = new Map<string, string[]>();
  const queried = new Map<string, number>();
  for (const { target, outcomes } of all)
    for (const outcome of outcomes) {
      const { zone } = outcome.list;
      queried.set(zone, (queried.get(zone) ?? 0) + 1);
      if (isSilent(outcome)) silent.set(zone, [...(silent.get(zone) ?? []), target]);
    }
  const coverage = all.map(({ target, outcomes }) => ({ target, ...coverageOf(outcomes) }));
  // Uncovered targets are named in the monitor's `detail` and don't make the whole run unknown.
  const covered = coverage.filter(({ isCovered }) => isCovered);
  const uncovered = new Set(
    coverage.filter(({ isCovered }) => !isCovered).map(({ target }) => target),
  );
  return {
    findings: all.flatMap(({ target, outcomes }) =>
      outcomes
        .filter(({ status }) => status === 'listed')
        .map((outcome) => findingOf(target, outcome)),
    ),
    unknown: [...silent].flatMap(([list, targets]): UnknownPart[] =>
      targets.length === queried.get(list)
        ? [{ target: null, list }]
        : targets.map((target) => ({ target, list })),
    ),
    targets: coverage.map(({ target, known, answered }) => ({ target, known, answered })),
    allUnknown: covered.length === 0 || covered.some(({ known }) => !known),
    canPersist: (previous: Finding) =>
      'list' in previous &&
      (uncovered.has(previous.target) ||
        silent.get(previous.list)?.includes(previous.target) === true),
  };
}

const coverageOf = (outcomes: ListOutcome[]) => {
  const answers = outcomes.map(({ list, status }) => ({ tier: list.tier, status }));
  const isCovered = answers.some(({ tier }) => tier < 3);
  return { known: isConclusive(answers), answered: hasAnswered(answers), isCovered };
};

/** Common to the outcomes of a run and the evidence of a check. */
type ListAnswers = { tier: number; status: string }[];

/** Whether any tier 1 or 2 list has answered. */
export const hasAnswered = (lists: ListAnswers): boolean =>
  lists.some(({ tier, status }) => tier < 3 && !SILENT.includes(status));

/** Whether enough lists have answered that a target without a listing counts as clean. */
export function isConclusive(lists: ListAnswers): boolean {
  const tier1 = lists.filter(({ tier }) => tier === 1);
  return hasAnswered(lists) && tier1.every(({ status }) => !SILENT.includes(status));
}

function findingOf(target: string, { list, codes, meaning }: ListOutcome): BlocklistFinding {
  return {
    target,
    list: list.zone,
    list_name: list.name,
    tier: list.tier,
    codes: codes.slice(0, 10),
    meaning,
  };
}
