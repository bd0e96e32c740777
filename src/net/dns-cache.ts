/** Keeps DNS answers for as long as their records allow; the least recently used go first. */

import type { Clock } from '../lib/clock.ts';
import type { DnsAnswer } from './resolver.ts';

/**
 * Caps in seconds. Enough for the many questions of mails that come together, and short enough that
 * a record that its owner has just corrected is seen by the next analysis.
 */
const MAX_POSITIVE_TTL = 60;
const MAX_NEGATIVE_TTL = 30;

export interface DnsCache {
  /** The answer with what is left of its `ttl`, or null. */
  get(key: string): DnsAnswer | null;
  /** Keeps the answer for `seconds`, capped; errors are never kept. */
  set(key: string, answer: DnsAnswer, seconds: number): void;
  readonly size: number;
}

/** An empty cache of at most `maxEntries` answers. */
export function createDnsCache(clock: Clock, maxEntries: number): DnsCache {
  const entries = new Map<string, { answer: DnsAnswer; kept: number; until: number }>();
  return {
    get size() {
      return entries.size;
    },
    get(key) {
      const entry = entries.get(key);
      if (!entry) return null;
      // A Map holds its keys in the order of their insertion: the first is the least recently used.
      entries.delete(key);
      const left = Math.floor((entry.until - clock.now()) / 1000);
      // More than it began with: the clock was set back meanwhile.
      if (left <= 0 || left > entry.kept) return null;
      entries.set(key, entry);
      return entry.answer.status === 'found' ? { ...entry.answer, ttl: left } : entry.answer;
    },
    set(key, answer, seconds) {
      const cap = answer.status === 'found' ? MAX_POSITIVE_TTL : MAX_NEGATIVE_TTL;
      const kept = Math.min(seconds, cap);
      if (answer.status === 'error' || !(kept > 0)) return;
      entries.delete(key);
      entries.set(key, { answer, kept, until: clock.now() + kept * 1000 });
      const oldest = entries.keys().next();
      if (entries.size > maxEntries && !oldest.done) entries.delete(oldest.value);
    },
  };
}
