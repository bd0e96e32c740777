/** The last forms of shared reports, kept for a moment: whoever reads one again costs nothing. */

import type { App } from '../app.ts';
import type { Rendered } from '../render/thread/job.ts';

/** What readers of one mail open within. */
const KEEP_MS = 60_000;
const MOST_FORMS = 40;
const MOST_BYTES = 64 * 1024 * 1024;

interface Kept {
  rendered: Rendered;
  until: number;
}

export interface KeptForms {
  get(key: string): Rendered | null;
  /** What is too large for its place is not kept; for others the oldest make room. */
  keep(key: string, rendered: Rendered): void;
}

export function createKeptForms(clock: App['clock'], mostBytes = MOST_BYTES): KeptForms {
  const kept = new Map<string, Kept>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)!.rendered.bytes.byteLength;
    kept.delete(key);
  }

  /** From the oldest on: each is kept as long as the others. */
  function dropEnded(): void {
    for (const [key, { until }] of kept)
      if (until <= clock.now()) drop(key);
      else return;
  }

  return {
    get(key) {
      dropEnded();
      return kept.get(key)?.rendered ?? null;
    },
    keep(key, rendered) {
      dropEnded();
      const size = rendered.bytes.byteLength;
      if (size > mostBytes) return;
      if (kept.has(key)) drop(key);
      for (const oldest of kept.keys()) {
        if (kept.size < MOST_FORMS && bytes + size <= mostBytes) break;
        drop(oldest);
      }
      kept.set(key, { rendered, until: clock.now() + KEEP_MS });
      bytes += size;
      // Nobody may come again to have it dropped.
      setTimeout(dropEnded, KEEP_MS + 1000).unref();
    },
  };
}
