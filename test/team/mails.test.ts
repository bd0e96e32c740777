/** The text of the team's emails, and their delivery. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import { claimDueMail, recordOutcome } from '../../src/outbox/send.ts';
import { invitationMail, newOwnerMail, previousOwnerMail } from '../../src/team/mails.ts';
import { NOT_LINKED } from '../../src/team/members.ts';
import { type ApiResponse, startTestService, type TestService } from '../helpers/app.ts';
import { startMailSink, type TakenMail } from '../outbox/mail-sink.ts';
import { type OutboxService, startOutbox } from '../outbox/outbox.ts';
import { accept, type Invitation, invite, tokenOf } from './team-service.ts';

const CONFIG = { APP_URL: 'https://app.example.com' };
const ANN = { name: 'Ann & <b>Co</b>', email: 'ann@example.com' };
const INVITATION_URL = 'https://app.example.com/invitations/abc';
/** The permissions of each role. */
const ROLE_TEXTS = {
  admin:
    'As an admin, you can manage tests, domains, monitors, alert rules, webhooks, API keys, and the team. Only the owner can change other admins or transfer ownership.',
  member:
    'As a member, you can create tests, manage domains and monitors, and create your own API keys. You can also read alert rules and their incidents.',
  viewer: 'As a viewer, you can read tests and reports, but not domains, monitors or alerts.',
};
const flat = (text: string) => text.replace(/\s+/g, ' ');

test('Invitation mail names the inviter, team, role, expiry and link, with HTML escaped', () => {
  for (const role of ['admin', 'member', 'viewer'] as const) {
    const invitation = { email: 'bob@example.com', role, expires_at: '2026-11-28T10:00:00.000Z' };
    const { to, subject, text, html } = invitationMail(CONFIG, ANN, invitation, INVITATION_URL);
    assert.equal(to, 'bob@example.com');
    assert.equal(
      subject,
      'Ann & <b>Co</b> invited you to the deliverability team at app.example.com',
    );
    for (const part of [
      'Ann & <b>Co</b> (ann@example.com) invited you',
      'expires on 28 Nov 2026, 10:00 UTC',
      ROLE_TEXTS[role],
      INVITATION_URL,
    ])
      assert.ok(flat(text).includes(part), part);
    assert.ok(html.includes(`href="${INVITATION_URL}"`));
    assert.ok(html.includes('Ann &amp; &lt;b&gt;Co&lt;/b&gt;') && !html.includes('<b>Co'));
  }
});

test('Invitation mail truncates a long inviter name in the subject', () => {
  const invitation = { email: 'b@example.com', role: 'admin', expires_at: '2026-11-28' } as const;
  const inviter = { name: 'x'.repeat(200), email: 'x@example.com' };
  assert.ok(invitationMail(CONFIG, inviter, invitation, INVITATION_URL).subject.length < 130);
});

test('Invitation mail subject keeps whole grapheme clusters and removes bidi controls', () => {
  const invitation = { email: 'b@example.com', role: 'admin', expires_at: '2026-11-28' } as const;
  const nameIn = (name: string) => {
    const mail = invitationMail(
      CONFIG,
      { name, email: 'x@example.com' },
      invitation,
      INVITATION_URL,
    );
    assert.doesNotMatch(mail.text + mail.html + mail.subject, /\u202e/);
    return mail.subject.replace(
      / invited you to the deliverability team at app\.example\.com$/,
      '',
    );
  };
  const x = 'x'.repeat(58);
  assert.equal(nameIn(`${x}😀`), `${x}😀`);
  assert.equal(nameIn(`${x}😀😀`), `${x}…`);
  // A family emoji and a letter with a combining accent are one grapheme each.
  assert.equal(nameIn(`${x}👩‍👩‍👧‍👦.`), `${x}…`);
  assert.equal(nameIn(`${x}e\u0301yy`), `${x}…`);
  assert.equal(nameIn('Ann\u202e moc.live'), 'Ann· moc.live');
});

