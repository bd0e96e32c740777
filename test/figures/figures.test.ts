/** Limits as the receivers publish them, and the docs that repeat them. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FAILING_SHARE_TEXT } from '../../src/figures/dmarc.ts';
import { stateOf, valuesOf } from '../../src/figures/figure.ts';
import { GMAIL_FIGURES, SPAM_GOAL_TEXT, SPAM_LIMIT_TEXT } from '../../src/figures/gmail.ts';

const docs = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8').replace(/\s+/g, ' ');

test('The limits are those that Google publishes, and the docs say them', () => {
  assert.deepEqual([SPAM_GOAL_TEXT, SPAM_LIMIT_TEXT, FAILING_SHARE_TEXT], ['0.1%', '0.3%', '5%']);
  assert.match(docs('receivers'), /stay below 0\.1%, and never reach 0\.3%/);
  assert.match(docs('feedback'), /more than 5% of its messages fail/);
});

test('A figure at its limit is beyond it where lower is better, and not where higher is better', () => {
  const limits = { warn: 0.2, fail: 0.4 };
  const states = [0.1, 0.2, 0.3, 0.4].map((value) =>
    stateOf(value, { better: 'lower', ...limits }),
  );
  assert.deepEqual(states, ['pass', 'warn', 'warn', 'fail']);
  const opposite = { better: 'higher', warn: 0.4, fail: 0.2 } as const;
  assert.deepEqual(
    [0.1, 0.2, 0.3, 0.4].map((value) => stateOf(value, opposite)),
    ['fail', 'warn', 'warn', 'pass'],
  );
  assert.equal(stateOf(1, { better: 'lower', warn: 0.2, fail: null }), 'warn');
});

test('No two figures of Gmail have the same name, column or title', () => {
  for (const key of ['name', 'column', 'title'] as const)
    assert.equal(Object.keys(valuesOf(GMAIL_FIGURES, key, () => 0)).length, GMAIL_FIGURES.length);
});
