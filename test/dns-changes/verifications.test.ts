/** Verification records of many domains, published at a name server that has their zones. */

// @isolated: it adds a kind of name server before the schema of the API is built.

import './memory-server.ts';

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsChange, VerificationPlan } from '../../src/dns-changes/schema.ts';
import { newMember } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import type { List } from '../team/team-service.ts';
import { memory } from './memory-server.ts';
import { type Problem, startPublishing } from './publishing.ts';

type Service = Awaited<ReturnType<typeof startPublishing>>;

const plan = async ({ call, server }: Service) =>
  (await call<VerificationPlan>('POST', `/v1/dns_servers/${server.id}/verification_plan`)).body;
const apply = ({ call, server }: Service, token: string) =>
  call<List<DnsChange> & Problem>('POST', `/v1/dns_servers/${server.id}/verification_apply`, {
    json: { token },
  });

test('A plan has the records of all unverified domains in the zones of the server, and applying it verifies them', async (t) => {
  const service = await startPublishing(t);
  const names = Array.from({ length: 60 }, (_, i) => `shop${String(i).padStart(2, '0')}.example`);
  const json = { names: [...names, 'elsewhere.test'] };
  await service.call('POST', '/v1/domains/batch', { json });
  await service.lookUpFirst();
  const first = await plan(service);
  assert.deepEqual([first.changes.length, first.more], [50, 11]);
  assert.ok(first.changes.every(({ name }) => name.startsWith('_deliverability.shop')));
  // An unverified domain gets its verification record only.
  assert.ok(first.changes.every(({ type, checks }) => type === 'TXT' && checks.length === 0));
  const applied = await apply(service, first.token);
  assert.equal(applied.status, 200, applied.text);
  assert.ok(applied.body.data.every(({ status, domain_id }) => status === 'applied' && domain_id));
  await service.settle();
  const second = await plan(service);
  assert.deepEqual([second.changes.length, second.more], [10, 0]);
  assert.equal((await apply(service, second.token)).status, 200);
  await service.settle();
  const { data } = (await service.call<List<{ name: string }>>('GET', '/v1/domains?status=pending'))
    .body;
  assert.deepEqual(
    data.map(({ name }) => name),
    ['elsewhere.test'],
  );
  assert.deepEqual((await plan(service)).changes, []);
});

test('A plan is refused if the records or the domains have changed, or by anyone but an admin', async (t) => {
  const service = await startPublishing(t);
  const { call, server, makeMember, add } = service;
  await add('shop.example');
  const { token } = await plan(service);
  memory.zone['_deliverability.shop.example'] = { TXT: ['other'] };
  const stale = await apply(service, token);
  assert.equal(stale.status, 409);
  assert.match(stale.body.detail, /Nothing was changed/);
  const fresh = await plan(service);
  await add('bolt.example');
  assert.equal((await apply(service, fresh.token)).status, 409);
  memory.isAway = true;
  assert.equal((await call('POST', `/v1/dns_servers/${server.id}/verification_plan`)).status, 503);
  memory.isAway = false;
  const member = await makeMember('member');
  for (const action of ['plan', 'apply']) {
    const path = `/v1/dns_servers/${server.id}/verification_${action}`;
    const json = action === 'apply' ? { token } : undefined;
    assert.equal((await call('POST', path, { json, key: member.key })).status, 403);
  }
  // Other records stay.
  assert.equal((await apply(service, (await plan(service)).token)).status, 200);
  assert.equal(memory.zone['_deliverability.shop.example']!.TXT!.length, 2);
  assert.deepEqual((await apply(service, (await plan(service)).token)).status, 409);
});

test('An admin verifies domains on one page: with the record of the team, or at the name server', async (t) => {
  const service = await startPublishing(t);
  const { server, dns } = service;
  const admin = await newMember(service, 'admin');
  const shop = await service.add('shop.example');
  const far = await service.add('far.test');
  const shown = mainOf((await admin.get('/domains/verify')).html);
  assert.match(shown, /2 domains not verified/);
  assert.ok(shown.includes(far.team_verification.value));
  const planned = await admin.get(`/domains/verify?server_id=${server.id}`);
  assert.match(mainOf(planned.html), /_deliverability\.shop\.example.*Publish 1 record/s);
  const [, token] = /name="token" value="([^"]+)"/.exec(planned.html)!;
  const wrong = await admin.post('/domains/verify/publish', { server_id: server.id, token: 'x' });
  assert.equal(wrong.status, 409);
  assert.match(mainOf(wrong.html), /Make a new plan/);
  const published = await admin.post('/domains/verify/publish', {
    server_id: server.id,
    token: token!,
  });
  assert.deepEqual([published.status, published.location], [303, '/domains/verify#unverified']);
  const waiting = await admin.get('/domains/verify');
  assert.match(waiting.html, /id="unverified"[^>]*data-refresh/);
  await service.settle();
  assert.equal((await service.get(shop.id)).status, 'verified');
  dns.zone[far.team_verification.name] = { TXT: [far.team_verification.value] };
  assert.equal((await admin.post('/domains/verify')).location, '/domains/verify#unverified');
  await service.settle();
  assert.match(mainOf((await admin.get('/domains/verify')).html), /All domains are verified/);
  const member = await newMember(service, 'member');
  assert.doesNotMatch((await member.get('/domains/verify')).html, /server_id/);
});
