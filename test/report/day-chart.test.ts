/** Charts of days: dates, scale, gaps and marks, and how the one painter of pages draws them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { formatCount, rateInWords } from '../../src/lib/format/numbers.ts';
import { type Chart, pinsOf, roundUp, scaleOf, ticksOf } from '../../src/report/charts.ts';
import { type DayEvent, dayChart } from '../../src/report/day-chart.ts';
import { ChartImage } from '../../src/report/html/chart.tsx';
import { EVIL } from './scheduled-reports.ts';

type Day = { date: string; passed: number; failed: number };
type Options = Partial<Parameters<typeof dayChart<Day>>[0]>;

const chartOf = (days: Day[], options: Options = {}): Chart =>
  dayChart<Day>({
    title: 'Messages by day',
    days,
    from: '2026-11-01',
    to: '2026-11-30',
    read: ({ passed, failed }) => ({ value: passed + failed, parts: [passed, failed] }),
    series: [
      { title: 'Passed', fill: 'solid' },
      { title: 'Failed, delivered', fill: 'striped' },
    ],
    emptyText: 'no reports',
    today: '2026-11-30',
    locale: 'en-GB',
    format: formatCount,
    ...options,
  });

const paint = (chart: Chart): string =>
  renderToString(h(ChartImage, { chart, id: 'messages', label: 'Messages' }));
/** Where the bars with this fill are, in pixels from the top. */
const barsIn = (html: string, fill: string) =>
  [...html.matchAll(new RegExp(`<rect class="${fill}[^"]*"[^>]*>`, 'g'))].map(([bar]) => {
    const read = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)%?"`).exec(bar)![1]);
    return { x: read('x'), y: read('y'), width: read('width'), height: read('height') };
  });
const labels = (chart: Chart, onPhone = false) =>
  ticksOf(chart).flatMap(({ label, isMajor }) => (isMajor || !onPhone ? [label] : []));

const DAY: Day = { date: '2026-11-10', passed: 30, failed: 10 };

test('A day without data is a gap, a day with none is a thin bar, and titles tell them apart', () => {
  const html = paint(chartOf([DAY, { date: '2026-11-12', passed: 0, failed: 0 }]));
  assert.match(html, /<title>11 Nov 2026: no reports<\/title><rect class="hit"[^>]*><\/rect><\/g>/);
  assert.match(html, /<title>12 Nov 2026: 0<\/title>/);
  assert.match(html, /<title>10 Nov 2026: 40; passed: 30; failed, delivered: 10<\/title>/);
  const [passed, none] = barsIn(html, 'solid');
  const [failed] = barsIn(html, 'striped');
  // 40 fills the height of 140 pixels from 8 to 148; the parts are on each other.
  assert.deepEqual([passed!.y, passed!.height], [43, 105]);
  assert.deepEqual([failed!.y, failed!.height], [8, 35]);
  assert.deepEqual([none!.y, none!.height], [146, 2]);
  assert.equal(barsIn(html, 'hit').length, 30);
});

test('Dates are at both ends, and Mondays or first days of months between them', () => {
  const month = chartOf([]);
  assert.deepEqual(labels(month), ['1 Nov', '9 Nov', '16 Nov', '23 Nov', '30 Nov']);
  const onPhone = labels(month, true);
  assert.deepEqual([onPhone[0], onPhone.at(-1)], ['1 Nov', '30 Nov']);
  assert.ok(onPhone.length >= 3 && onPhone.length <= 4, onPhone.join());
  const year = chartOf([], { from: '2025-10-27', to: '2026-11-30' });
  const all = labels(year);
  assert.deepEqual([all[0], all.at(-1)], ['27 Oct 2025', '30 Nov 2026']);
  for (const label of all.slice(1, -1)) assert.match(label, /^1 [A-Z][a-z]{2,3}$/);
  assert.ok(all.length >= 5 && all.length <= 10, all.join());
  assert.ok(labels(year, true).length <= 5);
});

test('Dates are in the language of the reader', () => {
  const chart = chartOf([DAY], { locale: 'de-DE' });
  assert.match(paint(chart), /<title>10\. Nov\. 2026: 40;/);
  assert.match(labels(chart)[0]!, /^1\. Nov/);
});

test('A week and a single day have a label and a value for each bar', () => {
  const week = chartOf([DAY], { from: '2026-11-09', to: '2026-11-15' });
  assert.equal(labels(week).length, 7);
  // Seven dates do not fit on a phone.
  assert.deepEqual(labels(week, true), ['9 Nov', '11 Nov', '13 Nov', '15 Nov']);
  const one = chartOf([DAY], { from: DAY.date, to: DAY.date });
  assert.deepEqual(labels(one), ['10 Nov']);
  assert.match(paint(one), /text-anchor="middle">40<\/text>/);
});

