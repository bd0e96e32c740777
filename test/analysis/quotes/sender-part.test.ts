/** Whose words they are: quoted and forwarded messages are not the sender's. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check } from '../../../src/analysis/check.ts';
import { listUnsubscribeCheck } from '../../../src/analysis/checks/list-unsubscribe.ts';
import { mergeTags } from '../../../src/analysis/checks/merge-tags.ts';
import { subjectStyle } from '../../../src/analysis/checks/subject-style.ts';
import { textMatchesHtml } from '../../../src/analysis/checks/text-matches-html.ts';
import { unsubscribeLink } from '../../../src/analysis/checks/unsubscribe-link.ts';
import { htmlFacts, wholeHtmlFacts } from '../../../src/analysis/html/facts.ts';
import { classifyMessage } from '../../../src/analysis/kind.ts';
import { allLinks, messageLinks } from '../../../src/analysis/links/links.ts';
import { senderPart } from '../../../src/analysis/quotes/sender-part.ts';
import { contextFor, runCheck } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { NEWSLETTER_HTML, NEWSLETTER_TEXT, QUOTED_MAILS, type QuotedMail } from './quoted-mails.ts';

type Fields = Record<string, string | null>;

/** A message with a text part, an HTML part or both. */
function mailOf({ text, html }: Pick<QuotedMail, 'text' | 'html'>, changes: Fields): string {
  const encode = (part: string) =>
    (
      Buffer.from(part)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    ).join('\n');
  const head = (type: string) =>
    `Content-Type: text/${type}; charset=utf-8\nContent-Transfer-Encoding: base64\n\n`;
  const parts = [
    ...(text === undefined ? [] : [`${head('plain')}${encode(text)}`]),
    ...(html === undefined ? [] : [`${head('html')}${encode(html)}`]),
  ];
  const body = parts.map((part) => `--b1\n${part}\n`).join('');
  return goodMessage(
    {
      'Content-Type': 'multipart/alternative; boundary=b1',
      'Content-Transfer-Encoding': null,
      ...changes,
    },
    `${body}--b1--\n`,
  );
}

const encoded = (subject: string) => `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;

const THREAD = { 'In-Reply-To': '<1@shop.example>', References: '<1@shop.example>' };

const contextOf = (mail: QuotedMail) =>
  contextFor({
    message: mailOf(mail, {
      Subject: encoded(mail.subject),
      ...(mail.isForward ? {} : THREAD),
    }),
  });

for (const mail of QUOTED_MAILS)
  test(`A quoted newsletter is not the sender's: ${mail.name}`, async () => {
    const context = await contextOf(mail);
    const part = context.fact(senderPart);
    const html = context.fact(htmlFacts)?.text;
    for (const own of mail.own) {
      if (mail.text !== undefined) assert.ok(part.text?.includes(own), `${part.text}`);
      if (html !== undefined) assert.ok(html.includes(own), html);
    }
    for (const rest of [part.text ?? '', html ?? ''])
      assert.doesNotMatch(rest, /SUMMER|40%|50 %|shop\.example|wrote|schrieb|Begin|Gesendet/);
    if (mail.text === undefined || !mail.own.some((own) => mail.text!.endsWith(own)))
      assert.ok(part.hasQuotes);
    assert.equal(part.relation, mail.isForward ? 'forward' : 'reply');
    assert.equal(part.subject, mail.subject.includes(':') ? '' : mail.subject);
    assert.deepEqual(context.fact(messageLinks), []);
    assert.ok(mail.html === undefined || context.fact(wholeHtmlFacts)!.text.includes('SUMMER'));
    assert.ok(context.fact(allLinks).length > 0);
    const { kind, confidence, reasons } = context.fact(classifyMessage);
    assert.equal(kind, 'transactional', reasons.join('\n'));
    assert.equal(confidence, 'likely', reasons.join('\n'));
    assert.match(reasons.join('\n'), mail.isForward ? /It forwards another/ : /It is a reply to/);
  });

test('Checks of content ignore a quoted newsletter', async () => {
  const mail = QUOTED_MAILS[0]!;
  const message = mailOf(mail, { Subject: encoded(mail.subject), ...THREAD });
  const statusOf = async (check: Check) => (await runCheck(check, { message })).status;
  assert.equal(await statusOf(mergeTags), 'pass');
  assert.equal(await statusOf(subjectStyle), 'pass');
  assert.equal(await statusOf(textMatchesHtml), 'pass');
  assert.equal(await statusOf(listUnsubscribeCheck), 'skipped');
  assert.equal(await statusOf(unsubscribeLink), 'skipped');
});

// What is no quote.

const NO_QUOTES: [name: string, mail: Pick<QuotedMail, 'text' | 'html'>, fields: Fields][] = [
  [
    'a newsletter in the marks of Gmail',
    {
      text: NEWSLETTER_TEXT,
      html: `<div class="gmail_quote"><blockquote class="gmail_quote">${NEWSLETTER_HTML}</blockquote></div>`,
    },
    { Subject: 'Summer sale' },
  ],
  [
    'a newsletter as a cited block',
    {
      text: NEWSLETTER_TEXT.replace(/^/gm, '> '),
      html: `<blockquote type="cite">${NEWSLETTER_HTML}</blockquote>`,
    },
    { Subject: 'Summer sale' },
  ],
  [
    'a campaign that pretends to be forwarded',
    {
      text: `---------- Forwarded message ---------\nFrom: Shop <news@shop.example>\nDate: today\nSubject: Sale\nTo: you\n\n${NEWSLETTER_TEXT}`,
    },
    { Subject: 'Fwd: did you see this?', 'List-Unsubscribe': '<https://shop.example/u>' },
  ],
  [
    'a campaign that pretends to be a reply',
    {
      text: `On 3 Nov 2026, at 10:00, Shop <news@shop.example> wrote:\n> ${NEWSLETTER_TEXT.replaceAll('\n', '\n> ')}`,
    },
    { Subject: 'Re: your cart', 'X-Campaign-Id': '17', ...THREAD },
  ],
  [
    'a testimonial in a newsletter',
    {
      html: `${NEWSLETTER_HTML}<p>Our customers say:</p><blockquote>The best boots that I ever had.</blockquote><p>Order yours today and get free shipping on all orders.</p>`,
    },
    { Subject: 'Summer sale' },
  ],
];

