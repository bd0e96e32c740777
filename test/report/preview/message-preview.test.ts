/** What a report shows of a message: frames, images, and its public form. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';
import type { LoadedImage } from '../../../src/report/preview/images.ts';
import {
  type MessagePreviewOptions,
  messagePreview,
  previewFrame,
} from '../../../src/report/preview/message-preview.ts';
import { addressRule } from '../../../src/report/redact-addresses.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const parse = (message: string) => parseMessage(Buffer.from(message.replaceAll('\n', '\r\n')));

const htmlMail = (html: string): string =>
  goodMessage({ 'Content-Type': 'text/html; charset=utf-8' }, html);

const mixed = (...parts: string[]): string =>
  goodMessage(
    { 'Content-Type': 'multipart/related; boundary="b"' },
    `${parts.map((part) => `--b\n${part}\n`).join('')}--b--\n`,
  );

const imagePart = (id: string, content: string, type = 'image/png'): string =>
  `Content-Type: ${type}\nContent-ID: <${id}>\nContent-Disposition: inline; filename="${id}.png"\nContent-Transfer-Encoding: base64\n\n${Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\n')}`;

const INSIDE = { frames: { maxCharacters: 1_000_000 } };

async function previewOf(message: string, options: Partial<MessagePreviewOptions> = {}) {
  return messagePreview(await parse(message), { images: null, ...INSIDE, ...options });
}

/** The HTML as sent, light. */
async function frameOf(message: string, images: LoadedImage[] | null = null): Promise<string> {
  const choice = { client: 'as_sent', theme: 'light', images: images ? 'on' : 'off' } as const;
  return previewFrame(await parse(message), choice, images) ?? '';
}

const loaded = (url: string, changes: Partial<LoadedImage> = {}): LoadedImage => ({
  kind: 'content',
  url,
  status: 'loaded',
  reason: null,
  mediaType: 'image/png',
  bytes: Buffer.from('AAA'),
  ...changes,
});

describe('Preview of inline images', () => {
  it('shows parts by Content-ID and does not list them as attachments', async () => {
    const message = mixed(
      'Content-Type: text/html\n\n<img src="cid:a@x" alt="A"><img src=cid:b%40x><p style="background:url(cid:a@x)">cid:a@x</p><img src="cid:nowhere" alt="gone">',
      imagePart('a@x', 'AAA'),
      imagePart('b@x', 'BBB', 'image/jpeg'),
      imagePart('unused@x', 'CCC'),
    );
    const html = await frameOf(message);
    assert.equal(html.match(/data:image\/png;base64,QUFB/g)?.length, 2);
    assert.equal(html.match(/data:image\/jpeg;base64,QkJC/g)?.length, 1);
    assert.match(html, /alt="gone"/);
    const { embedded } = await previewOf(message);
    assert.deepEqual([...embedded].map(({ contentId }) => contentId).sort(), ['a@x', 'b@x']);
  });

  it('shows no parts of other types', async () => {
    const message = mixed(
      'Content-Type: text/html\n\n<img src="cid:a@x" alt="A">',
      imagePart('a@x', '<script>', 'text/html'),
    );
    assert.doesNotMatch(await frameOf(message), /data:/);
  });

  it('limits the data of all images in a frame', async () => {
    const message = mixed(
      `Content-Type: text/html\n\n${'<img src="cid:a@x">'.repeat(5000)}`,
      imagePart('a@x', 'x'.repeat(900_000)),
    );
    const html = await frameOf(message);
    assert.ok(html.length < 13 * 1024 * 1024, `${html.length}`);
    assert.ok(html.match(/data:image/g)!.length >= 2);
  });
});

describe('Preview of remote images', () => {
  const HTML =
    '<img src="https://cdn.example/a.png" alt="A"><img src="//cdn.example/b.png"><img src="https://t.example/o" width="1" height="1"><p style="background:url(https://cdn.example/c.png)">x</p>';

  it('shows none before anyone asks', async () => {
    const html = await frameOf(htmlMail(HTML));
    assert.doesNotMatch(html, /data:|cdn\.example/);
    assert.match(html, /Tracking pixel/);
    const { preview } = await previewOf(htmlMail(HTML));
    assert.deepEqual(preview.images, { count: 3, trackingPixels: 1, loaded: null });
  });

  it('shows those that were loaded, and says why others were not', async () => {
    const images = [
      loaded('https://cdn.example/a.png'),
      loaded('https://cdn.example/b.png', {
        status: 'failed',
        reason: 'it was not found',
        bytes: null,
        mediaType: null,
      }),
      loaded('https://cdn.example/c.png', { bytes: Buffer.from('CCC') }),
      loaded('https://shop.example/logo.svg', { kind: 'bimi_logo', mediaType: 'image/svg+xml' }),
    ];
    const html = await frameOf(htmlMail(HTML), images);
    assert.match(html, /<img src="data:image\/png;base64,QUFB"/);
    assert.match(html, /data:image\/png;base64,Q0ND/);
    assert.doesNotMatch(html, /cdn\.example/);
    const { preview } = await previewOf(htmlMail(HTML), { images });
    assert.equal(preview.logo, 'data:image/svg+xml;base64,QUFB');
    assert.deepEqual(preview.images.loaded, {
      count: 2,
      failed: [{ url: 'https://cdn.example/b.png', reason: 'it was not found' }],
    });
  });

  it('shows no data of another type, whatever is stored', async () => {
    const images = [loaded('https://cdn.example/a.png', { mediaType: 'text/html' })];
    assert.doesNotMatch(await frameOf(htmlMail(HTML), images), /data:/);
  });
});

