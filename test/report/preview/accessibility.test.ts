import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanHtml } from '../../../src/analysis/html/facts.ts';
import { accessibilityView } from '../../../src/report/preview/accessibility.ts';
import * as newsletters from '../../helpers/newsletters.ts';

const page = (body: string, head = ''): string =>
  `<html lang="en"><head><title>News</title>${head}</head><body>${body}</body></html>`;

/** Each item in a line: kind, heading level, text, link. */
const readingOf = (body: string, head?: string): string[] =>
  accessibilityView(page(body, head)).items.map(({ kind, text, headingLevel, link }) =>
    [
      kind === 'text' ? null : kind,
      headingLevel === null ? null : `h${headingLevel}`,
      text,
      link === null ? null : `→ ${link}`,
    ]
      .filter((part) => part !== null && part !== '')
      .join(' '),
  );

const READINGS: [what: string, body: string, items: string[]][] = [
  ['blocks', '<p>One <b>two</b><br>three</p><div>four</div>', ['One two three', 'four']],
  ['headings', '<h1>News</h1><p>Text', ['h1 News', 'Text']],
  ['heading roles', '<div role="heading" aria-level="3">News</div>', ['h3 News']],
  ['headings without meaning', '<h2 role="presentation">News</h2>', ['News']],
  [
    'links',
    '<p>See <a href="https://a.example">the news</a>, or call.',
    ['See', 'the news → https://a.example', ', or call.'],
  ],
  [
    'a link in a heading',
    '<h2><a href="https://a.example">News</a></h2>',
    ['h2 News → https://a.example'],
  ],
  ['images', '<img src="a.png" alt="A red shoe"><img src="b.png" alt="">', ['image A red shoe']],
  [
    'an image without alt text',
    '<img src="https://a.example/i/shoe_red.png?x=1">',
    ['file_name shoe_red.png'],
  ],
  [
    'a linked image',
    '<a href="https://a.example"><img src="a.png" alt="Shop"></a>',
    ['image Shop → https://a.example'],
  ],
  [
    'a link without text',
    '<a href="https://a.example"></a>',
    ['https://a.example → https://a.example'],
  ],
  [
    'a link with a label',
    '<a href="https://a.example" aria-label="Shop"></a>',
    ['Shop → https://a.example'],
  ],
  ['lists', '<ul><li>one<li>two</ul>after', ['list 2 items', 'one', 'two', 'end_of_list', 'after']],
  [
    'layout tables',
    '<table role="presentation"><tr><td>a<td>b<tr><td>c<td>d</table><table><tr><td>e<td>f</table>',
    ['a', 'b', 'c', 'd', 'e', 'f'],
  ],
  [
    'data tables',
    '<table><tr><th>Item<th>Price<tr><td colspan=2>Shoe</table>',
    ['table 2 columns, 2 rows', 'Item', 'Price', 'Shoe', 'end_of_table'],
  ],
  [
    'a table in a table',
    '<table role=none><tr><td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>e',
    ['table 2 columns, 2 rows', 'a', 'b', 'c', 'd', 'end_of_table', 'e'],
  ],
  [
    'what is hidden from screen readers',
    '<p style="display:none">a</p><p hidden>b</p><p style="visibility:hidden">c</p><p aria-hidden="true">d</p><style>e</style>f',
    ['f'],
  ],
  [
    'what is hidden only from sight',
    '<p style="position:absolute;left:-9999px">a</p><p style="font-size:0">b</p><p style="opacity:0">c',
    ['a', 'b', 'c'],
  ],
];
for (const [what, body, items] of READINGS)
  test(`The reading order has ${what}`, () => {
    assert.deepEqual(readingOf(body), items);
  });

test('The view states language and title, also of a wrapper', () => {
  assert.equal(accessibilityView(page('Hi')).language, 'en');
  assert.equal(accessibilityView(page('Hi')).title, 'News');
  assert.equal(accessibilityView('<div lang="de-AT">Hallo').language, 'de-AT');
  assert.equal(accessibilityView('Hi <div lang="de">Hallo').language, null);
  assert.equal(accessibilityView('<svg><title>x</title></svg>Hi').title, null);
});

const problemsOf = (html: string) =>
  accessibilityView(html).problems.map(({ kind, line, text, count, detail }) =>
    [kind, line, count, text, detail].join(' | '),
  );

