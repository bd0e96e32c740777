/** A service with a name server in memory, and a verified domain whose DMARC record is weak. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { DnsChange, DnsPlan, DnsServer } from '../../src/dns-changes/schema.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { startDomainService } from '../domains/domain-service.ts';
import type { List } from '../team/team-service.ts';
import { memory } from './memory-server.ts';

export const DMARC = '_dmarc.example.com';
export const WEAK = 'v=DMARC1; p=none; rua=mailto:dmarc@example.com';
export const SETTINGS = { memory_room: 'attic', memory_password: 'correct horse battery' };

export interface Problem {
  code: string;
  detail: string;
  errors: { param: string; message: string }[];
}

/** A service with a verified domain whose DMARC record is weak, in the zone that the name server holds. */
export async function startPublishing(t: TestContext, env: Record<string, string> = {}) {
  const zone = { ...GOOD_ZONE, [DMARC]: { TXT: [WEAK] } };
  const service = await startDomainService(t, zone, env);
  memory.zone = service.dns.zone;
  memory.beforeReplace = async () => {};
  memory.isAway = false;
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.verify(domain.id);
  await service.settle();
  const { call } = service;
  const created = await call<DnsServer>('POST', '/v1/dns_servers', {
    json: { kind: 'memory', name: 'ns1', settings: SETTINGS },
  });
  assert.equal(created.status, 201, created.text);
  const server = created.body;
  const planPath = `/v1/domains/${domain.id}/dns_plan`;
  const applyPath = `/v1/domains/${domain.id}/dns_apply`;
  const plan = async (body: object = { server_id: server.id, checks: ['dmarc_policy'] }) =>
    (await call<DnsPlan>('POST', planPath, { json: body })).body;
  const apply = (body: object) =>
    call<List<DnsChange> & Problem>('POST', applyPath, {
      json: { server_id: server.id, checks: ['dmarc_policy'], ...body },
    });
  return { ...service, domain, server, planPath, applyPath, plan, apply };
}
