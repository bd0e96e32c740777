import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { testClock } from '../helpers/clock.ts';

/** Asserts that each ID sorts after the previous one, as text, like in the database. */
function assertAscending(ids: string[]): void {
  for (let i = 1; i < ids.length; i++) assert.ok(ids[i]! > ids[i - 1]!, `${ids[i - 1]} ${ids[i]}`);
}

it('createIdGenerator returns the prefix followed by 26 base-32 characters', () => {
  const newId = createIdGenerator(testClock());
  for (const prefix of ['test', 'evt', 'key'] as const)
    assert.match(newId(prefix), new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
});

it('IDs sort by creation time within a millisecond and over years', () => {
  const clock = testClock();
  const newId = createIdGenerator(clock);
  const ids: string[] = [];
  for (const step of [0, 0, 0, 1, 0, 999, 60_000, 86_400_000, 20 * 365 * 86_400_000]) {
    clock.advance(step);
    for (let i = 0; i < 100; i++) ids.push(newId('test'));
  }
  assertAscending(ids);
  assert.equal(new Set(ids).size, ids.length);
});

it('IDs begin with the time encoded as in ULID', () => {
  const timeOf = (ms: number) => createIdGenerator(testClock(ms))('evt').slice(4, 14);
  assert.equal(timeOf(0), '0000000000');
  assert.equal(timeOf(1_469_918_176_385), '01ARYZ6S41'.toLowerCase());
});

it('IDs stay ascending when the clock is set back', () => {
  const clock = testClock();
  const newId = createIdGenerator(clock);
  const ids = [newId('test')];
  clock.advance(-3_600_000);
  for (let i = 0; i < 1000; i++) ids.push(newId('test'));
  clock.advance(3_600_000 - 1);
  ids.push(newId('test'));
  clock.advance(2);
  ids.push(newId('test'));
  assertAscending(ids);
});

it('IDs continue after the last ID of a previous run', () => {
  const clock = testClock();
  const ids = [createIdGenerator(clock)('test')];
  for (let run = 0; run < 200; run++) {
    if (run === 100) clock.advance(-86_400_000);
    // The service passes the newest ID of several types, without a prefix.
    const newest = ids.at(-1)!;
    const newId = createIdGenerator(clock, run % 2 ? newest : newest.slice(newest.indexOf('_')));
    ids.push(newId('test'), newId('test'));
  }
  assertAscending(ids);
});

it('createIdGenerator ignores a malformed last ID', () => {
  const clock = testClock();
  const time = createIdGenerator(clock)('test').slice(5, 15);
  for (const odd of ['', 'x', 'zzzz_zzzz', `test_${'u'.repeat(26)}`, `test_${'z'.repeat(40)}x!`])
    assert.equal(createIdGenerator(clock, odd)('test').slice(5, 15), time, odd);
});

it('IDs of different runs have different random parts', () => {
  const clock = testClock();
  const made = Array.from({ length: 100 }, () => createIdGenerator(clock)('key').slice(14));
  assert.equal(new Set(made).size, 100);
});
