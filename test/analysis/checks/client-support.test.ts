/** The check `client_support` and its feature table. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { clientSupportModule } from '../../../scripts/caniemail.ts';
import { clientSupport } from '../../../src/analysis/checks/client-support.ts';
import {
  CLIENT_SUPPORT_UPDATED,
  CLIENTS,
  FEATURES,
} from '../../../src/analysis/html/client-support.generated.ts';
import { collectCssMarkers } from '../../../src/analysis/html/feature-markers.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const html = (body: string) =>
  goodMessage({ 'Content-Type': 'text/html; charset=utf-8' }, `${body}\n`);

/** Slugs of the features that are found in this HTML. */
async function featuresIn(body: string): Promise<string[]> {
  const { evidence } = await runCheck(clientSupport, { message: html(body) });
  const found = (evidence?.features ?? []) as { url: string }[];
  return found.map(({ url }) => url.split('/').at(-2)!).sort();
}

const style = (css: string) => `<style>${css}</style><p>Hello</p>`;
const inline = (css: string) => `<p style="${css}">Hello</p>`;

const cases: [string, string, string[]][] = [
  ['nothing special', '<table width="100%"><tr><td align="left">Hello</td></tr></table>', []],
  ['an element', '<video src="https://example.com/a.mp4"></video>', ['html-video']],
  ['an attribute', '<img src="a.png" alt="" srcset="b.png 2x">', ['html-srcset']],
  ['an HTML5 element', '<section>Hello</section>', ['html-semantics']],
  ['a link within the message', '<a href="#top">Up</a>', ['html-anchor-links']],
  ['a link to nowhere', '<a href="#">Up</a>', []],
  ['an image by its URL', '<img src="https://example.com/a.WEBP?x=1" alt="">', ['image-webp']],
  ['an image in a data URL', '<img src="data:image/png;base64,AAAA" alt="">', ['image-base64']],
  ['a property', inline('box-shadow: 0 0 3px #000'), ['css-box-shadow']],
  ['a property with a prefix', inline('-webkit-box-shadow:none'), ['css-box-shadow']],
  ['a word of a property', inline('display:flex'), ['css-display-flex']],
  ['the same keyword of another property', inline('font-family:flex'), []],
  ['a function', inline('width:calc(100% - 10px)'), ['css-unit-calc']],
  ['a unit', inline('font-size:1.5rem'), ['css-unit-rem']],
  ['text that looks like a unit', inline('color:#00vh11;background:url(img2rem.png)'), []],
  ['a unit after a decimal point', inline('width:.5rem'), ['css-unit-rem']],
  ['a unit after a long number', inline(`width:${'1'.repeat(1000)}.5rem`), ['css-unit-rem']],
  ['only digits', inline(`width:${'1'.repeat(1990)}`), []],
  ['a variable', inline('--main:red;color:var(--main)'), ['css-variables']],
  ['names in quotes', inline("font-family:'calc(1rem)', Arial"), []],
  ['a semicolon in a URL', inline('background:url(data:a;gap:3) left;color:red'), []],
  ['a media rule', style('@media (max-width:600px){p{color:red}}'), ['css-at-media']],
  [
    'a media feature',
    style('@media (prefers-color-scheme:dark){p{color:red}}'),
    ['css-at-media', 'css-at-media-prefers-color-scheme'],
  ],
  ['an import', style('@import url("https://example.com/a.css");'), ['css-at-import']],
  ['key frames', style('@keyframes a{from{color:red}50%{color:blue}}'), ['css-at-keyframes']],
  ['a pseudo-class', style('a:hover{color:red}'), ['css-pseudo-class-hover']],
  ['a pseudo-element with one colon', style('p:before{color:red}'), ['css-pseudo-element-before']],
  ['a combinator', style('div>p{color:red}'), ['css-selector-child']],
  ['an attribute in a selector', style('a[href="x>y"]{color:red}'), ['css-selector-attribute']],
  ['chained classes', style('.a.b{color:red}'), ['css-selector-chaining']],
  ['a nested rule', style('p{color:red;.a{color:blue}}'), ['css-nesting']],
  ['a rule inside @media is not nested', style('@media print{p{color:red}}'), ['css-at-media']],
  ['styles in a comment', style('/* a:hover{gap:3px} */p{color:red}'), []],
  ['styles in an HTML comment', style('<!-- p{opacity:0.5} -->'), ['css-opacity']],
  [
    'broken styles',
    style('}}p{opacity:.5;;:x}a:hover{'),
    ['css-opacity', 'css-pseudo-class-hover'],
  ],
];

