/** Which parts of HTML are visible or hidden, and how. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HtmlFacts, scanHtml } from '../../../src/analysis/html/facts.ts';
import * as newsletters from '../../helpers/newsletters.ts';

/** HTML and its visible text; nothing is hidden. */
const VISIBLE: [string, string, string][] = [
  [
    'inline elements join, blocks separate',
    '<p>He<b>ll</b>o</p><div>wor<br>ld</div>',
    'Hello wor ld',
  ],
  ['table cells separate', '<table><tr><td>a</td><td>b</td></tr></table>', 'a b'],
  ['entities', '<p>a &amp; b&nbsp;&copy; &#x41;&lt;i&gt;', 'a & b © A<i>'],
  ['white space', '<p>  a \n\t b </p> \n <p> c', 'a b c'],
  [
    'no text in title, style, script and template',
    `<title>t</title><style>s{}</style><script>"<b>"</script><template>x</template>a<textarea>b</textarea>`,
    'a b',
  ],
  [
    'comments for Outlook',
    '<!--[if mso]><p>Outlook</p><![endif]--><!--[if !mso]><!--><p>others</p><!--<![endif]--><![if !mso]>and<![endif]>',
    'others and',
  ],
  [
    'font-size:0 overridden by a child',
    '<td style="font-size:0"><div style="font-size:14px">a</div></td>',
    'a',
  ],
  [
    'visibility overridden by a child',
    '<div style="visibility:hidden"><p style="visibility:visible">a',
    'a',
  ],
  [
    'mso-hide hides from Outlook alone',
    '<a href="https://example.com" style="mso-hide:all">Buy</a>',
    'Buy',
  ],
  [
    'a zero-height box that keeps proportions',
    '<div style="height:0;padding-bottom:56%;overflow:hidden"><p>a',
    'a',
  ],
  ['max-height:0 without overflow:hidden', '<div style="max-height:0"><p>a', 'a'],
  ['a zero-height cell grows', '<table><tr><td style="height:0;overflow:hidden">a', 'a'],
  ['height does not apply to a span', '<span style="height:0;overflow:hidden">a</span>', 'a'],
  [
    'a data address with a semicolon',
    `<p style="background:url(data:image/png;base64,display:none);color:red">a`,
    'a',
  ],
  [
    'a rule that may win over a style attribute',
    '<style>td p{color:#000!important}</style><p style="background:#fff;color:#fff">a',
    'a',
  ],
  [
    'white on a dark button',
    '<body bgcolor="#ffffff"><table><tr><td bgcolor="#0a0"><font color="white">a',
    'a',
  ],
  [
    'white on an image',
    '<body bgcolor="#fff"><table><tr><td background="https://example.com/a.jpg" style="color:#fff">a',
    'a',
  ],
  [
    'white on an image over a color',
    '<table><tr><td background="https://example.com/a.jpg" style="background-color:#fff;color:#fff">a',
    'a',
  ],
  [
    'white on a gradient',
    '<div style="background:#fff"><p style="background:linear-gradient(#000,#333);color:#fff">a',
    'a',
  ],
  ['white in a colored cell', '<table><tr><td bgcolor="#0a0"><font color="white">a', 'a'],
  ['white in a colored row', '<table><tr bgcolor=red><td><p style="color:#fff">a', 'a'],
  ['white on an unknown color name', '<p style="background:crimson;color:#fff">a', 'a'],
  [
    'white on a color in a new notation',
    '<p style="background:oklch(40% .2 9) left;color:#fff">a',
    'a',
  ],
  [
    'white on a background shorthand',
    `<p style="background:${'left '.repeat(40)} red;color:#fff">a`,
    'a',
  ],
  [
    'white on an image by a style',
    '<div style="background-image:url(a.png)"><p style="color:#fff">a',
    'a',
  ],
  [
    'white on the document’s background image',
    '<body background="a.jpg"><p style="color:#fff">a',
    'a',
  ],
  [
    'white by a class on the body',
    '<style>.d{background:#000}</style><body class=d><p style="color:#fff">a',
    'a',
  ],
  [
    'white where a rule colors an implied body',
    '<style>body{background:#000}</style><p style="color:#fff">a',
    'a',
  ],
  [
    'white by a class on a wrapper',
    '<style>.w{background:navy}</style><div class=w><p style="color:#fff">a',
    'a',
  ],
  [
    'white by a rule with combinators on a wrapper',
    '<style>table .w{background:navy}</style><div class=w><p style="color:#fff">a',
    'a',
  ],
  [
    'white by a rule in a media query',
    '<style>@media screen{.w{background:navy}}</style><div class=w><p style="color:#fff">a',
    'a',
  ],
  [
    'white by a rule beyond the limit',
    `<style>${'a{color:red}'.repeat(50_000)} div{background:navy}</style><div><p style="color:#fff">a`,
    'a',
  ],
  [
    'white by a selector with many classes',
    `<style>${'.w'.repeat(20)}{background:navy}</style><div class=w><p style="color:#fff">a`,
    'a',
  ],
  ['white on a button', '<button style="color:#fff">a', 'a'],
  [
    'white positioned over another element',
    '<img src=a><h1 style="color:#fff;position:relative;top:-100px">a',
    'a',
  ],
  ['slightly moved text', '<p style="transform:translate(-50%, -20px)">a', 'a'],
  ['opacity with many digits', `<p style="opacity:0.${'9'.repeat(9)}">a`, 'a'],
  ['a filter without effect', '<p style="filter:opacity()">a', 'a'],
  [
    'white with z-order over another element',
    '<div style="background:#fff"><h1 style="color:#fff;position:absolute;top:10px">a',
    'a',
  ],
  [
    'text that shows a background through it',
    '<p style="background:url(a.png);-webkit-background-clip:text;color:transparent">a',
    'a',
  ],
  [
    'a background by a rule with combinators',
    '<style>.b td{background:#000}</style><body style="background:#fff"><table class="b"><tr><td style="color:#fff">a',
    'a',
  ],
  [
    'a color by a rule with combinators',
    '<style>.b p{color:#000}</style><body style="background:#fff;color:#fff"><div class="b"><p>a',
    'a',
  ],
  [
    'a link has its own color',
    '<div style="background:#fff;color:#fff"><a href="https://example.com">a',
    'a',
  ],
  [
    'hidden in a media query only',
    '<style>@media (max-width:600px){.d{display:none!important}}</style><p class="d">a',
    'a',
  ],
  [
    'hidden by a style element for some screens',
    '<style media="(max-width:600px)">.d{display:none}</style><p class="d">a',
    'a',
  ],
  ['hidden on :hover', '<style>.d:hover{display:none}</style><p class="d">a', 'a'],
  [
    'an !important rule shows the text',
    '<style>.d{display:block!important}</style><p class="d" style="display:none">a',
    'a',
  ],
  [
    'a more specific rule shows the text',
    '<style>#x{display:block}.d{display:none}</style><p class="d" id="x">a',
    'a',
  ],
  ['another class', '<style>.c.d{display:none}</style><p class="c">a', 'a'],
  [
    'CSS only for Outlook',
    '<!--[if mso]><style>.d{display:none}</style><![endif]--><p class="d">a',
    'a',
  ],
  ['keyframes are no rules', '<style>@keyframes x{from{opacity:0}p{opacity:0}}</style><p>a', 'a'],
  [
    'an empty media query is ignored',
    '<style>@media print{p{display:none}} @font-face{font-family:x}</style><p>a',
    'a',
  ],
];

