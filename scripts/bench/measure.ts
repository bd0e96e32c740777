/** Rates and medians. Compared candidates take turns, so that noise on the machine affects them equally. */

export const ROUNDS = 5;

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The rate per second of `count` operations that one call of `work` performs. */
export async function rate(count: number, work: () => Promise<unknown> | unknown): Promise<number> {
  const started = performance.now();
  await work();
  return count / ((performance.now() - started) / 1000);
}

/** Runs each candidate once per round, after a warm-up round; returns the rates of each. */
export async function measureInTurns<Name extends string>(
  candidates: Record<Name, () => Promise<number>>,
  rounds = ROUNDS,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(candidates) as Name[];
  const rates = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
    Name,
    number[]
  >;
  for (let round = 0; round <= rounds; round++)
    for (const name of names) {
      const value = await candidates[name]();
      if (round > 0) rates[name].push(value);
    }
  return rates;
}

/** The median over all rounds of the rate of `a` divided by that of `b`. */
export function ratio(a: number[], b: number[]): number {
  return round2(median(a.map((value, i) => value / b[i]!)));
}

export const round2 = (value: number): number => Math.round(value * 100) / 100;

/** `part`: from 0 to 1. */
export function percentile(values: number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}
