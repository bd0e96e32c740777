import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createIds } from '../../src/lib/ids.ts';
import { testClock } from '../helpers/clock.ts';

/** Whether each sorts after the one before; ids of one prefix, by their text as the database does. */
function assertAscending(ids: string[]): void {
  for (let i = 1; i < ids.length; i++) assert.ok(ids[i]! > ids[i - 1]!, `${ids[i - 1]} ${ids[i]}`);
}

it('an id is its prefix and 26 characters of base 32', () => {
  const newId = createIds(testClock());
  for (const prefix of ['test', 'evt', 'key'] as const)
    assert.match(newId(prefix), new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
});

it('ids sort by creation within a millisecond and over years', () => {
  const clock = testClock();
  const newId = createIds(clock);
  const ids: string[] = [];
  for (const step of [0, 0, 0, 1, 0, 999, 60_000, 86_400_000, 20 * 365 * 86_400_000]) {
    clock.advance(step);
    for (let i = 0; i < 100; i++) ids.push(newId('test'));
  }
  assertAscending(ids);
  assert.equal(new Set(ids).size, ids.length);
});

it('the first part tells the time, written as the ULID specification does', () => {
  const timeOf = (ms: number) => createIds(testClock(ms))('evt').slice(4, 14);
  assert.equal(timeOf(0), '0000000000');
  assert.equal(timeOf(1_469_918_176_385), '01ARYZ6S41'.toLowerCase());
});

it('a clock that steps back continues from the last id', () => {
  const clock = testClock();
  const newId = createIds(clock);
  const ids = [newId('test')];
  clock.advance(-3_600_000);
  for (let i = 0; i < 1000; i++) ids.push(newId('test'));
  clock.advance(3_600_000 - 1);
  ids.push(newId('test'));
  clock.advance(2);
  ids.push(newId('test'));
  assertAscending(ids);
});

it('ids go on from the last of a former run, however often it starts within its millisecond', () => {
  const clock = testClock();
  const ids = [createIds(clock)('test')];
  for (let run = 0; run < 200; run++) {
    if (run === 100) clock.advance(-86_400_000);
    // As the start does it: the newest of several kinds, so without a prefix.
    const newest = ids.at(-1)!;
    const newId = createIds(clock, run % 2 ? newest : newest.slice(newest.indexOf('_')));
    ids.push(newId('test'), newId('test'));
  }
  assertAscending(ids);
});

it('what is no id of ours is no former run', () => {
  const clock = testClock();
  const time = createIds(clock)('test').slice(5, 15);
  for (const odd of ['', 'x', 'zzzz_zzzz', `test_${'u'.repeat(26)}`, `test_${'z'.repeat(40)}x!`])
    assert.equal(createIds(clock, odd)('test').slice(5, 15), time, odd);
});

it('the random part of another run is another', () => {
  const clock = testClock();
  const made = Array.from({ length: 100 }, () => createIds(clock)('key').slice(14));
  assert.equal(new Set(made).size, 100);
});