const LONG = `<p>${'Many words here. '.repeat(100)}</p>`;
const PROBLEMS: [what: string, html: string, problems: RegExp[]][] = [
  ['no language', '<p>Hi', [/^language \| 1 \| 1 \|.*No lang attribute/]],
  ['an invalid language', '<p lang="en_US!">Hi', [/^language.*names no language/]],
  ['an undetermined language', '<p lang="und">Hi', [/^language.*“und” names no language/]],
  ['no title', '<html lang=en><body>Hi', [/^title/]],
  [
    'a skipped level',
    page('<h1>a</h1>\n<h3>b</h3>'),
    [/^headings \| 2 \|.*level 3 follows one of level 1/],
  ],
  ['levels up again', page('<h1>a</h1><h2>b</h2><h3>c</h3><h2>d</h2>'), []],
  ['a late first level', page('<h2>a</h2>'), [/first heading has level 2/]],
  [
    'empty headings',
    page('<h1>a</h1><h2></h2>\n<h2> </h2>'),
    [/^headings \| 1 \| 2 \|.*2 headings are empty/],
  ],
  ['no headings in a long text', page(LONG), [/no headings/]],
  ['a long text with headings', page(`<h1>a</h1>${LONG}`), []],
  [
    'useless link texts',
    page(
      '<a href="https://a.example/1">Click here</a><a href="https://a.example/2">click here</a>',
    ),
    [/^link_text \| 1 \| 2 \| Click here \| 2 links/],
  ],
  ['a link text with a label', page('<a href="https://a.example" title="Our shop">here</a>'), []],
  [
    'a URL as link text',
    page('<a href="https://a.example">https://a.example/b?c=d</a>'),
    [/^link_text.*URL as text/],
  ],
  [
    'an empty link',
    page('<a href="https://a.example"></a>'),
    [/^link_text.*https:\/\/a.example.*no text/],
  ],
  ['a hidden link', page('<a href="https://a.example" style="display:none"></a>'), []],
  [
    'no alt text',
    page('\n<img src="https://a.example/x.png">'),
    [/^alt \| 2 \| 1 \| x.png \| An image has no alt attribute/],
  ],
  ['no alt text in a link', page('<a href="https://a.example"><img src="x.png"></a>'), [/^alt/]],
  ['a tracking pixel', page('<img src="x.gif" width=1 height=1>'), []],
  [
    'a file name as alt text',
    page('<img src="a/b/hero_2.png" alt="hero_2.png"><img src="a/IMG_1234.jpg" alt="IMG_1234">'),
    [/^alt \| 1 \| 2 \| hero_2.png.*file name/],
  ],
  [
    'layout tables',
    page('<table><tr><td>a</table><table><tr><td>b</table>'),
    [/^table \| 1 \| 2 \|/],
  ],
  [
    'marked tables',
    page('<table role="presentation"><tr><td>a</table><table><tr><th>b<td>c</table>'),
    [],
  ],
  [
    'small text',
    page('<p style="font-size:10px">a</p>\n<p style="font-size:10px">b'),
    [/^font_size \| 1 \| 2 \| a \|.*10 px/],
  ],
];
for (const [what, html, problems] of PROBLEMS)
  test(`The view reports ${what}`, () => {
    const found = problemsOf(html);
    assert.equal(found.length, problems.length, found.join('\n'));
    for (const [i, problem] of problems.entries()) assert.match(found[i]!, problem);
  });