for (const [name, html, text] of VISIBLE)
  test(`scanHtml visible text: ${name}`, () => {
    const facts = scanHtml(html);
    assert.equal(facts.text, text);
    assert.deepEqual(facts.hidden, []);
  });

const HIDDEN: [string, string][] = [
  ['<p hidden>', 'the “hidden” attribute'],
  ['<p style="display:none">', 'display:none'],
  ['<p style="color:red; DISPLAY : None !important;color:blue">', 'display:none'],
  ['<p style="/* ; */display:none">', 'display:none'],
  ['<div style="display:none"><p style="display:block">', 'display:none'],
  ['<p style="visibility:hidden">', 'visibility:hidden'],
  ['<p style="opacity:0">', 'opacity:0'],
  ['<p style="opacity:.0">', 'opacity:0'],
  ['<p style="opacity:1%">', 'opacity:0'],
  ['<p style="filter:opacity(0)">', 'opacity:0'],
  ['<p style="filter:blur(1px) opacity( 0.0% )">', 'opacity:0'],
  ['<p style="transform:scale(0)">', 'transform:scale(0)'],
  ['<p style="transform:rotate(1deg) scale( 0 , 1)">', 'transform:scale(0)'],
  ['<p style="transform:translateX(-9999px)">', 'a position off the screen'],
  ['<p style="transform:translate(0, -200em)">', 'a position off the screen'],
  ['<p style="font-size:0">', 'font-size:0'],
  ['<p style="font-size:1px">', 'font-size:1.0px'],
  ['<p style="font-size:0.5pt">', 'font-size:0.7px'],
  ['<p style="font:0/0 a">', 'font-size:0'],
  ['<div style="font-size:0"><p style="font-size:2em">', 'font-size:0'],
  ['<div style="max-height:0;overflow:hidden">', 'max-height:0'],
  ['<div style="height:1px;width:1px;overflow:hidden">', 'height:0'],
  ['<span style="display:block;max-height:0px;overflow:hidden">', 'max-height:0'],
  ['<div style="width:0;overflow:hidden">', 'width:0'],
  ['<p style="text-indent:-9999px">', 'text-indent'],
  ['<p style="position:absolute;left:-9999px">', 'a position off the screen'],
  ['<p style="margin-left:-5000px">', 'a position off the screen'],
  ['<p style="position:absolute;clip:rect(0,0,0,0)">', 'an empty clip area'],
  ['<p style="color:transparent">', 'transparent text'],
  ['<p style="color:rgba(0,0,0,0)">', 'transparent text'],
  ['<p style="color:#0000">', 'transparent text'],
  ['<p style="background:#fff;color:#ffffff">', 'text in the color of its background'],
  ['<p style="background-color:#FEFEFE;color:white">', 'text in the color of its background'],
  ['<p style="color:#fff">', 'text in the color of its background'],
  ['<font color=white>', 'text in the color of its background'],
  ['<body style="background:none"><font color=white>', 'text in the color of its background'],
  [
    '<table bgcolor=black><tr><td bgcolor=white><font color=white>',
    'text in the color of its background',
  ],
  [
    '<style>body{background:#000}</style><p style="background:#fff;color:#fff">',
    'text in the color of its background',
  ],
  [
    '<style>@media (prefers-color-scheme:dark){body,p{background:#000!important}}[data-ogsb] p{background:#000}</style><p style="color:#fff">',
    'text in the color of its background',
  ],
  ['<body bgcolor="ffffff"><font color="#fff">', 'text in the color of its background'],
  [
    '<body style="background:rgb(255, 255, 255)"><div><p style="color:rgb(100%,100%,100%)">',
    'text in the color of its background',
  ],
  // A rule that may match does not win over a style attribute.
  [
    '<style>td p{color:#000;background:#000}</style><p style="background:#fff;color:#fff">',
    'text in the color of its background',
  ],
  ['<style>.h{display:none}</style><p class="a h">', 'display:none'],
  ['<style>#h{display:none}</style><p id="h">', 'display:none'],
  ['<style>p{display:none}</style><p>', 'display:none'],
  ['<style>p.h.i{display:none}</style><p class="i h">', 'display:none'],
  ['<style><!-- .x,\n.h { color:red; display:none } --></style><p class="h">', 'display:none'],
  ['<style>.a{b:c}}.h{display:none</style><p class="h">', 'display:none'],
  ['<style>@media print{.x{a:b}} .h{display:none}</style><p class="h">', 'display:none'],
  ['<style>@import url(a.css);.h{content:"}";display:none}</style><p class="h">', 'display:none'],
  ['<style>.h{display:none!important}</style><p class="h" style="display:block">', 'display:none'],
  // A rule in a media query that cannot win or changes something else does not make the text visible.
  [
    '<style>@media (max-width:9px){.h{display:block}}</style><p class="h" style="display:none">',
    'display:none',
  ],
  [
    '<style>@media (max-width:9px){.h{color:red}}</style><p class="h" style="display:none">',
    'display:none',
  ],
  [
    '<style>@media (prefers-color-scheme:dark){p{color:#fff!important}}</style><p style="background:#fff;color:#fff">',
    'text in the color of its background',
  ],
];

