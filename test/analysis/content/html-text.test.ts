/** What of HTML is visible and what is hidden, and by what. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanHtml } from '../../../src/analysis/content/html-scan.ts';

/** HTML, the text a reader sees, and how what is not seen is hidden. */
const VISIBLE: [string, string, string][] = [
  ['inline elements join, blocks part', '<p>He<b>ll</b>o</p><div>wor<br>ld</div>', 'Hello wor ld'],
  ['cells part', '<table><tr><td>a</td><td>b</td></tr></table>', 'a b'],
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
    'font-size:0 that a child takes back',
    '<td style="font-size:0"><div style="font-size:14px">a</div></td>',
    'a',
  ],
  [
    'visibility that a child takes back',
    '<div style="visibility:hidden"><p style="visibility:visible">a',
    'a',
  ],
  [
    'mso-hide hides from Outlook alone',
    '<a href="https://example.com" style="mso-hide:all">Buy</a>',
    'Buy',
  ],
  [
    'a box of no height that keeps proportions',
    '<div style="height:0;padding-bottom:56%;overflow:hidden"><p>a',
    'a',
  ],
  ['max-height:0 without overflow:hidden', '<div style="max-height:0"><p>a', 'a'],
  ['a cell of no height grows', '<table><tr><td style="height:0;overflow:hidden">a', 'a'],
  ['a span has no height', '<span style="height:0;overflow:hidden">a</span>', 'a'],
  [
    'a data address with a semicolon',
    `<p style="background:url(data:image/png;base64,display:none);color:red">a`,
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
    'white on an image before a colour',
    '<table><tr><td background="https://example.com/a.jpg" style="background-color:#fff;color:#fff">a',
    'a',
  ],
  [
    'white on a gradient',
    '<div style="background:#fff"><p style="background:linear-gradient(#000,#333);color:#fff">a',
    'a',
  ],
  ['white in a cell of a colour', '<table><tr><td bgcolor="#0a0"><font color="white">a', 'a'],
  ['white in a row of a colour', '<table><tr bgcolor=red><td><p style="color:#fff">a', 'a'],
  ['white on a colour of no known name', '<p style="background:crimson;color:#fff">a', 'a'],
  [
    'white on a colour in a new notation',
    '<p style="background:oklch(40% .2 9) left;color:#fff">a',
    'a',
  ],
  [
    'white on a background of many words',
    `<p style="background:${'left '.repeat(40)} red;color:#fff">a`,
    'a',
  ],
  [
    'white on an image by a style',
    '<div style="background-image:url(a.png)"><p style="color:#fff">a',
    'a',
  ],
  ['white on the image of the document', '<body background="a.jpg"><p style="color:#fff">a', 'a'],
  [
    'white by a class on the body',
    '<style>.d{background:#000}</style><body class=d><p style="color:#fff">a',
    'a',
  ],
  [
    'white where a rule paints a body without tag',
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
    'white by a rule beyond what is looked at',
    `<style>${'a{color:red}'.repeat(50_000)} div{background:navy}</style><div><p style="color:#fff">a`,
    'a',
  ],
  [
    'white by a selector of many names',
    `<style>${'.w'.repeat(20)}{background:navy}</style><div class=w><p style="color:#fff">a`,
    'a',
  ],
  ['white on a button', '<button style="color:#fff">a', 'a'],
  [
    'white lifted over something',
    '<img src=a><h1 style="color:#fff;position:relative;top:-100px">a',
    'a',
  ],
  ['moved a little', '<p style="transform:translate(-50%, -20px)">a', 'a'],
  ['opacity as a number of many digits', `<p style="opacity:0.${'9'.repeat(9)}">a`, 'a'],
  ['a filter that says nothing', '<p style="filter:opacity()">a', 'a'],
  [
    'white laid over something',
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
    'a colour by a rule with combinators',
    '<style>.b p{color:#000}</style><body style="background:#fff;color:#fff"><div class="b"><p>a',
    'a',
  ],
  [
    'a link has a colour of its own',
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
    'the stronger rule shows it',
    '<style>.d{display:block!important}</style><p class="d" style="display:none">a',
    'a',
  ],
  [
    'the more special rule shows it',
    '<style>#x{display:block}.d{display:none}</style><p class="d" id="x">a',
    'a',
  ],
  ['another class', '<style>.c.d{display:none}</style><p class="c">a', 'a'],
  [
    'CSS for Outlook alone',
    '<!--[if mso]><style>.d{display:none}</style><![endif]--><p class="d">a',
    'a',
  ],
  ['an animation is no rule', '<style>@keyframes x{from{opacity:0}p{opacity:0}}</style><p>a', 'a'],
  [
    'a media query is no rule',
    '<style>@media print{p{display:none}} @font-face{font-family:x}</style><p>a',
    'a',
  ],
];

