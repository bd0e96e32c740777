/** What the preview shows of a message in each mail client. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREVIEW_CLIENTS, type PreviewClientId } from '../../../src/report/preview/clients.ts';
import { type PreviewImage, previewFor } from '../../../src/report/preview/rewrite.ts';

const PIXEL = 'data:image/png;base64,AAAA';
const BLOCKED: PreviewImage = { kind: 'blocked' };

function preview(
  id: PreviewClientId,
  html: string,
  { theme = 'light' as 'light' | 'dark', imageAt = (_src: string): PreviewImage => BLOCKED } = {},
) {
  const client = PREVIEW_CLIENTS.find((entry) => entry.id === id)!;
  return previewFor(html, client, { theme, imageAt });
}

/** The output without the styles of the preview itself. */
const shown = (id: PreviewClientId, html: string, options = {}) =>
  preview(id, html, options)
    .html.replace(/<style>[^<]*<\/style>/, '')
    .replace('<head></head>', '');

const cases: [string, PreviewClientId, string, string][] = [
  ['plain HTML', 'as_sent', '<p title="a&quot;b">1 &lt; 2</p>', '<p title="a&quot;b">1 &lt; 2</p>'],
  ['unclosed tags', 'as_sent', '<ul><li>a<li>b</ul>', '<ul><li>a<li>b</ul>'],
  ['a script', 'as_sent', 'a<script>b()</script>c', 'ac'],
  ['an event handler', 'as_sent', '<p onclick="a()">b</p>', '<p>b</p>'],
  ['a frame', 'as_sent', 'a<iframe src="//a.example">b</iframe>c', 'ac'],
  ['a plug-in', 'as_sent', '<object data="a"><embed src="b">Text</object>', 'Text'],
  ['metadata', 'as_sent', '<base href="//a.example"><meta http-equiv="refresh" content="0">a', 'a'],
  [
    'a link',
    'as_sent',
    '<a href="//a.example" class="b">c</a>',
    '<a class="preview--link b">c</a>',
  ],
  [
    'a form',
    'as_sent',
    '<form action="//a.example"><input value="b"><button>c</button></form>',
    '<div><span class="preview--control">b</span><span class="preview--control">c</span></div>',
  ],
  [
    'a checkbox',
    'as_sent',
    '<input type="checkbox" class="x">',
    '<span class="preview--control x">☐</span>',
  ],
  ['a hidden input', 'as_sent', '<input type="hidden" value="a">', ''],
  ['an unknown element', 'as_sent', '<x-card><p>a</p></x-card>', '<p>a</p>'],
  ['an SVG image', 'as_sent', '<svg><path d="M0"/></svg>', '<svg><path d="M0"/></svg>'],
  ['an SVG image where there are none', 'gmail', 'a<svg><path d="M0"/><text>b</text></svg>c', 'ac'],
  ['an unclosed SVG image', 'gmail', 'a<svg><path d="M0"/><p>b</p>', 'a<p>b</p>'],
  ['a video', 'gmail', '<video><source src="a"><p>b</p></video>', '<p>b</p>'],
  ['a remote background', 'as_sent', '<td background="//a.example">b</td>', '<td>b</td>'],
  [
    'a blocked image',
    'as_sent',
    '<img src="//a.example/b" alt="c" width="9">',
    '<img alt="c" width="9" class="preview--blocked">',
  ],
  [
    'a property, and another that stays',
    'outlook_windows',
    '<p style="opacity:.5;color:red">a</p>',
    '<p style="color:red;">a</p>',
  ],
  [
    'a remote image in a style',
    'as_sent',
    '<p style="background:#fff url(\'//a.example/b\') left">c</p>',
    '<p style="background:#fff none left;">c</p>',
  ],
  [
    'one selector of a list',
    'outlook_windows',
    '<style>a.b.c, p {color:red}</style>',
    '<head><style>p{color:red;}</style></head>',
  ],
  ['a media query', 'outlook_windows', '<style>@media print{p{color:red}}</style>', ''],
  ['an import', 'as_sent', '<style>@import url(//a.example);</style>', ''],
  ['a font', 'as_sent', '<style>@font-face{font-family:a;src:url(//a.example)}</style>', ''],
  [
    'a pseudo-class of links',
    'as_sent',
    '<style>a:link{color:red}</style>',
    '<head><style>a.preview--link{color:red;}</style></head>',
  ],
  [
    'content for Outlook, in Outlook',
    'outlook_windows',
    '<!--[if mso | IE]><b>a</b><![endif]--><!--[if !mso]><!--><i>b</i><!--<![endif]-->',
    '<b>a</b>',
  ],
  [
    'content for Outlook, elsewhere',
    'apple_mail',
    '<!--[if mso | IE]><b>a</b><![endif]--><!--[if !mso]><!--><i>b</i><!--<![endif]-->',
    '<i>b</i>',
  ],
  [
    'content for old versions of Outlook',
    'outlook_windows',
    '<!--[if (lt mso 12)]>a<![endif]--><!--[if gte mso 9]>b<![endif]-->',
    'b',
  ],
  [
    'content that Word hides',
    'outlook_windows',
    '<p style="mso-hide:all">a</p>',
    '<p style="display:none;">a</p>',
  ],
  [
    'a button in VML',
    'outlook_windows',
    '<!--[if mso]><v:roundrect arcsize="50%" style="width:90px;height:40px" fillcolor="#f00">a</v:roundrect><![endif]-->',
    '<div style="display:inline-flex;align-items:center;justify-content:center;width:90px;max-width:100%;min-height:40px;background-color:#f00;border-radius:20px">a</div>',
  ],
  [
    'the body in Gmail',
    'gmail',
    '<body class="a" bgcolor="#eee">b</body>',
    '<body style="margin:0"><u></u><div bgcolor="#eee" class="a" style="background-color:#eee;">b',
  ],
];