test('400 days fit: bars touch, and each day has its own', () => {
  const from = Date.parse('2025-10-27');
  const days = Array.from({ length: 400 }, (_, i) => ({
    date: new Date(from + i * 86_400_000).toISOString().slice(0, 10),
    passed: i,
    failed: 0,
  }));
  const bars = barsIn(paint(chartOf(days, { from: '2025-10-27', to: '2026-11-30' })), 'solid');
  assert.equal(bars.length, 400);
  for (const [i, { x, width }] of bars.entries()) {
    assert.ok(Math.abs(x - i * 0.25) < 0.01 && Math.abs(width - 0.25) < 0.01);
  }
});

test('The scale ends at a round number, which has a line, and has one at half if that is possible', () => {
  for (const [peak, end] of [
    [1, 1],
    [3, 4],
    [7, 8],
    [40, 40],
    [41, 60],
    [99, 100],
    [123_456_789, 200_000_000],
    [0.0031, 0.004],
  ] as const)
    assert.equal(roundUp(peak), end);
  const scale = (passed: number) => scaleOf(chartOf([{ ...DAY, passed, failed: 0 }]));
  assert.deepEqual(scale(1), [1, 0]);
  assert.deepEqual(scale(5), [6, 3, 0]);
  assert.deepEqual(scaleOf(chartOf([])), [1, 0]);
  assert.deepEqual(scale(1e12), [1e12, 5e11, 0]);
  assert.match(paint(chartOf([{ ...DAY, passed: 35 }])), /text-anchor="end">60<\/text>/);
});

test('A scale that does not begin at 0 says so, and limits have lines at their values', () => {
  const rate = (passed: number, options: Options) =>
    chartOf([{ ...DAY, passed, failed: 0 }], {
      read: (day) => ({ value: day.passed }),
      series: undefined,
      isShare: true,
      format: rateInWords,
      ...options,
    });
  const zoomed = rate(0.98, { min: 0.9, max: 1 });
  assert.deepEqual(scaleOf(zoomed), [1, 0.95, 0.9]);
  const [bar] = barsIn(paint(zoomed), 'solid');
  assert.equal(bar!.height, 112);
  assert.match(paint(zoomed), /text-anchor="end">90%<\/text>/);
  const limited = paint(rate(0.001, { max: 0.004, limits: [{ value: 0.003, state: 'fail' }] }));
  assert.match(limited, /<g class="limit fail"><line[^>]* y1="43" y2="43"/);
});

test('The current day is marked as incomplete', () => {
  const html = paint(chartOf([{ ...DAY, date: '2026-11-30' }, DAY]));
  assert.match(html, /<title>30 Nov 2026 so far: 40;/);
  assert.equal(barsIn(html, 'solid partial').length, 1);
  assert.equal(barsIn(html, 'solid').length, 2);
});

const event = (at: string, text: string, isProblem = false): DayEvent => ({
  at: `${at}T10:00:00.000Z`,
  text,
  isProblem,
  href: isProblem ? '/tests/test_1' : null,
});

test('Events are marks with a number and a shape, and are listed in words', () => {
  const html = paint(
    chartOf([DAY], {
      events: [
        event('2026-11-10', 'DMARC policy changed from none to quarantine'),
        event('2026-11-20', 'A test failed DMARC', true),
        event('2026-10-31', 'Too early'),
      ],
    }),
  );
  assert.equal(html.match(/<circle /g)!.length, 1);
  assert.equal(html.match(/class="pin fail"/g)!.length, 1);
  assert.match(
    html,
    /<title>10 Nov 2026: 40;[^<]*\. DMARC policy changed from none to quarantine</,
  );
  assert.match(html, /<ol class="chart-pins[^"]*"><li><div><time[^>]*>10 Nov 2026<\/time> DMARC/);
  assert.match(html, /<a href="\/tests\/test_1">A test failed DMARC<\/a>/);
  assert.ok(!html.includes('Too early'));
});

test('Marks that are close become one, at most eight are on a chart, and none is lost', () => {
  const mark = (index: number, isProblem = false) => ({
    index,
    when: `day ${index}`,
    day: '2026-11-01',
    text: `event ${index}`,
    isProblem,
    href: null,
  });
  const two = pinsOf([mark(3), mark(3, true), mark(9)], 30);
  assert.deepEqual(
    two.map(({ index, isProblem, marks }) => [index, isProblem, marks.length]),
    [
      [3, true, 2],
      [9, false, 1],
    ],
  );
  // On 400 days, a fortnight is as wide as a mark.
  assert.equal(pinsOf([mark(100), mark(113)], 400).length, 1);
  const many = pinsOf(
    Array.from({ length: 30 }, (_, i) => mark(i)),
    30,
  );
  assert.ok(many.length <= 8 && many.length >= 6, String(many.length));
  assert.equal(
    many.reduce((sum, { marks }) => sum + marks.length, 0),
    30,
  );
  assert.deepEqual(pinsOf([], 30), []);
});

test('Text from outside is escaped', () => {
  const html = paint(chartOf([DAY], { events: [event('2026-11-10', EVIL)], title: EVIL }));
  assert.ok(!html.includes('<script'));
});
