/** A chart of bars: what it counts, bucket by bucket, and where each bar stands whatever draws it. */

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

export interface Size {
  width: number;
  height: number;
}

export interface Rectangle extends Size {
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
