/** Reproducible random numbers from a seed. */

export interface Random {
  /** An integer from 0 up to, but not including, `end`. */
  below(end: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
}

/** The mulberry32 generator. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (end) => Math.floor(next() * end),
    chance: (probability) => next() < probability,
  };
}
