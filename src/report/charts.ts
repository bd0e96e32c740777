/** Bar charts: their data, and the geometry and labels that all renderers share. `html/chart.tsx` paints them on pages. */

import { crc32, deflateSync } from 'node:zlib';
import type { State } from '../ui/components.tsx';

export interface Chart {
  /** The quantity and the bucket: `Average score by day`. */
  title: string;
  buckets: Bucket[];
  /** The value that fills the height; greater than `min`. */
  max: number;
  /** The value at the bottom, if that is not 0: for shares that are all close to 1. */
  min?: number;
  format(value: number): string;
  /** Whether values are shares, which can be halved. */
  isShare?: boolean;
  formatScale?(value: number): string;
  /** What the parts of a bar are, the lowest first. */
  series?: Series[];
  /** Lines at values that mean something. They replace the line in the middle. */
  limits?: { value: number; state: State }[];
  /** The buckets with a label, by index; by default, evenly spread ones. The first and the last always have one. */
  ticks?: number[];
  pins?: Pin[];
  /** Whether the script of the page writes the days of the buckets in the language of the browser. */
  isLocal?: boolean;
}

/** How the parts of a bar differ, without color too. A state has its color. */
export type BarFill = 'solid' | 'striped' | 'dotted' | 'hollow' | State;

export interface Series {
  title: string;
  fill: BarFill;
}

/** Events that happened at about the same time. */
export interface Pin {
  index: number;
  isProblem: boolean;
  marks: Mark[];
}

/** An event that may explain the values. */
export interface Mark {
  index: number;
  when: string;
  day: string;
  text: string;
  isProblem: boolean;
  /** The page with the details; null if the reader has none. */
  href: string | null;
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
  /** What the value is made of, in the order of the series of the chart. */
  parts?: number[];
  state?: State;
  text?: string;
  day?: string;
  isPartial?: boolean;
}

interface Size {
  width: number;
  height: number;
}

interface Rectangle extends Size {
  x: number;
  y: number;
}

/** Width of a bar as a share of its bucket. Many bars touch, because a gap would be thinner than a pixel. */
const barShare = (count: number): number => (count > 90 ? 1 : 0.64);
/** Height of a bar for 0 as a share of the chart, so that it remains visible. */
const MIN_HEIGHT_SHARE = 0.02;

/** The bars in the unit of `size`, with x from the left and y from the top; null for a bucket without a value. */
export function barsOf(chart: Chart, { width, height }: Size): (Rectangle | null)[] {
  const { buckets } = chart;
  const bucketWidth = width / buckets.length;
  const used = barShare(buckets.length);
  return buckets.map(({ value }, index) => {
    if (value === null) return null;
    const share = Math.max(MIN_HEIGHT_SHARE, shareOfHeight(chart, value));
    const x = bucketWidth * (index + (1 - used) / 2);
    return { x, y: height * (1 - share), width: bucketWidth * used, height: height * share };
  });
}

/** How high a value is, from 0 to 1. */
export const shareOfHeight = ({ min = 0, max }: Chart, value: number): number =>
  Math.max(0, Math.min(1, (value - min) / (max - min)));

/** The end of a scale: the next round number whose half is round too. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8].find((each) => value <= each * power * (1 + 1e-9)) ?? 10;
  return Number((step * power).toPrecision(3));
}

/** The values with a line behind the bars, the highest first. A line at half a message has no meaning. */
export function scaleOf({ min = 0, max, limits, isShare }: Chart): number[] {
  const middle = (min + max) / 2;
  const hasMiddle = !limits && (isShare || Number.isInteger(middle));
  return [max, ...(hasMiddle ? [middle] : []), min];
}

/** Grid lines behind the bars, as shares of the height from the top. */
const GRID = [0, 0.5, 1];

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

export interface Tick {
  index: number;
  label: string;
  /** Where the label is: from the left edge of the chart, to its right edge, or in the middle of the bar. */
  anchor: 'start' | 'middle' | 'end';
  isMajor: boolean;
}

/** Shares of the width that labels need on wide pages and on phones. */
const [WIDE_LABEL, PHONE_LABEL] = [0.09, 0.19];

/** The labels below the bars: all of few, otherwise those of both ends and as many between them as have space. */
export function ticksOf(chart: Chart): Tick[] {
  const { buckets } = chart;
  const last = buckets.length - 1;
  const tick = (index: number, anchor: Tick['anchor'], isMajor: boolean): Tick => ({
    index,
    label: buckets[index]!.label,
    anchor,
    isMajor,
  });
  // Dates are too long for a phone, and weekdays are not.
  const isLong = buckets.length > 5 && buckets.some(({ label }) => label.length > 3);
  if (hasLabelPerBar(chart))
    return buckets.map((_, index) => tick(index, 'middle', !isLong || (last - index) % 2 === 0));
  const step = Math.ceil(buckets.length / 6);
  const inner =
    chart.ticks ?? buckets.map((_, index) => index).filter((index) => index % step === 0);
  // The labels at the ends begin and end there, so they reach further.
  const longest = Math.max(buckets[0]!.label.length, buckets[last]!.label.length);
  const reach = Math.max(1, longest / 7);
  const kept: Tick[] = [];
  let major = 0;
  for (const index of inner) {
    const at = (index + 0.5) / buckets.length;
    const fits = (space: number, before: number) =>
      at >= space * (reach + 0.5) && at <= 1 - space * (reach + 0.5) && at - before >= space;
    const before = kept.length > 0 ? (kept.at(-1)!.index + 0.5) / buckets.length : 0;
    if (!fits(WIDE_LABEL, before)) continue;
    const isMajor = fits(PHONE_LABEL, major);
    if (isMajor) major = at;
    kept.push(tick(index, 'middle', isMajor));
  }
  return [tick(0, 'start', true), ...kept, tick(last, 'end', true)];
}

const MAX_PINS = 8;

/** Puts marks that are close into one pin, so that the pins of a chart can be told apart. `marks` are in order. */
export function pinsOf(marks: Mark[], count: number): Pin[] {
  for (let distance = Math.ceil(count / 30) - 1; ; distance++) {
    const pins: Pin[] = [];
    for (const mark of marks) {
      const pin = pins.at(-1);
      if (pin && mark.index - pin.index <= distance) {
        pin.marks.push(mark);
        pin.isProblem ||= mark.isProblem;
      } else pins.push({ index: mark.index, isProblem: mark.isProblem, marks: [mark] });
    }
    if (pins.length <= MAX_PINS) return pins;
  }
}

/** Whether each bar has a separate value and label. */
export const hasLabelPerBar = ({ buckets }: Chart): boolean => buckets.length <= MAX_LABELS;

export function valueText({ format }: Chart, { value }: Bucket): string {
  return value === null ? '–' : format(value);
}

export function valueInWords({ format }: Chart, { value, emptyText, text }: Bucket): string {
  return value === null ? emptyText : (text ?? format(value));
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
