/** The message view: its content, its limits, and its running time. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import { messageView } from '../../src/report/message-view.ts';
import type { MessageView } from '../../src/report/report.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { goodMessage, latin1 } from '../helpers/good-message.ts';
import { newsletterReport } from './reports.ts';

async function view(message: string | Buffer): Promise<MessageView> {
  const raw = typeof message === 'string' ? Buffer.from(message.replaceAll('\n', '\r\n')) : message;
  return messageView(raw, await parseMessage(raw), new Set());
}

const html = (body: string, fields: Record<string, string> = {}): string =>
  goodMessage({ 'Content-Type': 'text/html; charset=utf-8', ...fields }, body);

const mixed = (...parts: string[]): string =>
  goodMessage(
    { 'Content-Type': 'multipart/mixed; boundary="b"' },
    `${parts.map((part) => `--b\n${part}\n`).join('')}--b--\n`,
  );

describe('messageView', () => {
  it('returns headers, text, attachments, links and source', async () => {
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

  it('returns null for a missing text part', async () => {
    const plain = await view(goodMessage());
    assert.deepEqual([plain.attachments, plain.links], [[], []]);
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
