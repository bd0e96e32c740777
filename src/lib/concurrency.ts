/** Work that runs side by side: limits on how much at once, deadlines, batches, and waiting for signals by name. */

import type { Clock } from './clock.ts';

export interface Gate {
  /** True once there is a place, which `leave` gives back; false where the signal came first. */
  enter(signal: AbortSignal): Promise<boolean>;
  leave(): void;
}

/** At most `max` may be inside at once; others wait their turn, first come first served, until their signal aborts. */
export function limitInFlight(max: number): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();
  return {
    async enter(signal) {
      if (signal.aborted) return false;
      if (inside < max) {
        inside++;
        return true;
      }
      return new Promise((resolve) => {
        const give = () => {
          signal.removeEventListener('abort', giveUp);
          resolve(true);
        };
        const giveUp = () => {
          waiting.delete(give);
          resolve(false);
        };
        waiting.add(give);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
    leave() {
      const next = waiting.values().next();
      if (next.done) {
        inside--;
        return;
      }
      // The place passes on without becoming free in between.
      waiting.delete(next.value);
      next.value();
    },
  };
}

export interface Deadline {
  signal: AbortSignal;
  expire(): void;
  stop(): void;
}

/** A signal that comes after so many milliseconds, or with its parent; `stop` frees the timer. */
export function startDeadline(ms: number, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const expire = () => controller.abort();
  const timer = setTimeout(expire, ms);
  parent?.addEventListener('abort', expire);
  return {
    signal: controller.signal,
    expire,
    stop() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', expire);
    },
  };
}

/**
 * A function that collects items and hands them over together at the end of the turn of the event
 * loop, in order: a message between threads costs far more than its size.
 */
export function batched<T>(post: (items: T[]) => void): (item: T) => void {
  let items: T[] = [];
  const flush = () => {
    const now = items;
    items = [];
    post(now);
  };
  return (item) => {
    if (items.length === 0) setImmediate(flush);
    items.push(item);
  };
}

/** Waiting for something to happen in this process, by name: how a request waits for a test to end. */
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