for (const [html, how] of HIDDEN)
  test(`scanHtml hidden text: ${JSON.stringify(html)}`, () => {
    const facts = scanHtml(`<i>before</i>${html}secret words`);
    assert.equal(facts.text, 'before');
    assert.deepEqual(facts.hidden, [{ text: 'secret words', how, preheader: false }]);
  });

const SOME_READERS: [string, string][] = [
  [
    'small screens',
    '<style>.m{display:none;max-height:0;overflow:hidden}@media (max-width:600px){.m{display:block;max-height:none}}</style><div class="m"><p>a',
  ],
  [
    'small screens, hidden inline',
    '<style>@media (max-width:600px){.m{display:block!important}}</style><div class="m" style="display:none;font-size:0"><p>a',
  ],
  [
    'small screens by the hidden attribute',
    '<style>@media (max-width:600px){*[class~="m"]{display:block!important}}</style><div class="m" style="display:none">a',
  ],
  [
    'small screens, by a rule with combinators',
    '<style>@media (max-width:600px){table.w td .m{display:inline!important}}</style><span class="m" style="display:none">a',
  ],
  [
    'dark mode',
    '<style>.m{display:none}@media (prefers-color-scheme:dark){.m{display:block!important}}</style><p class="m">a',
  ],
  [
    'checked checkboxes',
    '<style>.m{display:none}#t:checked~.m{display:block}</style><p class="m">a',
  ],
  [
    'small screens, by size',
    '<style>@media (max-width:600px){.m{font-size:16px!important}}</style><p class="m" style="font-size:0">a',
  ],
];

