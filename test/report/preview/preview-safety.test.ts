/** The preview of any message loads nothing, runs nothing, and stays small. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PREVIEW_CLIENTS } from '../../../src/report/preview/clients.ts';
import { type PreviewImage, previewFor } from '../../../src/report/preview/rewrite.ts';
import { HOSTILE_HTML } from '../../long/hostile-message.ts';

const PIXEL = 'data:image/png;base64,AAAA';
const TAG = /<(\/?)([a-z0-9]+)((?: [a-z0-9-]+="[^"<>]*")*)\/?>/g;
const ATTRIBUTE = / ([a-z0-9-]+)="([^"]*)"/g;
const NEVER =
  /^(?:script|iframe|frame|object|embed|applet|base|link|meta|form|input|button|select|textarea|video|audio|template|noscript|title|math|use|image|foreignobject|animate|set|xmp|plaintext)$/;

/** Fails if the HTML has a tag, an attribute or CSS that could load or run something. */
function assertHarmless(html: string): void {
  const rest = html.replace(
    /<style>([^<]*(?:<(?=[\s\d=.(])[^<]*)*)<\/style>/g,
    (_, css: string) => {
      assertCss(css);
      return '';
    },
  );
  const text = rest.replace(TAG, (_, _close, name: string, attributes: string) => {
    assert.doesNotMatch(name, NEVER);
    for (const [, attribute, value] of attributes.matchAll(ATTRIBUTE)) {
      assert.doesNotMatch(
        attribute!,
        /^(?:on|href|xlink|action|data|poster|background|cite|ping|srcdoc)/,
      );
      if (attribute === 'src' || attribute === 'srcset') assert.equal(value, PIXEL);
      if (attribute === 'style')
        assertCss(value!.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
    }
    return '';
  });
  assert.doesNotMatch(text, /[<>]/, 'everything else is text');
}

function assertCss(css: string): void {
  const outsideStrings = css
    .replaceAll(`url("${PIXEL}")`, '')
    .replace(/\\./g, '_')
    .replace(/"[^"\n]*"|'[^'\n]*'/g, '""');
  assert.doesNotMatch(
    outsideStrings,
    /(?<![\w\x80-\uffff-])(?:-webkit-)?(?:url|expression|image-set)\s*\(|(?:^|[;{}])\s*@import|\/\*/i,
  );
}

const imageAt = (src: string): PreviewImage => {
  if (src.startsWith('cid:')) return { kind: 'shown', dataUri: PIXEL };
  return src.length % 2 === 0 ? { kind: 'tracking_pixel' } : { kind: 'blocked' };
};

function assertAllHarmless(html: string): void {
  for (const client of PREVIEW_CLIENTS)
    for (const theme of ['light', 'dark'] as const)
      assertHarmless(previewFor(html, client, { theme, imageAt }).html);
}

test('a message that tries to load and run everything is harmless in each client', () => {
  assertAllHarmless(HOSTILE_HTML);
  assertAllHarmless(`<!--[if mso]>${HOSTILE_HTML.replaceAll('-->', '')}<![endif]-->`);
});

const PIECES = [
  '<p ',
  '<style>',
  '</style>',
  '<svg>',
  '</svg>',
  '<math>',
  '<title>',
  '<textarea>',
  '<xmp>',
  '<img src=cid:a ',
  '<a href="https://a.example" ',
  '<td background=cid:b ',
  '<!--',
  '-->',
  '>',
  '<!--[if mso]>',
  '<![endif]-->',
  '<!--[if !mso]><!-->',
  '<![if !mso]>',
  '<template>',
  '</p>',
  ' style="',
  " style='",
  '"',
  "'",
  ' onload=a()',
  '<script>',
  '</script>',
  '<select>',
  '<video>',
  '{',
  '}',
  ';',
  ':',
  '(',
  ')',
  '[',
  ']',
  '\\',
  '\n',
  '/*',
  '*/',
  '@media ',
  '@import ',
  '@font-face',
  'url(',
  'url("',
  'url(https://a.example)',
  'u\\72l(//a)',
  'image-set("//a" 1x)',
  'color',
  'a:b',
  'background',
  ':link',
  ',',
  '<',
  '&lt;',
  '&quot;',
  '&#0;',
  '\0',
  '\ue000',
  '0\ue001',
  '</',
  '/>',
  'src',
  'content',
  '--x',
  'expression(',
  '!important',
  'é',
  '😀',
  '<body link="',
  '<v:rect ',
];

test('any mix of markup and CSS is harmless in each client', () => {
  const mixes = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 5 })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(mixes, (pieces) => assertAllHarmless(pieces.join(''))),
    { numRuns: 2000 },
  );
});