for (const [name, client, html, expected] of cases)
  test(`previewFor shows ${name} (${client})`, () => {
    assert.equal(shown(client, html), expected);
  });

test('previewFor lists what it removed with lines, text, count and support', () => {
  const html =
    '<p>\n</p>\n<p style="opacity:.5">a</p>\n<p\n style="color:red;\n  opacity: 0.7">b</p>';
  const { removed } = preview('outlook_windows', html);
  const [feature] = removed;
  assert.equal(removed.length, 1);
  assert.deepEqual(
    { ...feature, support: null },
    {
      slug: 'css-opacity',
      title: 'opacity',
      url: 'https://www.caniemail.com/features/css-opacity/',
      missingIn: ['Outlook for Windows'],
      places: [
        { line: 3, text: 'opacity:.5' },
        { line: 6, text: 'opacity: 0.7' },
      ],
      count: 2,
      support: null,
    },
  );
  assert.ok(feature!.support!.full > 50 && feature!.support!.full < 100);
});

test('previewFor lists at most five places and one short line for each', () => {
  const html = `<p style="opacity:.${'1'.repeat(400)}">a</p>`.repeat(9);
  const [feature] = preview('outlook_windows', html).removed;
  assert.equal(feature!.count, 9);
  assert.equal(feature!.places.length, 5);
  assert.equal(feature!.places[0]!.text.length, 120);
});

test('previewFor lists text without control characters or halves of characters', () => {
  const { removed } = preview('outlook_windows', `<p style="opacity:\u202e${'🚂'.repeat(200)}">a`);
  const { text } = removed[0]!.places[0]!;
  assert.ok(text.isWellFormed());
  assert.match(text, /^opacity:·🚂+…$/u);
});

test('previewFor shows images that the caller has, in elements, attributes and styles', () => {
  const imageAt = (src: string): PreviewImage =>
    src === 'cid:a@b' ? { kind: 'shown', dataUri: PIXEL } : { kind: 'missing' };
  const html =
    '<img src="cid:a@b" alt="c"><td background="cid:a@b"><p style="background:url(cid:a@b)">d</p>';
  assert.equal(
    shown('as_sent', html, { imageAt }),
    `<img src="${PIXEL}" alt="c"><td style="background-image:url(&quot;${PIXEL}&quot;);"><p style="background:url(&quot;${PIXEL}&quot;);">d</p>`,
  );
});

test('previewFor shows the largest image of a `srcset` without `src`', () => {
  const imageAt = (src: string): PreviewImage =>
    src === 'https://a.example/2.png' ? { kind: 'shown', dataUri: PIXEL } : { kind: 'missing' };
  const html = '<img srcset="https://a.example/1.png 1x, https://a.example/2.png 2x" alt="c">';
  assert.equal(shown('as_sent', html, { imageAt }), `<img src="${PIXEL}" alt="c">`);
});

test('previewFor shows the image in a `source`, also if its URL contains a comma', () => {
  const html = `<picture><source srcset="${PIXEL}" media="(min-width:9px)"></picture>`;
  assert.equal(shown('as_sent', html), html);
});

test('previewFor removes image formats that the client lacks, by the type of the part', () => {
  const imageAt = (): PreviewImage => ({
    kind: 'shown',
    dataUri: 'data:image/webp;base64,AAAA',
  });
  const { removed, html } = preview('outlook_windows', '<img src="cid:a" alt="b">', { imageAt });
  assert.deepEqual(
    removed.map(({ slug }) => slug),
    ['image-webp'],
  );
  assert.match(html, /<img alt="b" class="preview--blocked">$/);
});

test('previewFor never writes what is not the data of an image', () => {
  const imageAt = (): PreviewImage => ({ kind: 'shown', dataUri: 'https://a.example/"><script>' });
  assert.equal(
    shown('as_sent', '<img src="cid:a">', { imageAt }),
    '<img class="preview--blocked">',
  );
});

test('previewFor marks tracking pixels, also those of no size', () => {
  const imageAt = (): PreviewImage => ({ kind: 'tracking_pixel' });
  const html = shown('gmail', '<img src="//a.example" width="1" height="1" style="display:none">', {
    imageAt,
  });
  assert.match(
    html,
    /^<span style="[^"]*display:inline-block!important[^"]*">Tracking pixel<\/span>$/,
  );
});

