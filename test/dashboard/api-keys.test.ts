/** The page of API keys. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertAssistant } from '../oauth-server/freshly-connected.ts';
import { newMember, startWithOwner } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

test('A new API key is shown once, works, and can be revoked', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const created = await owner.post('/api-keys', {
    name: 'Build pipeline',
    role: 'member',
    mode: 'test',
    expires_in: '2592000',
  });
  assert.equal(created.status, 200);
  const key = /<code>(dlv_test_[\w-]+)<\/code>/.exec(created.html)![1]!;
  const { body: me } = await service.call<{ role: string; api_key: { id: string } }>(
    'GET',
    '/v1/me',
    { key },
  );
  assert.equal(me.role, 'member');
  const list = await owner.get('/api-keys');
  assert.match(mainOf(list.html), /Build pipeline/);
  assert.doesNotMatch(list.html, new RegExp(key));
  const revoked = await owner.post(`/api-keys/${me.api_key.id}/revoke`);
  assert.deepEqual([revoked.status, revoked.location], [303, '/api-keys?done=revoked']);
  assert.equal((await service.call('GET', '/v1/me', { key })).status, 401);
});

test('A connected assistant is listed with its role and permissions, and can be disconnected', async (t) => {
  const { service, owner } = await startWithOwner(t);
  assert.match(mainOf((await owner.get('/api-keys')).html), /Connected assistants[\s\S]*\/mcp/);
  const { id: memberId } = await service.app.db
    .selectFrom('members')
    .select('id')
    .executeTakeFirstOrThrow();
  const { id } = await insertAssistant(service, memberId, { name: '<b>Claude</b>', writes: 1 });
  const main = mainOf((await owner.get('/api-keys')).html);
  assert.match(main, /<b>Claude<\/b>claude\.aiMembercan change settingsLive/);
  const { status, location } = await owner.post(`/api-keys/assistants/${id}/disconnect`);
  assert.deepEqual([status, location], [303, '/api-keys?done=disconnected#assistants']);
  assert.match(
    mainOf((await owner.get('/api-keys?done=disconnected')).html),
    /Assistant disconnected\./,
  );
  assert.equal((await owner.post(`/api-keys/assistants/${id}/disconnect`)).status, 404);
  assert.match(mainOf((await owner.get('/audit-log')).html), /Assistant disconnected/);
});

test('The form for an API key keeps what was typed and explains each error', async (t) => {
  const { owner } = await startWithOwner(t);
  const answer = await owner.post('/api-keys', {
    name: 'two\nlines',
    role: 'admin',
    mode: 'live',
    expires_in: '7776000',
  });
  assert.equal(answer.status, 422);
  assert.equal(fieldOf(answer.html, 'name')['aria-invalid'], 'true');
  assert.match(mainOf(answer.html), /The name must not contain control characters\./);
  assert.match(answer.html, /<option selected value="admin"|<option value="admin" selected/);
});

test('A member can give a key no role above their own, and a viewer has no such page', async (t) => {
  const { service } = await startWithOwner(t);
  const member = await newMember(service, 'member');
  const { html } = await member.get('/api-keys');
  assert.doesNotMatch(html, /<option[^>]* value="(admin|owner)"/);
  const forged = await member.post('/api-keys', { name: 'x', role: 'owner', expires_in: '' });
  assert.equal(forged.status, 403);
  const viewer = await newMember(service, 'viewer');
  assert.equal((await viewer.get('/api-keys')).status, 403);
  assert.doesNotMatch((await viewer.get('/')).html, /href="\/api-keys"/);
});
