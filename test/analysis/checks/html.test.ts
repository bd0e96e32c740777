/** The checks on the HTML: `text_matches_html` to `preheader`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, CheckStatus } from '../../../src/analysis/check.ts';
import { activeContent } from '../../../src/analysis/checks/active-content.ts';
import { hiddenText } from '../../../src/analysis/checks/hidden-text.ts';
import { htmlStructure } from '../../../src/analysis/checks/html-structure.ts';
import { imageAlt } from '../../../src/analysis/checks/image-alt.ts';
import { imageRatio } from '../../../src/analysis/checks/image-ratio.ts';
import { preheader } from '../../../src/analysis/checks/preheader.ts';
import { textMatchesHtml } from '../../../src/analysis/checks/text-matches-html.ts';
import { trackingPixel } from '../../../src/analysis/checks/tracking-pixel.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { CLASSIC, COLUMNS, RECEIPT } from '../../helpers/newsletters.ts';

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
const html = (body: string) => goodMessage(HTML, body);

const both = (text: string, body: string) =>
  goodMessage(
    { 'Content-Type': 'multipart/alternative; boundary=x' },
    `--x\nContent-Type: text/plain; charset=utf-8\n\n${text}\n--x\nContent-Type: text/html; charset=utf-8\n\n${body}\n--x--\n`,
  );

/** HTML with more parts than the parser reads. */
const cut = (body: string) =>
  goodMessage(
    { 'Content-Type': 'multipart/mixed; boundary=x' },
    `--x\nContent-Type: text/html\n\n${body}\n${'--x\nContent-Type: image/png\n\na\n'.repeat(1001)}--x--\n`,
  );
/** HTML longer than the parser reads. */
const long = (body: string) => html(`${body}${' '.repeat(5_000_000)}`);

const WORDS = 'one two three four five six seven eight nine ten eleven twelve';
const TWENTY = `${WORDS} thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty`;
const IMAGE = '<img src="https://example.com/a.png" alt="A shoe" width="600">';
const many = (word: string) => Array.from({ length: 500 }, (_, i) => `${word}${i}`).join(' ');
const PIXEL = '<img src="https://example.com/open?id=1" width="1" height="1" alt="">';
const SECRET = 'many words that nobody is to see here '.repeat(3);
const FILLER = '&zwnj;&nbsp;&#847;'.repeat(400);

type Case = [name: string, message: string, status: CheckStatus, says?: RegExp];

