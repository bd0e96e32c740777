import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Json } from '../../src/analysis/check.ts';
import { trimEvidence, trimFix, trimText } from '../../src/analysis/trim.ts';

it('text of 2,000 characters is whole, longer text is cut and says so', () => {
  const whole = 'a'.repeat(2000);
  assert.equal(trimText(whole), whole);
  assert.equal(trimText(`${whole}b`), `${whole}…`);
});

it('honest evidence is left as it is', () => {
  const evidence = {
    domain: 'example.com',
    bits: 2048,
    ok: true,
    none: null,
    list: ['a', { b: 1 }],
  };
  assert.equal(trimEvidence(evidence), evidence);
});

it('long lists are cut and counted, long text and long names too', () => {
  const key = 'k'.repeat(3000);
  const trimmed = trimEvidence({ list: Array(150).fill('x'), [key]: 'v'.repeat(3000) });
  const list = trimmed.list as string[];
  assert.equal(list.length, 101);
  assert.equal(list[100], '… and 50 more');
  const [, [name, value]] = Object.entries(trimmed) as [unknown, [string, string]];
  assert.deepEqual([name, value], [`${'k'.repeat(2000)}…`, `${'v'.repeat(2000)}…`]);
});

it('an object has at most a hundred keys', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]));
  assert.equal(Object.keys(trimEvidence({ many }).many as object).length, 100);
});

it('what is nested too deep ends, and what is cut can be had again', () => {
  let deep: Json = 'bottom';
  for (let i = 0; i < 5000; i++) deep = [deep];
  const trimmed = trimEvidence({ deep });
  assert.ok(JSON.stringify(trimmed).length < 100);
  assert.equal(trimEvidence(trimmed), trimmed);
});

it('what moves or turns the text around it is shown as a dot, in names too', () => {
  assert.equal(trimText('a\u001b[2Jb\u202ec\td\ne\u200f'), 'a·[2Jb·c\td\ne\u200f');
  assert.deepEqual(trimEvidence({ 'k\u0000': ['v\u2066'] }), { k·: ['v·'] });
});

it('a record that nobody could publish is left out of a fix', () => {
  const record = { type: 'TXT', name: 'example.com', value: 'v=spf1 -all' };
  assert.deepEqual(trimFix({ text: 'Do so.', record }), { text: 'Do so.', record });
  const long = { ...record, value: 'x'.repeat(2001) };
  assert.deepEqual(trimFix({ text: 'y'.repeat(2001), record: long }), {
    text: `${'y'.repeat(2000)}…`,
  });
});