for (const [name, html, text] of VISIBLE)
  test(`visible: ${name}`, () => {
    const facts = scanHtml(html);
    assert.equal(facts.text, text);
    assert.deepEqual(facts.hidden, []);
  });

const HIDDEN: [string, string][] = [
  ['<p hidden>', 'the attribute “hidden”'],
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
  ['<p style="transform:translateX(-9999px)">', 'a position outside of the screen'],
  ['<p style="transform:translate(0, -200em)">', 'a position outside of the screen'],
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
  ['<p style="position:absolute;left:-9999px">', 'a position outside of the screen'],
  ['<p style="margin-left:-5000px">', 'a position outside of the screen'],
  ['<p style="position:absolute;clip:rect(0,0,0,0)">', 'a clip of no size'],
  ['<p style="color:transparent">', 'transparent text'],
  ['<p style="color:rgba(0,0,0,0)">', 'transparent text'],
  ['<p style="color:#0000">', 'transparent text'],
  ['<p style="background:#fff;color:#ffffff">', 'text in the colour of its background'],
  ['<p style="background-color:#FEFEFE;color:white">', 'text in the colour of its background'],
  ['<p style="color:#fff">', 'text in the colour of its background'],
  ['<font color=white>', 'text in the colour of its background'],
  ['<body style="background:none"><font color=white>', 'text in the colour of its background'],
  [
    '<table bgcolor=black><tr><td bgcolor=white><font color=white>',
    'text in the colour of its background',
  ],
  [
    '<style>body{background:#000}</style><p style="background:#fff;color:#fff">',
    'text in the colour of its background',
  ],
  [
    '<style>@media (prefers-color-scheme:dark){body,p{background:#000!important}}[data-ogsb] p{background:#000}</style><p style="color:#fff">',
    'text in the colour of its background',
  ],
  ['<body bgcolor="ffffff"><font color="#fff">', 'text in the colour of its background'],
  [
    '<body style="background:rgb(255, 255, 255)"><div><p style="color:rgb(100%,100%,100%)">',
    'text in the colour of its background',
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
  // A rule in a media query is no excuse where it cannot win, or changes something else.
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
    'text in the colour of its background',
  ],
];

for (const [html, how] of HIDDEN)
  test(`hidden: ${JSON.stringify(html)}`, () => {
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
    'small screens, by the attribute',
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
  ['who ticks a box', '<style>.m{display:none}#t:checked~.m{display:block}</style><p class="m">a'],
  [
    'small screens, by size',
    '<style>@media (max-width:600px){.m{font-size:16px!important}}</style><p class="m" style="font-size:0">a',
  ],
];

for (const [name, html] of SOME_READERS)
  test(`neither visible nor hidden: text for ${name}`, () => {
    const facts = scanHtml(`before ${html}`);
    assert.equal(facts.text, 'before');
    assert.deepEqual(facts.hidden, []);
  });

test('hidden text before all visible text is a preheader; filler after it is nothing', () => {
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

test('elements of one look are hidden each by a cause of its own', () => {
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

test('names that look alike are different elements', () => {
  const { text } = scanHtml(
    '<style>.h{display:none}</style><p id="a" class="b h">x</p><p id="a b" class="h">x</p><p id="a b h">y',
  );
  assert.equal(text, 'y');
});

test('text after a rule for dark mode is styled for everybody again', () => {
  const css =
    '@media (prefers-color-scheme:dark){.a{background:#000}} @media screen{.b{background:#000}}';
  const { text } = scanHtml(
    `<style>${css}</style><p class=a style="color:#fff">a</p><p class=b style="color:#fff">b</p>`,
  );
  assert.equal(text, 'b');
});

test('images behind others by attribute and by style, where they are seen', () => {
  const { backgrounds } = scanHtml(`<body background=" A.png ">
    <div style="background:#fff url('https://example.com/B.jpg') no-repeat">
    <p style="background-image: url(c.gif)"><p style="background-image:url(c.gif)">
    <p style="background:linear-gradient(#000,#fff)"><p style="background:none">
    <p hidden style="background:url(d.gif)"><td background="e">`);
  assert.deepEqual(backgrounds, ['a.png', 'https://example.com/b.jpg', 'c.gif']);
});

test('links have what a reader sees of them as text', () => {
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

test('images have their size by attribute or style, and whether they are shown', () => {
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

test('elements, attributes, styles and what is active are counted', () => {
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
  assert.equal(facts.elements.p, 2);
  assert.equal(facts.elements.img, 1);
  assert.equal(facts.attributes['a[target]'], 1);
  assert.equal(facts.attributes['p[constructor]'], 1);
  assert.deepEqual(facts.inlineStyles, ['color:red']);
  assert.equal(facts.styleSheet, 'p{a:b}\ni{}');
  assert.equal(facts.text, 'xy z');
});
