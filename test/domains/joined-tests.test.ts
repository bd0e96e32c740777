/** Tests and the team's domains: given domain IDs, links by From domain, and learned selectors. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Domain } from '../../src/domains/schema.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import type { List } from '../team/team-service.ts';

const KEY = makeKey('rsa1024');
const OTHER = makeKey('rsa1024');
const key = (record: string) => ({ TXT: [record] });
const ZONE = {
  's1._domainkey.example.com': key(KEY.record),
  's2._domainkey.example.com': key(KEY.record),
  'm1._domainkey.mail.example.com': key(KEY.record),
  'x1._domainkey.example.net': key(KEY.record),
};

async function add({ call }: TestService, name: string, more: object = {}): Promise<Domain> {
  return (await call<Domain>('POST', '/v1/domains', { json: { name, ...more } })).body;
}

/** Submits a message and waits for the result. */
async function submit({ call, getTest }: TestService, body: string | Buffer): Promise<Test> {
  const headers = { 'content-type': 'message/rfc822' };
  const { body: made } = await call<Test>('POST', '/v1/tests?client_ip=192.0.2.1', {
    body,
    headers,
  });
  const done = await getTest(made.id, '?wait=50');
  assert.equal(done.status, 'completed');
  return done;
}

const from = (address: string) => goodMessage({ From: `Example <${address}>` });
const sign = (message: string | Buffer, domain: string, selector: string, by = KEY) =>
  signMessage(message, { domain, selector, key: by });

test('A test is linked to the most specific team domain of its From address', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { call } = service;
  const parent = await add(service, 'example.com');
  const child = await add(service, 'news.example.com');
  const ids = new Map<string, string | null>();
  const tests: Test[] = [];
  for (const [domain, expected] of [
    ['example.com', parent.id],
    ['shop.example.com', parent.id],
    ['news.example.com', child.id],
    ['a.news.example.com', child.id],
    ['notexample.com', null],
    ['example.org', null],
  ] as const) {
    const done = await submit(service, from(`ann@${domain}`));
    tests.push(done);
    ids.set(domain, done.domain_id);
    assert.equal(done.domain_id, expected, domain);
  }
  const { body } = await call<List<Test>>('GET', `/v1/tests?domain_id=${child.id}`);
  assert.deepEqual(
    body.data.map(({ id }) => id),
    [tests[3]!.id, tests[2]!.id],
  );
  const headers = { accept: 'application/x-ndjson' };
  const lines = await call('GET', `/v1/tests/export?domain_id=${parent.id}`, { headers });
  assert.equal(lines.text.trim().split('\n').length, 2);
  const none = await call<List<Test>>('GET', '/v1/tests?domain_id=dom_none');
  assert.deepEqual(none.body.data, []);
  const events = await call<List<{ data: Test }>>('GET', '/v1/events?type=test.completed');
  assert.equal(events.body.data[3]!.data.domain_id, child.id);
  // They keep their domain ID after the domain is deleted.
  await call('DELETE', `/v1/domains/${child.id}`);
  assert.equal((await service.getTest(tests[2]!.id)).domain_id, child.id);
});

test('POST /v1/tests accepts only a domain_id of the team', async (t) => {
  const service = await startTestService(t);
  const { call } = service;
  const { id } = await add(service, 'example.org');
  const refused = await call<{ errors: object[] }>('POST', '/v1/tests', {
    json: { domain_id: 'dom_none' },
  });
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.body.errors, [
    { param: 'domain_id', code: 'invalid', message: 'is not the ID of a domain' },
  ]);
  const made = await service.createTest({ domain_id: id });
  assert.equal(made.domain_id, id);
  assert.equal((await service.createTest({ domain_id: null })).domain_id, null);
});

test('Domains learn DKIM selectors only from verified signatures of that domain', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { call } = service;
  const { id } = await add(service, 'example.com', { dkim_selectors: ['given'] });
  const mail = await add(service, 'mail.example.com');
  const foreign = await add(service, 'example.net');
  const selectors = async (domain = id) =>
    (await call<Domain>('GET', `/v1/domains/${domain}`)).body.dkim_selectors;
  const plain = from('ann@example.com');
  await submit(service, await sign(plain, 'example.com', 's1'));
  assert.deepEqual(await selectors(), ['given', 's1']);
  // Not verified: signed with another key, or no key in DNS.
  await submit(service, await sign(plain, 'example.com', 's2', OTHER));
  await submit(service, await sign(plain, 'example.com', 'absent'));
  assert.deepEqual(await selectors(), ['given', 's1']);
  // Each selector belongs to its signing domain; those of foreign domains are ignored.
  const both = await sign(await sign(plain, 'mail.example.com', 'm1'), 'example.com', 's2');
  await submit(service, await sign(both, 'example.net', 'x1'));
  assert.deepEqual(await selectors(), ['given', 's1', 's2']);
  assert.deepEqual(await selectors(mail.id), ['m1']);
  assert.deepEqual(await selectors(foreign.id), []);
  // Given selectors replace all, until messages add more.
  const json = { dkim_selectors: ['s1'] };
  const patched = await call<Domain>('PATCH', `/v1/domains/${id}`, { json });
  assert.deepEqual(patched.body.dkim_selectors, ['s1']);
  await submit(service, both);
  assert.deepEqual(await selectors(), ['s1', 's2']);
});

test('Reanalyzing a test links it to a domain added later', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const done = await submit(service, from('ann@example.com'));
  assert.equal(done.domain_id, null);
  const { id } = await add(service, 'example.com');
  const path = `/v1/tests/${done.id}`;
  assert.equal((await service.call('POST', `${path}/reanalyze`)).status, 200);
  await service.app.scheduler.stop();
  assert.equal((await service.getTest(done.id)).domain_id, id);
});
