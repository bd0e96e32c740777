/** Inline images and attachments of emails, in the outbox and when sent. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { createSecretBox } from '../../src/lib/crypto.ts';
import { createMailer } from '../../src/net/smtp/mailer.ts';
import { decryptMail, encryptMail } from '../../src/outbox/queue.ts';
import { reportMail } from '../../src/report/summary-mail.ts';
import { testClock } from '../helpers/clock.ts';
import { WEEK } from '../report/scheduled-reports.ts';
import { startMailSink } from './mail-sink.ts';

const secrets = createSecretBox('0123456789abcdef0123456789abcdef');
const { images, ...words } = reportMail(WEEK, { unsubscribeUrl: null, hasPdf: false });
const PDF = {
  filename: 'report.pdf',
  contentType: 'application/pdf',
  content: Buffer.from('%PDF-1.7 (not more)'),
};
const MAIL = { to: 'reader@example.net', ...words, images, attachments: [PDF] };

test('Sealed outbox mail preserves images and attachments byte for byte', () => {
  const opened = decryptMail(secrets, 'mail_1', encryptMail(secrets, 'mail_1', MAIL))!;
  assert.equal(opened.id, 'mail_1');
  assert.ok(images.length === 2 && opened.images?.length === 2);
  opened.images.forEach((image, index) => {
    const { content, ...about } = images[index]!;
    assert.deepEqual(
      { ...image, content: [...image.content] },
      { ...about, content: [...content] },
    );
  });
  assert.deepEqual(opened.attachments, [PDF]);
});

test('Sealed outbox mail without images and attachments stays without them', () => {
  const { images: _, attachments: __, ...bare } = MAIL;
  const opened = decryptMail(secrets, 'mail_2', encryptMail(secrets, 'mail_2', bare))!;
  assert.deepEqual([opened.images, opened.attachments], [undefined, undefined]);
});

test('The mailer embeds images inline by Content-ID and appends attachments', async (t) => {
  const sink = await startMailSink(t);
  const mailer = createMailer({
    url: `smtp://127.0.0.1:${sink.port}`,
    from: 'Deliverability <reports@example.com>',
    dkim: null,
    name: 'mail.example.com',
    clock: testClock(),
  });
  assert.ok((await mailer.send({ id: 'mail_3', ...MAIL })).ok);
  const { raw } = sink.taken[0]!;
  const types = [...raw.toString('latin1').matchAll(/^Content-Type: ([\w/]+)/gm)].map(
    ([, type]) => type,
  );
  assert.deepEqual(types, [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain',
    'multipart/related',
    'text/html',
    'image/png',
    'image/png',
    'application/pdf',
  ]);
  const { attachments } = await PostalMime.parse(raw);
  assert.deepEqual(
    attachments.map(({ disposition, contentId }) => [disposition, contentId]),
    [...images.map(({ cid }) => ['inline', `<${cid}>`]), ['attachment', undefined]],
  );
  for (const [index, { content }] of images.entries())
    assert.deepEqual([...new Uint8Array(attachments[index]!.content as ArrayBuffer)], [...content]);
});
