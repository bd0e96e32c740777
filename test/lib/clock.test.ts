import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isoTime, systemClock } from '../../src/lib/clock.ts';

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
