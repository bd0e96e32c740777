/** A chart of bars: what it counts, bucket by bucket, and where each bar stands whatever draws it. */

import { crc32, deflateSync } from 'node:zlib';
import { shown } from './plain-text.ts';

export interface Chart {
  /** What it counts, and by what: `Average score by day`. */
  title: string;
  buckets: Bucket[];
  /** The value that fills the height; greater than 0. */
  top: number;
  format(value: number): string;
}

export interface Bucket {
  /** Below the bar, short: `Mon 16`. */
  label: string;
  /** By itself: `Mon 16 Nov`. */
  name: string;
  /** null where nothing was counted: there is no bar then, for 0 there is a line. */
  value: number | null;
  /** What is said in the place of a value that is not there. */
  none: string;
}

interface Size {
  width: number;
  height: number;
}

interface Rectangle extends Size {
  x: number;
  y: number;
}

/** A bar's share of its bucket's room. */
const SHARE = 0.64;
/** What 0 looks like, as a share of the height: something that was counted is seen. */
const LEAST = 0.02;

/** From the left, y from the top, in the unit of `size`; null where the bucket has no value. */
export function barsOf({ buckets, top }: Chart, { width, height }: Size): (Rectangle | null)[] {
  const room = width / buckets.length;
  return buckets.map(({ value }, index) => {
    if (value === null) return null;
    const share = Math.min(1, Math.max(LEAST, value / top));
    const x = room * (index + (1 - SHARE) / 2);
    return { x, y: height * (1 - share), width: room * SHARE, height: height * share };
  });
}

/** The lines behind the bars, as shares of the height from the top: full, half, nothing. */
export const GRID = [0, 0.5, 1];

/** Below more bars than this not each has a label. */
const MOST_LABELS = 8;

/** How many buckets have one label together, and that label; '' where too few are left for one. */
export function labelsOf({ buckets }: Chart): { label: string; span: number }[] {
  const step = buckets.length <= MOST_LABELS ? 1 : Math.ceil(buckets.length / 6);
  const labels: { label: string; span: number }[] = [];
  for (let at = 0; at < buckets.length; at += step) {
    const span = Math.min(step, buckets.length - at);
    labels.push({ label: span * 2 > step ? buckets[at]!.label : '', span });
  }
  return labels;
}

/** Whether there is room for the value of each below it. */
export const showsEach = ({ buckets }: Chart): boolean => buckets.length <= MOST_LABELS;

export function valueText({ format }: Chart, { value }: Bucket): string {
  return value === null ? '–' : format(value);
}

export function valueInWords({ format }: Chart, { value, none }: Bucket): string {
  return value === null ? none : format(value);
}

/** All that the picture shows, in words. */
export function chartInWords(chart: Chart): string {
  const values = chart.buckets.map((bucket) => `${bucket.name}: ${valueInWords(chart, bucket)}`);
  return `${chart.title}. ${values.join('; ')}.`;
}

/** The highest and the lowest, each with its bucket; null where there are not two different ones. */
export function extremesOf(chart: Chart): string | null {
  const known = chart.buckets.filter(({ value }) => value !== null) as (Bucket & {
    value: number;
  })[];
  const [first] = known;
  if (!first) return null;
  const high = known.reduce((a, b) => (b.value > a.value ? b : a));
  const low = known.reduce((a, b) => (b.value < a.value ? b : a));
  if (high.value === low.value) return null;
  const said = (bucket: typeof first) => `${chart.format(bucket.value)} (${bucket.name})`;
  return `Highest ${said(high)}, lowest ${said(low)}`;
}

// A chart as SVG, for a page: it takes the colours of the page's theme, and says its values to who cannot see it.

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

// A chart as a PNG, for an e-mail: bars alone, on nothing, in colours that are seen on white and on black.

/** Red, green, blue, and how opaque: 0 is the ground, which is not there. */
const PALETTE = [
  [0, 0, 0, 0],
  [0x8b, 0x8d, 0x9e, 110],
  [0x72, 0x6b, 0xe8, 255],
];
const LINE = 1;
const BAR = 2;

/** With `scale` dots for each unit of `size`. */
export function chartPng(chart: Chart, { width, height }: Size, scale = 2): Uint8Array {
  const size = { width: width * scale, height: height * scale };
  const dots = new Uint8Array(size.width * size.height);
  const fill = (x: number, y: number, right: number, bottom: number, colour: number) => {
    for (let row = y; row < bottom; row++)
      dots.fill(colour, row * size.width + x, row * size.width + right);
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
  return encode(dots, size);
}

/** One octet a dot, an index into the palette (ISO/IEC 15948 §11.2). */
function encode(dots: Uint8Array, { width, height }: Size): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits, by palette; deflate, filters by row, not interlaced.
  head.set([8, 3, 0, 0, 0], 8);
  // Each row begins with its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++)
    rows.set(dots.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', head),
      chunk('PLTE', Buffer.from(PALETTE.flatMap((colour) => colour.slice(0, 3)))),
      chunk('tRNS', Buffer.from(PALETTE.map((colour) => colour[3]!))),
      chunk('IDAT', deflateSync(rows, { level: 9 })),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
