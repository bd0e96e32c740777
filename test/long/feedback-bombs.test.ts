/** Files that are made to exhaust the reader are refused, with little memory. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFeedback } from '../../src/feedback/reading/read.ts';
import { BOMBS } from '../feedback/reading/bombs.ts';
import { BEGIN } from '../feedback/reading/builders.ts';

const NOW = (BEGIN + 2 * 86_400) * 1000;

for (const [name, make, reason] of BOMBS)
  test(`${name}: refused as ${reason}`, async () => {
    const items = await readFeedback(make(), { now: NOW });
    assert.deepEqual(
      items.map((item) => (item.ok ? 'read' : item.reason)),
      [reason],
    );
  });
