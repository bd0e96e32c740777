/** Bounces without a status part, and mail that only resembles them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFeedback } from '../../../src/feedback/reading/read.ts';
import { OTHER_MAIL, TEXT_BOUNCES } from './bounce-texts.ts';
import { dmarc, dsn, gzip, mail, text } from './builders.ts';

const NOW = Date.UTC(2026, 10, 22);

const bytesOf = ({ header, body }: { header: string; body: string }) =>
  Buffer.from(`${header}\n${body}`.replaceAll('\n', '\r\n'));

async function inWords(bytes: Uint8Array): Promise<string> {
  const [item] = await readFeedback(bytes, { now: NOW });
  if (!item?.ok) return `refused ${item?.reason}`;
  if (item.report.type !== 'bounce') return item.report.type;
  const recipients = item.report.recipients.map(
    (one) => `${one.domain} ${one.action} ${one.class} ${one.status} ${one.remoteServer}`,
  );
  return `${item.report.domain}: ${recipients.join(', ')}`;
}

for (const sample of TEXT_BOUNCES)
  test(`The text of ${sample.name} is read as a bounce`, async () => {
    assert.equal(await inWords(bytesOf(sample)), sample.expected);
  });

for (const sample of OTHER_MAIL)
  test(`Not read as a bounce: ${sample.name}`, async () => {
    assert.equal(await inWords(bytesOf(sample)), 'refused not_a_report');
  });

test('A bounce that a person attaches is not read as a bounce', async () => {
  const fields = 'Final-Recipient: rfc822; a@one.example\nAction: failed\nStatus: 5.1.1\n';
  const bounce = Buffer.from(dsn(fields)).toString('latin1').replaceAll('b0', 'inner');
  const passedOn = mail(
    [text('See below.'), { type: 'message/rfc822', content: bounce, plain: true }],
    {
      header: 'From: Ann <ann@example.com>\nSubject: Fwd: failure notice\nMIME-Version: 1.0\n',
    },
  );
  assert.equal(await inWords(passedOn), 'refused not_a_report');
});

test('A report that a mail server attaches is read, even if the text is that of a bounce', async () => {
  const report = mail(
    [
      text('Your message could not be delivered.'),
      { type: 'application/gzip', content: gzip(dmarc()) },
    ],
    { header: 'From: postmaster@receiver.example\nSubject: Report\nMIME-Version: 1.0\n' },
  );
  assert.equal(await inWords(report), 'dmarc');
});

test('The addresses of recipients in the text of a bounce are not kept', async () => {
  for (const sample of TEXT_BOUNCES) {
    const items = await readFeedback(bytesOf(sample), { now: NOW });
    assert.doesNotMatch(JSON.stringify(items), /a@one\.example/, sample.name);
  }
});

test('A recipient without a reply in the status part gets the one in the text', async () => {
  const bytes = Buffer.from(
    dsn('Final-Recipient: rfc822; a@one.example\nAction: failed\nStatus: 5.0.0\n'),
  );
  const told = bytes
    .toString('latin1')
    .replace(
      'Your message was not delivered.',
      'This is the mail system at host relay.example.com.\r\n\r\n<a@one.example>: 550 5.7.1 Blacklisted',
    )
    .replace(/^From: .*$/m, 'From: MAILER-DAEMON@relay.example.com');
  assert.equal(
    await inWords(Buffer.from(told, 'latin1')),
    'example.com: one.example failed policy 5.7.1 null',
  );
});

test('Hostile texts of bounces are read in linear time', async () => {
  const started = performance.now();
  const start = 'From: MAILER-DAEMON@a.example\r\n\r\nHi. This is the qmail-send program at a.\r\n';
  for (const piece of [
    'a',
    '<',
    'x@x ',
    'host ',
    '550 ',
    'to:',
    '<a@b.example>:\r\n',
    Array.from(
      { length: 500 },
      (_, index) => `<a${index}@b.example>\r\n${'x'.repeat(900)}\r\n`,
    ).join(''),
    '550 <a@b.example>...\r\n',
    '\r\n',
  ])
    await readFeedback(Buffer.from(start + piece.repeat((2 * 1024 * 1024) / piece.length)), {
      now: NOW,
    });
  assert.ok(performance.now() - started < 10_000);
});