for (const [name, html] of SOME_READERS)
  test(`scanHtml counts text as neither visible nor hidden: ${name}`, () => {
    const facts = scanHtml(`before ${html}`);
    assert.equal(facts.text, 'before');
    assert.deepEqual(facts.hidden, []);
  });

test('scanHtml recognizes a preheader and ignores filler', () => {
  const filler = '&zwnj;&nbsp;&#847;';
  const html = `<title>t</title><div style="display:none">Sale</div><div style="display:none">${filler}</div>
    <p>Hello</p><p style="display:none">${filler}</p><p style="font-size:0">more</p><p style="font-size:0">text`;
  assert.deepEqual(
    scanHtml(html).hidden.map(({ text, preheader }) => [text.slice(0, 4), preheader]),
    [
      ['Sale', true],
      ['\u200c \u034f', true],
      ['more', false],
      ['text', false],
    ],
  );
});

test('scanHtml reports the cause of each hidden element', () => {
  const { hidden, text } = scanHtml(
    '<p hidden>a</p>b<p hidden>c</p>d<p hidden>e<i>f</i></p><p hidden>g</p>',
  );
  assert.equal(text, 'b d');
  assert.deepEqual(
    hidden.map(({ text, preheader }) => [text, preheader]),
    [
      ['a', true],
      ['c', false],
      ['ef', false],
      ['g', false],
    ],
  );
});

