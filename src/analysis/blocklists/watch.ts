/** Keeps knowing which blocklists work: each is tested at start, daily, and every 10 minutes while it fails. */

import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import { askList, TURNED_OFF } from './ask.ts';
import type { BlocklistInUse } from './blocklist.ts';
import type { ChosenBlocklist } from './choose.ts';

export interface BlocklistWatch {
  /** The lists with what their last test showed; waits for the first round of tests. */
  inUse(): Promise<BlocklistInUse[]>;
  /** Tests those that are due; one round at a time. Never rejects. */
  retest(): Promise<void>;
  /** What is known now, without waiting; `fault` is NOT_TESTED before the first round. */
  known(): BlocklistInUse[];
}

interface WatchOptions {
  lists: ChosenBlocklist[];
  resolver: Resolver;
  clock: Clock;
  log: Log;
}

/** The fault of a list before its first test has ended. */
export const NOT_TESTED = 'It has not been tested yet.';

const WORKING_MS = 24 * 60 * 60_000;
const FAILING_MS = 10 * 60_000;

interface Watched {
  chosen: ChosenBlocklist;
  fault: string | null;
  /** When its last test began; null before the first. */
  testedAt: number | null;
}

export function createBlocklistWatch({
  lists,
  resolver,
  clock,
  log,
}: WatchOptions): BlocklistWatch {
  const watched = lists.map((chosen): Watched => ({ chosen, fault: NOT_TESTED, testedAt: null }));
  let first: Promise<void> | null = null;
  let round: Promise<void> | null = null;

  async function test(one: Watched): Promise<void> {
    const { list } = one.chosen;
    const before = one.fault;
    one.testedAt = clock.now();
    const fault = await faultOf(resolver, one.chosen);
    if (fault === TURNED_OFF) return;
    one.fault = fault;
    // The zone as it is named in the configuration: no key comes into the log.
    const about = { zone: list.zone, name: list.name };
    if (one.fault !== null && one.fault !== before)
      log.warn('blocklist left out', { ...about, fault: one.fault });
    if (one.fault === null && before !== null && before !== NOT_TESTED)
      log.info('blocklist is back', about);
  }

  const runRound = async () => {
    const now = clock.now();
    await Promise.all(watched.filter((one) => isDue(one, now)).map(test));
    round = null;
  };
  const retest = () => {
    round ??= runRound();
    first ??= round;
    return round;
  };
  const known = () => watched.map(({ chosen, fault }) => ({ ...chosen, fault }));
  return {
    known,
    retest,
    async inUse() {
      await (first ?? retest());
      return known();
    },
  };
}

function isDue({ testedAt, fault }: Watched, now: number): boolean {
  if (testedAt === null) return true;
  return now - testedAt >= (fault === null ? WORKING_MS : FAILING_MS);
}

// Whether a list answers rightly at the points that its operator publishes for that.

/**
 * null for a list that works; else why it must be left out, a sentence. A zone that is dead does not
 * list its test point, or lists the world.
 */
export async function faultOf(resolver: Resolver, chosen: ChosenBlocklist): Promise<string | null> {
  const { test } = chosen.list;
  const [listed, unlisted] = await Promise.all([
    askList(resolver, chosen, test.listed),
    askList(resolver, chosen, test.unlisted),
  ]);
  if (listed.status === 'error') return listed.reason;
  if (unlisted.status === 'error') return unlisted.reason;
  if (listed.codes.length === 0) return 'It does not list its test point.';
  if (unlisted.codes.length > 0)
    return `It lists what it must not list (${unlisted.codes[0]}): it may list the world.`;
  return null;
}
