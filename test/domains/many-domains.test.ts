/** Many domains at once: added from a list in any notation, and verified with one record. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitPasted } from '../../src/analysis/domain/read-pasted.ts';
import type { AddedLine } from '../../src/domains/lookup-schema.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { auditOf, type List } from '../team/team-service.ts';
import { DAY, MINUTE, startDomainService } from './domain-service.ts';

interface Added {
  lines: AddedLine[];
  created_at: string;
}

/** How people write the same name. */
const NOTATIONS: ((name: string) => string)[] = [
  (name) => name,
  (name) => `${name.toUpperCase()}.`,
  (name) => `https://www.${name}/path?q=1`,
  (name) => `www.${name}`,
  (name) => `ann@${name}`,
  (name) => `"Smith, Ann" <ann@${name}>`,
  (name) => `mailto:info@${name}`,
  (name) => `http://${name}:8080`,
  (name) => `  *.${name}\t`,
  (name) => `- ${name}`,
];

test('300 names in all notations are added in one request, looked up, and found by their time', async (t) => {
  const service = await startDomainService(t);
  const { call, app } = service;
  const names = Array.from({ length: 300 }, (_, i) => `shop${i}.example`);
  await service.add('shop7.example');
  service.clock.advance(MINUTE);
  const text = names.map((name, i) => NOTATIONS[i % NOTATIONS.length]!(name)).join('\n');
  const json = {
    names: [...splitPasted(text), 'nonsense', 'ann@gmail.com'],
    tags: ['Client:Acme'],
  };
  const { status, body, text: raw } = await call<Added>('POST', '/v1/domains/batch', { json });
  assert.equal(status, 200, raw);
  const count = (result: string) => body.lines.filter((line) => line.result === result).length;
  assert.deepEqual([count('added'), count('exists'), count('invalid')], [299, 1, 2]);
  assert.deepEqual(
    body.lines.slice(0, 300).map(({ name }) => name),
    names,
  );
  assert.match(body.lines[2]!.note!, /www\.shop2\.example was read as shop2\.example/);
  assert.deepEqual(
    body.lines.slice(300).map(({ error }) => error),
    [
      'This is a single label, not a registered domain such as example.com.',
      'This is an address at Gmail, not at your own domain.',
    ],
  );
  // 300 lookups over a network take long.
  app.backgroundResolver = zoneResolver(structuredClone(GOOD_ZONE));
  await service.lookUpFirst();
  const path = `/v1/domains?limit=100&created_at=${encodeURIComponent(body.created_at)}`;
  const page = (
    await call<List<{ tags: string[]; health: { checked_at: string | null } }>>('GET', path)
  ).body;
  assert.deepEqual([page.data.length, page.has_more], [100, true]);
  assert.ok(page.data.every(({ tags, health }) => tags[0] === 'client:acme' && health.checked_at));
  const open = app.db.selectFrom('domains').select('id').where('next_look_at', 'is not', null);
  assert.deepEqual(await open.execute(), []);
  // The same list again changes nothing.
  const again = (await call<Added>('POST', '/v1/domains/batch', { json })).body;
  assert.ok(again.lines.slice(0, 300).every(({ result }) => result === 'exists'));
  const entries = await auditOf(service, { object_id: body.lines[0]!.domain_id! });
  assert.deepEqual(
    entries.map(([action]) => action),
    ['domain.created'],
  );
});

test('POST /v1/domains/batch needs a member and live mode, and refuses no names or too many', async (t) => {
  const { call, makeMember, app } = await startDomainService(t);
  const viewer = await makeMember('viewer');
  const path = '/v1/domains/batch';
  const json = { names: ['example.com'] };
  assert.equal((await call('POST', path, { json, key: viewer.key })).status, 403);
  for (const names of [[], Array(501).fill('example.com'), [7], ['x'.repeat(1001)], 'example.com'])
    assert.equal((await call('POST', path, { json: { names } })).status, 422);
  assert.equal(
    (await call('POST', path, { json: { names: ['a.example'], tags: ['a,b'] } })).status,
    422,
  );
  assert.deepEqual(await app.db.selectFrom('domains').select('id').execute(), []);
});

test('The record of the team verifies every domain, those of others none, and it stays the same', async (t) => {
  const service = await startDomainService(t);
  const other = await startDomainService(t);
  const { dns } = service;
  const [a, b, c] = [
    await service.add('a.example'),
    await service.add('b.example'),
    await service.add('c.example'),
  ];
  assert.equal(a.team_verification.value, b.team_verification.value);
  assert.match(a.team_verification.value, /^deliverability-verify=[a-z0-9]{32}$/);
  const foreign = await other.add('c.example');
  assert.notEqual(foreign.team_verification.value, a.team_verification.value);
  for (const { team_verification: record } of [a, b])
    dns.zone[record.name] = { TXT: ['other', record.value] };
  // Neither the record of another team nor the own record of another domain proves anything.
  dns.zone[c.verification.name] = { TXT: [foreign.team_verification.value, a.verification.value] };
  const statusOf = async (id: string) => (await service.verify(id)).body.status;
  assert.deepEqual(
    [await statusOf(a.id), await statusOf(b.id), await statusOf(c.id)],
    ['verified', 'verified', 'pending'],
  );
  // The daily check accepts it too.
  await service.settle();
  await service.pass(2 * DAY);
  assert.equal((await service.get(a.id)).missing_since, null);
  // A record at a domain that nobody added verifies nothing.
  dns.zone['_deliverability.stranger.example'] = { TXT: [a.team_verification.value] };
  const { data } = (
    await service.call<List<{ name: string }>>('GET', '/v1/domains?status=verified')
  ).body;
  assert.deepEqual(data.map(({ name }) => name).toSorted(), ['a.example', 'b.example']);
});

test('POST /v1/domains/verify looks up all records that are missing, past the cache, and gives failed domains time', async (t) => {
  const service = await startDomainService(t);
  const { call, dns, app, makeMember } = service;
  const domains = [];
  for (const name of ['a.example', 'b.example', 'c.example']) domains.push(await service.add(name));
  await service.pass(MINUTE);
  await app.db
    .updateTable('domains')
    .set({ status: 'failed', next_check_at: null })
    .where('name', '=', 'c.example')
    .execute();
  for (const { team_verification: record } of domains)
    dns.zone[record.name] = { TXT: [record.value] };
  const viewer = await makeMember('viewer');
  assert.equal((await call('POST', '/v1/domains/verify', { key: viewer.key })).status, 403);
  const { body } = await call('POST', '/v1/domains/verify');
  assert.deepEqual(body, { object: 'requested_verifications', domains: 3 });
  await service.runOnce();
  for (const { id } of domains) assert.equal((await service.get(id)).status, 'verified');
  assert.equal((await call<{ domains: number }>('POST', '/v1/domains/verify')).body.domains, 0);
});
