/** Chance that can be had again: numbers that follow from a seed. */

export interface Random {
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  /** Whether something of this probability happens. */
  chance(probability: number): boolean;
}

/** mulberry32. */
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
