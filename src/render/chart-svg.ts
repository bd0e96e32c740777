/** A chart as SVG, for a page: it takes the colours of the page's theme, and says its values to who cannot see it. */

import { barsOf, type Chart, chartInWords, GRID, labelsOf, type Rectangle } from './chart.ts';
import { shown } from './mail-text.ts';

const WIDTH = 640;
const HEIGHT = 160;
/** Below the bars, for the labels. */
const FOOT = 24;
/** On the left, for the scale. */
const SIDE = 40;

/** `id` is unique in its page. Beside it stands a table or a sentence with the values. */
export function chartSvg(chart: Chart, id: string): string {
  const grid = GRID.map((share) => {
    const y = round(8 + share * HEIGHT);
    const value = shown(chart.format(chart.top * (1 - share)));
    return `<path d="M${SIDE} ${y}H${SIDE + WIDTH}" stroke="var(--line,#dddee7)"/><text x="${SIDE - 8}" y="${y + 4}" text-anchor="end">${value}</text>`;
  });
  const bars = barsOf(chart, { width: WIDTH, height: HEIGHT }).map((bar, index) =>
    bar ? barSvg(bar, chart, index) : '',
  );
  return `<svg role="img" aria-labelledby="${id}-title ${id}-desc" viewBox="0 0 ${SIDE + WIDTH} ${8 + HEIGHT + FOOT}" width="100%" style="display:block;max-width:${SIDE + WIDTH}px" font-family="inherit" font-size="12" fill="var(--muted,#585a6b)"><title id="${id}-title">${shown(chart.title)}</title><desc id="${id}-desc">${shown(chartInWords(chart))}</desc>${grid.join('')}${bars.join('')}${labelsSvg(chart)}</svg>`;
}

function barSvg({ x, y, width, height }: Rectangle, { buckets, format }: Chart, index: number) {
  const { name, value } = buckets[index]!;
  const box = `x="${round(SIDE + x)}" y="${round(8 + y)}" width="${round(width)}" height="${round(height)}"`;
  return `<rect ${box} rx="2" fill="var(--accent,#4338ca)"><title>${shown(`${name}: ${format(value!)}`)}</title></rect>`;
}

function labelsSvg(chart: Chart): string {
  const room = WIDTH / chart.buckets.length;
  let at = 0;
  return labelsOf(chart)
    .map(({ label, span }) => {
      const x = round(SIDE + room * (at + 0.5));
      at += span;
      return `<text x="${x}" y="${8 + HEIGHT + 18}" text-anchor="middle">${shown(label)}</text>`;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 100) / 100;