test('previewFor drops the style elements that reach 16 KB in Gmail', () => {
  const rule = 'p{color:red}';
  const html = `<style>${rule}</style><style>${rule.repeat(1400)}</style><style>${rule}</style>`;
  const gmail = preview('gmail', html);
  assert.deepEqual(
    gmail.removed.map(({ slug, count }) => [slug, count]),
    [['gmail-style-limit', 2]],
  );
  assert.equal(shown('gmail', html), '<head><style>p{color:red;}</style></head>');
  assert.deepEqual(preview('apple_mail', html).removed, []);
});

for (const [name, html, slug] of [
  [
    'an at-rule in an at-rule',
    '<style>@media screen{@media (max-width:9px){p{color:red}}}</style>',
    'gmail-unreadable-style',
  ],
  ['unmatched braces', '<style>p{color:red}}i{color:red}</style>', 'gmail-unreadable-style'],
  ['a place in the body', '<p>a</p><style>p{color:red}</style>', 'gmail-style-in-body'],
] as const)
  test(`previewFor drops a style element with ${name} in Gmail`, () => {
    const { removed, html: output } = preview('gmail', html);
    assert.deepEqual(
      removed.map((feature) => feature.slug),
      [slug],
    );
    assert.doesNotMatch(output, /color:red/);
    assert.match(preview('as_sent', html).html, /color:red/);
  });

test('previewFor clips in Gmail after 102 KB, counted in octets, and draws a line', () => {
  const line = '<p>äöü</p>\n';
  const html = `<table><tr><td>${line.repeat(9000)}`;
  const { clippedAtLine, html: output, truncated } = preview('gmail', html);
  assert.equal(clippedAtLine, Math.floor(102_000 / Buffer.byteLength(line)));
  assert.match(output, /<\/td><\/tr><\/table><div style="[^"]*">\[Message clipped\]/);
  assert.equal(truncated, false);
  assert.equal(preview('apple_mail', html).clippedAtLine, null);
  assert.equal(preview('gmail', html.slice(0, 50_000)).clippedAtLine, null);
});

const SCHEME =
  '<style>@media (prefers-color-scheme:dark){p{color:red}}@media (prefers-color-scheme: light){p{color:blue}}</style>';

test('previewFor resolves conditions on the color scheme', () => {
  const sheet = (theme: 'light' | 'dark') => shown('apple_mail', SCHEME, { theme });
  assert.equal(
    sheet('dark'),
    '<head><style>@media (min-width:0){p{color:red;}}@media (min-width:99999px){p{color:blue;}}</style></head>',
  );
  assert.equal(
    sheet('light'),
    '<head><style>@media (min-width:99999px){p{color:red;}}@media (min-width:0){p{color:blue;}}</style></head>',
  );
  assert.equal(shown('gmail', SCHEME, { theme: 'dark' }), '');
});

test('previewFor uses a dark page if the message has a dark color scheme and the client reads it', () => {
  const html = '<meta name="color-scheme" content="light dark"><p>a</p>';
  const isDark = (id: PreviewClientId, theme: 'light' | 'dark', text = html) =>
    preview(id, text, { theme }).html.includes('color-scheme:only dark');
  assert.equal(isDark('apple_mail', 'dark'), true);
  assert.equal(isDark('apple_mail', 'light'), false);
  assert.equal(isDark('apple_mail', 'dark', '<p>a</p>'), false);
  assert.equal(isDark('apple_mail', 'dark', '<style>:root{color-scheme:light dark}</style>'), true);
  assert.equal(isDark('gmail', 'dark'), false);
  assert.equal(isDark('gmail_app', 'dark', '<p>a</p>'), true);
});

test('previewFor inverts colors in part, in full, or not at all', () => {
  const html =
    '<td bgcolor="#ffffff" style="color:#000;background:#222"><font color="white">a</font><hr style="border:1px solid #2199e8">';
  const colors = (id: PreviewClientId) => shown(id, html, { theme: 'dark' });
  assert.equal(
    colors('gmail'),
    html.replaceAll('"><hr', '"><hr').replace('#222"', '#222;"').replace('e8"', 'e8;"'),
  );
  assert.equal(
    colors('gmail_app'),
    '<td bgcolor="#1f1f1f" style="color:#ffffff;background:#222;"><font color="white">a</font><hr style="border:1px solid #2199e8;">',
  );
  assert.equal(
    colors('outlook_windows'),
    '<td bgcolor="#1f1f1f" style="color:#ffffff;background:#c0c0c0;"><font color="#1f1f1f">a</font><hr style="border:1px solid #2199e8;">',
  );
});

test('previewFor shows what follows a formula that closes itself', () => {
  for (const { id } of PREVIEW_CLIENTS) assert.match(shown(id, '<math/><p>after</p>'), /<p>after/);
});
