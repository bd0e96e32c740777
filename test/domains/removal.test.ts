/** The deletion of a domain: what goes with it, and who may have it go. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditOf } from '../team/team-service.ts';
import { startDomainService } from './domain-service.ts';

test('a domain that alert rules name is deleted by an admin alone', async (t) => {
  const service = await startDomainService(t);
  const { app, call, makeMember } = service;
  const { id } = await service.add('example.com');
  const rule = async (domain_id: string) => {
    const json = { name: 'Bad', condition: 'auth_fail', channels: ['email'], domain_id };
    return (await call<{ id: string }>('POST', '/v1/alerts', { json })).body.id;
  };
  const rules = [await rule(id), await rule(id)];
  const told: [string, unknown][] = [];
  app.domainRemoved.unshift(async (tx, domain, { actor }) => {
    const rows = await tx.selectFrom('alerts').select('id').where('domain_id', '=', id).execute();
    told.push([domain.name, [actor?.email, rows.map((row) => row.id)]]);
  });
  const path = `/v1/domains/${id}`;
  const member = await makeMember('member');
  const refused = await call<{ code: string; detail: string }>('DELETE', path, { key: member.key });
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict']);
  assert.ok(refused.body.detail.includes(rules.join(', ')), refused.body.detail);
  // A key of the owner that may no more than a member is refused as well.
  const key = await service.makeKey('member');
  assert.equal((await call('DELETE', path, { key })).status, 409);
  assert.deepEqual(told, []);
  const admin = await makeMember('admin');
  assert.equal((await call('DELETE', path, { key: admin.key })).status, 200);
  assert.deepEqual(told, [['example.com', [admin.email, rules]]]);
  // Without a rule that names it, a member may.
  const other = await service.add('example.org');
  const gone = await call('DELETE', `/v1/domains/${other.id}`, { key: member.key });
  assert.equal(gone.status, 200);
});

test('where one who takes part fails, the domain stays', async (t) => {
  const service = await startDomainService(t);
  const { id } = await service.add('example.com');
  service.app.domainRemoved.push(async () => {
    throw new Error('no');
  });
  assert.equal((await service.call('DELETE', `/v1/domains/${id}`)).status, 500);
  assert.equal((await service.get(id)).id, id);
  assert.deepEqual(await auditOf(service, { action: 'domain.deleted' }), []);
});

test('the monitors of a domain go with it, each noted in the audit log', async (t) => {
  const service = await startDomainService(t);
  const { call } = service;
  const { id } = await service.add('example.com');
  const json = { name: 'Its name', type: 'blocklist', domain_id: id };
  const monitor = (await call<{ id: string }>('POST', '/v1/monitors', { json })).body;
  await call('DELETE', `/v1/domains/${id}`);
  assert.equal((await call('GET', `/v1/monitors/${monitor.id}`)).status, 404);
  const details = { name: 'Its name', type: 'blocklist', with_domain: 'example.com' };
  assert.deepEqual(await auditOf(service, { action: 'monitor.deleted', object_id: monitor.id }), [
    ['monitor.deleted', details],
  ]);
});
