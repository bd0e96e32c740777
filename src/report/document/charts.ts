/** A bar chart as a block: bars for graphical media, values in words for text. */

import { truncate } from '../../lib/format/plain-text.ts';
import type { ChartBlock } from '../blocks.ts';
import { type Chart, valueInWords } from '../charts.ts';

const MAX_NAME_LENGTH = 200;

/**
 * `id` must be unique in the document. `title` is null under a heading with the same text. `caption` adds
 * what the bars do not show.
 */
export function chartBlock(
  chart: Chart,
  id: string,
  { title = null, caption = null }: { title?: string | null; caption?: string | null } = {},
): ChartBlock {
  const values = chart.buckets.map(
    (bucket) => `${truncate(bucket.name, MAX_NAME_LENGTH)}: ${valueInWords(chart, bucket)}`,
  );
  return { kind: 'chart', id, title, chart, caption, values };
}
