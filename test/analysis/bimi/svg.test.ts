/** The rules of SVG Tiny PS for BIMI logos. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateSvg } from '../../../src/analysis/bimi/svg.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const XMLNS = 'xmlns="http://www.w3.org/2000/svg"';
const ROOT = `${XMLNS} version="1.2" baseProfile="tiny-ps" viewBox="0 0 100 100"`;
const TITLE = '<title>Example</title>';
const svg = (inside: string, root = ROOT) => `<svg ${root}>${TITLE}${inside}</svg>`;
const problemsIn = (text: string) => evaluateSvg(Buffer.from(text)).problems;

const rows: [what: string, text: string, problems: RegExp[]][] = [
  ['a valid logo', svg('<path d="M0 0h9"/><use href="#a"/><g fill="url(#b)"/>'), []],
  [
    'an XML declaration, doctype and description',
    `<?xml version="1.0"?><!DOCTYPE svg>${svg('<desc>x</desc>')}`,
    [],
  ],
  ['no profile', svg('', ROOT.replace(/baseProfile="\S+"/, '')), [/baseProfile/]],
  ['another profile', svg('', ROOT.replace('tiny-ps', 'tiny')), [/baseProfile/]],
  ['another version', svg('', ROOT.replace('1.2', '1.1')), [/version/]],
  ['no namespace', svg('', ROOT.replace(XMLNS, '')), [/namespace/]],
  ['x and y', svg('', `${ROOT} x="0px" y="0px"`), [/x or y/]],
  ['no title', `<svg ${ROOT}><g><title>inner</title></g></svg>`, [/no title/]],
  ['an empty title', `<svg ${ROOT}><title> </title></svg>`, [/no title/]],
  ['not square', svg('', ROOT.replace('100 100', '100 50')), [/not square/]],
  ['no viewBox', svg('', ROOT.replace(/viewBox="[^"]*"/, '')), [/no valid viewBox/]],
  [
    'width and height instead of a viewBox',
    svg('', ROOT.replace(/viewBox="[^"]*"/, 'width="9" height="9"')),
    [],
  ],
  ['a script', svg('<script>alert(1)</script>'), [/scripts \(script\)/]],
  ['an event handler', svg('<path onclick="x()"/>'), [/scripts \(onclick\)/]],
  ['animation', svg('<circle><animate/></circle><set/>'), [/\(animate\)/, /\(set\)/]],
  ['a raster image', svg('<image href="data:image/png;base64,AA"/>'), [/image/, /external/]],
  ['a link', svg('<a href="https://example.com/"/>'), [/a link/, /external/]],
  ['an external reference', svg('<use xlink:href="other.svg#a"/>'), [/external/]],
  [
    'an external reference in a style',
    svg('<path style="fill:url( \'https://a.example/\')"/>'),
    [/external/],
  ],
  ['a style sheet', svg('<style>@import "x"</style>'), [/style sheet/]],
  ['an external style sheet', `<?xml-stylesheet href="a.css"?>${svg('')}`, [/style sheet/]],
  ['entities', `<!DOCTYPE svg [<!ENTITY a "b">]>${svg('')}`, [/entities/]],
  ['a filter', svg('<filter id="a"/>'), [/filters or masks/]],
  ['a foreign object', svg('<foreignObject/>'), [/embedded documents/]],
  ['an HTML page', '<html><body>Hello</body></html>', [/not an SVG/]],
  ['text', 'Not found', [/not an SVG/]],
  ['an empty file', '', [/not an SVG/]],
  ['an unclosed element', `<svg ${ROOT}>${TITLE}<g>`, [/well-formed/]],
  ['an unclosed element after an empty one', `<svg ${ROOT}>${TITLE}<g/>`, [/well-formed/]],
  ['crossed elements', svg('<g><path></g></path>'), [/well-formed/]],
  ['crossed elements after an empty one', svg('<g><path><line/></g></path>'), [/well-formed/]],
  ['too large', svg(`<desc>${'x'.repeat(33_000)}</desc>`), [/limit is 32768/]],
];

for (const [what, text, problems] of rows)
  test(`evaluateSvg: ${what}`, () => {
    const found = problemsIn(text);
    assert.equal(found.length, problems.length, found.join(' '));
    problems.forEach((problem, index) => {
      assert.match(found[index]!, problem);
    });
  });

test('evaluateSvg handles costly SVG quickly with short output', () => {
  const costly = [
    `<svg ${ROOT}>${'<a>'.repeat(20_000)}`,
    `<svg ${ROOT}>${'<g>'.repeat(9000)}${'</x>'.repeat(9000)}`,
    svg(`<path ${Array.from({ length: 5000 }, (_, i) => `on${i}a="" onx${i}=""`).join(' ')}/>`),
    svg(`<path style="${'url('.repeat(8000)}${' '.repeat(30_000)}#"/>`),
    svg(`<path style="url(${' '.repeat(60_000)}"/>`),
    `<svg viewBox="${' '.repeat(60_000)}x">`,
  ];
  const start = systemClock.now();
  for (const text of costly) {
    const found = problemsIn(text);
    assert.ok(found.length > 0 && found.join().length < 2000);
  }
  assert.ok(systemClock.now() - start < 2000);
});
