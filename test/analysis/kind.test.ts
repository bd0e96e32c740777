/** Marketing or transactional, and the reasons. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageKind } from '../../src/analysis/check.ts';
import { classifyMessage } from '../../src/analysis/kind.ts';
import { contextFor } from '../helpers/analysis.ts';
import { goodMessage } from '../helpers/good-message.ts';

const LINK = 'Hello.\nUnsubscribe: https://example.com/u/1\n';

const classify = async (message: string, kind: MessageKind = 'auto') => {
  const context = await contextFor({ message, kind });
  return context.fact(classifyMessage);
};

const marketing: [string, Record<string, string>, string | undefined, RegExp][] = [
  ['List-Unsubscribe', { 'List-Unsubscribe': '<https://example.com/u>' }, undefined, /List-Unsub/],
  ['an empty List-Unsubscribe', { 'List-Unsubscribe': '' }, undefined, /List-Unsubscribe/],
  ['List-Id', { 'List-Id': '<news.example.com>' }, undefined, /List-Id/],
  ['Precedence: bulk', { Precedence: 'bulk' }, undefined, /Precedence: bulk\.$/],
  ['Precedence: LIST (news)', { Precedence: 'LIST (news)' }, undefined, /Precedence: list\.$/],
  ['a link and X-SG-EID', { 'X-SG-EID': 'abc' }, LINK, /unsubscribe link and the field X-SG-EID/],
  ['a link and X-MC-User', { 'X-MC-User': '1' }, LINK, /X-MC-User/],
  ['a link and Feedback-ID', { 'Feedback-ID': 'a:b:c:d' }, LINK, /Feedback-ID/],
  ['a link and X-CSA-Complaints', { 'X-CSA-Complaints': 'csa@example.com' }, LINK, /X-CSA-/],
  ['a link and X-Campaign-Id', { 'X-Campaign-Id': '7' }, LINK, /X-Campaign-Id/],
  ['a link and a bulk mailer', { 'X-Mailer': 'Mailchimp Mailer' }, LINK, /X-Mailer/],
];

/** HTML of a message with the field of a bulk email service, and whether its link is about mail. */
const BODIES: [string, 'marketing' | 'transactional'][] = [
  ['<a href="https://example.com/x">Unsubscribe</a>', 'marketing'],
  ['<a href="https://example.com/x">Newsletter abmelden</a>', 'marketing'],
  ['<a href="https://example.com/newsletter/abmelden">Hier</a>', 'marketing'],
  [
    'Sie erhalten diesen Newsletter wöchentlich. <a href="https://example.com/x">Abmelden</a>',
    'marketing',
  ],
  ['Newsletter: <a href="https://example.com/x">Hier abmelden</a>', 'marketing'],
  ['Zum Abmelden vom Newsletter <a href="https://example.com/x">hier klicken</a>', 'marketing'],
  ['To unsubscribe <a href="https://example.com/x">click here</a>', 'marketing'],
  ['Odběr novinek: <a href="https://example.com/x">Odhlásit se</a>', 'marketing'],
  ['Boletín: <a href="https://example.com/baja?id=1">Salir</a>', 'marketing'],
  ['<a href="https://example.com/x">Gerät abmelden</a>', 'transactional'],
  ['<a href="https://example.com/x">Gerät abmelden</a> Diese E-Mail ging an Sie.', 'transactional'],
  ['<a href="https://example.com/x">Von der Veranstaltung abmelden</a>', 'transactional'],
  ['<a href="https://example.com/x">Abmelden</a>', 'transactional'],
  ['<a href="https://example.com/x">Odhlásit z účtu</a>', 'transactional'],
  ['<a href="https://example.com/baja-california/">Baja California</a>', 'transactional'],
];

for (const [body, kind] of BODIES)
  test(`Message kind is ${kind}: ${body}`, async () => {
    const changes = { 'Content-Type': 'text/html; charset=utf-8', 'Feedback-ID': 'a:b:c:d' };
    const result = await classify(goodMessage(changes, `<p>Hallo.</p><p>${body}</p>\n`));
    assert.equal(result.kind, kind);
  });

for (const [name, changes, body, reason] of marketing)
  test(`Message kind is marketing: ${name}`, async () => {
    const result = await classify(goodMessage(changes, body));
    assert.deepEqual([result.kind, result.by], ['marketing', 'message']);
    assert.equal(result.reasons.length, 1);
    assert.match(result.reasons[0]!, reason);
  });

const transactional: [string, Record<string, string>, string | undefined, RegExp][] = [
  ['no sign of marketing', {}, undefined, /no List-Unsubscribe or List-Id field/],
  [
    'Feedback-ID alone',
    { 'Feedback-ID': 'a:b:c:d' },
    undefined,
    /Feedback-ID, but no unsubscribe link/,
  ],
  ['a service alone', { 'X-SG-EID': 'abc' }, undefined, /X-SG-EID, but no unsubscribe link/],
  ['a link alone', {}, LINK, /an unsubscribe link, but no header field/],
  ['a link and a email client', { 'X-Mailer': 'Apple Mail (2.3826)' }, LINK, /but no header field/],
  [
    'another Precedence',
    { Precedence: 'first-class' },
    undefined,
    /no Precedence field set to bulk or list/,
  ],
  ['a name that only begins so', { 'X-Sgml': 'yes' }, LINK, /but no header field/],
  ['X-Campaign in a value', { 'X-Note': 'X-Campaign' }, LINK, /but no header field/],
];

for (const [name, changes, body, reason] of transactional)
  test(`Message kind is transactional: ${name}`, async () => {
    const result = await classify(goodMessage(changes, body));
    assert.deepEqual([result.kind, result.by], ['transactional', 'message']);
    assert.match(result.reasons.join(' '), reason);
  });

test('Message kind is the one that the sender chose', async () => {
  const newsletter = goodMessage({ 'List-Id': '<news.example.com>' });
  assert.deepEqual(await classify(newsletter, 'transactional'), {
    kind: 'transactional',
    by: 'sender',
    reasons: ['You chose this kind when you created the test.'],
  });
  assert.equal((await classify(goodMessage(), 'marketing')).kind, 'marketing');
});

test('Message kind has one reason per indicator', async () => {
  const result = await classify(
    goodMessage({
      'List-Id': '<news.example.com>',
      'List-Unsubscribe': '<https://example.com/u>',
      Precedence: 'bulk',
    }),
  );
  assert.equal(result.reasons.length, 3);
  for (const reason of result.reasons) assert.match(reason, /^It .*\.$/);
});

test('Message kind reasons mention a header that is too long to read', async () => {
  const result = await classify(`${'X: y\n'.repeat(250_000)}List-Id: <a.example>\n\nbody`);
  assert.equal(result.kind, 'transactional');
  assert.match(result.reasons.join(' '), /too long to read in full/);
});