const CASES: [Check, Case[]][] = [
  [
    textMatchesHtml,
    [
      ['no HTML', goodMessage(), 'skipped', /no HTML/],
      ['no text', html(WORDS), 'skipped', /no text part/],
      ['an empty text', both('', WORDS), 'skipped', /no text part/],
      ['HTML with few words', both('other', 'one two three'), 'skipped', /too little text/],
      ['the same', both(WORDS, `<p>${WORDS.toUpperCase()}`), 'pass'],
      [
        'addresses in the text',
        both(
          `${WORDS} https://example.com/very/long/address/with/many/parts/in/it/and/more/of/them/still`,
          WORDS,
        ),
        'pass',
      ],
      [
        'alternative texts and the preview in the text',
        both(
          `Hello and welcome to our shop of many good things. Summer shoes on a beach. ${WORDS}`,
          `<p hidden>Hello and welcome to our shop of many good things</p><img alt="Summer shoes on a beach">${WORDS}`,
        ),
        'pass',
      ],
      ['half of the words', both('one two three four five six', WORDS), 'pass'],
      [
        'less than half of the words',
        both('one two three four five', WORDS),
        'warn',
        /has only 41% of the words/,
      ],
      [
        'text that is not in the HTML',
        both(
          `${WORDS} ${'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron'}`,
          WORDS,
        ),
        'warn',
        /Only 44% of the words in your text part/,
      ],
      [
        'text that is hidden in the HTML',
        both('buy this now please', `<p>${WORDS}</p><p style="display:none">buy this now please`),
        'warn',
      ],
      [
        'Japanese, the same',
        both(
          '本日は新しい商品をご案内いたします。ぜひご覧ください。',
          '<p>本日は新しい商品を<b>ご案内</b>いたします。ぜひご覧ください。',
        ),
        'pass',
      ],
      [
        'Japanese, another text',
        both(
          '明日の天気は雨でしょう。傘を忘れずにお持ちください。',
          '<p>本日は新しい商品をご案内いたします。ぜひご覧下さい。',
        ),
        'warn',
      ],
      ['Thai, the same', both('ยินดีต้อนรับสู่ร้านค้าของเรา', '<p>ยินดีต้อนรับสู่<i>ร้านค้า</i>ของเรา'), 'pass'],
      ['more than is looked at', long(WORDS), 'error', /too long or complex to read in full/],
      ['more tags than are looked at', both(WORDS, `<p>${WORDS}${'<b>'.repeat(99_000)}`), 'error'],
      [
        'another text after much of the same',
        both(`${WORDS} `.repeat(6000), `<p>${`${WORDS} `.repeat(6000)}${many('new')}`),
        'pass',
      ],
      [
        'a text of signs that become words',
        both('\ufdfa '.repeat(300_000), `<p>${many('w')}`),
        'error',
      ],
    ],
  ],
  [
    htmlStructure,
    [
      ['no HTML', goodMessage(), 'skipped'],
      ['nothing wrong', html('<p>a<p>b'), 'pass'],
      ['one mistake', html('<a href="x">a'), 'warn', /has an error.*The link “a” is never closed/],
      ['several', html('<td>a<tr><a href="x">b'), 'warn', /has 3 errors/],
      ['more than is looked at', long('<p>a'), 'error'],
      ['a mistake within what is looked at', long('<td>a'), 'warn'],
      ['more parts than are looked at', cut('<p>a'), 'error', /MIME parts/],
    ],
  ],
  [
    imageRatio,
    [
      ['no HTML', goodMessage(), 'skipped'],
      ['no images', html('a'), 'pass', /shows no images/],
      ['twenty words', html(`${TWENTY}${IMAGE}`), 'pass'],
      [
        'nineteen words',
        html(`${TWENTY.replace('twenty', '')}${IMAGE}`),
        'warn',
        /only 19 words of text for one image/,
      ],
      ['an image alone', html(`<a href="x">${IMAGE}</a>`), 'warn', /one image and no text/],
      ['hidden words do not count', html(`<p hidden>${TWENTY}</p>${IMAGE}`), 'warn', /and no text/],
      [
        'pixels, spacers and hidden images do not count',
        html(
          `a${PIXEL}<img src=s.gif height=2 width=600><img src=h hidden><div style="display:none">${IMAGE}</div>`,
        ),
        'pass',
      ],
      ['one image several times', html(`${TWENTY}${IMAGE.repeat(5)}`), 'pass'],
      ['two images', html(`${TWENTY}${IMAGE}<img src=b>`), 'warn', /2 images/],
      ['Chinese', html(`${'新品上市欢迎选购'.repeat(5)}${IMAGE}`), 'pass'],
      [
        'an image in the background alone',
        html('<table background="https://example.com/a.jpg" width=600 height=800><tr><td></table>'),
        'warn',
        /one image and no text/,
      ],
      [
        'the same by a style',
        html('<div style="height:800px;background:url(https://example.com/a.jpg)"></div>'),
        'warn',
        /one image and no text/,
      ],
      [
        'one image, in the background and not',
        html(
          `${TWENTY}<td background="https://example.com/a.png"><div style="background:url('https://example.com/A.png')">${IMAGE}</div>`,
        ),
        'pass',
      ],
      ['more than is looked at', long(IMAGE), 'error'],
    ],
  ],
  [
    imageAlt,
    [
      ['no HTML', goodMessage(), 'skipped'],
      ['no images', html(`a${PIXEL}`), 'skipped', /shows no images/],
      ['an alternative text', html(IMAGE), 'pass'],
      [
        'decoration',
        html('<img src=a alt="" width=600 height=20><img src=b alt width=40>'),
        'pass',
      ],
      ['no attribute', html(`${IMAGE}<img src=b>`), 'warn', /One of your images/],
      [
        'a link without anything to read',
        html('<a href=x><img src=a alt="" width=30></a>'),
        'warn',
      ],
      ['a link with a text', html('<a href=x><img src=a alt="" width=30> Shop</a>'), 'pass'],
      [
        'a large image',
        html('<img src=a alt=" " width=600 height=300><img src=b alt="" width=600>'),
        'warn',
        /2 of your images/,
      ],
      ['hidden', html(`${IMAGE}<p hidden><img src=a>`), 'pass'],
      ['more than is looked at', long(IMAGE), 'error'],
      ['one without within what is looked at', long('<img src=a>'), 'warn'],
    ],
  ],
  [
    activeContent,
    [
      ['no HTML', goodMessage(), 'skipped'],
      ['none', html('<base target=_blank><p once>a<style>p{}</style>'), 'pass'],
      ['data for Gmail', html('<script type="application/ld+json">{}</script>'), 'pass'],
      ['a script', html('<script>alert(1)</script>'), 'fail', /<script>/],
      ['a handler', html('<p onclick="x()">a'), 'fail', /the attribute onclick/],
      [
        'a script as an address',
        html('<img src=" JavaScript:x()" alt="a">'),
        'fail',
        /javascript: URLs/,
      ],
      [
        'a page in an address',
        html('<img src="data:text/html,x" alt="a">'),
        'fail',
        /data:text\/html: URLs/,
      ],
      ['a frame', html('<iframe src="https://example.com"></iframe>'), 'fail', /<iframe>/],
      [
        'plug-ins',
        html('<object></object><embed><applet></applet>'),
        'fail',
        /<object>, <embed> and <applet>/,
      ],
      ['a form', html('<form><input></form>'), 'warn', /uses <form>/],
      ['a form with a script', html('<form onsubmit="x"></form>'), 'fail'],
      ['a base', html('<base href="https://example.com/">'), 'warn', /<base href>/],
      [
        'a refresh',
        html('<meta http-equiv=refresh content="0;url=x">'),
        'warn',
        /http-equiv="refresh"/,
      ],
      ['in a comment for Outlook', html('<!--[if mso]><form></form><![endif]-->a'), 'pass'],
      ['more than is looked at', long('a'), 'error'],
      ['a script within what is looked at', long('<script></script>'), 'fail'],
    ],
  ],
  [
    hiddenText,
    [
      ['no HTML', goodMessage(), 'skipped'],
      ['nothing hidden', html('a'), 'pass', /hides no significant text/],
      [
        'a preheader',
        html(`<div style="display:none">Our best offers of the season${FILLER}</div>a`),
        'pass',
        /nothing except its preview/,
      ],
      [
        'a preheader that is too long',
        html(`<div style="display:none">${SECRET.repeat(6)}</div>a`),
        'fail',
      ],
      [
        'words for screen readers',
        html('a <span style="position:absolute;left:-9999px">Opens in a new window</span>'),
        'pass',
      ],
      [
        'a line for replies',
        html(
          'a<div style="color:#fff;background:#fff">Please type your reply above this line</div>',
        ),
        'pass',
      ],
      [
        'a little',
        html(`a<p style="font-size:0">${SECRET}${WORDS}`),
        'warn',
        /hides 1\d\d characters.*font-size:0/,
      ],
      ['much', html(`a<p style="display:none">${SECRET.repeat(5)}`), 'fail', /display:none/],
      [
        'the number of a notification',
        html(
          'a<p style="font-size:1px;color:#fff">Message ID: &lt;organisation/project/issue/4711@example.com&gt;',
        ),
        'pass',
      ],
      [
        'ratings for screen readers',
        html(
          '<style>.sr-only{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}</style>a<span class="sr-only">Rated 4 out of 5 stars.</span>b'.repeat(
            4,
          ),
        ),
        'pass',
      ],
      [
        'white on nothing',
        html(`a<p style="color:#fff">${SECRET.repeat(7)}`),
        'fail',
        /color of its background/,
      ],
      ['white on nothing, the old way', html(`a<font color=white>${SECRET.repeat(7)}`), 'fail'],
      ['filler after the text', html(`a<p style="display:none">${FILLER}`), 'pass'],
      [
        'for small screens',
        html(
          `<style>@media (max-width:600px){.m{display:block!important}}</style>a<p class="m" style="display:none">${SECRET.repeat(5)}`,
        ),
        'pass',
      ],
      ['nothing found in what is looked at', long('a'), 'error'],
      ['a little in what is looked at', long(`a<p hidden>${SECRET}${WORDS}`), 'error'],
      ['much in what is looked at', long(`a<p hidden>${SECRET.repeat(5)}`), 'fail'],
    ],
  ],
  [
    trackingPixel,
    [
      ['no HTML', goodMessage(), 'skipped'],
      ['none', html(`a${IMAGE}<img src=cid:a width=1 height=1>`), 'info', /no tracking pixel/],
      ['one', html(`a${PIXEL}`), 'info', /has a tracking pixel/],
      [
        'a hidden one',
        html('a<img src="//example.com/o" style="display:none;width:0">'),
        'info',
        /has a/,
      ],
      [
        'a line',
        html('a<img src="https://example.com/line" width=600 height=1>'),
        'info',
        /has no/,
      ],
      ['two', html(`a${PIXEL}${PIXEL.replace('id=1', 'id=2')}`), 'info', /2 images/],
      ['none in what is looked at', long('a'), 'error'],
    ],
  ],
  [
    preheader,
    [
      ['no HTML', goodMessage(), 'skipped'],
      [
        'no text',
        html('<img src="https://example.com/a.png" alt="">'),
        'skipped',
        /no preview text/,
      ],
      ['the alt text of an image', html(IMAGE), 'info', /alt text of your first image/],
      [
        'an alt text after the text',
        html(`<p>Hello</p><img src="https://example.com/a.png" alt="Shoes">`),
        'info',
        /“Hello Shoes”.*the start of your text/,
      ],
      ['the text', html(`<p>${WORDS}`), 'info', /“one two.*the start of your text/],
      ['a preheader', html('<p hidden>Our offers</p><p>Hello'), 'info', /“Our offers Hello”/],
      [
        'a preheader with filler',
        html(`<p hidden>Our offers ${FILLER}</p><p>Hello`),
        'info',
        /“Our offers”.*filler/,
      ],
      [
        'a preheader in Persian',
        html('<p hidden>می\u200cخواهم</p><p>Hello'),
        'info',
        /“می\u200cخواهم Hello”/,
      ],
      [
        'a preheader of emoji',
        html(
          `<p hidden>❤️\u200d🔥 ❤️ 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}! 👩\u200d💻${FILLER}</p><p>Hello`,
        ),
        'info',
        /“❤️\u200d🔥 ❤️ 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}! 👩\u200d💻”.*filler/u,
      ],
      [
        'the link to the web version',
        html('<p><a href=x>View this email in your browser</a><p>Hello'),
        'info',
        /link to the web version/,
      ],
      [
        'the link to the web version after a short preheader',
        html('<p hidden>Our offers</p><p>View in browser</p>'),
        'info',
        /so short that the link to the web version follows/,
      ],
      [
        'the same in German',
        html('<p>Wird die Nachricht nicht richtig dargestellt? Im Browser ansehen'),
        'info',
        /link to the web version/,
      ],
      [
        'the same in French',
        html('<p>Voir la version en ligne'),
        'info',
        /link to the web version/,
      ],
      [
        'an offer online',
        html('<p>All our shoes are now online at half the price'),
        'info',
        /start of your text/,
      ],
      ['long HTML', long('<p>Hello'), 'info', /“Hello”/],
    ],
  ],
];