test('scanHtml distinguishes ids and classes that look alike', () => {
  const { text } = scanHtml(
    '<style>.h{display:none}</style><p id="a" class="b h">x</p><p id="a b" class="h">x</p><p id="a b h">y',
  );
  assert.equal(text, 'y');
});

test('scanHtml applies dark mode rules only inside their media query', () => {
  const css =
    '@media (prefers-color-scheme:dark){.a{background:#000}} @media screen{.b{background:#000}}';
  const { text } = scanHtml(
    `<style>${css}</style><p class=a style="color:#fff">a</p><p class=b style="color:#fff">b</p>`,
  );
  assert.equal(text, 'b');
});

test('scanHtml finds background images by attribute and style', () => {
  const { backgrounds } = scanHtml(`<body background=" A.png ">
    <div style="background:#fff url('https://example.com/B.jpg') no-repeat">
    <p style="background-image: url(c.gif)"><p style="background-image:url(c.gif)">
    <p style="background:linear-gradient(#000,#fff)"><p style="background:none">
    <p hidden style="background:url(d.gif)"><td background="e">`);
  assert.deepEqual(backgrounds, ['a.png', 'https://example.com/b.jpg', 'c.gif']);
});

test('scanHtml returns the visible text of links', () => {
  const { links } = scanHtml(`<a href=" https://example.com/?a=1&amp;b=2 "> Read
    <b>more</b> <span style="display:none">secret</span></a><a name="here">no link</a>
    <a href="/x"><img alt="Logo" src="a.png"></a><area href="y" alt="Map">
    <p><a href="z"><div>in a block</div></a>`);
  assert.deepEqual(
    links.map(({ href, text, tag }) => [href, text, tag]),
    [
      ['https://example.com/?a=1&b=2', 'Read more', 'a'],
      ['/x', 'Logo', 'a'],
      ['y', 'Map', 'area'],
      ['z', 'in a block', 'a'],
    ],
  );
});

test('scanHtml returns size and visibility of images', () => {
  const { images } = scanHtml(`<img src="a" width="600" height=" 20px" alt="">
    <img src="data:image/png;base64,${'A'.repeat(500)}" width="100%" style="width:90px">
    <img src="c" width="600" style="width:1px;height:1px" alt="c">
    <div style="display:none"><img src="d"></div><a href="x"><img src="e" style="visibility:hidden"></a>`);
  assert.deepEqual(
    images.map(({ src, alt, width, height, hidden, link }) => [
      src.length,
      alt,
      width,
      height,
      hidden,
      link?.href ?? null,
    ]),
    [
      [1, '', 600, 20, false, null],
      [100, null, 90, null, false, null],
      [1, 'c', 1, 1, false, null],
      [1, null, null, null, true, null],
      [1, null, null, null, true, 'x'],
    ],
  );
});

test('scanHtml counts elements, attributes, styles and active content', () => {
  const facts =
    scanHtml(`<a target="_blank" href="JavaScript:alert()">x</a><a href=" java&#10;script:x">y</a>
    <p style="color:red" once="no">z<p style="color:red" constructor><svg onload="x"><path/><title>t</title></svg>
    <script type="application/ld+json">{}</script><script>1</script><base target="_blank"><base href="/">
    <meta http-equiv="Refresh" content="0"><style>p{a:b}</style><style>i{}</style><image src="x">`);
  assert.deepEqual(facts.active, {
    onload: 1,
    script: 1,
    base: 1,
    'meta refresh': 1,
  });
  assert.deepEqual(scanHtml('<p ONCLICK=x onloadjane=x onloadjohn=x onjane=x once=x>').active, {
    onclick: 1,
    'on…': 2,
  });
  assert.equal(facts.elements.p, 2);
  assert.equal(facts.elements.img, 1);
  assert.equal(facts.attributes['a[target]'], 1);
  assert.equal(facts.attributes['p[constructor]'], 1);
  assert.deepEqual(facts.inlineStyles, ['color:red']);
  assert.equal(facts.styleSheet, 'p{a:b}\ni{}');
  assert.equal(facts.text, 'xy z');
});

