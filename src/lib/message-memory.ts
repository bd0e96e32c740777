/** Memory for messages that are being received: each grows in one buffer, and all together have a limit. */

/** What all messages of a listener use, in bytes. */
export interface MemoryBudget {
  usedBytes: number;
  readonly limit: number;
}

export interface MessageBuffer {
  /** Stores a copy of the bytes. Once a limit is exceeded, it drops everything and stores nothing more. */
  add(chunk: Uint8Array): void;
  /** The message; null if a limit was exceeded. */
  message(): Buffer | null;
  /** Which limit was exceeded first: the size of this message, or the memory of all. */
  exceeded(): 'size' | 'memory' | null;
  /** Releases the memory. Must be called when the message is no longer needed. */
  free(): void;
}

const INITIAL_CAPACITY = 64 * 1024;

/**
 * Uses one growing buffer, not a list of chunks. A client that sends 25 MiB byte by byte would create as
 * many chunks, and joining them would need twice the memory.
 */
export function createMessageBuffer(maxSize: number, memory: MemoryBudget): MessageBuffer {
  let buffer: Buffer | null = Buffer.alloc(0);
  let size = 0;
  let exceeded: 'size' | 'memory' | null = null;

  // `transfer` frees the old memory now. The garbage collector would do so much later.
  const resize = (capacity: number) => {
    const newBuffer = Buffer.allocUnsafeSlow(capacity);
    buffer?.copy(newBuffer, 0, 0, size);
    memory.usedBytes += capacity - (buffer?.length ?? 0);
    release(buffer);
    buffer = newBuffer;
  };
  const free = () => {
    memory.usedBytes -= buffer?.length ?? 0;
    release(buffer);
    buffer = null;
  };

  return {
    add(chunk) {
      if (!buffer) return;
      const requiredSize = size + chunk.length;
      if (requiredSize > buffer.length) {
        const capacity = Math.min(
          maxSize,
          Math.max(INITIAL_CAPACITY, buffer.length * 2, requiredSize),
        );
        if (requiredSize > maxSize) exceeded = 'size';
        else if (memory.usedBytes + capacity - buffer.length > memory.limit) exceeded = 'memory';
        if (exceeded) return free();
        resize(capacity);
      }
      buffer.set(chunk, size);
      size = requiredSize;
    },
    message: () => buffer?.subarray(0, size) ?? null,
    exceeded: () => exceeded,
    free,
  };
}

function release(buffer: Buffer | null): void {
  if (buffer && buffer.length >= INITIAL_CAPACITY) (buffer.buffer as ArrayBuffer).transfer(0);
}
