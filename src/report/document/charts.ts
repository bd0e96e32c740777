/** A chart of bars as a block: the bars for those who draw them, the values in words for those who do not. */

import type { ChartBlock } from '../blocks.ts';
import { type Chart, valueInWords } from '../charts.ts';
import { cut } from '../plain-text.ts';

const MAX_NAME = 200;

/**
 * `id` is unique in its document; `title` stands above it unless a heading says the same; `caption` says in
 * words what the bars do not.
 */
export function chartBlock(
  chart: Chart,
  id: string,
  { title = null, caption = null }: { title?: string | null; caption?: string | null } = {},
): ChartBlock {
  const values = chart.buckets.map(
    (bucket) => `${cut(bucket.name, MAX_NAME)}: ${valueInWords(chart, bucket)}`,
  );
  return { kind: 'chart', id, title, chart, caption, values };
}
