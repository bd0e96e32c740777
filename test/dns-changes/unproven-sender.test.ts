/** A plan from a test publishes nothing about a server that only the message names, unless it is chosen. */

// @isolated: it adds a kind of name server before the schema of the API is built.

import './memory-server.ts';

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsChange, DnsPlan } from '../../src/dns-changes/schema.ts';
import { analyzeJob } from '../../src/mailtests/analyze.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { goodMessage } from '../helpers/good-message.ts';
import type { List } from '../team/team-service.ts';
import { type Problem, startPublishing } from './publishing.ts';

const STRANGER = '203.0.114.66';

test('An unknown server in a test is published only if the record is chosen', async (t) => {
  const { app, call, server, planPath, applyPath, dns } = await startPublishing(t);
  const query = `client_ip=${STRANGER}&helo=mail.example.com&mail_from=a@example.com`;
  const { body: sent } = await call<Test>('POST', `/v1/tests/raw?${query}`, {
    body: goodMessage(),
    headers: { 'content-type': 'message/rfc822' },
  });
  const analyze = analyzeJob(app);
  await analyze.run();
  await analyze.idle!();
  const { body: done } = await call<Test>('GET', `/v1/tests/${sent.id}`);
  const spf = done.checks.find(({ id }) => id === 'spf')!;
  assert.match(spf.fix!.text, /^Is 203\.0\.114\.66 your server\?/);
  assert.equal(spf.fix!.caution, `Publish it only if ${STRANGER} is your server.`);

  const source = { server_id: server.id, test_id: sent.id, checks: ['spf'] };
  const { body: plan } = await call<DnsPlan>('POST', planPath, { json: source });
  const [change] = plan.changes;
  assert.deepEqual(
    [change!.name, change!.action, change!.needs_choice, change!.problem],
    ['example.com', 'replace', true, null],
  );
  assert.match(change!.caution!, /only if 203\.0\.114\.66 is your server/);
  const before = JSON.stringify(dns.zone['example.com']);
  const apply = (more: object) =>
    call<List<DnsChange> & Problem>('POST', applyPath, {
      json: { ...source, token: plan.token, ...more },
    });
  const refused = await apply({});
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict']);
  assert.equal(JSON.stringify(dns.zone['example.com']), before);

  const chosen = await apply({ records: [{ name: 'example.com', type: 'TXT' }] });
  assert.equal(chosen.status, 200, chosen.text);
  assert.match(JSON.stringify(dns.zone['example.com']), /v=spf1 mx ip4:203\.0\.114\.66 -all/);
});
