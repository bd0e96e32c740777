/** Who may call how much at once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots, type Slots } from '../../src/webhooks/slots.ts';

/** Begins as many calls as there is room for; how many those were. */
function fill(slots: Slots, id: string): number {
  let begun = 0;
  while (slots.room(id) > 0) {
    slots.begin(id);
    begun++;
  }
  return begun;
}

function prove(slots: Slots, id: string): void {
  for (let i = 0; i < 10; i++) {
    slots.begin(id);
    slots.end(id, true);
  }
}

test('an endpoint begins with two calls at once and comes to ten by success', () => {
  const slots = createSlots();
  assert.equal(slots.room('a'), 2);
  prove(slots, 'a');
  assert.equal(fill(slots, 'a'), 10);
  assert.equal(slots.room('b'), 2);
});

test('each failure halves what an endpoint may, down to one', () => {
  const slots = createSlots();
  prove(slots, 'a');
  const rooms = [5, 2, 1, 1].map((expected) => {
    slots.begin('a');
    slots.end('a', false);
    return { expected, room: slots.room('a') };
  });
  for (const { expected, room } of rooms) assert.equal(room, expected);
  slots.begin('a');
  slots.end('a', true);
  assert.equal(slots.room('a'), 2);
});

test('a hundred endpoints that never answer leave room for one that does', () => {
  const slots = createSlots();
  prove(slots, 'good');
  for (let i = 0; i < 100; i++) fill(slots, `dead ${i}`);
  assert.ok(slots.room('good') > 0);
  assert.equal(slots.room('nobody knows yet'), 1);
});

test('twenty proven endpoints that stop answering at once leave room for the others', () => {
  const slots = createSlots();
  for (let i = 0; i < 21; i++) prove(slots, `e${i}`);
  let begun = 0;
  for (let i = 0; i < 20; i++) begun += fill(slots, `e${i}`);
  assert.ok(begun < 200);
  assert.ok(slots.room('e20') > 0);
});

test('never more than two hundred in all', () => {
  const slots = createSlots();
  for (let i = 0; i < 300; i++) prove(slots, `e${i}`);
  let begun = 0;
  for (let i = 0; i < 300; i++) begun += fill(slots, `e${i}`);
  assert.equal(begun, 200);
});
