/** The messages of the story of 90 days. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailsAfter, mailsDuring } from './mails.ts';

const addressOf = (name: string) => `reports@${name}`;

test('The same seed makes the same messages, on each day alone', () => {
  for (const day of [0, 11, 50, 89]) {
    assert.deepEqual(mailsAfter(1, day, addressOf), mailsAfter(1, day, addressOf));
    assert.notDeepEqual(mailsAfter(1, day, addressOf), mailsAfter(2, day, addressOf));
    assert.deepEqual(mailsDuring(day, addressOf), mailsDuring(day, addressOf));
  }
});

test('All reporters report each day, except one that does each second day, and except in the silent week', () => {
  const reportsTo = (domain: string, day: number) =>
    mailsAfter(1, day, addressOf).filter(({ to }) => to === domain).length;
  assert.deepEqual(
    [0, 1, 40, 46, 47, 48, 49].map((day) => reportsTo('bank.example', day)),
    [5, 6, 0, 0, 5, 5, 6],
  );
  assert.equal(reportsTo('shop.example', 41), 6);
});
