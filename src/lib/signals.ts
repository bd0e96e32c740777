/** Waiting for something to happen in this process, by name: how a request waits for a test to end. */

export interface Signals {
  /** Resolves true at the next `raise` of the name, false when the time is up or the signal aborts. */
  wait(name: string, ms: number, abort?: AbortSignal): Promise<boolean>;
  raise(name: string): void;
  /** Ends every wait. */
  close(): void;
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
