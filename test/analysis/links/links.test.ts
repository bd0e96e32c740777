/** The links of a message: their hosts, and URLs in plain text. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageLinks } from '../../../src/analysis/links/links.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const linksOf = async (message: string) => (await contextFor({ message })).fact(messageLinks);

const htmlMessage = (html: string) =>
  goodMessage({ 'Content-Type': 'text/html; charset=utf-8' }, html);

/** A URL in HTML; its scheme, host and organizational domain. */
const ADDRESSES: [string, string, string | null, string | null][] = [
  ['https://www.Example.com/a?b#c', 'https', 'www.example.com', 'example.com'],
  ['http://mail.example.co.uk:8080', 'http', 'mail.example.co.uk', 'example.co.uk'],
  ['HTTPS://user:secret@example.com./', 'https', 'example.com', 'example.com'],
  ['https://bücher.example/', 'https', 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['ht\ntps:\\\\example.com\\x', 'https', 'example.com', 'example.com'],
  ['http:example.com', 'http', 'example.com', 'example.com'],
  ['http://0x7f.1/', 'http', '127.0.0.1', null],
  ['http://[2001:db8::1]/', 'http', '2001:db8::1', null],
  ['https://co.uk/', 'https', 'co.uk', null],
  ['https://{{host}}/', 'https', '{{host}}', null],
  ['https://', 'https', null, null],
  ['mailto:a@example.com', 'mailto', null, null],
  ['tel:+15550100', 'tel', null, null],
  ['javascript:void(0)', 'javascript', null, null],
  ['www.example.com', '', null, null],
  ['//example.com/a', '', null, null],
  ['#top', '', null, null],
  ['', '', null, null],
];

for (const [address, scheme, host, domain] of ADDRESSES)
  test(`messageLinks parses the HTML link ${JSON.stringify(address)}`, async () => {
    const [link] = await linksOf(htmlMessage(`<a href="${address}">text</a>`));
    assert.equal(link?.href, address);
    assert.deepEqual([link.scheme, link.host, link.domain], [scheme, host, domain]);
    assert.equal(link.url !== null, host !== null);
    assert.deepEqual([link.text, link.source], ['text', 'html']);
  });

/** Plain text, and the URLs that email clients turn into links. */
const TEXTS: [string, string[]][] = [
  [
    'Go to https://example.com/a?b=1&c=2, or to WWW.example.org.',
    ['https://example.com/a?b=1&c=2', 'WWW.example.org'],
  ],
  [
    '(see https://example.com/a_(b)) and <http://example.com/c>',
    ['https://example.com/a_(b)', 'http://example.com/c'],
  ],
  [
    '"https://example.com/x" \'https://example.com/y\'!',
    ['https://example.com/x', 'https://example.com/y'],
  ],
  [
    '[here](https://example.com/m) *https://example.com/n*',
    ['https://example.com/m', 'https://example.com/n'],
  ],
  [
    '请看https://example.com/中文。谢谢，https://example.com/b',
    ['https://example.com/中文', 'https://example.com/b'],
  ],
  ['https://example.com/?u=https://example.org/', ['https://example.com/?u=https://example.org/']],
  ['no@www.example.com xwww.example.com example.com ftp://example.com http:// www. https://)', []],
  ['http://[2001:db8::1]/a', ['http://[2001:db8::1]/a']],
];

for (const [text, addresses] of TEXTS)
  test(`messageLinks finds URLs in the text: ${text}`, async () => {
    const links = await linksOf(
      goodMessage({ 'Content-Type': 'text/plain; charset=utf-8' }, `${text}\n`),
    );
    assert.deepEqual(
      links.map(({ href }) => href),
      addresses,
    );
    assert.ok(links.every((link) => link.text === null && link.source === 'text'));
  });

test('messageLinks reads a bare www. URL as http', async () => {
  const [link] = await linksOf(goodMessage({}, 'www.example.com/a\n'));
  assert.deepEqual([link?.scheme, link?.host], ['http', 'www.example.com']);
});

const multipartMessage = (text: string, html: string) =>
  goodMessage(
    { 'Content-Type': 'multipart/alternative; boundary=x' },
    `--x\nContent-Type: text/plain\n\n${text}\n--x\nContent-Type: text/html\n\n${html}\n--x--\n`,
  );

test('messageLinks returns HTML links before text links', async () => {
  const links = await linksOf(
    multipartMessage('https://example.com/t', '<a href="https://example.com/h">h</a>'),
  );
  assert.deepEqual(
    links.map(({ href, source }) => [href, source]),
    [
      ['https://example.com/h', 'html'],
      ['https://example.com/t', 'text'],
    ],
  );
});

test('messageLinks returns labels and surrounding text', async () => {
  const [html, text] = await linksOf(
    multipartMessage(
      'Our shop:\nhttps://example.com/t (open)\nall day',
      `<p>${'x '.repeat(200)}Our <b>shop</b>:</p>\n <a href="https://example.com/h" title="Shop" aria-label="Go"><img alt="Sign" src="https://example.com/i/sign.png?v=1"></a><p>is ${'y '.repeat(200)}`,
    ),
  );
  assert.equal(html?.label, 'Shop Go Sign sign.png');
  assert.match(html.before, /^(?:x )+Our shop: $/);
  assert.match(html.after, /^\s*is (?:y )+y?$/);
  assert.deepEqual([html.before.length, html.after.length], [120, 60]);
  assert.match(text!.before, /^Our shop:\r?\n$/);
  assert.match(text!.after, /^ \(open\)\r?\nall day/);
});

test('messageLinks returns the text after each link', async () => {
  const links = await linksOf(
    htmlMessage(
      Array.from({ length: 500 }, (_, i) => `<a href="https://example.com/${i}">a</a> ${i}. `).join(
        '',
      ),
    ),
  );
  assert.equal(links.length, 500);
  for (const [i, { after }] of links.entries()) assert.ok(after.startsWith(` ${i}. `), after);
});

const HOSTILE: [string, string][] = [
  [
    'many links',
    multipartMessage(
      'www.a.example '.repeat(50_000),
      '<a href="https://example.com">a</a>'.repeat(600),
    ),
  ],
  [
    'brackets',
    goodMessage(
      {},
      `${`https://a.example/${'('.repeat(50_000)}${')'.repeat(50_000)} `.repeat(20)}\n`,
    ),
  ],
  ['dots', goodMessage({}, `www.${'.'.repeat(2_000_000)}\n`)],
  ['starts of URLs', goodMessage({}, `${'http://'.repeat(300_000)}\n`)],
];

for (const [name, message] of HOSTILE)
  test(`messageLinks stays bounded: ${name}`, async () => {
    const links = await linksOf(message);
    assert.ok(links.length <= 1000);
    assert.ok(links.every(({ href }) => href.length < 5000));
  });

test('messageLinks is empty for a message without links', async () => {
  assert.deepEqual(await linksOf(goodMessage()), []);
});