for (const [name, mail, fields] of NO_QUOTES)
  test(`All words are the sender's: ${name}`, async () => {
    const context = await contextFor({ message: mailOf(mail, fields) });
    assert.equal(context.fact(senderPart).hasQuotes, false);
    assert.ok(context.fact(messageLinks).length > 0);
    const { kind, reasons } = context.fact(classifyMessage);
    assert.equal(kind, 'marketing', reasons.join('\n'));
  });

test('A message that only quotes is uncertain without a field of a conversation', async () => {
  const text = `On 3 Nov 2026, at 10:00, Shop <news@shop.example> wrote:\n\n> ${NEWSLETTER_TEXT.replaceAll('\n', '\n> ')}\n`;
  const context = await contextFor({ message: mailOf({ text }, { Subject: 'Re: hello' }) });
  const { kind, confidence, reasons } = context.fact(classifyMessage);
  assert.equal(kind, 'transactional');
  assert.equal(confidence, 'uncertain');
  assert.match(reasons.join(' '), /no field shows that it is a reply/);
});

test('A newsletter forwarded through a bulk email service is uncertain', async () => {
  const text = `---------- Forwarded message ---------\nFrom: Shop <news@shop.example>\nDate: today\nSubject: Sale\nTo: you\n\n${NEWSLETTER_TEXT}`;
  const fields = { Subject: 'Fwd: Sale', 'X-SG-EID': 'abc' };
  const context = await contextFor({ message: mailOf({ text }, fields) });
  assert.equal(context.fact(classifyMessage).confidence, 'uncertain');
});

test('A promotion in the reply itself is still marketing', async () => {
  const html = `<p>Hi! Summer sale: 40% off everything. <a href="https://shop.example/products/1?utm_campaign=x">Shop now</a>. Use code SUMMER40, free shipping on all orders, today only.</p><p><a href="https://shop.example/unsubscribe">Unsubscribe</a></p><p>On 3 Nov 2026 at 10:00, Ana wrote:</p><blockquote type="cite">What do you have?</blockquote>`;
  const context = await contextFor({
    message: mailOf({ html }, { Subject: 'Re: question', ...THREAD }),
  });
  const { kind, confidence } = context.fact(classifyMessage);
  assert.ok(kind === 'marketing' || confidence === 'uncertain');
});

test('A reply that asks to be unsubscribed is no campaign', async () => {
  const text = 'Dear shop,\n\nplease unsubscribe me from your newsletter.\n\nRegards, Ann\n';
  const fields = { Subject: 'Re: SALE: 50% OFF!!', ...THREAD };
  const context = await contextFor({ message: mailOf({ text }, fields) });
  const { kind, confidence } = context.fact(classifyMessage);
  assert.deepEqual([kind, confidence], ['transactional', 'likely']);
});

test('Fields of a booking and an itinerary are no copied message', async () => {
  const text =
    'Your booking\n\nFrom: London St Pancras\nTo: Paris Nord\nDate: 3 November 2026\n\nShow this ticket: https://rail.example/t/1\n';
  const context = await contextFor({ message: mailOf({ text }, { Subject: 'Your ticket' }) });
  assert.equal(context.fact(senderPart).hasQuotes, false);
});

test('Outlook gives each new message a Thread-Index, which is no reply', async () => {
  const index = (octets: number) => ({
    Subject: 'Hello',
    'Thread-Index': Buffer.alloc(octets, 1).toString('base64'),
  });
  const relationOf = async (octets: number) => {
    const context = await contextFor({ message: mailOf({ text: 'Hello.\n' }, index(octets)) });
    return context.fact(senderPart).relation;
  };
  assert.equal(await relationOf(22), null);
  assert.equal(await relationOf(27), 'reply');
});

test('Quotes are found in linear time', async () => {
  const texts = [
    '____\n'.repeat(60_000),
    'From: a\n'.repeat(40_000),
    'On 3 Nov 2026 at 10:00 a@b.example,\n'.repeat(20_000),
    '> a\n\n'.repeat(60_000),
    `${'On 1 wrote '.repeat(30_000)}:\n`,
  ];
  const htmls = [
    '<blockquote type="cite">'.repeat(20_000),
    '<div class="gmail_attr">x</div>'.repeat(12_000),
    `<div name="quote">${'<div>'.repeat(50_000)}`,
  ];
  const mails = [...texts.map((text) => ({ text })), ...htmls.map((html) => ({ html }))];
  for (const mail of mails) {
    const context = await contextFor({ message: mailOf(mail, { Subject: 'Re: x', ...THREAD }) });
    const start = cpuTime();
    context.fact(senderPart);
    const ms = cpuTime() - start;
    assert.ok(ms < 1000, `${JSON.stringify(mail).slice(0, 60)}: ${ms} ms`);
  }
});