for (const [name, body, expected] of cases)
  test(`client_support check detects features: ${name}`, async () => {
    assert.deepEqual(await featuresIn(body), expected);
  });

test('client_support check is skipped without HTML', async () => {
  assert.equal((await runCheck(clientSupport, { message: goodMessage() })).status, 'skipped');
});

test('client_support check detects embedded images by media type', async () => {
  const message = goodMessage(
    { 'Content-Type': 'multipart/related; boundary=x' },
    '--x\nContent-Type: text/html\n\n<img src="cid:1@a" alt="">\n--x\nContent-Type: image/svg+xml\nContent-ID: <1@a>\n\n<svg/>\n--x--\n',
  );
  const { evidence } = await runCheck(clientSupport, { message });
  const { features } = evidence as { features: { feature: string }[] };
  assert.equal(features[0]?.feature, 'SVG image format');
});

test('client_support check lists the least supported features first with clients and links', async () => {
  const body = style('@media print{p{opacity:.5}}').replace(
    '<p>',
    '<p style="--a:1"><video></video>',
  );
  const { status, title, detail, evidence } = await runCheck(clientSupport, {
    message: html(body),
  });
  assert.equal(status, 'info');
  assert.match(title, /^Your message uses 4 HTML or CSS features/);
  assert.match(detail, /not supported in Gmail, .*Outlook for Windows/);
  const { features, data_of } = evidence as {
    features: { feature: string; missing_in: string[]; partly_in: string[]; url: string }[];
    data_of: string;
  };
  assert.equal(data_of, CLIENT_SUPPORT_UPDATED);
  const missing = features.map(({ missing_in }) => missing_in.length);
  assert.deepEqual(
    missing,
    missing.toSorted((a, b) => b - a),
  );
  assert.deepEqual(features.at(-1), {
    feature: 'opacity',
    missing_in: ['Outlook for Windows'],
    partly_in: [],
    url: 'https://www.caniemail.com/features/css-opacity/',
  });
});

test('client_support check lists at most twenty features', async () => {
  const all = FEATURES.flatMap(([, , markers]) =>
    markers.filter((marker) => /^[a-z-]+$/.test(marker)),
  );
  const { evidence } = await runCheck(clientSupport, {
    message: html(inline(all.map((name) => `${name}:1`).join(';'))),
  });
  const { features, features_used } = evidence as { features: []; features_used: number };
  assert.equal(features.length, 20);
  assert.ok(features_used > 50);
});

test('client-support.generated.ts matches its data and names the license', () => {
  const path = '../../../src/analysis/html/client-support.generated.ts';
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  assert.equal(text, clientSupportModule());
  assert.match(text, /MIT License[\s\S]*Copyright ©/);
  assert.ok(text.length < 150_000);
  for (const [slug, title, markers, levels] of FEATURES) {
    assert.match(levels, /^[yanu]+$/, slug);
    assert.equal(levels.length, CLIENTS.length);
    assert.ok(title && markers.length > 0, slug);
  }
});

test('collectCssMarkers handles half a megabyte of hostile CSS quickly', () => {
  const units = [
    '{',
    'a{',
    'a:b ',
    'a:b;',
    'a:(',
    'a:"',
    'a:url(',
    '@media(',
    '[',
    '/*',
    '}',
    '<!--',
  ];
  for (const unit of [...units, 'a:1', '::a', '\\', '(a', '@', ';', ':'])
    for (const css of [unit.repeat(500_000 / unit.length), `${unit.repeat(1000)}{`]) {
      const started = cpuTime();
      collectCssMarkers(css, [css], () => {});
      assert.ok(cpuTime() - started < 3000, unit);
    }
});

test('collectCssMarkers reports when CSS exceeds its limit', () => {
  assert.equal(
    collectCssMarkers('a{b:c}', ['color:red'], () => {}),
    false,
  );
  assert.equal(
    collectCssMarkers('a{b:c}'.repeat(100_000), [], () => {}),
    true,
  );
  const many = Array.from({ length: 100 }, (_, i) => `color:${'x'.repeat(9000)}${i}`);
  assert.equal(
    collectCssMarkers('', many, () => {}),
    true,
  );
});
