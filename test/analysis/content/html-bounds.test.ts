/** HTML made to exhaust memory: what is kept of it is bounded, and no part of the work is quadratic. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanHtml } from '../../../src/analysis/content/html-scan.ts';

const many = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join('');

// Each would take minutes, or gigabytes, if any step went through all elements that are open, all
// rules, or all of a text again.
const HOSTILE: Record<string, () => string> = {
  'nested elements': () => '<div>'.repeat(200_000) + '</div>'.repeat(200_000),
  'attributes on one tag': () => `<p ${many(100_000, (i) => `a${i}=x `)}>`,
  'unclosed tags': () => many(100_000, (i) => `<x${i}>`),
  'unclosed formatting, other end tags': () => '<b>'.repeat(200_000) + '</i>'.repeat(200_000),
  'formatting around blocks': () => '<b><div>'.repeat(100_000) + '</b>'.repeat(100_000),
  'a huge style': () => `<p style="${'color:red;'.repeat(300_000)}">a`,
  'different styles': () =>
    many(50_000, (i) => `<p style="width:${i}px;display:none">text ${i}</p>`),
  'links and images': () => many(50_000, (i) => `<a href="${i}">${i}<img src=${i}></a>`),
  'unclosed links': () => '<a href=x>y'.repeat(100_000),
  'nested tables': () => '<table><tr><td>'.repeat(100_000),
  'tables in tables': () => '<table>x'.repeat(100_000),
  'rules and classes': () =>
    `<style>${many(20_000, (i) => `.a.b${i}{color:red}`)}</style>${'<p class="a c d">x'.repeat(50_000)}`,
  'declarations without semicolons': () => `<style>a{${'a:b '.repeat(100_000)}}</style>`,
  braces: () => `<style>${'{'.repeat(100_000)}${'@media x{'.repeat(50_000)}</style>`,
  'comments in CSS': () => `<p style="${'/*'.repeat(200_000)}">a`,
  'white space': () => `<a href="a${' '.repeat(1_000_000)}b">a${' '.repeat(1_000_000)}b</a>`,
  entities: () => '&zwnj;&nbsp;x'.repeat(200_000),
  'markup signs': () => `${'<'.repeat(500_000)}${'&'.repeat(500_000)}${'<!--'.repeat(100_000)}`,
};

for (const [name, make] of Object.entries(HOSTILE))
  test(`bounded: ${name}`, () => {
    const facts = scanHtml(make());
    for (const list of [facts.links, facts.images, facts.hidden, facts.inlineStyles])
      assert.ok(list.length <= 1000);
    for (const counts of [facts.elements, facts.attributes, facts.active])
      assert.ok(Object.keys(counts).length <= 1000);
    assert.ok(facts.structure.length <= 100);
    assert.ok(facts.text.length <= 1_000_000);
    assert.ok(facts.hidden.reduce((sum, { text }) => sum + text.length, 0) <= 1_000_000);
    assert.equal(facts.truncated, false);
  });

test('20 MB of HTML: the first 5 MB are looked at, and nothing is said of what is open there', () => {
  const facts = scanHtml(`<table><tr><td>${'<p><a href="x">Hello'.repeat(1_000_000)}`);
  assert.equal(facts.truncated, true);
  assert.equal(facts.text.length, 1_000_000);
  assert.equal(facts.links.length, 1000);
  assert.deepEqual(facts.structure, ['The link “Hello” is not closed before the next one begins.']);
});

test('what lies within 5 million characters is all looked at', () => {
  const html = `${' '.repeat(4_999_988)}<b>last</b>`;
  assert.equal(scanHtml(`${html} `).text, 'last');
  assert.equal(scanHtml(`${html} `).truncated, false);
  assert.equal(scanHtml(`${html}  `).truncated, true);
});
