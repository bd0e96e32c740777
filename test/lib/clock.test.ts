import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isDay, isoTime, systemClock } from '../../src/lib/clock.ts';

it('systemClock returns the current time in milliseconds', () => {
  const before = Date.now();
  const now = systemClock.now();
  assert.ok(now >= before && now <= Date.now());
});

it('isoTime formats UTC with milliseconds so that texts sort by time', () => {
  const times = [0, 1, 999, Date.UTC(2026, 10, 21, 10), Date.UTC(2026, 10, 21, 10, 0, 0, 7)];
  const texts = times.map(isoTime);
  assert.equal(texts[0], '1970-01-01T00:00:00.000Z');
  assert.equal(texts[3], '2026-11-21T10:00:00.000Z');
  assert.deepEqual([...texts].sort(), texts);
});

it('isDay takes real days in the years of reports', () => {
  for (const day of ['1980-01-01', '2026-11-21', '2028-02-29', '2199-12-31'])
    assert.equal(isDay(day), true, day);
  for (const text of [
    undefined,
    '',
    '2026-11-2',
    '2026-02-31',
    '0000-01-01',
    '9999-12-31',
    '+010000',
  ])
    assert.equal(isDay(text), false, text);
});
