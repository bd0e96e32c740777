/** Whether there is room on the disk for another message, asked at most once a second. */

const KEEP_MS = 1000;

/** Rejects where `freeBytes` does. */
export function createSpaceCheck(
  freeBytes: () => Promise<number>,
  least: number,
): () => Promise<boolean> {
  let answer: Promise<boolean> | null = null;
  const forget = () => {
    answer = null;
  };
  const ask = async () => {
    try {
      return (await freeBytes()) >= least;
    } finally {
      setTimeout(forget, KEEP_MS).unref();
    }
  };
  return () => {
    answer ??= ask();
    return answer;
  };
}