test('Ownership transfer mails tell both members their new role', () => {
  const row = {
    id: 'mem_1',
    joined_at: '',
    password_hash: null,
    time_zone: null,
    date_locale: null,
    tags: null,
    ...NOT_LINKED,
  };
  const previous = { ...row, ...ANN, role: 'admin' as const };
  const owner = { ...row, name: 'Bob', email: 'bob@example.com', role: 'owner' as const };
  const toNew = newOwnerMail(CONFIG, { previous, owner });
  assert.equal(toNew.to, 'bob@example.com');
  assert.match(toNew.subject, /^You are now the owner of the deliverability team/);
  assert.match(flat(toNew.text), /Ann & <b>Co<\/b> \(ann@example\.com\) transferred/);
  const toFormer = previousOwnerMail(
    { config: CONFIG, program: 'deliverability' },
    { previous, owner },
  );
  assert.equal(toFormer.to, 'ann@example.com');
  assert.match(toFormer.subject, /^Bob is now the owner/);
  assert.match(flat(toFormer.text), /Bob \(bob@example\.com\) is now the owner/);
  assert.match(flat(toFormer.text), /deliverability owner ann@example\.com/);
});

// Delivery: emails are queued with the change, sent by SMTP, and withdrawn with their link.

const MINUTE_MS = 60_000;
const INVITATIONS = '/v1/team/invitations';

const textOf = async ({ raw }: TakenMail) => (await parseMessage(raw)).text ?? '';
const emailStatusOf = async ({ service }: OutboxService, { id }: { id: string }) =>
  (await service.call<Invitation>('GET', `${INVITATIONS}/${id}`)).body.email_status;

test('Invitation mail is sent immediately and contains the accept link', async (t) => {
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    },
  });
  const made = await invite(service, { email: 'bob@example.com' });
  assert.equal(made.body.email_status, 'queued');
  // Waits for the job that the request has started.
  await service.app.scheduler.stop();
  assert.deepEqual(
    sink.taken.map(({ to }) => to),
    [['bob@example.com']],
  );
  assert.ok((await textOf(sink.taken[0]!)).includes(made.body.accept_url));
  const { body } = await service.call<Invitation>('GET', `${INVITATIONS}/${made.body.id}`);
  assert.equal(body.email_status, 'sent');
  const listed = await service.call<{ data: Invitation[] }>('GET', INVITATIONS);
  assert.equal(listed.body.data[0]!.email_status, 'sent');
});

test('A rejected invitation mail is marked failed; resending delivers the new link', async (t) => {
  const outbox = await startOutbox(t);
  const { service, sink, run, clock } = outbox;
  sink.refuse = { at: 'rcpt', code: 550, text: 'no such user' };
  const made = await invite(service, { email: 'bob@example.com' });
  await run();
  assert.equal(await emailStatusOf(outbox, made.body), 'failed');
  sink.refuse = null;
  clock.advance(MINUTE_MS);
  const resent = await service.call<Invitation>('POST', `${INVITATIONS}/${made.body.id}/resend`);
  assert.equal(resent.body.email_status, 'queued');
  await run();
  assert.equal(await emailStatusOf(outbox, made.body), 'sent');
  const text = await textOf(sink.taken[0]!);
  assert.ok(text.includes(resent.body.accept_url) && !text.includes(made.body.accept_url));
  assert.equal((await accept(service, tokenOf(resent))).status, 201);
});

test('Invitations that were replaced, revoked or accepted send no mail', async (t) => {
  const outbox = await startOutbox(t);
  const { service, sink, run, clock } = outbox;
  const { call, makeMember } = service;
  const resent = await invite(service, { email: 'resent@example.com' });
  // The limit of emails per address.
  clock.advance(MINUTE_MS);
  const second = await call<Invitation>('POST', `${INVITATIONS}/${resent.body.id}/resend`);
  const revoked = await invite(service, { email: 'revoked@example.com' });
  await call('DELETE', `${INVITATIONS}/${revoked.body.id}`);
  const admin = await makeMember('admin');
  const orphan = await invite(service, { email: 'orphan@example.com' }, admin.key);
  await call('DELETE', `/v1/team/members/${admin.id}`);
  const joined = await invite(service, { email: 'joined@example.com' });
  assert.equal((await accept(service, tokenOf(joined))).status, 201);
  await run();
  assert.equal(sink.taken.length, 1);
  assert.ok((await textOf(sink.taken[0]!)).includes(second.body.accept_url));
  for (const { body } of [revoked, orphan, joined])
    assert.equal(await emailStatusOf(outbox, body), 'failed');
});

