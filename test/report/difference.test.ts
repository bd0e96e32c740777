/** The difference of two messages: which lines, what in them, and the limits. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  messageDifference,
  type PartDifference,
  partDifference,
} from '../../src/report/difference.ts';
import { goodMessage } from '../helpers/good-message.ts';

const mail = (changes: Parameters<typeof goodMessage>[0], body?: string) =>
  Buffer.from(goodMessage(changes, body).replaceAll('\n', '\r\n'));

/** `−3 text` and `+4 text`, with the changed characters in brackets. */
const linesOf = ({ rows }: PartDifference): string[] =>
  rows.flatMap((row) => {
    if (row === null) return ['…'];
    const marked = ({ text, from, to }: NonNullable<typeof row.before>) =>
      from < to ? `${text.slice(0, from)}[${text.slice(from, to)}]${text.slice(to)}` : text;
    if (row.isSame) return [` ${row.before!.number} ${row.before!.text}`];
    return [
      ...(row.before ? [`−${row.before.number} ${marked(row.before)}`] : []),
      ...(row.after ? [`+${row.after.number} ${marked(row.after)}`] : []),
    ];
  });

describe('Difference of two messages', () => {
  it('has subject, text, HTML and header', async () => {
    const [subject, text, html, header] = await messageDifference(
      mail({ Subject: 'Your order has shipped' }, 'Hello Ann,\n\nyour order is on its way.\n'),
      mail(
        { Subject: 'Your order was shipped', 'X-Campaign': 'autumn' },
        'Hello Ann,\n\nyour parcel is on its way.\n',
      ),
    );
    assert.deepEqual(linesOf(subject!), [
      '−1 Your order [h]as shipped',
      '+1 Your order [w]as shipped',
    ]);
    assert.deepEqual(linesOf(text!), [
      ' 1 Hello Ann,',
      ' 2 ',
      '−3 your [order] is on its way.',
      '+3 your [parcel] is on its way.',
    ]);
    assert.deepEqual(html!.rows, []);
    assert.ok(linesOf(header!).some((line) => /^\+\d+ X-Campaign: autumn$/.test(line)));
  });

  it('finds the place in HTML that is written in one line', async () => {
    const html = (price: string) =>
      mail(
        { 'Content-Type': 'text/html; charset=utf-8' },
        `<p>Hello</p><p>It costs ${price}.</p><ul><li>One</li><li>Two</li></ul>\n`,
      );
    const [, , part] = await messageDifference(html('9 €'), html('8 €'));
    assert.deepEqual(
      linesOf(part!).filter((line) => /^[−+]/.test(line)),
      ['−2 <p>It costs [9] €.</p>', '+2 <p>It costs [8] €.</p>'],
    );
  });

  it('shows the change in a long line', () => {
    const line = (middle: string) => `${'a'.repeat(1200)}${middle}${'b'.repeat(500)}`;
    const [row] = partDifference('Text', line('old'), line('new')).rows;
    const { text, from, to } = row!.before!;
    assert.equal(text.slice(from, to), 'old');
    assert.ok(text.length <= 402, `${text.length}`);
  });

  it('is complete: it turns the first text into the second', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const { rows } = partDifference('Text', a.join('\n'), b.join('\n'));
        const removed = new Map<number, string>();
        const added = new Map<number, string>();
        for (const row of rows) {
          if (!row || row.isSame) continue;
          if (row.before) removed.set(row.before.number, row.before.text);
          if (row.after) added.set(row.after.number, row.after.text);
        }
        const [first, second] = [a, b].map((list) => (list.join('\n') === '' ? [] : list));
        const kept = first!.filter((_, index) => !removed.has(index + 1));
        const result = second!.map((_, index) => added.get(index + 1) ?? kept.shift());
        assert.deepEqual(result, second);
        assert.deepEqual(kept, []);
      }),
      { seed: 5, numRuns: 400 },
    );
  });

  it('of large and hostile messages takes little time and stays small', () => {
    const random = (seed: number) =>
      Array.from({ length: 60_000 }, (_, index) => `${(index * seed) % 9973} text`).join('\n');
    const started = performance.now();
    for (const [a, b] of [
      [random(7), random(11)],
      ['x'.repeat(3_000_000), 'y'.repeat(3_000_000)],
      ['<'.repeat(1_500_000), '</a>'.repeat(300_000)],
      ['\n'.repeat(1_000_000), ''],
    ] as const) {
      const part = partDifference('HTML', a, b);
      assert.ok(JSON.stringify(part).length < 300_000);
      assert.match(part.omitted!, /\d more lines are not shown\.|Only the beginning is compared\./);
    }
    assert.ok(performance.now() - started < 15_000);
  });
});