// Only mistakes that change what readers see are reported.

const FINE: [string, string][] = [
  ...Object.entries(newsletters),
  [
    'omitted end tags',
    '<ul><li>a<li>b</ul><p>c<p>d<table><tr><td>e<td>f<tr><td>g</table><dl><dt>h<dd>i</dl>',
  ],
  [
    'end tags without a start',
    '</div></td></tr></table></p></span><p>a</p></b></center></body></html>',
  ],
  [
    'one end tag too many in a cell',
    '<table><tr><td><table><tr><td>a</td></td></tr></table></td></tr></table>',
  ],
  [
    'a div that closes an outer one',
    '<div><div><table><tr><td>a</div></td></tr></table></div></div></div>',
  ],
  ['unclosed blocks and fonts', '<center><div><font color=red><h1>a<h2>b<span>c'],
  ['crossed formatting', '<b><i>a</b></i><p><b>c<div>d</div></b></p><b><p>e</b></p>f'],
  ['formatting that ends after its block', '<p><b>a</p></b>c'],
  ['missing end tags at the end', '<table><tr><td><p>a<img src="x" width="1" height="1">'],
  [
    'a tracking pixel between rows',
    '<table><tr><td>a</td></tr><img width=1 height=1 src=x></table>',
  ],
  [
    'white space and forms between cells',
    '<table> <form action=x> &nbsp; <tr> <td>a</td> </tr></form></table>',
  ],
  ['anchors', '<a name="x">a<a name="y"/>b<a href="z">c</a>'],
  ['a tag in an attribute', '<img alt="<b>bold</b>" title=\'a > b\' src="x"><p>a</p>'],
  ['an unclosed comment at the end', '<p>a</p><!-- end'],
  ['no space between attributes', '<p class="a"id="b">a</p>'],
  ['self-closing SVG', '<svg><path d="x"/><g/><title>t</title></svg><p>a</p>'],
];

for (const [name, html] of FINE)
  test(`scanHtml finds no mistake: ${name}`, () => assert.deepEqual(scanHtml(html).structure, []));

const MISTAKES: [string, string, RegExp][] = [
  [
    'an unclosed link',
    '<p><a href="x">Offer</p><p>text</p>',
    /^The link “Offer text” is never closed\.$/,
  ],
  [
    'a link that ends with its cell',
    '<table><tr><td><a href="x">Offer</td><td>b</table>',
    /“Offer” is never closed/,
  ],
  ['a link in a link', '<a href="x">one <a href="y">two</a></a>', /“one” is not closed before/],
  [
    'text between cells',
    '<table><tr>Loose<td>a</td></tr></table>',
    /“Loose” is inside a table but not inside a cell/,
  ],
  [
    'an image between rows',
    '<table><tr><td>a</td></tr><img src=x width=600></table>',
    /^An image is inside a table/,
  ],
  ['text in a block between rows', '<table><tr><td>a</td></tr><div>Loose</div></table>', /“Loose”/],
  ['a cell without a table', '<div><td>a</td></div>', /^The tag <td> is outside a table/],
  [
    'a table in a row',
    '<table><tr><table><tr><td>a</table></table>',
    /A table starts inside another table/,
  ],
  [
    'an unclosed inner table',
    '<table><tr><td><table><tr><td>a</td></tr></td></tr><tr><td>b</td></tr></table>',
    /A table is never closed/,
  ],
  [
    'unclosed bold',
    '<p><b>Note:</p><p>text</p>',
    /^<b> is never closed, so the text after it is bold too/,
  ],
  ['unclosed bold in a cell', '<table><tr><td><p><strong>a</p>b</td></tr></table>', /<strong>/],
  ['an unclosed title', '<title>News<body><p>a</p>', /^<title> is never closed/],
  ['an unclosed style', '<style>p{}<p>a</p>', /^<style> is never closed/],
  ['an unclosed comment', '<p>a</p><!-- <p>b</p>', /^A comment is never closed/],
  [
    'an unclosed quotation mark',
    '<a href="x>a</a><p class="b">c</p>',
    /^The tag <a> is missing a quotation mark, so .*“href”/,
  ],
  [
    'a quotation mark that swallows all',
    '<p>a</p><a href="x>a</a><p>b</p>',
    /^The tag <a> is missing a quotation mark or “>”/,
  ],
  ['a tag without its end', '<p>a<b <i>c</i>', /^The tag <b> has no closing “>”/],
  ['an end tag without its end', '<p>a</p <p>c</p>', /^The tag <\/p> has no closing “>”/],
];

