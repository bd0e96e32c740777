/** Gathers the bytes of one message in memory, never more than allowed. */

const FIRST = 64 * 1024;

/** What all sessions of a listener hold together, in octets. */
export interface Memory {
  held: number;
  readonly limit: number;
}

export interface Collector {
  /** Keeps a copy of the bytes, or forgets them all once a limit is passed. */
  add(chunk: Buffer): void;
  /** The message; null where it was too large or there was no memory for it. */
  message(): Buffer | null;
  /** Must be called when the message is no longer needed. */
  free(): void;
}

/**
 * One growing buffer, not a list of chunks: a client that sends byte by byte would make of 25 MiB
 * as many objects, and joining a list would need the space twice.
 */
export function createCollector(maxSize: number, memory: Memory): Collector {
  let buffer: Buffer | null = Buffer.alloc(0);
  let size = 0;

  const resize = (capacity: number) => {
    const grown = Buffer.allocUnsafeSlow(capacity);
    buffer?.copy(grown, 0, 0, size);
    memory.held += capacity - (buffer?.length ?? 0);
    buffer = grown;
  };
  const free = () => {
    memory.held -= buffer?.length ?? 0;
    buffer = null;
  };

  return {
    add(chunk) {
      if (!buffer) return;
      const needed = size + chunk.length;
      if (needed > buffer.length) {
        const capacity = Math.min(maxSize, Math.max(FIRST, buffer.length * 2, needed));
        if (needed > maxSize || memory.held + capacity - buffer.length > memory.limit)
          return free();
        resize(capacity);
      }
      chunk.copy(buffer, size);
      size = needed;
    },
    message: () => buffer?.subarray(0, size) ?? null,
    free,
  };
}
