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
/** Characters. Larger answers are rare, and many of them would need much memory. */
const MAX_SIZE = 4096;

function isKept(answer: DnsAnswer): boolean {
  if (answer.status !== 'found') return answer.status !== 'error';
  return answer.records.reduce((size, record) => size + record.length, 0) <= MAX_SIZE;
}

/**
 * Under load, most messages need the same records, and a lookup through the main thread costs as much CPU time as a small
 * check. Errors and large answers are not cached.
 */
export function createBriefCache(resolver: Resolver, clock: Clock = monotonicClock): BriefCache {
  const entries = new Map<string, { answer: Promise<DnsAnswer>; queriedAt: number }>();
  return {
    async resolver(name, type) {
      const key = `${type} ${name.toLowerCase()}`;
      const known = entries.get(key);
      if (known && clock.now() - known.queriedAt < MAX_AGE_MS)
        return copyAnswer(await known.answer);
      entries.delete(key);
      // The first entry is the oldest.
      for (const [oldest, { queriedAt }] of entries) {
        if (entries.size < MAX_ENTRIES && clock.now() - queriedAt < MAX_AGE_MS) break;
        entries.delete(oldest);
      }
      const entry = { answer: resolver(name, type), queriedAt: clock.now() };
      entries.set(key, entry);
      const answer = await entry.answer;
      if (!isKept(answer) && entries.get(key) === entry) entries.delete(key);
      return copyAnswer(answer);
    },
    clear: () => entries.clear(),
  };
}
