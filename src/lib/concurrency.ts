/** Concurrency: semaphores, deadlines, batches, and signals to wait for by name. */

export interface Semaphore {
  /** Resolves true once there is capacity, which `release` returns; false if the signal aborts first. */
  acquire(signal: AbortSignal): Promise<boolean>;
  release(): void;
}

/** A semaphore for `max` holders. Others wait in order of arrival until their signal aborts. */
export function createSemaphore(max: number): Semaphore {
  let held = 0;
  const waiting = new Set<() => void>();
  return {
    async acquire(signal) {
      if (signal.aborted) return false;
      if (held < max) {
        held++;
        return true;
      }
      return new Promise((resolve) => {
        const grant = () => {
          signal.removeEventListener('abort', cancel);
          resolve(true);
        };
        const cancel = () => {
          waiting.delete(grant);
          resolve(false);
        };
        waiting.add(grant);
        signal.addEventListener('abort', cancel, { once: true });
      });
    },
    release() {
      const next = waiting.values().next();
      if (next.done) {
        held--;
        return;
      }
      // Handed over directly, so that a newcomer cannot overtake the queue.
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

/** A signal that aborts after `ms` milliseconds, on `expire`, or with its parent; `stop` clears the timer. */
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
 * Returns a function that collects items and posts them together, in order, once per turn of the event
 * loop. A message between threads has a high fixed cost, whatever its size.
 */
export function batchPerTurn<T>(post: (items: T[]) => void): (item: T) => void {
  let items: T[] = [];
  const flush = () => {
    const batch = items;
    items = [];
    post(batch);
  };
  return (item) => {
    if (items.length === 0) setImmediate(flush);
    items.push(item);
  };
}

/** Named signals, for example to let a request wait until a test completes. */
export interface Signals {
  /** How often to look without a signal, because those of other nodes may be lost. Infinite if there are none. */
  readonly pollMs: number;

  /** Resolves true at the next `raise` of the name; false after `ms` milliseconds or on abort. */
  wait(name: string, ms: number, abort?: AbortSignal): Promise<boolean>;
  raise(name: string): void;
  /** Raises a signal of another node, which the others already have; all names if it is null. */
  raiseHere(name: string | null): void;
  /** Ends every wait. */
  close(): void;
  isClosed(): boolean;
}

/**
 * Calls `read` until `isDone` accepts its result, again at each signal `name`. After `ms` milliseconds
 * or on abort, it reads once more and resolves with whatever it gets.
 */
export async function waitUntil<T>(
  { signals }: { signals: Signals },
  { name, ms, abort }: { name: string | string[]; ms: number; abort: AbortSignal },
  read: () => Promise<T>,
  isDone: (result: T) => boolean,
): Promise<T> {
  const deadline = startDeadline(ms, abort);
  if (abort.aborted) deadline.expire();
  const isOver = () => deadline.signal.aborted || signals.isClosed();
  try {
    for (;;) {
      const stop = new AbortController();
      const end = AbortSignal.any([deadline.signal, stop.signal]);
      // Waiting starts before the read, so that no signal is missed in between.
      const waitMs = Math.min(ms, signals.pollMs);
      const raised = Promise.race([name].flat().map((each) => signals.wait(each, waitMs, end)));
      try {
        const result = await read();
        if (isDone(result)) return result;
        await raised;
        if (isOver()) return await read();
      } finally {
        stop.abort();
      }
    }
  } finally {
    deadline.stop();
  }
}

interface SignalOptions {
  /** Passes a signal on to other nodes. */
  onRaise?(name: string): void;
  pollMs?: number;
}

/** Only current waiters see a signal. */
export function createSignals({ onRaise, pollMs }: SignalOptions = {}): Signals {
  const waiting = new Map<string, Set<(raised: boolean) => void>>();
  let closed = false;
  const raiseHere = (name: string | null) => {
    for (const each of name === null ? [...waiting.keys()] : [name])
      for (const end of waiting.get(each) ?? []) end(true);
  };
  return {
    pollMs: pollMs ?? Number.POSITIVE_INFINITY,
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
      raiseHere(name);
      onRaise?.(name);
    },
    raiseHere,
    close() {
      closed = true;
      for (const ends of waiting.values()) for (const end of ends) end(false);
    },
    isClosed: () => closed,
  };
}
