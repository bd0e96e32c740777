/** Bar charts: their data, and the geometry and labels that all renderers share. */

import { crc32, deflateSync } from 'node:zlib';
import { toHtmlText } from '../lib/format/plain-text.ts';

export interface Chart {
  /** The quantity and the bucket: `Average score by day`. */
  title: string;
  buckets: Bucket[];
  /** The value that fills the height; greater than 0. */
  max: number;
  format(value: number): string;
}

export interface Bucket {
  /** A short label below the bar: `16 Nov`. */
  label: string;
  /** The full name: `Mon 16 Nov`. */
  name: string;
  /** null without data: no bar is drawn. 0 is drawn as a thin bar. */
  value: number | null;
  /** Shown if `value` is null. */
  emptyText: string;
}

interface Size {
  width: number;
  height: number;
}

interface Rectangle extends Size {
  x: number;
  y: number;
}

/** Width of a bar as a share of its bucket. */
const BAR_SHARE = 0.64;
/** Height of a bar for 0 as a share of the chart, so that it remains visible. */
const MIN_HEIGHT_SHARE = 0.02;

/** The bars in the unit of `size`, with x from the left and y from the top; null for a bucket without a value. */
export function barsOf({ buckets, max }: Chart, { width, height }: Size): (Rectangle | null)[] {
  const bucketWidth = width / buckets.length;
  return buckets.map(({ value }, index) => {
    if (value === null) return null;
    const share = Math.min(1, Math.max(MIN_HEIGHT_SHARE, value / max));
    const x = bucketWidth * (index + (1 - BAR_SHARE) / 2);
    return { x, y: height * (1 - share), width: bucketWidth * BAR_SHARE, height: height * share };
  });
}

/** Grid lines behind the bars, as shares of the height from the top. */
export const GRID = [0, 0.5, 1];

/** With more bars, adjacent bars share a label. */
const MAX_LABELS = 8;

/** The labels, each with the number of buckets it covers; '' for a last group too narrow for a label. */
export function labelsOf({ buckets }: Chart): { label: string; span: number }[] {
  const step = buckets.length <= MAX_LABELS ? 1 : Math.ceil(buckets.length / 6);
  const labels: { label: string; span: number }[] = [];
  for (let index = 0; index < buckets.length; index += step) {
    const span = Math.min(step, buckets.length - index);
    labels.push({ label: span * 2 > step ? buckets[index]!.label : '', span });
  }
  return labels;
}

/** Whether each bar has a separate value and label. */
export const hasLabelPerBar = ({ buckets }: Chart): boolean => buckets.length <= MAX_LABELS;

export function valueText({ format }: Chart, { value }: Bucket): string {
  return value === null ? '–' : format(value);
}

export function valueInWords({ format }: Chart, { value, emptyText }: Bucket): string {
  return value === null ? emptyText : format(value);
}

/** The whole chart as text. */
export function chartInWords(chart: Chart): string {
  const values = chart.buckets.map((bucket) => `${bucket.name}: ${valueInWords(chart, bucket)}`);
  return `${chart.title}. ${values.join('; ')}.`;
}

/** The highest and lowest values with their buckets; null if all values are equal. */
export function extremesOf(chart: Chart): string | null {
  const filledBuckets = chart.buckets.filter(({ value }) => value !== null) as (Bucket & {
    value: number;
  })[];
  const [first] = filledBuckets;
  if (!first) return null;
  const high = filledBuckets.reduce((a, b) => (b.value > a.value ? b : a));
  const low = filledBuckets.reduce((a, b) => (b.value < a.value ? b : a));
  if (high.value === low.value) return null;
  const describeBucket = (bucket: typeof first) => `${chart.format(bucket.value)} (${bucket.name})`;
  return `Highest ${describeBucket(high)}, lowest ${describeBucket(low)}`;
}

// A chart as SVG for a page: it uses the colors of the page's theme and has a text alternative.

/** Height of the bars. Vertical lengths are in pixels, horizontal ones in percent. */
const HEIGHT = 140;
/** Space above the bars for the value of the highest one. */
const TOP_MARGIN = 20;
/** Space below the bars for the labels. */
const BOTTOM_MARGIN = 24;
/** Space on the left for the scale. */
const LEFT_MARGIN = 36;

/** Without a viewBox, so that text keeps its size on narrow screens. */
export const CHART_STYLE = `display:block;width:calc(100% - ${LEFT_MARGIN}px);margin-left:${LEFT_MARGIN}px;overflow:visible`;

