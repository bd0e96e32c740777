/** Lets so many pieces of work run at once; the others wait their turn, first come first served. */

export interface Gate {
  /** True once there is a place, which `leave` gives back; false where the signal came first. */
  enter(signal: AbortSignal): Promise<boolean>;
  leave(): void;
}

/** At most `limit` may be inside at once; others wait their turn until their signal aborts. */
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
