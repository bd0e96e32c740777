/** The page of the audit log: filters, paging, links, and details. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionText, detailText } from '../../src/dashboard/team/audit-words.ts';
import { AUDITED } from '../../src/features.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { newMember, startWithOwner } from './member.ts';
import { mainOf } from './pages.ts';
import { storeTest } from './stored-tests.ts';

/** The actions in the table, without the options of the filter. */
const actionsIn = (html: string): string[] =>
  [...html.matchAll(/<td class="main"><strong>([^<]*)<\/strong>/g)].map(([, text]) => text!);

test('The audit log is filtered by member, change, object and period, all in the URL', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const admin = await newMember(service, 'admin');
  const { body: domain } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  await admin.post('/account/name', { name: 'Robin' });
  const all = actionsIn((await owner.get('/audit-log')).html);
  assert.equal(all[0], 'Member changed');
  assert.ok(all.includes('Domain created') && all.includes('Signed in'));
  const { body } = await service.call<{ data: { id: string; email: string }[] }>(
    'GET',
    '/v1/team/members',
  );
  const id = body.data.find(({ email }) => email === admin.email)!.id;
  const byMember = await owner.get(`/audit-log?member=${id}`);
  assert.deepEqual(actionsIn(byMember.html), ['Member changed', 'Signed in']);
  assert.match(byMember.html, new RegExp(`<option (selected )?value="${id}"`));
  assert.match(byMember.html, /<a href="\/audit-log">Clear filters/);
  const byAction = await owner.get('/audit-log?action=domain.created');
  assert.deepEqual(actionsIn(byAction.html), ['Domain created']);
  assert.match(byAction.html, new RegExp(`<a href="/domains/${domain.id}">`));
  const byObject = await owner.get(`/audit-log?object=${domain.id}`);
  assert.deepEqual(actionsIn(byObject.html), ['Domain created']);
  const none = await owner.get('/audit-log?action=test.deleted&period=7');
  assert.match(mainOf(none.html), /No matching entries/);
  await service.app.db
    .updateTable('audit_log')
    .set({ created_at: isoTime(Date.now() - 3 * 86_400_000) })
    .where('action', '=', 'domain.created')
    .execute();
  const count = async (period: string) =>
    actionsIn((await owner.get(`/audit-log?action=domain.created&period=${period}`)).html).length;
  assert.deepEqual([await count('1'), await count('7'), await count('nonsense')], [0, 1, 1]);
});

test('The audit log links only to objects that exist and can be opened in the current mode', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const create = async (path: string, json: object, key = service.key) =>
    (await service.call<{ id: string }>('POST', path, { json, key })).body.id;
  const domain = await create('/v1/domains', { name: 'example.com' });
  const hook = { url: 'https://hooks.example/x', events: ['*'] };
  const endpoint = await create('/v1/webhooks/endpoints', hook);
  const testKey = await service.makeKey('admin', false);
  const inTestMode = await create('/v1/webhooks/endpoints', hook, testKey);
  await service.call('DELETE', `/v1/domains/${domain}`);
  const inbox = await create('/v1/tests', { name: 'Pipeline', reusable: true });
  const withImages = await storeTest(service.app);
  await service.call('DELETE', `/v1/tests/${withImages}/images`);
  const { html } = await owner.get('/audit-log');
  for (const path of [`webhooks/${endpoint}`, `inboxes/${inbox}`, `tests/${withImages}`])
    assert.match(html, new RegExp(`href="/${path}"`));
  for (const id of [domain, inTestMode]) {
    assert.ok(html.includes(`/audit-log?object=${id}`));
    assert.doesNotMatch(html, new RegExp(`href="/(domains|webhooks)/${id}"`));
  }
});

test('The audit log shows what changed and pages through older entries', async (t) => {
  const { service, owner } = await startWithOwner(t);
  for (let i = 0; i < 25; i++)
    await service.call('PATCH', '/v1/me', { json: { name: `Name ${i}` } });
  const first = await owner.get('/audit-log');
  assert.equal(actionsIn(first.html).length, 20);
  assert.match(mainOf(first.html), /NameName 23 → Name 24/);
  assert.match(mainOf(first.html), /with an API key/);
  const older = /href="(\/audit-log\?starting_after=[^"]*)"/.exec(first.html)![1]!;
  const second = await owner.get(older);
  assert.ok(actionsIn(second.html).length >= 5);
  assert.match(mainOf(second.html), /Nameowner → Name 0/);
  assert.match(second.html, /rel="prev"/);
});

test('Only admins open the audit log, and hostile details stay text', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const member = await newMember(service, 'member');
  assert.equal((await member.get('/audit-log')).status, 403);
  await service.app.db
    .insertInto('audit_log')
    .values({
      id: service.app.newId('aud'),
      created_at: isoTime(Date.now()),
      action: 'odd.thing_done',
      object_type: 'odd',
      object_id: '"><img src=x onerror=alert(1)>',
      details: JSON.stringify({ name: '<script>alert(1)</script>\u202e'.padEnd(100_000, 'x') }),
    })
    .execute();
  const { html } = await owner.get('/audit-log');
  assert.doesNotMatch(html, /<script>alert|<img src=x/);
  assert.ok(html.length < 100_000, 'long values are cut');
  assert.match(mainOf(html), /Odd thing done/);
});

test('Times in the details of the audit log are in the zone of the reader', async (t) => {
  const { service, owner } = await startWithOwner(t);
  await owner.post('/account/dates', { time_zone: 'Asia/Tokyo', date_locale: 'en-GB' });
  const values = {
    action: 'invitation.created',
    object_type: 'team_invitation',
    object_id: 'inv_1',
    created_at: isoTime(Date.now()),
  };
  const expires_at = { from: '2026-11-30T17:25:39.144Z', to: '9999-99-99T99:99:99.999Z' };
  await service.app.db
    .insertInto('audit_log')
    .values({ ...values, id: service.app.newId('aud'), details: JSON.stringify({ expires_at }) })
    .execute();
  const main = mainOf((await owner.get('/audit-log')).html);
  assert.match(main, /1 Dec 2026, 02:25[^→]* → 9999-99-99T/);
});

test('Actions and details are put in words', () => {
  assert.equal(
    actionText(AUDITED, 'webhook_endpoint.secret_rotated'),
    'Webhook endpoint secret rotated',
  );
  assert.equal(actionText(AUDITED, 'session.created'), 'Signed in');
  assert.equal(actionText(AUDITED, 'constructor.called'), 'Constructor called');
  assert.equal(detailText({ from: null, to: ['a', 'b'] }), 'none → a, b');
  assert.equal(detailText({ from: true, to: false }), 'yes → no');
  assert.equal(detailText({ x: 1 }), '{"x":1}');
});