describe('Frames of a preview', () => {
  it('are served, or are in the report in one state of the images', async () => {
    const served = await previewOf(htmlMail('<p>x</p>'), {
      images: [],
      frames: { url: ({ client, theme, images }) => `/${client}/${theme}/${images}` },
    });
    const urls = served.preview.clients.flatMap(({ frames }) => frames.map(({ source }) => source));
    assert.equal(urls.length, 20);
    assert.deepEqual(urls[0], { url: '/as_sent/light/on' });
    const inside = await previewOf(htmlMail('<p>x</p>'), { images: [] });
    const states = inside.preview.clients.flatMap(({ frames }) => frames.map((f) => f.images));
    assert.deepEqual([states.length, new Set(states)], [10, new Set(['on'])]);
  });

  it('in a report are limited together, and light ones come first', async () => {
    const message = htmlMail(`<p>${'x'.repeat(10_000)}</p>`);
    const { preview } = await previewOf(message, { frames: { maxCharacters: 60_000 } });
    const kept = preview.clients.flatMap(({ frames }) =>
      frames.flatMap(({ theme, source }) => (source ? [theme] : [])),
    );
    assert.deepEqual(kept, ['light', 'light', 'light', 'light', 'light']);
  });

  it('are missing without HTML', async () => {
    const { preview } = await previewOf(goodMessage());
    assert.deepEqual([preview.clients, preview.accessibility], [[], null]);
    assert.equal(preview.inbox.previewSource, 'text_part');
    assert.ok(preview.text);
  });
});

describe('Public preview', () => {
  it('contains no text, address or link that the rule removes', async () => {
    const secret = 'zq7secret';
    const message = goodMessage(
      {
        Subject: `For ${secret}`,
        From: `${secret} <shop@example.com>`,
        'Content-Type': 'multipart/alternative; boundary="b"',
      },
      `--b\nContent-Type: text/plain\n\nHello ${secret}\n--b\nContent-Type: text/html\n\n<html lang=en><title>${secret}</title><body><h1>Hi ${secret}</h1><p style="color:#ddd">Low ${secret}</p><a href="https://x.example/${secret}" title="${secret}">go</a><img src="https://x.example/${secret}.png" alt="${secret}"><video title="${secret}"></video><input value="${secret}"><p class="${'x'}" aria-label="${secret}">x</p>\n--b--\n`,
    );
    const { preview } = await previewOf(message, {
      images: [
        loaded(`https://x.example/${secret}.png`, {
          status: 'failed',
          reason: 'it was not found',
          bytes: null,
        }),
      ],
      publicText: (text) => text.replaceAll(secret, '…'),
    });
    const places = [...JSON.stringify(preview).matchAll(/.{60}zq7secret.{30}/gs)].map(([m]) => m);
    assert.deepEqual(places, []);
    assert.match(JSON.stringify(preview.clients), /Hi …/);
  });

  it('finds addresses and secrets across elements and lines, and in styles, classes and languages', async () => {
    const html = [
      '<html lang="jane@reader.example"><style>p::after{content:"jane@reader.example"}p[title="jane@reader.example"]{color:red}p{color:#010203}</style>',
      '<p class="jane@reader.example kept">Write to jane@<wbr>reader.example, <b>jane</b>@<span>reader.example</span></p>',
      '<p>Reset: https://shop.example/<wbr>reset?token=q8jane <i>now</i></p><p>a<b>b</b>c</p>',
      `<p style='font-family:"jane@reader.example"'><font face="jane@reader.example">${'word '.repeat(1998)}jane@reader.example`,
    ].join('');
    const message = goodMessage(
      { 'Content-Type': 'multipart/alternative; boundary="b"' },
      `--b\nContent-Type: text/plain; format=flowed; delsp=yes\n\nhttps://shop.example/reset?token= \nq8jane\n--b\nContent-Type: text/html\n\n${html}\n--b--\n`,
    );
    const addresses = addressRule(new Set());
    const { preview } = await previewOf(message, {
      publicText: (text) => addresses(text, 'sentence'),
    });
    const places = [...JSON.stringify(preview).matchAll(/.{60}jane.{30}/gs)].map(([m]) => m);
    assert.deepEqual(places, []);
    const { source } = preview.clients[0]!.frames[0]!;
    assert.ok(source && 'html' in source);
    assert.match(source.html, /<p>a<b>b<\/b>c<\/p>/, 'other text keeps its elements');
    assert.match(source.html, /class="kept".*https:\/\/shop\.example\/…/s);
    assert.match(source.html, /p\{color:#010203;\}/);
  });

  it('says that a long text is cut', async () => {
    const text = goodMessage({}, `${'word '.repeat(60)}\n`.repeat(1000));
    for (const publicText of [undefined, (words: string) => words])
      assert.equal((await previewOf(text, { publicText })).preview.text!.truncated, true);
  });
});

describe('VML', () => {
  it('is not among what Outlook lacks', async () => {
    const html = htmlMail('<!--[if mso]><v:oval><v:fill/></v:oval><![endif]--><p>x</p>');
    const { preview } = await previewOf(html);
    const outlook = preview.clients.find(({ client }) => client.isWord)!;
    assert.deepEqual(outlook.removed, []);
    assert.ok(outlook.undrawn);
    assert.equal(preview.clients.find(({ client }) => client.isGmail)!.undrawn, null);
  });
});
