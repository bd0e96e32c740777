/** The switch between live and sandbox objects. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { startWithOwner } from './member.ts';
import { mainOf } from './pages.ts';

test('The switch stays on pages of both modes, and leads from an object to its list', async (t) => {
  const { owner } = await startWithOwner(t);
  for (const [next, expected] of [
    ['/', '/'],
    ['/tests?status=waiting', '/tests'],
    ['/tests/new', '/tests/new'],
    ['/tests/test_1', '/tests'],
    ['/tests/compare?a=test_1&b=test_2', '/tests'],
    ['/domains/dom_1', '/domains/dom_1'],
    ['/team', '/team'],
    ['/webhooks/deliveries/whd_1', '/webhooks'],
    ['/reports/shares/rpt_1', '/reports/shares'],
    ['/reports/schedules/rps_1', '/reports/schedules/rps_1'],
    ['//evil.example/tests', '/'],
  ] as const) {
    const { status, location } = await owner.post('/mode', { mode: 'test', next });
    assert.deepEqual([status, location], [303, expected], next);
  }
});

test('The link to an object of the other mode offers to switch and open it', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const testKey = await service.makeKey('admin', false);
  const create = async (path: string, json: object, key: string) =>
    (await service.call<{ id: string }>('POST', path, { json, key })).body.id;
  const hook = { url: 'https://hooks.example/x', events: ['*'] };
  for (const [key, mode, other] of [
    [service.key, 'test', 'live'],
    [testKey, 'live', 'test'],
  ] as const) {
    const { cookie } = await owner.post('/mode', { mode, next: '/' });
    const headers = { cookie: `${owner.cookie}; ${cookie}` };
    for (const path of [
      `/tests/${await create('/v1/tests', {}, key)}`,
      `/webhooks/${await create('/v1/webhooks/endpoints', hook, key)}`,
    ]) {
      const { status, html } = await owner.get(path, headers);
      assert.equal(status, 404);
      assert.match(mainOf(html), new RegExp(`Switch to ${other} mode and open`));
      const switched = await owner.post('/mode', { mode: other, next: path, same: 'yes' });
      assert.equal(switched.location, path);
      const after = { cookie: `${owner.cookie}; ${switched.cookie}` };
      assert.equal((await owner.get(path, after)).status, 200);
    }
  }
  const unknown = await owner.get('/tests/test_unknown');
  assert.equal(unknown.status, 404);
  assert.doesNotMatch(mainOf(unknown.html), /Switch to/);
});

test('Nobody learns of a public test from the page of another mode', async (t) => {
  const env = { DELIVERABILITY_PUBLIC_TESTS: 'true' };
  const { service, owner } = await startWithOwner(t, { env });
  await owner.post('/public/tests');
  const { id } = await service.app.db
    .selectFrom('tests')
    .select('id')
    .where('livemode', '=', 2)
    .executeTakeFirstOrThrow();
  for (const mode of ['live', 'test']) {
    const { cookie } = await owner.post('/mode', { mode, next: '/' });
    const { status, html } = await owner.get(`/tests/${id}`, {
      cookie: `${owner.cookie}; ${cookie}`,
    });
    assert.equal(status, 404);
    assert.doesNotMatch(mainOf(html), /Switch to/);
  }
});

test('Commands in test mode ask for a test-mode key, and work with it', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const key = await service.makeKey('member', false);
  const { body } = await service.call<Test>('POST', '/v1/tests', { json: {}, key });
  const cookie = `${owner.cookie}; deliverability-mode=test`;
  const { html } = await owner.get(`/tests/${body.id}`, { cookie });
  assert.match(html, /one of your <a href="\/api-keys">test-mode API keys<\/a>/);
  assert.ok(html.includes(`/v1/tests/${body.id}`));
});

test('In test mode, the pages of the team and of API keys say what is shared', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const { id } = await service.makeMember('member');
  const { cookie } = await owner.post('/mode', { mode: 'test', next: '/' });
  const headers = { cookie: `${owner.cookie}; ${cookie}` };
  for (const path of ['/team', `/team/members/${id}`]) {
    const text = mainOf((await owner.get(path, headers)).html);
    assert.match(text, /the same in live mode and in test mode/, path);
    assert.doesNotMatch(mainOf((await owner.get(path)).html), /test mode/, path);
  }
  const { html } = await owner.get('/api-keys', headers);
  assert.match(mainOf(html), /This list has the keys of both modes/);
  assert.match(html, /<option value="test" selected/);
});