for (const [name, html, sentence] of MISTAKES)
  test(`scanHtml finds a mistake: ${name}`, () => {
    const { structure } = scanHtml(html);
    assert.ok(
      structure.some((found) => sentence.test(found)),
      structure.join(' | '),
    );
  });

// HTML made to exhaust memory: the facts are limited, and no step takes quadratic time.

const many = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join('');

// Each would take minutes or gigabytes if any step repeatedly read all open elements, all rules, or a
// whole text or value.
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

// Beyond the limits for one message: the rest is not read.
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
  'many declarations for all elements, and changing styles': () =>
    `<style>*{${DECLARATIONS}} x *{${DECLARATIONS}} *:hover{${DECLARATIONS}}</style>${many(50_000, (i) => `<b style=top:${i}>`)}`,
  'many declarations for changing classes': () =>
    `<style>${CLASSES.map((name) => `.${name}`).join(',')}{${DECLARATIONS}}</style>${many(10_000, (i) => `<b class="x${i} ${CLASSES.slice(1).join(' ')}">`)}`,
  'comparisons with elements whose names change': () =>
    `<style>${'.a.b.c.d.e.f.g.h{color:red}'.repeat(100)}</style>${many(50_000, (i) => `<p class="a x${i}">`)}`,
};

for (const [name, make] of Object.entries(HOSTILE))
  test(`scanHtml stays bounded: ${name}`, () => assertBounded(scanHtml(make()), false));

for (const [name, make] of Object.entries(TOO_MUCH))
  test(`scanHtml truncates: ${name}`, () => assertBounded(scanHtml(make()), true));

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

test('scanHtml reads the first 5 MB of 20 MB', () => {
  const facts = scanHtml(`<table><tr><td><a href="x">A<a href="y">${'Hello '.repeat(4_000_000)}`);
  assert.equal(facts.truncated, true);
  assert.equal(facts.text.length, 1_000_000);
  assert.deepEqual(facts.structure, ['The link “A” is not closed before the next link starts.']);
});

test('scanHtml with too many tags reads those at the start', () => {
  const facts = scanHtml(`<table><tr><td>${'<p><a href="x">Hello'.repeat(100_000)}`);
  assert.equal(facts.truncated, true);
  assert.equal(facts.links.length, 1000);
  assert.ok(facts.text.startsWith('Hello Hello'));
  assert.deepEqual(facts.structure, [
    'The link “Hello” is not closed before the next link starts.',
  ]);
});

test('scanHtml reads everything within 5 million characters', () => {
  const html = `${' '.repeat(4_999_988)}<b>last</b>`;
  assert.equal(scanHtml(`${html} `).text, 'last');
  assert.equal(scanHtml(`${html} `).truncated, false);
  assert.equal(scanHtml(`${html}  `).truncated, true);
});
