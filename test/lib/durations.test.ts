import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../src/lib/durations.ts';

it('parseDuration accepts a whole number with a unit and rejects the rest', () => {
  const cases: [string, number | null][] = [
    ['0', 0],
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['90d', 7_776_000_000],
    ['', null],
    ['30', null],
    ['1.5h', null],
    ['-1s', null],
    ['30 s', null],
    ['30S', null],
    ['30s ', null],
    ['1h30m', null],
    ['1e3s', null],
    ['1234567890s', null],
  ];
  for (const [text, expected] of cases) assert.equal(parseDuration(text), expected, text);
});

it('parseSize accepts bytes and binary units and rejects the rest', () => {
  const cases: [string, number | null][] = [
    ['0', 0],
    ['100', 100],
    ['100B', 100],
    ['64KiB', 65_536],
    ['25MiB', 26_214_400],
    ['1GiB', 1_073_741_824],
    ['', null],
    ['25MB', null],
    ['25 MiB', null],
    ['1.5MiB', null],
    ['-1', null],
    ['KiB', null],
  ];
  for (const [text, expected] of cases) assert.equal(parseSize(text), expected, text);
});

it('formatSize picks the most readable unit', () => {
  const cases: [number, string][] = [
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1000, '1 KB'],
    [1536, '1.5 KB'],
    [10_200, '10 KB'],
    [26_214_400, '26 MB'],
    [999_499, '999 KB'],
    [999_500, '1 MB'],
    [999_500_000, '1 GB'],
    [1e12, '1000 GB'],
  ];
  for (const [bytes, expected] of cases) assert.equal(formatSize(bytes), expected, String(bytes));
});

it('formatDuration shows the two largest units', () => {
  const cases: [number, string][] = [
    [0, '0 s'],
    [-5, '0 s'],
    [0.4, '0 s'],
    [7, '7 ms'],
    [61_000, '1 min 1 s'],
    [93_600_000, '1 d 2 h'],
    [86_400_000 + 60_000 + 5, '1 d 1 min'],
    [90 * 86_400_000, '90 d'],
  ];
  for (const [ms, expected] of cases) assert.equal(formatDuration(ms), expected, String(ms));
});
