/** `reply_to`, and the informational checks `feedback_id`, `precedence` and `no_reply`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, CheckStatus } from '../../../src/analysis/check.ts';
import { feedbackId } from '../../../src/analysis/checks/feedback-id.ts';
import { noReply } from '../../../src/analysis/checks/no-reply.ts';
import { precedence } from '../../../src/analysis/checks/precedence.ts';
import { replyTo } from '../../../src/analysis/checks/reply-to.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { goodMessage } from '../../helpers/good-message.ts';

type Changes = Record<string, string | null>;

const to = (value: string, changes: Changes = {}): Changes => ({ 'Reply-To': value, ...changes });

const cases: [Check, string, Changes, CheckStatus, RegExp][] = [
  [replyTo, 'no Reply-To', {}, 'pass', /go to its From address/],
  [replyTo, 'the same address', to('news@example.com'), 'pass', /go to example\.com/],
  [replyTo, 'a name and a subdomain', to('Help <a@help.example.com>'), 'pass', /help\.example/],
  [replyTo, 'a sister domain', to('a@x.example.com', { From: 'b@y.example.com' }), 'pass', /x\./],
  [replyTo, 'capitals', to('A@EXAMPLE.COM'), 'pass', /go to example\.com/],
  [
    replyTo,
    'an international domain',
    to('a@bücher.example', { From: 'b@bücher.example' }),
    'pass',
    /xn--/,
  ],
  [replyTo, 'a quoted name', to('"Doe, Jane" <jane@example.com>'), 'pass', /example\.com/],
  [
    replyTo,
    'another domain',
    to('a@other.example'),
    'warn',
    /go to other\.example, not to example/,
  ],
  [replyTo, 'another domain among two', to('a@example.com, b@other.example'), 'warn', /other\./],
  [
    replyTo,
    'a domain under the same public suffix',
    to('a@b.co.uk', { From: 'c@d.co.uk' }),
    'warn',
    /b\.co/,
  ],
  [replyTo, 'an empty field', to(''), 'warn', /is invalid.*no address/],
  [replyTo, 'a name alone', to('Support'), 'warn', /is invalid.*has no address/],
  [
    replyTo,
    'an open quotation mark',
    to('"Support <a@example.com>'),
    'warn',
    /unclosed quotation mark/,
  ],
  [replyTo, 'a group', to('us: a@example.com;'), 'warn', /is a group/],
  [replyTo, 'no From to compare', to('a@example.com', { From: null }), 'skipped', /not compared/],

  [feedbackId, 'no Feedback-ID', {}, 'skipped', /no Feedback-ID/],
  [feedbackId, 'four parts', { 'Feedback-ID': 'c1:cust:news:acme' }, 'info', /names acme as the/],
  [feedbackId, 'one part', { 'Feedback-ID': 'acme' }, 'info', /names acme/],
  [feedbackId, 'five parts', { 'Feedback-ID': 'a:b:c:d:e' }, 'info', /does not have the format/],
  [feedbackId, 'no sender', { 'Feedback-ID': 'a:b:c:' }, 'info', /does not have the format/],

  [
    precedence,
    'no Precedence or Auto-Submitted',
    {},
    'skipped',
    /neither Precedence nor Auto-Submitted/,
  ],
  [precedence, 'bulk', { Precedence: 'bulk' }, 'info', /has Precedence: bulk\. .*do not answer/],
  [precedence, 'another word', { Precedence: 'urgent' }, 'info', /does not stop auto-responders/],
  [precedence, 'Auto-Submitted', { 'Auto-Submitted': 'auto-generated' }, 'info', /do not answer/],
  [
    precedence,
    'Auto-Submitted: no',
    { 'Auto-Submitted': 'no' },
    'info',
    /does not stop auto-responders/,
  ],
  [
    precedence,
    'both fields',
    { Precedence: 'list', 'Auto-Submitted': 'auto-generated; x=y' },
    'info',
    /has Precedence: list and Auto-Submitted: auto-generated; x=y\./,
  ],

  [noReply, 'an address like any other', {}, 'info', /Recipients can reply/],
  [noReply, 'noreply', { From: 'Shop <noreply@example.com>' }, 'info', /go to a no-reply address/],
  [noReply, 'No-Reply+1', { From: 'No-Reply+1@example.com' }, 'info', /go to a no-reply address/],
  [
    noReply,
    'do_not_reply',
    { From: 'do_not_reply@example.com' },
    'info',
    /go to a no-reply address/,
  ],
  [
    noReply,
    'ne-pas-repondre',
    { From: 'ne-pas-repondre@example.com' },
    'info',
    /go to a no-reply address/,
  ],
  [noReply, 'reply', { From: 'reply@example.com' }, 'info', /Recipients can reply/],
  [noReply, 'norbert', { From: 'norbert@example.com' }, 'info', /Recipients can reply/],
  [noReply, 'a domain of that name', { From: 'a@noreply.example' }, 'info', /Recipients can reply/],
  [
    noReply,
    'replies directed elsewhere',
    to('Help <help@example.com>', { From: 'noreply@example.com' }),
    'info',
    /replies go to help@example\.com/,
  ],
  [noReply, 'in Reply-To', to('noreply@example.com'), 'info', /no-reply address: noreply@/],
  [noReply, 'no address', { From: null }, 'info', /Recipients can reply/],
];

for (const [check, name, changes, status, expected] of cases)
  test(`${check.id} check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(check, { message: goodMessage(changes) });
    const output = `${finding.title} ${finding.detail}`;
    assert.equal(finding.status, status, output);
    assert.match(output, expected);
    assert.equal(finding.fix !== undefined, status === 'warn');
  });

test('reply_to check reports error when the header exceeds the limit', async () => {
  const message = `${'X: y\n'.repeat(250_000)}${goodMessage(to('a@other.example'))}`;
  assert.equal((await runCheck(replyTo, { message })).status, 'error');
});

test('reply_to and no_reply checks handle hostile fields quickly', async () => {
  const started = cpuTime();
  for (const item of ['a@other.example,', '<', '(', '"a" <b@c.example>,', 'a<']) {
    const message = goodMessage(to(item.repeat(900_000 / item.length)));
    for (const check of [replyTo, noReply]) {
      const finding = await runCheck(check, { message });
      assert.ok(JSON.stringify(finding).length < 5000, `${check.id} ${item}`);
    }
  }
  assert.ok(cpuTime() - started < 3000);
});

const REPLY_FIXES: [from: string, to: string, says: RegExp, never: RegExp][] = [
  [
    'a@example.com',
    'b@other.example',
    /Use a Reply-To address at example\.com/,
    /domain of your own/,
  ],
  [
    'a@gmail.com',
    'b@other.example',
    /own\. .* If other\.example is yours, send from there\.$/,
    /Use a/,
  ],
  ['a@t.shopifyemail.com', 'b@gmail.com', /Send from .* your own/, /Use a|gmail\.com/],
];

for (const [from, address, says, never] of REPLY_FIXES)
  test(`reply_to check proposes only an address that the sender can create: ${from}, ${address}`, async () => {
    const message = `From: ${from}\nReply-To: ${address}\n\nHello\n`;
    const { status, fix } = await runCheck(replyTo, { message });
    assert.equal(status, 'warn');
    assert.match(fix!.text, says);
    assert.doesNotMatch(fix!.text, never);
  });

const formMail = (to: string, text: string): string =>
  `From: web@bikes.example\nTo: ${to}\nReply-To: Kim <kim@visitor.example>\nSubject: Hello\n\n${text}\n`;

const VISITORS: [what: string, status: CheckStatus, message: string][] = [
  ['an entry of a form', 'pass', formMail('shop@bikes.example', 'Email: kim@visitor.example')],
  [
    'an address in a message of a contact form',
    'pass',
    formMail('owner@mailbox.example', 'Contact form: kim@visitor.example asks for a helmet.'),
  ],
  ['an address that no form repeats', 'warn', formMail('boss@bikes.example', 'Pay this today.')],
  [
    'the address in a signature to a customer',
    'warn',
    formMail('ann@example.net', 'Your bike is ready.\nEmail: kim@visitor.example'),
  ],
];

for (const [what, status, message] of VISITORS)
  test(`reply_to reports ${status} for ${what}`, async () => {
    assert.equal((await runCheck(replyTo, { message })).status, status);
  });
