/** Asks the blocklists that are switched on about each target of a monitor. */

import { askLists, type ListOutcome } from '../analysis/blocklists/ask.ts';
import type { BlocklistInUse } from '../analysis/blocklists/blocklist.ts';
import { addressSubject, nameSubject } from '../analysis/blocklists/subjects.ts';
import { boundedResolver, startDeadline } from '../analysis/context.ts';
import type { App } from '../app.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import type { BlocklistFinding, Finding, Outcome, UnknownPart } from './findings.ts';

/** A run ends within this, whatever the lists do: what has not answered by then is unknown. */
const DEADLINE_MS = 25_000;
/** Targets asked about at once: lists refuse those who ask too fast. */
const AT_ONCE = 5;

interface TargetOutcome {
  target: string;
  outcomes: ListOutcome[];
}

/** `targets` as they are kept: normalised addresses and names. */
export async function askBlocklists(
  { backgroundResolver, blocklists }: Pick<App, 'backgroundResolver' | 'blocklists'>,
  targets: string[],
): Promise<Outcome> {
  const lists = await blocklists.inUse();
  const deadline = startDeadline(DEADLINE_MS);
  try {
    const all = new Map<string, ListOutcome[]>();
    // Each kind by itself, so that the lists of one are asked about several targets side by side.
    // Bounded each by itself: a long list of targets is no hostile message.
    for (const some of Map.groupBy(targets, kindOf).values())
      await askInBatches(some, lists, all, (asked, target) =>
        askAbout(boundedResolver(backgroundResolver, deadline), asked, target),
      );
    return outcomeOf(targets.map((target) => ({ target, outcomes: all.get(target)! })));
  } finally {
    deadline.stop();
  }
}

function kindOf(target: string): 'name' | 'ipv4' | 'ipv6' {
  const address = normalizeAddress(target);
  return address === null ? 'name' : address.includes(':') ? 'ipv6' : 'ipv4';
}

/** `targets`: of one kind; what is said of them is put into `all`. */
async function askInBatches(
  targets: string[],
  inUse: BlocklistInUse[],
  all: Map<string, ListOutcome[]>,
  ask: (lists: BlocklistInUse[], target: string) => Promise<ListOutcome[]>,
): Promise<void> {
  let lists = inUse;
  for (let first = 0; first < targets.length; first += AT_ONCE) {
    const batch = targets.slice(first, first + AT_ONCE);
    const answered = await Promise.all(batch.map((target) => ask(lists, target)));
    for (const [index, target] of batch.entries()) all.set(target, answered[index]!);
    lists = withoutSilent(lists, answered.flat());
  }
}

/**
 * A list that leaves a whole batch without an answer would use up the time of the others. One answer
 * that got lost says nothing of it: before the last batch of a kind, none has less than `AT_ONCE`.
 */
function withoutSilent(lists: BlocklistInUse[], outcomes: ListOutcome[]): BlocklistInUse[] {
  return lists.map((inUse) => {
    const own = outcomes.filter(({ list }) => list.zone === inUse.list.zone);
    const isGone = own.length > 0 && own.every(isSilent);
    return isGone ? { ...inUse, fault: 'It did not answer about the targets before.' } : inUse;
  });
}

function askAbout(
  resolver: Resolver,
  lists: BlocklistInUse[],
  target: string,
): Promise<ListOutcome[]> {
  const address = normalizeAddress(target);
  const subject = address === null ? nameSubject(target) : addressSubject(address);
  return askLists(resolver, listsCovering(target, lists), [subject]);
}

/** Those that are asked about a target, by its kind. */
function listsCovering(target: string, lists: BlocklistInUse[]): BlocklistInUse[] {
  const address = normalizeAddress(target);
  return lists.filter(({ list }) =>
    address === null
      ? list.kind === 'domain'
      : list.kind === 'ip' && (list.ipv6 || !address.includes(':')),
  );
}

/** Targets about which no list is asked on which receivers act: nothing is ever known of them. */
export function uncoveredTargets(targets: string[], lists: BlocklistInUse[]): string[] {
  return targets.filter(
    (target) => !listsCovering(target, lists).some(({ list }) => list.tier < 3),
  );
}

const SILENT = ['error', 'left_out'];

const isSilent = ({ status }: ListOutcome): boolean => SILENT.includes(status);

/** As in a report: without the answers of the lists that matter most nobody is in order. */
function outcomeOf(all: TargetOutcome[]): Outcome {
  const silent = new Map<string, string[]>();
  const asked = new Map<string, number>();
  for (const { target, outcomes } of all)
    for (const outcome of outcomes) {
      const { zone } = outcome.list;
      asked.set(zone, (asked.get(zone) ?? 0) + 1);
      if (isSilent(outcome)) silent.set(zone, [...(silent.get(zone) ?? []), target]);
    }
  const heard = all.map(({ target, outcomes }) => ({ target, ...hearing(outcomes) }));
  // What no list takes is told beside the monitor, and holds up what is known of the others.
  const covered = heard.filter(({ isCovered }) => isCovered);
  const uncovered = new Set(heard.filter((one) => !one.isCovered).map(({ target }) => target));
  return {
    findings: all.flatMap(({ target, outcomes }) =>
      outcomes.filter(({ status }) => status === 'listed').map((one) => findingOf(target, one)),
    ),
    unknown: [...silent].flatMap(([list, targets]): UnknownPart[] =>
      targets.length === asked.get(list)
        ? [{ target: null, list }]
        : targets.map((target) => ({ target, list })),
    ),
    targets: heard.map(({ target, known, answered }) => ({ target, known, answered })),
    allUnknown: covered.length === 0 || covered.some(({ known }) => !known),
    canPersist: (former: Finding) =>
      'list' in former &&
      (uncovered.has(former.target) || silent.get(former.list)?.includes(former.target) === true),
  };
}

const hearing = (outcomes: ListOutcome[]) => {
  const said = outcomes.map(({ list, status }) => ({ tier: list.tier, status }));
  const isCovered = said.some(({ tier }) => tier < 3);
  return { known: isHeard(said), answered: hasAnswered(said), isCovered };
};

/** As lists are told of, in a run as in the evidence of a check. */
type Said = { tier: number; status: string }[];

/** Whether any list that counts has answered. */
export const hasAnswered = (lists: Said): boolean =>
  lists.some(({ tier, status }) => tier < 3 && !SILENT.includes(status));

/** Whether so many lists have answered that nothing lists where none says so. */
export function isHeard(lists: Said): boolean {
  const strictOnes = lists.filter(({ tier }) => tier === 1);
  return hasAnswered(lists) && strictOnes.every(({ status }) => !SILENT.includes(status));
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
