/** Tests each blocklist at start, then daily, or every 10 minutes while it fails. */

import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { BlocklistInUse } from './blocklist.ts';
import type { ChosenBlocklist } from './choose.ts';
import { DNS_DISABLED, queryList } from './query.ts';

export interface BlocklistWatch {
  /** The lists with the result of their last test. Waits for the first round of tests. */
  inUse(): Promise<BlocklistInUse[]>;
  /** Tests the lists that are due; one round at a time. Never rejects. */
  retest(): Promise<void>;
  /** Like `inUse`, but without waiting: `fault` is NOT_TESTED before the first round. */
  snapshot(): BlocklistInUse[];
}

interface WatchOptions {
  lists: ChosenBlocklist[];
  resolver: Resolver;
  clock: Clock;
  log: Log;
}

/** The fault of a list until its first test ends. */
export const NOT_TESTED = 'The list has not been tested yet.';

const WORKING_INTERVAL_MS = 24 * 60 * 60_000;
const FAILING_INTERVAL_MS = 10 * 60_000;

interface WatchedList {
  chosen: ChosenBlocklist;
  fault: string | null;
  /** When the last test began; null before the first. */
  testedAt: number | null;
}

interface Change {
  fault: string | null;
  fields: { zone: string; name: string };
}

export function createBlocklistWatch({
  lists,
  resolver,
  clock,
  log,
}: WatchOptions): BlocklistWatch {
  const watched = lists.map(
    (chosen): WatchedList => ({ chosen, fault: NOT_TESTED, testedAt: null }),
  );
  let firstRound: Promise<void> | null = null;
  let currentRound: Promise<void> | null = null;

  /** Returns what to log; null if nothing changed. */
  async function test(watchedList: WatchedList): Promise<Change | null> {
    const { list } = watchedList.chosen;
    const previousFault = watchedList.fault;
    watchedList.testedAt = clock.now();
    const fault = await findFault(resolver, watchedList.chosen);
    if (fault === DNS_DISABLED) return null;
    watchedList.fault = fault;
    // `list.zone` never contains a key, so none gets into the log.
    const fields = { zone: list.zone, name: list.name };
    const isFirst = previousFault === NOT_TESTED;
    return fault === previousFault || (fault === null && isFirst) ? null : { fault, fields };
  }

  const runRound = async () => {
    const now = clock.now();
    const tests = watched.filter((entry) => isDue(entry, now)).map(test);
    const changes = (await Promise.all(tests)).filter((change) => change !== null);
    if (
      changes.length > 1 &&
      changes.length === watched.length &&
      changes.every(({ fault }) => fault)
    )
      log.warn(
        'no blocklist can be asked: check the DNS servers of this machine, or set DELIVERABILITY_DNS_SERVERS',
        { lists: watched.length, fault: changes[0]!.fault },
      );
    else
      for (const { fault, fields } of changes)
        if (fault === null) log.info('blocklist works again', fields);
        else log.warn('blocklist failed its test', { ...fields, fault });
    currentRound = null;
  };
  const retest = () => {
    currentRound ??= runRound();
    firstRound ??= currentRound;
    return currentRound;
  };
  const known = () => watched.map(({ chosen, fault }) => ({ ...chosen, fault }));
  return {
    snapshot: known,
    retest,
    async inUse() {
      await (firstRound ?? retest());
      return known();
    },
  };
}

function isDue({ testedAt, fault }: WatchedList, now: number): boolean {
  if (testedAt === null) return true;
  return now - testedAt >= (fault === null ? WORKING_INTERVAL_MS : FAILING_INTERVAL_MS);
}

/**
 * Queries the test points that the operator of a list publishes. Returns null if the list works, or
 * a sentence that says why not. A list that has shut down does not list its test point, or lists
 * everything.
 */
export async function findFault(
  resolver: Resolver,
  chosen: ChosenBlocklist,
): Promise<string | null> {
  const { test } = chosen.list;
  const [listed, unlisted] = await Promise.all([
    queryList(resolver, chosen, test.listed),
    queryList(resolver, chosen, test.unlisted),
  ]);
  if (listed.status === 'error') return listed.reason;
  if (unlisted.status === 'error') return unlisted.reason;
  if (listed.codes.length === 0) return 'The list does not contain its own test entry.';
  if (unlisted.codes.length > 0)
    return `The list contains an entry that must never be listed (${unlisted.codes[0]}), so it may list everything.`;
  return null;
}