/** Ends the link of an invitation while its email is being sent. */
const ENDINGS: Record<
  string,
  (service: TestService, made: ApiResponse<Invitation>) => Promise<unknown>
> = {
  revoked: ({ call }, { body }) => call('DELETE', `${INVITATIONS}/${body.id}`),
  resent: ({ call }, { body }) => call('POST', `${INVITATIONS}/${body.id}/resend`),
  accepted: (service, made) => accept(service, tokenOf(made)),
};

for (const [what, end] of Object.entries(ENDINGS)) {
  test(`Invitation ${what} during sending: its mail is sent or withdrawn, never retried`, async (t) => {
    const { app, service, sink, run, row, clock } = await startOutbox(t);
    const begin = async (email: string) => {
      const made = await invite(service, { email });
      const [claimed] = await claimDueMail(app, 1);
      return { made, claimed: claimed! };
    };
    const out = await begin('out@example.com');
    const stuck = await begin('stuck@example.com');
    clock.advance(MINUTE_MS);
    await end(service, out.made);
    await end(service, stuck.made);
    await recordOutcome(app, out.claimed, { ok: true, response: '250 ok' });
    const withdrawn = await row(stuck.claimed.id);
    await recordOutcome(app, stuck.claimed, { ok: false, temporary: true, reason: 'later' });
    assert.deepEqual(await row(stuck.claimed.id), withdrawn);
    const { status, content, lease, due_at, error } = withdrawn!;
    assert.deepEqual(
      { status, content, lease, due_at, error },
      {
        status: 'failed',
        content: null,
        lease: null,
        due_at: null,
        error: 'it was canceled: its link no longer works',
      },
    );
    const went = (await row(out.claimed.id))!;
    assert.deepEqual([went.status, went.error, went.attempts], ['sent', null, 1]);
    clock.advance(10 * MINUTE_MS);
    await run();
    const texts = await Promise.all(sink.taken.map(textOf));
    assert.equal(texts.length, what === 'resent' ? 2 : 0);
    for (const { made } of [out, stuck])
      assert.ok(!texts.some((text) => text.includes(made.body.accept_url)));
  });
}

test('Expired password reset links are not mailed', async (t) => {
  const { app, service, sink, run, clock } = await startOutbox(t);
  const made = await invite(service, { email: 'bob@example.com' });
  const { email } = await service.makeMember('viewer');
  await service.call('POST', '/v1/password_resets', { key: null, json: { email } });
  const usefulUntil = async (recipient: string) =>
    (
      await app.db
        .selectFrom('outbox')
        .select('useful_until')
        .where('recipient', '=', recipient)
        .executeTakeFirstOrThrow()
    ).useful_until;
  assert.equal(await usefulUntil('bob@example.com'), made.body.expires_at);
  const [link] = await app.db.selectFrom('password_links').select('expires_at').execute();
  assert.equal(await usefulUntil(email), link?.expires_at);
  clock.advance(60 * MINUTE_MS);
  await run();
  assert.deepEqual(
    sink.taken.map(({ to }) => to),
    [['bob@example.com']],
  );
});

test('A rejected invitation queues no mail', async (t) => {
  const { service, app } = await startOutbox(t);
  await invite(service, { email: 'bob@example.com' });
  assert.equal((await invite(service, { email: 'bob@example.com' })).status, 409);
  const mails = await app.db.selectFrom('outbox').select('recipient').execute();
  assert.deepEqual(mails, [{ recipient: 'bob@example.com' }]);
});

test('Ownership transfer mails both the new and the former owner', async (t) => {
  const { service, sink, run } = await startOutbox(t);
  const { id, email } = await service.makeMember('admin');
  await service.call('POST', '/v1/team/transfer-ownership', { json: { new_owner_id: id } });
  await run();
  const texts = new Map<string, string>();
  for (const mail of sink.taken) texts.set(mail.to.join(), await textOf(mail));
  assert.deepEqual([...texts.keys()].sort(), [email, 'owner@example.com']);
  assert.match(texts.get(email)!, /^You are now the owner of the team/);
  assert.match(texts.get('owner@example.com')!, /^You transferred ownership of the team/);
});
