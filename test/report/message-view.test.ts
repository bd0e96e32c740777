/** The message view: its content, its limits, and its running time. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageView } from '../../src/report/message-view.ts';
import type { MessageView } from '../../src/report/report.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { goodMessage, latin1 } from '../helpers/good-message.ts';
import { newsletterReport } from './reports.ts';

const view = (message: string | Buffer): Promise<MessageView> =>
  messageView(
    typeof message === 'string' ? Buffer.from(message.replaceAll('\n', '\r\n')) : message,
  );

const html = (body: string, fields: Record<string, string> = {}): string =>
  goodMessage({ 'Content-Type': 'text/html; charset=utf-8', ...fields }, body);

const mixed = (...parts: string[]): string =>
  goodMessage(
    { 'Content-Type': 'multipart/mixed; boundary="b"' },
    `${parts.map((part) => `--b\n${part}\n`).join('')}--b--\n`,
  );

const image = (id: string, content: string, type = 'image/png'): string =>
  `Content-Type: ${type}\nContent-ID: <${id}>\nContent-Disposition: inline; filename="${id}.png"\nContent-Transfer-Encoding: base64\n\n${Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\n')}`;

describe('messageView', () => {
  it('returns headers, text, HTML, attachments, links and source', async () => {
    const { message } = await newsletterReport();
    assert.deepEqual(message!.headers.map(({ name }) => name).slice(0, 5), [
      'DKIM-Signature',
      'Received',
      'From',
      'To',
      'Subject',
    ]);
    assert.equal(message!.headers[4]!.value, 'Scarves for November – knitted in Wales');
    assert.match(message!.text!, /^Scarves for November\n\nThree new scarves/);
    assert.match(
      message!.html!,
      /<img src="data:image\/png;base64,iVBORw0KGgo[\w+/]+=*" alt="Scarves/,
    );
    assert.equal(message!.remoteImages, 3);
    const { size } = message!.attachments[0]!;
    assert.deepEqual(message!.attachments, [
      { filename: 'size-guide.pdf', type: 'application/pdf', size },
    ]);
    assert.deepEqual(
      [...new Set(message!.links.map(({ href }) => href))],
      ['scarves', 'gloves', 'unsubscribe/8231'].map((path) => `https://shop.example/${path}`),
    );
    assert.deepEqual(message!.links[0], {
      href: 'https://shop.example/scarves',
      text: 'See the scarves',
    });
    assert.match(message!.source, /^DKIM-Signature: [\s\S]*--outer--\r\n$/);
    assert.deepEqual([message!.omittedSourceBytes, message!.limitNotes], [0, []]);
  });

  it('returns null for a missing text or HTML part', async () => {
    const plain = await view(goodMessage());
    assert.deepEqual([plain.html, plain.attachments, plain.links], [null, [], []]);
    assert.equal(plain.text, 'Hello, your order is on its way.\n');
    assert.equal((await view(html('<p>Hello</p>'))).text, null);
  });

  it('accepts any bytes', async () => {
    for (const raw of [
      Buffer.alloc(0),
      Buffer.from('\0\0'),
      Buffer.from([0xff, 0xfe, 0x0a, 0x0a, 0xc3]),
    ]) {
      const shown = await view(raw);
      assert.equal(typeof shown.source, 'string');
    }
    const odd = await view(latin1('Subject: caf\xe9\n\ncaf\xc3\xa9'));
    assert.equal(odd.source, 'Subject: caf\ufffd\r\n\r\ncafé');
  });
});

describe('messageView inline images', () => {
  it('are embedded by Content-ID and removed from attachments', async () => {
    const shown = await view(
      mixed(
        'Content-Type: text/html\n\n<img src="cid:a@x"><img src=cid:b%40x><p style="background:url(cid:a@x)">cid:a@x</p><img src="cid:nowhere">',
        image('a@x', 'AAA'),
        image('b@x', 'BBB', 'image/jpeg'),
        image('unused@x', 'CCC'),
      ),
    );
    assert.equal(
      shown.html,
      '<img src="data:image/png;base64,QUFB"><img src=data:image/jpeg;base64,QkJC><p style="background:url(data:image/png;base64,QUFB)">cid:a@x</p><img src="cid:nowhere">',
    );
    assert.deepEqual(
      shown.attachments.map(({ filename }) => filename),
      ['unused@x.png'],
    );
  });

  it('of non-image types are not embedded', async () => {
    const shown = await view(
      mixed(
        'Content-Type: text/html\n\n<img src="cid:a@x">',
        image('a@x', '<script>', 'text/html'),
      ),
    );
    assert.equal(shown.html!.trim().split('\n')[0], '<img src="cid:a@x">');
  });

  it('are limited to 2 MiB in total', async () => {
    const used = '<img src="cid:a@x">'.repeat(5000);
    const shown = await view(
      mixed(`Content-Type: text/html\n\n${used}`, image('a@x', 'x'.repeat(900_000))),
    );
    assert.ok(shown.html!.length < 2.2 * 1024 * 1024, `${shown.html!.length}`);
    assert.equal(shown.html!.match(/data:image/g)?.length, 1);
  });
});

describe('messageView limits', () => {
  it('truncate every part and report it', async () => {
    const links = '<a href="https://example.com/">x</a>'.repeat(300);
    const fields = 'X-Many: 1\n'.repeat(250);
    const attachment = 'Content-Type: application/x-thing; name="a.bin"\n\nx';
    const message = `${fields}X-Long: ${'y'.repeat(100_000)}\n${mixed(
      `Content-Type: text/plain\n\n${'t '.repeat(150_000)}`,
      `Content-Type: text/html\n\n${links}${'<p>h</p>'.repeat(80_000)}`,
      ...Array.from({ length: 150 }, () => attachment),
    )}`;
    const shown = await view(message);
    assert.equal(shown.headers.length, 200);
    assert.ok(shown.headers.every(({ value }) => value.length <= 2000));
    assert.equal(shown.text!.length, 200_000);
    assert.equal(shown.html!.length, 500_000);
    assert.equal(shown.attachments.length, 100);
    assert.equal(shown.links.length, 200);
    assert.equal(shown.source.length, 256 * 1024);
    assert.equal(
      shown.omittedSourceBytes,
      Buffer.byteLength(message.replaceAll('\n', '\r\n')) - 256 * 1024,
    );
    assert.deepEqual(
      shown.limitNotes.map((sentence) => sentence.replace(/of [\d,]+/, 'of n')),
      [
        'Only the first 200 of n header fields are shown.',
        'Only the first 200,000 of n characters of text are shown.',
        'Only the first 500,000 of n characters of HTML are shown.',
        'Only the first 100 of n attachments are shown.',
        'Only the first 200 of n links are shown.',
      ],
    );
  });

  it('do not split characters of the source', async () => {
    const shown = await view(`${goodMessage()}${'é'.repeat(300_000)}`);
    assert.ok(!shown.source.includes('\ufffd'));
  });

  const TRAPS: Record<string, string> = {
    'open tags': '<div>'.repeat(1_000_000),
    'closing tags': '</div>'.repeat(800_000),
    'quotes before cid': '"'.repeat(5_000_000),
    'cid addresses': '"cid:a'.repeat(800_000),
    'spaces before cid': `"${' '.repeat(5_000_000)}`,
    'bracketed addresses': '(((http://a '.repeat(400_000),
    'encoded words': '=?utf-8?q?a?= '.repeat(300_000),
  };
  for (const [name, text] of Object.entries(TRAPS))
    it(`keep processing fast: 5 MB of ${name}`, { timeout: 20_000 }, async () => {
      const started = cpuTime();
      await view(html(text, { Subject: text.slice(0, 500_000).replaceAll('\n', ' ') }));
      assert.ok(cpuTime() - started < 10_000);
    });
});
