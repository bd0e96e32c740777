/** A figure: what is counted or measured about mail. Each is declared once, and all that shows it follows from that. */

export interface Figure {
  /** In the API. */
  name: string;
  unit: 'share' | 'count';
  /** Above a column. */
  title: string;
  /** In the API reference, without a period. */
  description: string;
  example: number;
}

/** From which value on a figure is a warning or fails; null: never. */
export interface Limits {
  better: 'lower' | 'higher';
  warn: number;
  fail: number | null;
}

/** Where lower is better, a figure must stay below its limits; where higher is better, it may be at them. */
export function stateOf(value: number, { better, warn, fail }: Limits): 'pass' | 'warn' | 'fail' {
  const isBeyond = (limit: number) => (better === 'lower' ? value >= limit : value < limit);
  if (fail !== null && isBeyond(fail)) return 'fail';
  return isBeyond(warn) ? 'warn' : 'pass';
}

/** An object with a value for each figure, under its name or its column. */
export const valuesOf = <Key extends string, Each extends Record<Key, string>, Value>(
  figures: readonly Each[],
  key: Key,
  value: (figure: Each) => Value,
): Record<Each[Key], Value> =>
  Object.fromEntries(figures.map((figure) => [figure[key], value(figure)])) as Record<
    Each[Key],
    Value
  >;
