/** A chart as SVG, for a page: it takes the colours of the page's theme, and says its values to who cannot see it. */

import {
  barsOf,
  type Chart,
  chartInWords,
  GRID,
  labelsOf,
  type Rectangle,
  showsEach,
  valueText,
} from './chart.ts';
import { shown } from './mail-text.ts';

/** In pixels, as everything from top to bottom; from left to right it is as wide as its place, in per cent. */
const HEIGHT = 140;
/** Above, for the value of a bar that fills the height. */
const HEAD = 20;
/** Below the bars, for the labels. */
const FOOT = 24;
/** On the left, for the scale. */
const SIDE = 36;

/** Its texts are of one size however narrow it is, and never of a picture that shrinks. */
const STYLE = `display:block;width:calc(100% - ${SIDE}px);margin-left:${SIDE}px;overflow:visible`;

/** `id` is unique in its page. Beside it stands a table or a sentence with the values. */
export function chartSvg(chart: Chart, id: string): string {
  const grid = GRID.map((share) => {
    const y = round(HEAD + share * HEIGHT);
    const value = shown(chart.format(chart.top * (1 - share)));
    return `<line x1="0" x2="100%" y1="${y}" y2="${y}" stroke="var(--line,#dddee7)"/><text x="-8" y="${y + 4}" text-anchor="end">${value}</text>`;
  });
  const bars = barsOf(chart, { width: 100, height: HEIGHT }).map((bar, index) =>
    bar ? barSvg(bar, chart, index) : '',
  );
  return `<svg role="img" aria-labelledby="${id}-title ${id}-desc" height="${HEAD + HEIGHT + FOOT}" style="${STYLE}" font-family="inherit" font-size="14" fill="var(--muted,#585a6b)"><title id="${id}-title">${shown(chart.title)}</title><desc id="${id}-desc">${shown(chartInWords(chart))}</desc>${grid.join('')}${bars.join('')}${labelsSvg(chart)}</svg>`;
}

function barSvg({ x, y, width, height }: Rectangle, chart: Chart, index: number): string {
  const bucket = chart.buckets[index]!;
  const value = shown(valueText(chart, bucket));
  const box = `x="${round(x)}%" y="${round(HEAD + y)}" width="${round(width)}%" height="${round(height)}"`;
  const bar = `<rect ${box} fill="var(--accent,#4338ca)"><title>${shown(bucket.name)}: ${value}</title></rect>`;
  if (!showsEach(chart)) return bar;
  return `${bar}<text x="${round(x + width / 2)}%" y="${round(HEAD + y - 5)}" text-anchor="middle">${value}</text>`;
}

function labelsSvg(chart: Chart): string {
  const room = 100 / chart.buckets.length;
  let at = 0;
  return labelsOf(chart)
    .map(({ label, span }) => {
      const x = round(room * (at + 0.5));
      at += span;
      return `<text x="${x}%" y="${HEAD + HEIGHT + 18}" text-anchor="middle">${shown(label)}</text>`;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 100) / 100;
