import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenizeHtml } from '../../../src/analysis/html/tokens.ts';

test('The tokenizer states where each tag and each piece of text starts', () => {
  const html = 'a &amp; b<p class=x>\n&lt;<b>t</b>1 < 2 &amp; 3<img src=x/>';
  const found: [string, string][] = [];
  tokenizeHtml(html, {
    open: (name, _attributes, _selfClosing, at) => found.push([name, html.slice(at, at + 5)]),
    close() {},
    text: (piece, at) => found.push([piece, html.slice(at, at + 5)]),
    broken() {},
    isForeign: () => false,
  });
  assert.deepEqual(found, [
    ['a & b', 'a &am'],
    ['p', '<p cl'],
    ['\n<', '\n&lt;'],
    ['b', '<b>t<'],
    ['t', 't</b>'],
    ['1 < 2 & 3', '1 < 2'],
    ['img', '<img '],
  ]);
});
