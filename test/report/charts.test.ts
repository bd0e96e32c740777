/** Charts: bars and labels, drawn as SVG and as PNG, and the text alternative. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, inflateSync } from 'node:zlib';
import {
  barsOf,
  type Chart,
  chartInWords,
  chartPng,
  extremesOf,
  labelsOf,
} from '../../src/report/charts.ts';
import { trendCharts } from '../../src/report/summary.ts';
import { DAY, MONTH, UNSCORED, WEEK } from './scheduled-reports.ts';

const chartOf = (values: (number | null)[], max = 100): Chart => ({
  title: 'Average score by day',
  buckets: values.map((value, index) => ({
    label: `${index}`,
    name: `Day ${index}`,
    value,
    emptyText: 'none',
  })),
  max,
  format: String,
});

test('barsOf scales bars by value, draws 0 as a line and unknown as none', () => {
  const bars = barsOf(chartOf([100, 50, 0, null]), { width: 400, height: 100 });
  assert.deepEqual(
    bars.map((bar) => bar && [bar.y, bar.height]),
    [[0, 100], [50, 50], [98, 2], null],
  );
  for (const [index, bar] of bars.entries())
    if (bar) assert.ok(bar.x > index * 100 && bar.x + bar.width < (index + 1) * 100);
});

test('barsOf clamps values beyond the scale', () => {
  const [bar] = barsOf(chartOf([250]), { width: 10, height: 100 });
  assert.deepEqual([bar!.y, bar!.height], [0, 100]);
});

test('labelsOf labels few bars singly and many in groups', () => {
  assert.deepEqual(
    labelsOf(chartOf(Array(7).fill(1))).map(({ span }) => span),
    [1, 1, 1, 1, 1, 1, 1],
  );
  const month = labelsOf(chartOf(Array(31).fill(1)));
  assert.equal(
    month.reduce((sum, { span }) => sum + span, 0),
    31,
  );
  assert.deepEqual(month.at(-1), { label: '', span: 1 });
  assert.deepEqual(
    labelsOf(chartOf(Array(24).fill(1))).map(({ label }) => label),
    ['0', '4', '8', '12', '16', '20'],
  );
});

test('chartInWords lists all values; extremesOf names the highest and lowest', () => {
  const chart = chartOf([62, null, 90]);
  assert.equal(chartInWords(chart), 'Average score by day. Day 0: 62; Day 1: none; Day 2: 90.');
  assert.equal(extremesOf(chart), 'Highest 90 (Day 2), lowest 62 (Day 0)');
  for (const none of [[], [null], [5], [5, 5, null]]) assert.equal(extremesOf(chartOf(none)), null);
});

test('trendCharts splits a trend by local hours or days; empty days have no score', () => {
  const [score, tests] = trendCharts(WEEK);
  assert.ok(score && tests);
  assert.equal(score.title, 'Average score by day');
  assert.deepEqual(score.buckets.at(-1), {
    label: '22 Nov',
    name: 'Sun 22 Nov',
    value: null,
    emptyText: 'no tests',
  });
  assert.deepEqual(tests.buckets.at(-1)?.value, 0);
  const [hours] = trendCharts(DAY);
  assert.ok(hours);
  assert.equal(hours.title, 'Average score by hour');
  assert.deepEqual(hours.buckets[0], {
    label: '00:00',
    name: 'Sun 00:00',
    value: 62,
    emptyText: 'no score',
  });
  assert.equal(trendCharts(MONTH)[0]!.buckets.length, 31);
  assert.deepEqual(trendCharts({ ...WEEK, summary: { ...WEEK.summary, trend: [] } }), []);
});

test('trendCharts draws no bar for unscored days and no chart without scores', () => {
  const slice = WEEK.summary.trend[0]!;
  const trend = [{ ...slice, tests: 2, scored: 0, avg_score: 0 }, ...WEEK.summary.trend.slice(1)];
  const [score, tests] = trendCharts({ ...WEEK, summary: { ...WEEK.summary, trend } });
  assert.deepEqual([score!.buckets[0]!.value, tests!.buckets[0]!.value], [null, 2]);
  assert.match(chartInWords(score!), /^Average score by day\. Mon 16 Nov: no score; /);
  assert.deepEqual(
    trendCharts(UNSCORED).map(({ id }) => id),
    ['tests'],
  );
});

interface Png {
  width: number;
  height: number;
  /** Red, green, blue and opacity. */
  at(x: number, y: number): number[];
}

/** Parses a PNG of `chartPng` and verifies each chunk. */
function readPng(png: Uint8Array): Png {
  const bytes = Buffer.from(png);
  assert.equal(bytes.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const body = bytes.subarray(at + 4, at + 8 + length);
    assert.equal(bytes.readUInt32BE(at + 8 + length), crc32(body));
    chunks.set(body.subarray(0, 4).toString(), body.subarray(4));
    at += 12 + length;
  }
  assert.deepEqual([...chunks.keys()], ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);
  const width = chunks.get('IHDR')!.readUInt32BE(0);
  const height = chunks.get('IHDR')!.readUInt32BE(4);
  const rows = inflateSync(chunks.get('IDAT')!);
  assert.equal(rows.length, (width + 1) * height);
  const at = (x: number, y: number) => {
    const index = rows[y * (width + 1) + 1 + x]!;
    return [...chunks.get('PLTE')!.subarray(index * 3, index * 3 + 3), chunks.get('tRNS')![index]!];
  };
  return { width, height, at };
}

test('chartPng draws the bars at double size on a transparent background', () => {
  const png = readPng(chartPng(chartOf([100, 25, null, 0]), { width: 400, height: 96 }));
  assert.deepEqual([png.width, png.height], [800, 192]);
  const opaque = (x: number, y: number) => png.at(x, y)[3];
  assert.deepEqual(png.at(100, 10), [0x72, 0x6b, 0xe8, 255]);
  assert.equal(opaque(300, 120), 0);
  assert.deepEqual(png.at(300, 170), png.at(100, 10));
  assert.equal(opaque(500, 170), 0);
  assert.deepEqual(png.at(700, 190), png.at(100, 10));
  assert.equal(opaque(700, 180), 0);
  // Between two bars, on the grid line at the top.
  assert.equal(opaque(1, 0), 110);
});

test('chartPng colors contrast with white and dark backgrounds', () => {
  const png = readPng(chartPng(chartOf([100]), { width: 10, height: 10 }));
  const luminance = (colour: number[]) => {
    const [r, g, b] = colour.map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bar = luminance(png.at(10, 10).slice(0, 3));
  assert.ok(1.05 / (bar + 0.05) >= 3);
  assert.ok((bar + 0.05) / (luminance([0x17, 0x18, 0x1f]) + 0.05) >= 3);
});

test('chartPng handles empty and single-bucket charts', () => {
  for (const values of [[], [null], [7]])
    assert.equal(readPng(chartPng(chartOf(values), { width: 20, height: 10 })).width, 40);
});
