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

  async function test(watchedList: WatchedList): Promise<void> {
    const { list } = watchedList.chosen;
    const previousFault = watchedList.fault;
    watchedList.testedAt = clock.now();
    const fault = await findFault(resolver, watchedList.chosen);
    if (fault === DNS_DISABLED) return;
    watchedList.fault = fault;
    // `list.zone` never contains a key, so none gets into the log.
    const fields = { zone: list.zone, name: list.name };
    if (fault !== null && fault !== previousFault)
      log.warn('blocklist failed its test', { ...fields, fault });
    if (fault === null && previousFault !== null && previousFault !== NOT_TESTED)
      log.info('blocklist works again', fields);
  }

  const runRound = async () => {
    const now = clock.now();
    await Promise.all(watched.filter((entry) => isDue(entry, now)).map(test));
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
