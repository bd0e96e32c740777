/** Marketing or transactional, the confidence, and the reasons. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageKind } from '../../src/analysis/check.ts';
import { classifyMessage } from '../../src/analysis/kind.ts';
import { messageLinks } from '../../src/analysis/links/links.ts';
import { contextFor } from '../helpers/analysis.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { KIND_MAILS } from './kind/mails.ts';

const classify = async (message: string, kind: MessageKind = 'auto') => {
  const context = await contextFor({ message, kind });
  return context.fact(classifyMessage);
};

/** Says nothing about its kind. */
const neutral = (changes: Record<string, string | null> = {}, body = 'Hello.\n') =>
  goodMessage({ Subject: 'Hello', ...changes }, body);

for (const { name, expected, confidence, message } of KIND_MAILS)
  test(`Message kind is ${expected}: ${name}`, async () => {
    const result = await classify(message);
    const found = result.confidence === 'uncertain' ? 'uncertain' : result.kind;
    assert.equal(found, expected, result.reasons.join('\n'));
    if (confidence) assert.equal(result.confidence, confidence, result.reasons.join('\n'));
    assert.equal(result.by, 'message');
  });

test('Messages of both kinds exist in every language of the phrases', () => {
  const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'ja', 'zh'];
  for (const language of languages)
    for (const kind of ['marketing', 'transactional'])
      assert.ok(
        KIND_MAILS.some(({ name, expected }) => name.startsWith(language) && expected === kind),
        `${language} ${kind}`,
      );
  assert.ok(KIND_MAILS.length >= 40);
});

// Header fields, with a message that says nothing else.

const UNSUBSCRIBE = 'Hello.\nUnsubscribe: https://example.com/u/1\n';

const FIELDS: [name: string, fields: Record<string, string>, body: string, kind: string, RegExp][] =
  [
    [
      'List-Unsubscribe',
      { 'List-Unsubscribe': '<https://example.com/u>' },
      'Hi.\n',
      'marketing likely',
      /List-Unsub/,
    ],
    [
      'an empty List-Unsubscribe',
      { 'List-Unsubscribe': '' },
      'Hi.\n',
      'marketing likely',
      /List-Unsub/,
    ],
    [
      'Precedence: BULK (news)',
      { Precedence: 'BULK (news)' },
      'Hi.\n',
      'marketing uncertain',
      /Precedence: bulk\.$/,
    ],
    [
      'Precedence: list',
      { Precedence: 'list' },
      'Hi.\n',
      'transactional likely',
      /discussion list: it has the header field Precedence: list/,
    ],
    [
      'Precedence: list of a campaign tool',
      { Precedence: 'list', 'X-Campaign-Id': '7', 'List-Unsubscribe': '<https://example.com/u>' },
      'Hi.\n',
      'marketing certain',
      /X-Campaign-Id, which campaign tools add/,
    ],
    [
      'a link and X-SG-EID',
      { 'X-SG-EID': 'abc' },
      UNSUBSCRIBE,
      'marketing likely',
      /unsubscribe link\. It has the field X-SG-EID, which bulk/,
    ],
    [
      'a link and Feedback-ID',
      { 'Feedback-ID': 'a:b:c:d' },
      UNSUBSCRIBE,
      'marketing likely',
      /Feedback-ID/,
    ],
    ['a link and X-MC-User', { 'X-MC-User': '1' }, UNSUBSCRIBE, 'marketing likely', /X-MC-User/],
    [
      'a link and Mailchimp as mailer',
      { 'X-Mailer': 'Mailchimp Mailer' },
      UNSUBSCRIBE,
      'marketing likely',
      /X-Mailer/,
    ],
    ['a link alone', {}, UNSUBSCRIBE, 'marketing uncertain', /unsubscribe link/],
    ['no sign', {}, 'Hi.\n', 'transactional likely', /personal mail/],
    [
      'Feedback-ID alone',
      { 'Feedback-ID': 'a:b:c:d' },
      'Hi.\n',
      'transactional likely',
      /On the other hand, it has the field Feedback-ID/,
    ],
    [
      'another Precedence',
      { Precedence: 'first-class' },
      'Hi.\n',
      'transactional likely',
      /personal mail/,
    ],
    [
      'a name that only begins so',
      { 'X-Sgml': 'yes' },
      'Hi.\n',
      'transactional likely',
      /^It looks like personal mail: no layout and few links\.$/,
    ],
    [
      'X-Campaign in a value',
      { 'X-Note': 'X-Campaign' },
      'Hi.\n',
      'transactional likely',
      /^It looks like personal mail/,
    ],
  ];

