/** Checks that the disk has space for another message, at most once per second. */

const CACHE_MS = 1000;

/** Returns a function that resolves with whether `minBytes` are free; it rejects if `freeBytes` does. */
export function createSpaceCheck(
  freeBytes: () => Promise<number>,
  minBytes: number,
): () => Promise<boolean> {
  let cached: Promise<boolean> | null = null;
  const clear = () => {
    cached = null;
  };
  const check = async () => {
    try {
      return (await freeBytes()) >= minBytes;
    } finally {
      setTimeout(clear, CACHE_MS).unref();
    }
  };
  return () => {
    cached ??= check();
    return cached;
  };
}
