/** Runs work in batches: items that arrive while a batch runs form the next one. */

import { setImmediate as nextTurn } from 'node:timers/promises';

interface Batches<Item, Result> {
  /** Returns the results in the order of the items. Must change nothing if it rejects. */
  run(items: Item[]): Promise<Result[]>;
  /** The weight of an item. An item above the limit runs alone. */
  weigh(item: Item): number;
  maxWeight: number;
  /** Whether the error concerns all items, so that running each alone would fail too. */
  isCommon(error: unknown): boolean;
}

interface Waiting<Item, Result> {
  item: Item;
  weight: number;
  result: PromiseWithResolvers<Result>;
}

/** Returns a function that adds an item. If a batch fails, each of its items runs alone, so that none fails because of another. */
export function createBatches<Item, Result>({
  run,
  weigh,
  maxWeight,
  isCommon,
}: Batches<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let isRunning = false;

  function takeNext(): Waiting<Item, Result>[] {
    let weight = 0;
    const end = waiting.findIndex((one, index) => {
      weight += one.weight;
      return index > 0 && weight > maxWeight;
    });
    return waiting.splice(0, end < 0 ? waiting.length : end);
  }

  async function runTogether(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { result }] of batch.entries()) result.resolve(results[index]!);
    } catch (error) {
      if (batch.length === 1 || isCommon(error))
        for (const { result } of batch) result.reject(error);
      else for (const one of batch) await runTogether([one]);
    }
  }

  async function runAll(): Promise<void> {
    isRunning = true;
    // Items that are added in the same turn run together.
    await nextTurn();
    while (waiting.length > 0) await runTogether(takeNext());
    isRunning = false;
  }

  return (item) => {
    const result = Promise.withResolvers<Result>();
    waiting.push({ item, weight: weigh(item), result });
    if (!isRunning) void runAll();
    return result.promise;
  };
}
