/** Shares DNS answers between analyses that run at the same time in one thread. */

import { type Clock, monotonicClock } from '../../lib/clock.ts';
import { copyAnswer, type DnsAnswer, type Resolver } from './resolver.ts';

interface MomentaryCache {
  resolver: Resolver;
  /** Call when no analysis runs: the next one sees a record that its owner has just corrected. */
  clear(): void;
}

/** So much older than in the shared cache may an answer be. */
const MAX_AGE_MS = 1000;
const MAX_ENTRIES = 1000;

/**
 * Under load, most messages ask for the same records, and each question to the main thread costs both threads as much as
 * a small check. Errors are not kept.
 */
export function momentaryCache(resolver: Resolver, clock: Clock = monotonicClock): MomentaryCache {
  const entries = new Map<string, { answer: Promise<DnsAnswer>; askedAt: number }>();
  return {
    async resolver(name, type) {
      const key = `${type} ${name.toLowerCase()}`;
      const known = entries.get(key);
      if (known && clock.now() - known.askedAt < MAX_AGE_MS) return copyAnswer(await known.answer);
      if (entries.size >= MAX_ENTRIES) entries.clear();
      const entry = { answer: resolver(name, type), askedAt: clock.now() };
      entries.set(key, entry);
      const answer = await entry.answer;
      if (answer.status === 'error' && entries.get(key) === entry) entries.delete(key);
      return copyAnswer(answer);
    },
    clear: () => entries.clear(),
  };
}