for (const [name, fields, body, expected, reason] of FIELDS)
  test(`Message kind with ${name} is ${expected}`, async () => {
    const { kind, confidence, reasons } = await classify(neutral(fields, body));
    assert.equal(`${kind} ${confidence}`, expected, reasons.join('\n'));
    assert.match(reasons.join(' '), reason);
  });

/** Whether an unsubscribe link is about mail, or ends a session or a visit. */
const LINKS: [body: string, isSign: boolean][] = [
  ['<a href="https://example.com/x">Unsubscribe</a>', true],
  ['<a href="https://example.com/x">Newsletter abmelden</a>', true],
  ['<a href="https://example.com/newsletter/abmelden">Hier</a>', true],
  ['Newsletter: <a href="https://example.com/x">Hier abmelden</a>', true],
  ['To unsubscribe <a href="https://example.com/x">click here</a>', true],
  ['Odběr novinek: <a href="https://example.com/x">Odhlásit se</a>', true],
  ['Boletín: <a href="https://example.com/baja?id=1">Salir</a>', true],
  ['<a href="https://example.com/x">Gerät abmelden</a> Diese E-Mail ging an Sie.', false],
  ['<a href="https://example.com/x">Von der Veranstaltung abmelden</a>', false],
  ['<a href="https://example.com/x">Odhlásit z účtu</a>', false],
  ['<a href="https://example.com/baja-california/">Baja California</a>', false],
];

for (const [body, isSign] of LINKS)
  test(`Message kind ${isSign ? 'counts' : 'ignores'} the link: ${body}`, async () => {
    const changes = { 'Content-Type': 'text/html; charset=utf-8' };
    const { reasons } = await classify(neutral(changes, `<p>Hallo.</p><p>${body}</p>\n`));
    assert.equal(/unsubscribe link/.test(reasons.join(' ')), isSign, reasons.join('\n'));
  });

// The rest of a classification.

test('Message kind is certain and the one that the sender chose', async () => {
  const newsletter = neutral({ 'List-Id': '<news.example.com>' });
  assert.deepEqual(await classify(newsletter, 'transactional'), {
    kind: 'transactional',
    by: 'sender',
    confidence: 'certain',
    reasons: ['You chose this kind.'],
  });
  assert.equal((await classify(neutral(), 'marketing')).kind, 'marketing');
});

test('Message kind reasons are short sentences, strongest first', async () => {
  for (const { name, message } of KIND_MAILS) {
    const { reasons } = await classify(message);
    assert.ok(reasons.length > 0 && reasons.length <= 7, name);
    for (const reason of reasons) {
      assert.match(reason, /^(?:Its?|A|On the other hand,|Nothing) .*\.$/, name);
      assert.ok(reason.split(' ').length <= 30, reason);
    }
  }
});

test('Message kind reasons quote no text of the sender', async () => {
  const { reasons } = await classify(
    neutral(
      { Subject: 'Black Friday for Anna Smith' },
      'Order 4711 of anna@example.net: 50 % off\n',
    ),
  );
  assert.doesNotMatch(reasons.join(' '), /anna|4711|50/i);
});

test('Message kind reasons mention a header that is too long to read', async () => {
  const result = await classify(`${'X: y\n'.repeat(250_000)}List-Id: <a.example>\n\nbody`);
  assert.equal(result.kind, 'transactional');
  assert.match(result.reasons.join(' '), /too long to read in full/);
});

const HOSTILE: [name: string, unit: string][] = [
  ['percentages', '1 % '],
  ['prices', '€1 1,00€ '],
  ['references without a number', 'order number order number '],
  ['parts of a phrase', 'reset your reset your '],
  ['links', '<a href="https://click.example.com/?a=1&b=2">shop</a>'],
  ['letters that expand', '\ufdfa '],
  ['nested tables', '<table><tr><td>'],
];

for (const [name, unit] of HOSTILE)
  test(`Message kind of two megabytes of ${name} takes less than a second`, async () => {
    const body = unit.repeat(Math.ceil(2_000_000 / Buffer.byteLength(unit)));
    const message = neutral({ 'Content-Type': 'text/html; charset=utf-8' }, body);
    const context = await contextFor({ message });
    context.fact(messageLinks);
    const started = cpuTime();
    context.fact(classifyMessage);
    const ms = cpuTime() - started;
    assert.ok(ms < 1000, `${ms} ms`);
  });
