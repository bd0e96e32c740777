/** `subject_style`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { subjectStyle } from '../../../src/analysis/checks/subject-style.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const subject = (text: string, changes = {}) => goodMessage({ Subject: text, ...changes });
const REPLY = { 'In-Reply-To': '<1@example.net>' };
const attached = { 'Content-Type': 'multipart/mixed; boundary=x' };
const ATTACHED = '--x\nContent-Type: message/rfc822\n\nSubject: a\n\nb\n--x--\n';

const cases: [string, string, CheckStatus, RegExp?][] = [
  ['a plain subject', subject('Your order has shipped'), 'pass'],
  ['no subject', goodMessage({ Subject: null }), 'skipped'],
  ['an empty subject', subject(' '), 'skipped'],

  ['words in capitals', subject('BUY OUR new shoes NOW'), 'warn', /capital letters/],
  ['half of twelve letters in capitals', subject('ABCDEF abcdef'), 'pass'],
  [
    'more than half of twelve letters in capitals',
    subject('ABCDEFG abcde'),
    'warn',
    /capital letters/,
  ],
  ['ten letters in capitals', subject('ABCDE FGHIJ 2026'), 'pass'],
  ['eleven letters in capitals', subject('ABCDE FGHIJK'), 'warn', /capital letters/],
  ['Greek words in capitals', subject('ΜΕΓΑΛΗ ΠΡΟΣΦΟΡΑ'), 'warn', /capital letters/],
  ['a script without capitals', subject('您的订单已经发货请注意查收谢谢'), 'pass'],
  ['capitals in an encoded word', subject('=?utf-8?Q?GRO=C3=9FE_AUSWAHL_HIER?='), 'warn'],

  ['one exclamation mark', subject('Your order has shipped!'), 'pass'],
  ['two', subject('Hurry! Your order has shipped!'), 'warn', /2 exclamation marks/],
  ['full-width exclamation marks', subject('ご注文の商品！！'), 'warn', /2 exclamation marks/],

  ['a false reply', subject('Re: your order'), 'warn', /starts with “Re:”.*not a reply/],
  ['a false reply with a counter', subject('RE[2]: your order'), 'warn'],
  ['a false reply in German', subject('AW: Ihre Bestellung'), 'warn', /“AW:”/],
  ['a false reply in Swedish', subject('SV: din order'), 'warn'],
  ['a false reply in Polish', subject('Odp: zamówienie'), 'warn'],
  ['a false reply in Chinese', subject('回复：您的订单'), 'warn'],
  ['a false reply in French spacing', subject('RE : votre commande'), 'warn'],
  ['a false forwarding', subject('Fwd: your order'), 'warn', /is not forwarded/],
  ['a false forwarding in French', subject('TR: votre commande'), 'warn'],
  ['a false forwarding in German', subject('WG: Ihre Bestellung'), 'warn'],
  ['a true reply', subject('Re: your order', REPLY), 'pass'],
  ['a true reply by References', subject('AW: x', { References: '<1@example.net>' }), 'pass'],
  ['a true forwarding', subject('Fwd: your order', REPLY), 'pass'],
  [
    'a forwarding with the message attached',
    goodMessage({ Subject: 'Fwd: x', ...attached }, ATTACHED),
    'pass',
  ],
  [
    'a reply with a message attached',
    goodMessage({ Subject: 'Re: x', ...attached }, ATTACHED),
    'warn',
  ],
  ['words that begin like reply marks', subject('Regarding your order: Reply: soon'), 'pass'],
  ['a reply mark inside the subject', subject('Your question re: shoes'), 'pass'],
  ['a word with a colon', subject('Transfer: done'), 'pass'],
  [
    'a truncated header',
    `${subject('Re: your order').split('\n\n')[0]}\n${`X-A: ${'x'.repeat(900)}\n`.repeat(1200)}\nHello\n`,
    'pass',
  ],
];

for (const [name, message, status, expected] of cases)
  test(`subject_style check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(subjectStyle, { message });
    assert.equal(finding.status, status, finding.title);
    if (expected) assert.match(finding.title, expected);
    assert.equal(finding.fix === undefined, status !== 'warn');
  });

test('subject_style check reports all problems together', async () => {
  const finding = await runCheck(subjectStyle, { message: subject('RE: BUY SHOES NOW!!!') });
  assert.deepEqual(finding.evidence?.found, ['false_reply', 'capitals', 'exclamation_marks']);
  assert.match(finding.detail, /capital letters.*3 exclamation marks/);
});
