/** An assistant plans a DNS change, applies it once it is confirmed, and undoes it. */

// @isolated: it adds a kind of name server before the schema of the API is built.

import '../dns-changes/memory-server.ts';

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DMARC, SETTINGS, startPublishing, WEAK } from '../dns-changes/publishing.ts';
import { answerOf, callTool, connectOverHttp, errorOf, toolNames } from './mcp-client.ts';

const PLAN = { domain: 'example.com', checks: ['dmarc_policy'] };

test('plan_dns shows the difference, apply_dns needs its token, and undo_dns reverses it', async (t) => {
  const service = await startPublishing(t);
  const { dns } = service;
  const client = await connectOverHttp(t, service, '?allow_writes=true&structured=true');
  // The client then validates the structured content of each answer.
  await client.listTools();
  const plan = await answerOf(client, 'plan_dns', PLAN);
  const [, server, token] = /with server (dns_\w+), token (\w+)/.exec(plan) ?? [];
  assert.ok(plan.includes(`\n- ${WEAK}\n+ v=DMARC1; p=quarantine`), plan);
  assert.deepEqual(dns.zone[DMARC], { TXT: [WEAK] });
  const wrong = { ...PLAN, server, token: 'f'.repeat(32) };
  assert.match(await errorOf(client, 'apply_dns', wrong), /plan|changed/);
  assert.match(
    await errorOf(client, 'apply_dns', { ...PLAN, server: 'ns9', token }),
    /there is no name server «ns9»; the team has «ns1»/,
  );
  const applied = await answerOf(client, 'apply_dns', { ...PLAN, server: 'ns1', token });
  const [, change] = /^applied: TXT _dmarc\.example\.com \((chg_\w+)\)/.exec(applied) ?? [];
  assert.match(String(dns.zone[DMARC]?.TXT), /p=quarantine/);
  const undone = await callTool(client, 'undo_dns', { change });
  assert.match(undone.text, /^applied: /);
  assert.equal((undone.structured as { undoes: string }).undoes, change);
  assert.deepEqual(dns.zone[DMARC]?.TXT, [WEAK]);
  assert.match(await errorOf(client, 'undo_dns', { change }), /already been undone/);
});

test('A plan that cannot be applied says why, and shows the record to copy', async (t) => {
  const service = await startPublishing(t);
  const key = await service.makeKey('member');
  const client = await connectOverHttp(t, { url: service.url, key }, '?allow_writes=true');
  assert.ok(!(await toolNames(client)).includes('apply_dns'));
  const forMember = await answerOf(client, 'plan_dns', PLAN);
  assert.match(forMember, /only admins can apply plans/);
  assert.match(forMember, /Zone file:\n_dmarc\.example\.com\. \d+ IN TXT "v=DMARC1; p=quarantine/);
  const applied = { ...PLAN, server: 'ns1', token: 'f'.repeat(32) };
  assert.match(await errorOf(client, 'apply_dns', applied), /Only admins can use name servers/);
  assert.match(await errorOf(client, 'plan_dns', { ...PLAN, server: 'ns1' }), /Only admins/);
  const reader = await connectOverHttp(t, service);
  const refused = { ...PLAN, server: 'ns1', token: 'f'.repeat(32) };
  assert.match(await errorOf(reader, 'apply_dns', refused), /allow_writes=true/);
  await service.call('POST', '/v1/dns_servers', {
    json: { kind: 'memory', name: 'ns2', settings: SETTINGS },
  });
  assert.match(await answerOf(reader, 'plan_dns', PLAN), /name one of the servers: «ns2», «ns1»/);
  const planned = await answerOf(reader, 'plan_dns', { ...PLAN, server: 'ns1' });
  assert.match(planned, /apply it in the web application, or allow you to/);
  assert.doesNotMatch(planned, /apply_dns/);
});
