/** The texts of tools: what is left out, and what text from outside cannot do. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  answerForModel,
  answerText,
  clean,
  DATA_NOTE,
  kept,
  MAX_ANSWER,
  MAX_STRUCTURED,
  quoted,
  recordText,
  resourceForModel,
  shortened,
  structuredForModel,
} from '../../src/http/tool-text.ts';

test('An answer leaves out its last parts, never those that must stay, and counts them', () => {
  const parts = Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(200)}`);
  const text = answerText([kept('first'), ...parts, kept('last')], 'see the whole');
  assert.ok(answerForModel(text).length <= MAX_ANSWER && text.length > MAX_ANSWER - 400);
  const [, count] = /\n(\d+) more left out: see the whole$/.exec(text) ?? [];
  const lines = text.split('\n');
  assert.equal(lines[0], 'first');
  assert.equal(lines.at(-2), 'last');
  assert.equal(lines.length - 3 + Number(count), 100);
  assert.equal(answerText(['a', '', null, 'b'], 'see the whole'), 'a\nb');
  // Nothing less important follows what does not fit.
  const long = answerText(['a', 'x'.repeat(MAX_ANSWER), 'b'], 'see the whole');
  assert.equal(long, 'a\n2 more left out: see the whole');
  // Parts to keep have a limit too.
  const many = answerText(
    ['x', ...Array.from({ length: 100 }, (_, i) => kept(`${i} ${'x'.repeat(200)}`))],
    'see the whole',
  );
  assert.ok(many.length <= MAX_ANSWER && many.startsWith('0 x'));
  assert.match(many, /\n\d+ more left out: see the whole$/);
});

test('Text from outside stays within its quotes, in one line, without invisible characters', () => {
  assert.equal(quoted('a » b « c'), '«a " b " c»');
  assert.equal(quoted(null), 'unknown');
  assert.equal(clean(' a\r\n\tb\u200b\u202e\u{e0041}\ud800 '), 'a b�');
  assert.equal(shortened('😀😀😀', 2), '😀…');
  assert.equal(quoted('x'.repeat(300)).length, 202);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff })), (points) => {
      const text = String.fromCodePoint(...points);
      assert.match(quoted(text), /^«[^«»\p{Cc}\p{Default_Ignorable_Code_Point}]*»$/u);
      assert.ok([...quoted(text)].length <= 202);
    }),
  );
});

test('Every answer says that it is data, and has no hidden character and no mark that encloses nothing', () => {
  const text = answerForModel(
    'a\u200b » evil « b\n«quoted» \u{e0041}\u001bc «open\nclosed» «a «b» c»',
  );
  assert.equal(text, `${DATA_NOTE}\na " evil " b\n«quoted» ·c "open\nclosed" "a «b» c"`);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (given) => {
      const [note, ...lines] = answerForModel(`a «${given}» b`).split('\n');
      assert.equal(note, DATA_NOTE);
      for (const line of lines)
        assert.match(line, /^(?:[^«»\p{Cc}\p{Default_Ignorable_Code_Point}]|«[^«»]*»)*$/u);
    }),
  );
});

test('A resource is JSON of the same form, with clean names and strings at any depth', () => {
  const value = { id: 1, list: [{ 'k\u200b': 'a\u202eb»\u0000\n' }, null, true], none: null };
  assert.deepEqual(JSON.parse(resourceForModel(value)), {
    data_note: DATA_NOTE,
    id: 1,
    list: [{ k: 'ab"\n' }, null, true],
    none: null,
  });
});

test('A record is never shortened', () => {
  const value = `v=DKIM1; p=${'A'.repeat(3000)}`;
  assert.equal(recordText({ type: 'TXT', name: 'a.example', value }), `TXT a.example\n${value}`);
});

test('Structured content is limited in size and characters, and says how many items are missing', () => {
  const small = { object: 'test', checks: [{ id: 'spf', evidence: { links: ['a'] } }] };
  assert.deepEqual(structuredForModel(small), { data_note: DATA_NOTE, left_out: 0, ...small });
  const links = Array.from({ length: 4000 }, (_, i) => `https://h${i}.example/${'p'.repeat(100)}`);
  const large = { checks: [{ id: 'a' }, { id: 'links', evidence: { links } }], name: '\u202e«x»' };
  const cut = structuredForModel(large) as unknown as typeof large & { left_out: number };
  assert.ok(JSON.stringify(cut).length <= MAX_STRUCTURED);
  assert.equal(cut.name, '"x"');
  assert.equal(cut.checks.length, 2);
  const kept = cut.checks[1]!.evidence!.links;
  assert.deepEqual(kept, links.slice(0, kept.length));
  assert.equal(kept.length + cut.left_out, 4000);
  assert.equal(links.length, 4000);
  // No list can help here.
  assert.throws(() => structuredForModel({ text: 'x'.repeat(MAX_STRUCTURED) }), /too large/);
});