/** Contrast as `enough`, `tooLow` or `unknown`. */
const CONTRASTS: [html: string, result: string][] = [
  ['<p style="color:#777;background:#fff">a', 'tooLow'],
  ['<p style="color:#767676;background:#fff">a', 'enough'],
  ['<p style="color:#777">a', 'tooLow'],
  ['<body style="background:#222"><p style="color:#666">a', 'tooLow'],
  ['<table bgcolor="#000"><tr><td><font color="#333">a', 'tooLow'],
  ['<style>.x{color:#999}</style><p class=x>a', 'tooLow'],
  ['<p style="color:#888;font-size:24px">a', 'enough'],
  ['<p style="color:#888;font-size:19px;font-weight:bold">a', 'enough'],
  ['<p style="color:#888;font-size:19px;font-weight:600">a', 'tooLow'],
  ['<p style="color:#888;font-size:18px"><b>a', 'tooLow'],
  ['<h1 style="color:#888">a', 'enough'],
  ['<h5 style="color:#888">a', 'tooLow'],
  ['<p style="font:bold 20px Arial;color:#888">a', 'enough'],
  ['<font size=5 color="#888888">a', 'unknown'],
  ['<font size=5 color="#dddddd">a', 'tooLow'],
  ['<font size=1 color="#333333">a', 'enough'],
  ['<p>a', 'unknown'],
  ['<a href="https://a.example">a</a>', 'unknown'],
  ['<p style="color:#eee;background:url(a.png)">a', 'unknown'],
  ['<table><tr><td background="a.png"><p style="color:#eee">a', 'unknown'],
  ['<p style="color:#eee;background:linear-gradient(red,blue)">a', 'unknown'],
  ['<p style="color:rgba(0,0,0,.2)">a', 'unknown'],
  ['<p style="color:#333;opacity:.3">a', 'unknown'],
  ['<style>td p{color:#eee}</style><p>a', 'unknown'],
  ['<style>@media (max-width:600px){p{background:#000}}</style><p style="color:#333">a', 'unknown'],
  // Dark mode has colors of its own.
  [
    '<style>@media (prefers-color-scheme:dark){p{background:#000}}</style><p style="color:#333">a',
    'enough',
  ],
];
for (const [html, expected] of CONTRASTS)
  test(`The contrast is ${expected}: ${html}`, () => {
    const { contrast, problems } = accessibilityView(html);
    assert.deepEqual(
      Object.entries(contrast).filter(([, characters]) => characters > 0),
      [[expected, 1]],
    );
    assert.equal(
      problems.filter(({ kind }) => kind === 'contrast').length,
      expected === 'tooLow' ? 1 : 0,
    );
  });

test('A contrast problem names the line, the colors, the ratio and a color that would pass', () => {
  const { problems } = accessibilityView(
    page('\n<p style="color:#999999">\n  Terms &amp; conditions</p>\n<p style="color:#999">More'),
  );
  assert.deepEqual(problems, [
    {
      kind: 'contrast',
      line: 3,
      text: 'Terms & conditions',
      count: 2,
      detail:
        'The contrast of #999999 on #ffffff is 2.84:1, and text of this size needs 4.5:1. Use #767676 for the text.',
      contrast: {
        color: '#999999',
        background: '#ffffff',
        ratio: 2.84,
        needed: 4.5,
        readable: '#767676',
        readableBackground: '#323232',
      },
    },
  ]);
});

test('White text on a light button gets advice for the background', () => {
  const { problems } = accessibilityView(page('<p style="color:#fff;background:#22bc66">Read'));
  assert.match(problems[0]!.detail, /Use #[0-9a-f]{6} for the background\.$/);
});

test('The view reads all text that is visible', () => {
  for (const [name, html] of Object.entries(newsletters)) {
    const read = accessibilityView(html)
      .items.map(({ text }) => text)
      .join(' ')
      .replace(/\s+/g, '');
    for (const word of scanHtml(html).text.match(/[\p{L}\p{N}]+/gu) ?? [])
      assert.ok(read.includes(word), `${name}: ${word}`);
  }
});

test('The view of hostile HTML is bounded and takes linear time', () => {
  const hostile = [
    '<div>'.repeat(60_000),
    '<table><tr><td>x'.repeat(20_000),
    '<table>'.repeat(30_000),
    '<ul><li>x'.repeat(20_000),
    '<a href=x>'.repeat(30_000),
    '<h1>'.repeat(30_000),
    '<h6>x</h6><h1>y</h1>'.repeat(20_000),
    '<img src=x>'.repeat(20_000),
    `<p style="color:#777">${'x<br>'.repeat(30_000)}`,
    '\n'.repeat(1_000_000) + '<b>x</b>\n'.repeat(10_000),
    Array.from(
      { length: 20_000 },
      (_, i) => `<p style="color:#${(0x999999 + i).toString(16)}">x`,
    ).join(''),
    `<p lang="${'a-'.repeat(30_000)}">x`,
    `<title>${'x'.repeat(1_000_000)}`,
    '&#10;'.repeat(200_000),
    '\u202e<img alt="\u202e\u0000">\ud800',
  ];
  for (const html of hostile) {
    const view = accessibilityView(html);
    assert.ok(view.items.length <= 1000 && view.problems.length <= 100);
    assert.ok(JSON.stringify(view).length < 1_500_000);
  }
});
