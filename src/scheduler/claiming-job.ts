/** The shape of a job that claims what is due, a few at once, and works on each by itself. */

import type { Job } from './scheduler.ts';

interface Claiming<Item extends { id: string }> {
  name: string;
  /** So many are under way at most. */
  atOnce: number;
  /** Takes up to so many that are due. */
  claim(limit: number): Promise<Item[]>;
  work(item: Item): Promise<void>;
  /** Told of what `work` threw: the lease runs out, and the item is taken up again. */
  failed(item: Item, error: unknown): void;
  /** Has this job run again soon. */
  wake(): void;
}

/** Looks every second and when woken; again as soon as there is room, where there was more than room. */
export function claimingJob<Item extends { id: string }>(spec: Claiming<Item>): Job {
  const underWay = new Map<string, Promise<void>>();
  let more = false;
  const begin = (item: Item) => {
    // Taken again while it is in hand here, as when the clock was set: its lease runs out.
    if (underWay.has(item.id)) return;
    const work = spec
      .work(item)
      .catch((error) => spec.failed(item, error))
      .then(() => {
        underWay.delete(item.id);
        if (more) spec.wake();
      });
    underWay.set(item.id, work);
  };
  return {
    name: spec.name,
    tick: '* * * * * *',
    async run() {
      const room = spec.atOnce - underWay.size;
      if (room <= 0) return;
      const claimed = await spec.claim(room);
      more = claimed.length === room;
      for (const item of claimed) begin(item);
    },
    async idle() {
      await Promise.all(underWay.values());
    },
  };
}
