/** Waiting for something to happen in this process, by name: how a request waits for a test to end. */

import type { Clock } from './clock.ts';

export interface Signals {
  /** Resolves true at the next `raise` of the name, false when the time is up or the signal aborts. */
  wait(name: string, ms: number, abort?: AbortSignal): Promise<boolean>;
  raise(name: string): void;
  /** Ends every wait. */
  close(): void;
}

/**
 * Resolves with what `look` gives as soon as that is what is waited for, or with what it gives after
 * `ms` milliseconds or once `abort` is raised. `name` is raised whenever another look is worth while.
 */
export async function waitUntil<T>(
  { signals, clock }: { signals: Signals; clock: Clock },
  { name, ms, abort }: { name: string; ms: number; abort: AbortSignal },
  look: () => Promise<T>,
  isOver: (found: T) => boolean,
): Promise<T> {
  const until = clock.now() + ms;
  for (;;) {
    const stop = new AbortController();
    // Waiting begins before the look, so that nothing is missed in between.
    const raised = signals.wait(name, until - clock.now(), AbortSignal.any([abort, stop.signal]));
    try {
      const found = await look();
      if (isOver(found)) return found;
      if (!(await raised)) return await look();
    } finally {
      stop.abort();
    }
  }
}

/** Signals of one process; nothing is kept for who waits later. */
export function createSignals(): Signals {
  const waiting = new Map<string, Set<(raised: boolean) => void>>();
  let closed = false;
  return {
    wait(name, ms, abort) {
      if (closed || abort?.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (raised: boolean) => {
          clearTimeout(timer);
          abort?.removeEventListener('abort', onAbort);
          const others = waiting.get(name);
          others?.delete(end);
          if (others?.size === 0) waiting.delete(name);
          resolve(raised);
        };
        const onAbort = () => end(false);
        const timer = setTimeout(() => end(false), ms);
        abort?.addEventListener('abort', onAbort);
        waiting.set(name, (waiting.get(name) ?? new Set()).add(end));
      });
    },
    raise(name) {
      for (const end of waiting.get(name) ?? []) end(true);
    },
    close() {
      closed = true;
      for (const ends of waiting.values()) for (const end of ends) end(false);
    },
  };
}
