/** The words of the team's mails, and that they are sent. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formerOwnerMail, invitationMail, newOwnerMail } from '../../src/team/mails.ts';

const CONFIG = { APP_URL: 'https://app.example.com' };
const ANN = { name: 'Ann & <b>Co</b>', email: 'ann@example.com' };
const URL = 'https://app.example.com/invitations/abc';
/** What there is, and no more. */
const ROLE_WORDS = {
  admin:
    'As an admin you can do everything but transfer the ownership and change other admins: tests, domains, monitors, alert rules, webhooks, API keys and the team.',
  member:
    'As a member you can create and see tests, look after domains and monitors, read the alert rules and what they found, and make API keys of your own.',
  viewer: 'As a viewer you can read tests and their reports, but no domains, monitors or alerts.',
};
const flat = (text: string) => text.replace(/\s+/g, ' ');

test('an invitation says who invites, to what, as what and until when', () => {
  for (const role of ['admin', 'member', 'viewer'] as const) {
    const invitation = { email: 'bob@example.com', role, expires_at: '2026-11-28T10:00:00.000Z' };
    const { to, subject, text, html } = invitationMail(CONFIG, ANN, invitation, URL);
    assert.equal(to, 'bob@example.com');
    assert.equal(
      subject,
      'Ann & <b>Co</b> invites you to the deliverability team at app.example.com',
    );
    for (const part of [
      'Ann & <b>Co</b> (ann@example.com) invites you',
      'until 28 November 2026 at 10:00 UTC',
      ROLE_WORDS[role],
      URL,
    ])
      assert.ok(flat(text).includes(part), part);
    assert.ok(html.includes(`href="${URL}"`));
    assert.ok(html.includes('Ann &amp; &lt;b&gt;Co&lt;/b&gt;') && !html.includes('<b>Co'));
  }
});

test('a long name is cut in a subject', () => {
  const invitation = { email: 'b@example.com', role: 'admin', expires_at: '2026-11-28' } as const;
  const inviter = { name: 'x'.repeat(200), email: 'x@example.com' };
  assert.ok(invitationMail(CONFIG, inviter, invitation, URL).subject.length < 130);
});

test('a subject has whole characters, and none that turn its direction', () => {
  const invitation = { email: 'b@example.com', role: 'admin', expires_at: '2026-11-28' } as const;
  const nameIn = (name: string) => {
    const mail = invitationMail(CONFIG, { name, email: 'x@example.com' }, invitation, URL);
    assert.doesNotMatch(mail.text + mail.html + mail.subject, /\u202e/);
    return mail.subject.replace(
      / invites you to the deliverability team at app\.example\.com$/,
      '',
    );
  };
  const x = 'x'.repeat(58);
  assert.equal(nameIn(`${x}😀`), `${x}😀`);
  assert.equal(nameIn(`${x}😀😀`), `${x}…`);
  // A family, and a letter with its accent, are one character each.
  assert.equal(nameIn(`${x}👩‍👩‍👧‍👦.`), `${x}…`);
  assert.equal(nameIn(`${x}e\u0301yy`), `${x}…`);
  assert.equal(nameIn('Ann\u202e moc.live'), 'Ann· moc.live');
});

test('both sides of a transfer learn what it means for them', () => {
  const row = { id: 'mem_1', joined_at: '', password_hash: null };
  const former = { ...row, ...ANN, role: 'admin' as const };
  const owner = { ...row, name: 'Bob', email: 'bob@example.com', role: 'owner' as const };
  const toNew = newOwnerMail(CONFIG, { former, owner });
  assert.equal(toNew.to, 'bob@example.com');
  assert.match(toNew.subject, /^You are now the owner of the deliverability team/);
  assert.match(flat(toNew.text), /Ann & <b>Co<\/b> \(ann@example\.com\) has transferred/);
  const toFormer = formerOwnerMail(CONFIG, { former, owner });
  assert.equal(toFormer.to, 'ann@example.com');
  assert.match(toFormer.subject, /^Bob is now the owner/);
  assert.match(flat(toFormer.text), /Bob \(bob@example\.com\) is the owner/);
  assert.match(flat(toFormer.text), /deliverability owner ann@example\.com/);
});