/** `id` must be unique in the page. A page that allows no inline style names a class with `CHART_STYLE`. */
export function chartSvg(chart: Chart, id: string, className?: string): string {
  const grid = GRID.map((share) => {
    const y = round(TOP_MARGIN + share * HEIGHT);
    const value = toHtmlText(chart.format(chart.max * (1 - share)));
    return `<line x1="0" x2="100%" y1="${y}" y2="${y}" stroke="var(--line,#dddee7)"/><text x="-8" y="${y + 4}" text-anchor="end">${value}</text>`;
  });
  const bars = barsOf(chart, { width: 100, height: HEIGHT }).map((bar, index) =>
    bar ? barSvg(bar, chart, index) : '',
  );
  return `<svg role="img" aria-labelledby="${id}-title ${id}-desc" height="${TOP_MARGIN + HEIGHT + BOTTOM_MARGIN}" ${className ? `class="${className}"` : `style="${CHART_STYLE}"`} font-family="inherit" font-size="14" fill="var(--muted,#585a6b)"><title id="${id}-title">${toHtmlText(chart.title)}</title><desc id="${id}-desc">${toHtmlText(chartInWords(chart))}</desc>${grid.join('')}${bars.join('')}${labelsSvg(chart)}</svg>`;
}

function barSvg({ x, y, width, height }: Rectangle, chart: Chart, index: number): string {
  const bucket = chart.buckets[index]!;
  const value = toHtmlText(valueText(chart, bucket));
  const box = `x="${round(x)}%" y="${round(TOP_MARGIN + y)}" width="${round(width)}%" height="${round(height)}"`;
  const bar = `<rect ${box} fill="var(--accent,#4338ca)"><title>${toHtmlText(bucket.name)}: ${value}</title></rect>`;
  if (!hasLabelPerBar(chart)) return bar;
  return `${bar}<text x="${round(x + width / 2)}%" y="${round(TOP_MARGIN + y - 5)}" text-anchor="middle">${value}</text>`;
}

function labelsSvg(chart: Chart): string {
  const bucketWidth = 100 / chart.buckets.length;
  let index = 0;
  return labelsOf(chart)
    .map(({ label, span }) => {
      const x = round(bucketWidth * (index + 0.5));
      index += span;
      return `<text x="${x}%" y="${TOP_MARGIN + HEIGHT + 18}" text-anchor="middle">${toHtmlText(label)}</text>`;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 100) / 100;

// A chart as PNG for an email: only bars, on a transparent background, in colors visible on white and black.

/** Red, green, blue and opacity. Entry 0 is the background. */
const PALETTE = [
  [0, 0, 0, 0],
  [0x8b, 0x8d, 0x9e, 110],
  [0x72, 0x6b, 0xe8, 255],
];
const LINE = 1;
const BAR = 2;

/** `scale` is the number of pixels per unit of `size`. */
export function chartPng(chart: Chart, { width, height }: Size, scale = 2): Uint8Array {
  const size = { width: width * scale, height: height * scale };
  const pixels = new Uint8Array(size.width * size.height);
  const fill = (x: number, y: number, right: number, bottom: number, color: number) => {
    for (let row = y; row < bottom; row++)
      pixels.fill(color, row * size.width + x, row * size.width + right);
  };
  for (const share of GRID) {
    const y = Math.round(share * (size.height - scale));
    fill(0, y, size.width, y + scale, LINE);
  }
  for (const bar of barsOf(chart, size))
    if (bar)
      fill(
        Math.round(bar.x),
        Math.min(Math.round(bar.y), size.height - scale),
        Math.round(bar.x + bar.width),
        size.height,
        BAR,
      );
  return encodePng(pixels, size);
}

/** One byte per pixel, an index into the palette (ISO/IEC 15948 §11.2). */
function encodePng(pixels: Uint8Array, { width, height }: Size): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Bit depth 8, palette, deflate, filter per row, not interlaced.
  header.set([8, 3, 0, 0, 0], 8);
  // Each row starts with its filter type, 0 for none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++)
    rows.set(pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('PLTE', Buffer.from(PALETTE.flatMap((color) => color.slice(0, 3)))),
      chunk('tRNS', Buffer.from(PALETTE.map((color) => color[3]!))),
      chunk('IDAT', deflateSync(rows, { level: 9 })),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
