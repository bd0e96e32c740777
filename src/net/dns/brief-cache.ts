/** Shares DNS answers between analyses that run at the same time in one thread. */

import { type Clock, monotonicClock } from '../../lib/clock.ts';
import { copyAnswer, type DnsAnswer, type Resolver } from './resolver.ts';

interface BriefCache {
  resolver: Resolver;
  /** Call when no analysis runs: the next one then sees a record that its owner has just corrected. */
  clear(): void;
}

/** How long a thread reuses an answer, in addition to its TTL. */
const MAX_AGE_MS = 1000;
const MAX_ENTRIES = 1000;

/**
 * Under load, most messages need the same records, and a lookup through the main thread costs as much CPU time as a small
 * check. Errors are not cached.
 */
export function createBriefCache(resolver: Resolver, clock: Clock = monotonicClock): BriefCache {
  const entries = new Map<string, { answer: Promise<DnsAnswer>; queriedAt: number }>();
  return {
    async resolver(name, type) {
      const key = `${type} ${name.toLowerCase()}`;
      const known = entries.get(key);
      if (known && clock.now() - known.queriedAt < MAX_AGE_MS)
        return copyAnswer(await known.answer);
      if (entries.size >= MAX_ENTRIES) entries.clear();
      const entry = { answer: resolver(name, type), queriedAt: clock.now() };
      entries.set(key, entry);
      const answer = await entry.answer;
      if (answer.status === 'error' && entries.get(key) === entry) entries.delete(key);
      return copyAnswer(answer);
    },
    clear: () => entries.clear(),
  };
}
