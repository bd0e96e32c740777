/** HTML made to exhaust memory: what is kept of it is bounded, and no part of the work is quadratic. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HtmlFacts } from '../../../src/analysis/content/html-facts.ts';
import { scanHtml } from '../../../src/analysis/content/html-scan.ts';

const many = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join('');

// Each would take minutes, or gigabytes, if any step went through all elements that are open, all
// rules, or all of a text or value again.
const HOSTILE: Record<string, () => string> = {
  'attributes on one tag': () => `<p ${many(100_000, (i) => `a${i}=x `)}>`,
  'a huge style': () => `<p style="${'color:red;'.repeat(300_000)}">a`,
  'different styles': () =>
    many(20_000, (i) => `<p style="width:${i}px;display:none">text ${i}</p>`),
  'rules and classes': () =>
    `<style>${many(20_000, (i) => `.a.b${i}{color:red}`)}</style>${'<p class="a c d">x'.repeat(50_000)}`,
  'selectors of many names': () =>
    `<style>${`${'.a'.repeat(240)}.b{color:red}`.repeat(100)}</style>${'<p class="a c d">x'.repeat(50_000)}`,
  'selectors of brackets': () =>
    `<style>${`x [class=${'a'.repeat(485)}{color:red}${'['.repeat(490)}{color:red}`.repeat(500)}</style><p>`,
  'declarations without semicolons': () => `<style>a{${'a:b '.repeat(100_000)}}</style>`,
  braces: () => `<style>${'{'.repeat(100_000)}${'@media x{'.repeat(50_000)}</style>`,
  'comments in CSS': () => `<p style="${'/*'.repeat(200_000)}">a`,
  'white space': () => `<a href="a${' '.repeat(1_000_000)}b">a${' '.repeat(1_000_000)}b</a>`,
  entities: () => '&zwnj;&nbsp;x'.repeat(200_000),
  'markup signs': () => `${'<'.repeat(500_000)}${'&'.repeat(500_000)}${'<!--'.repeat(100_000)}`,
  'a tag name of megabytes': () =>
    `<${'a'.repeat(4_000_000)} ${many(1000, (i) => `a${i} `)}>x</${'a'.repeat(400_000)}>`,
  'an attribute name of megabytes': () => `<p ${'a'.repeat(4_000_000)}>x`,
  'a background of brackets': () => ofEach('.a', `background:x${' '.repeat(290)})`),
  'a background of words': () => ofEach('*', `background:${'a '.repeat(148)}`),
  'a colour of many numbers': () => ofEach('*', `color:rgb(${'1 '.repeat(48)})`),
  'a font of many sizes': () => ofEach('*', `font:${'1px '.repeat(74)}`),
  'a font of one number': () => ofEach('*', `font:${'1'.repeat(290)}x`),
  'an opacity of zeros': () => ofEach('.a', `opacity:${'0'.repeat(290)}x`),
  'a filter of white space': () => ofEach('.a', `filter:opacity(${' '.repeat(280)}x`),
  'a transform of white space': () => ofEach('.a', `transform:scale(${' '.repeat(280)}x`),
};

const ofEach = (selector: string, declaration: string) =>
  `<style>${selector}{${declaration}}</style>${'<b class=a>'.repeat(50_000)}x`;

const PROPERTIES =
  'background color display filter font height left margin-left opacity overflow position top transform visibility width';
const DECLARATIONS = PROPERTIES.split(' ')
  .map((property) => `${property}:inherit`)
  .join(';');
const CLASSES = Array.from({ length: 50 }, (_, i) => `c${i}`);

// More than is done for one message: the rest is not looked at.
const TOO_MUCH: Record<string, () => string> = {
  'nested elements': () => '<div>'.repeat(200_000) + '</div>'.repeat(200_000),
  'unclosed tags': () => many(600_000, (i) => `<x${i}>`),
  'tags without anything': () => '<b>'.repeat(1_600_000),
  'unclosed formatting, other end tags': () => '<b>'.repeat(200_000) + '</i>'.repeat(200_000),
  'formatting around blocks': () => '<b><div>'.repeat(100_000) + '</b>'.repeat(100_000),
  'end tags': () => '</p>'.repeat(1_000_000),
  attributes: () => `<b ${'a b c d '.repeat(200)}>`.repeat(500),
  'links and images': () => many(50_000, (i) => `<a href="${i}">${i}<img src=${i}></a>`),
  'unclosed links': () => '<a href=x>y'.repeat(100_000),
  'nested tables': () => '<table><tr><td>'.repeat(100_000),
  'tables in tables': () => '<table>x'.repeat(100_000),
  'different styles': () => many(250_000, (i) => `<b style=top:${i}>`),
  'style elements': () => '<style>a{color:red}</style>'.repeat(100_000),
  'much that is declared for all, and a style that changes': () =>
    `<style>*{${DECLARATIONS}} x *{${DECLARATIONS}} *:hover{${DECLARATIONS}}</style>${many(50_000, (i) => `<b style=top:${i}>`)}`,
  'much that is declared for classes that change': () =>
    `<style>${CLASSES.map((name) => `.${name}`).join(',')}{${DECLARATIONS}}</style>${many(10_000, (i) => `<b class="x${i} ${CLASSES.slice(1).join(' ')}">`)}`,
  'comparisons with elements whose names change': () =>
    `<style>${'.a.b.c.d.e.f.g.h{color:red}'.repeat(100)}</style>${many(50_000, (i) => `<p class="a x${i}">`)}`,
};

for (const [name, make] of Object.entries(HOSTILE))
  test(`bounded: ${name}`, () => assertBounded(scanHtml(make()), false));

for (const [name, make] of Object.entries(TOO_MUCH))
  test(`bounded, and not all is looked at: ${name}`, () => assertBounded(scanHtml(make()), true));

function assertBounded(facts: HtmlFacts, truncated: boolean) {
  for (const list of [facts.links, facts.images, facts.hidden, facts.inlineStyles])
    assert.ok(list.length <= 1000);
  assert.ok(facts.backgrounds.length <= 1000);
  for (const counts of [facts.elements, facts.attributes, facts.active]) {
    assert.ok(Object.keys(counts).length <= 1000);
    assert.ok(Object.keys(counts).every((key) => key.length <= 100));
  }
  assert.ok(facts.structure.length <= 100);
  assert.ok(facts.text.length <= 1_000_000);
  assert.ok(facts.hidden.reduce((sum, { text }) => sum + text.length, 0) <= 1_000_000);
  assert.equal(facts.truncated, truncated);
}

test('20 MB of HTML: the first 5 MB are looked at, and nothing is said of what is open there', () => {
  const facts = scanHtml(`<table><tr><td><a href="x">A<a href="y">${'Hello '.repeat(4_000_000)}`);
  assert.equal(facts.truncated, true);
  assert.equal(facts.text.length, 1_000_000);
  assert.deepEqual(facts.structure, ['The link “A” is not closed before the next one begins.']);
});

test('too many tags: those at the start are looked at, and nothing is said of what is open there', () => {
  const facts = scanHtml(`<table><tr><td>${'<p><a href="x">Hello'.repeat(100_000)}`);
  assert.equal(facts.truncated, true);
  assert.equal(facts.links.length, 1000);
  assert.ok(facts.text.startsWith('Hello Hello'));
  assert.deepEqual(facts.structure, ['The link “Hello” is not closed before the next one begins.']);
});

test('what lies within 5 million characters is all looked at', () => {
  const html = `${' '.repeat(4_999_988)}<b>last</b>`;
  assert.equal(scanHtml(`${html} `).text, 'last');
  assert.equal(scanHtml(`${html} `).truncated, false);
  assert.equal(scanHtml(`${html}  `).truncated, true);
});