for (const [check, cases] of CASES)
  for (const [name, message, status, says] of cases)
    test(`${check.id} check reports ${status}: ${name}`, async () => {
      const finding = await runCheck(check, { message });
      assert.equal(finding.status, status, finding.title);
      if (says) assert.match(`${finding.title} ${finding.detail}`, says);
      if (status === 'warn' || status === 'fail') assert.ok(finding.fix?.text);
    });

for (const [name, newsletter] of Object.entries({ COLUMNS, CLASSIC, RECEIPT }))
  for (const check of [htmlStructure, imageRatio, imageAlt, activeContent, hiddenText])
    test(`${check.id} check finds no problem in the newsletter ${name}`, async () => {
      const finding = await runCheck(check, { message: html(newsletter) });
      const { status, title, detail } = finding;
      assert.ok(status === 'pass' || status === 'skipped', `${title} ${detail}`);
    });

test('tracking_pixel check evidence hides recipient tokens', async () => {
  const token = 'aZ3'.repeat(20);
  const message = html(`a<img src="https://example.com/o/${token}" width=1 height=1>`);
  const { evidence } = await runCheck(trackingPixel, { message });
  assert.ok(!JSON.stringify(evidence).includes(token), JSON.stringify(evidence));
});

test('HTML checks truncate their evidence', async () => {
  const message = html(
    `a${'<a href=x>y '.repeat(2000)}${`<img src="https://example.com/${'a'.repeat(5000)}">`.repeat(500)}${`<p hidden>${'z'.repeat(9000)}</p>`.repeat(200)}`,
  );
  for (const check of [htmlStructure, imageRatio, imageAlt, hiddenText, trackingPixel, preheader])
    assert.ok(JSON.stringify(await runCheck(check, { message })).length < 10_000, check.id);
});