test('any mix of CSS is harmless in a style element and in an attribute', () => {
  const css = fc.array(fc.constantFrom(...PIECES.filter((piece) => !piece.includes('<'))), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(css, (pieces) => {
      const text = pieces.join('');
      assertAllHarmless(`<style>${text}</style><p style="${text.replaceAll('"', '&quot;')}">a</p>`);
    }),
    { numRuns: 2000 },
  );
});

const client = PREVIEW_CLIENTS.find(({ id }) => id === 'outlook_windows')!;

for (const unit of [
  '<',
  '<p>',
  '<p a b c d e f g>',
  '<p style="opacity:1">',
  '</p>',
  '<!--',
  '&amp;',
  '<svg>',
  '<style>',
  '<style>a{',
  '<img src=cid:a>',
  '<!--[if mso]><p><![endif]-->',
  '<!--[if mso]>',
  '<![if !mso]>',
  '<table><tr><td>',
  '<select>',
  '<a href=b>',
  '<body>',
  '<v:rect>',
  '\n',
])
  test(`five megabytes of “${unit}” have a bounded preview`, () => {
    const html = unit.repeat(5_500_000 / unit.length);
    const result = previewFor(html, client, { theme: 'dark', imageAt });
    assert.ok(result.html.length < 40_000_000);
    assert.equal(result.truncated, true);
  });

for (const unit of [
  '{',
  'a{',
  '}',
  'a:b;',
  'a:(',
  'a:"',
  'url(',
  'url( ',
  'a,',
  '@media(',
  '[',
  '\\',
  '#fff ',
])
  test(`a megabyte of “${unit}” in a style have a bounded preview`, () => {
    const css = `a{background:${unit.repeat(1_200_000 / unit.length)}`;
    const html = `<style>${css}</style><p style='${css.replaceAll("'", '')}'>b</p>`;
    const result = previewFor(html, client, { theme: 'dark', imageAt });
    assert.ok(result.html.length < 40_000_000);
    assert.equal(result.truncated, true);
  });

test('images that occur often do not make the preview large', () => {
  const dataUri = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
  const { html, truncated } = previewFor('<img src="cid:a">'.repeat(1000), client, {
    theme: 'light',
    imageAt: () => ({ kind: 'shown', dataUri }),
  });
  assert.ok(html.length < 21_000_000);
  assert.equal(truncated, true);
});

test('the media of a style element cannot end it', () => {
  assertAllHarmless(`<style media='"</style><img src=//a.example><b>"'>p{color:red}</style><p>a`);
});

test('a style with many removed declarations at the end of a long tag takes linear time', () => {
  // Searching the style again for each declaration would take minutes.
  const title = `${'a'.repeat(150)}b`.repeat(20_000);
  const style = `${'a'.repeat(199)}b;${'gap:0;'.repeat(100_000)}`;
  const { removed } = previewFor(`<p title="${title}" style="${style}">a`, client, {
    theme: 'light',
    imageAt,
  });
  assert.deepEqual(
    removed.map(({ slug, count }) => [slug, count]),
    [['css-gap', 100_000]],
  );
});

test('text without tags has a bounded preview', () => {
  const { html, truncated } = previewFor('"'.repeat(4_900_000), client, {
    theme: 'light',
    imageAt,
  });
  assert.ok(html.length < 11_000_000);
  assert.equal(truncated, true);
});
