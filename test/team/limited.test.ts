/** Limits to tags: who can have one, what it does to what they create, change and receive, and when it takes effect. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { callTool, connectOverHttp, toolNames } from '../mcp/mcp-client.ts';
import { startMailSink } from '../outbox/mail-sink.ts';

type List = { data: { id: string; name?: string }[] };

async function addDomain({ app, call }: TestService, name: string, tags: string[]) {
  const { body, status, text } = await call<{ id: string }>('POST', '/v1/domains', {
    json: { name, tags },
  });
  assert.equal(status, 201, text);
  await app.db
    .updateTable('domains')
    .set({ status: 'verified' })
    .where('id', '=', body.id)
    .execute();
  return body.id;
}

async function limit({ call }: TestService, id: string, tags: string[] | null) {
  const { status, text } = await call('PATCH', `/v1/team/members/${id}`, { json: { tags } });
  assert.equal(status, 200, text);
}

async function submit({ call }: TestService, domain: string, key?: string, query = '') {
  const { body, text } = await call<{ id: string }>('POST', `/v1/tests/raw?${query}`, {
    body: goodMessage({ From: `News <news@${domain}>`, Subject: `Subject of ${domain}` }),
    headers: { 'content-type': 'message/rfc822' },
    ...(key && { key }),
  });
  assert.ok(body.id, text);
  await call('GET', `/v1/tests/${body.id}?wait=50`);
  return body.id;
}

/** Two clients with a domain each, and a member of the first. */
async function start(t: Parameters<typeof startTestService>[0], env: Record<string, string> = {}) {
  const service = await startTestService(t, { env });
  const a = await addDomain(service, 'a.example', ['client:a']);
  const b = await addDomain(service, 'b.example', ['client:b']);
  const member = await service.makeMember('member');
  await limit(service, member.id, ['client:a']);
  const get = async <T = List>(path: string, key = member.key) =>
    (await service.call<T>('GET', path, { key })).body;
  const domains = async (key = member.key) =>
    (await get('/v1/domains', key)).data.map(({ name }) => name);
  return { service, a, b, member, get, domains };
}

test('Only viewers and members can be limited, and only members of the team change limits', async (t) => {
  const { service, member } = await start(t);
  const { call } = service;
  const path = `/v1/team/members/${member.id}`;
  const refused = async (json: object, at = path, method = 'PATCH') => {
    const { status, text } = await call(method, at, { json });
    assert.equal(status, 422, text);
    return text;
  };
  const words = /only viewers and members can be limited to tags/;
  assert.match(await refused({ role: 'admin' }), words);
  const admin = await service.makeMember('admin');
  assert.match(await refused({ tags: ['x'] }, `/v1/team/members/${admin.id}`), words);
  assert.match(
    await refused(
      { email: 'x@example.com', role: 'admin', tags: ['x'] },
      '/v1/team/invitations',
      'POST',
    ),
    words,
  );
  assert.match(
    await refused({ name: 'x', role: 'admin', tags: ['x'] }, '/v1/api_keys', 'POST'),
    words,
  );
  assert.match(
    await refused({ new_owner_id: member.id }, '/v1/team/transfer-ownership', 'POST'),
    words,
  );
  await refused({ tags: [] });
  assert.equal((await call('PATCH', path, { json: { role: 'admin', tags: null } })).status, 200);
  const audit = await call('GET', `/v1/audit_log?object_id=${member.id}`);
  assert.match(audit.text, /"tags":\{"from":\["client:a"\],"to":null\}/);
});

test('An invitation passes its limit on to the member', async (t) => {
  const { service, domains } = await start(t);
  const { call } = service;
  const json = { email: 'client@example.com', role: 'member', tags: ['Client:A'] };
  const { body } = await call<{ tags: string[]; accept_url: string }>(
    'POST',
    '/v1/team/invitations',
    { json },
  );
  assert.deepEqual(body.tags, ['client:a']);
  const accepted = await call<{ id: string; tags: string[] }>(
    'POST',
    '/v1/team/invitations/accept',
    {
      key: null,
      json: {
        token: body.accept_url.split('/').at(-1),
        name: 'Client',
        password: 'correct horse battery',
      },
    },
  );
  assert.deepEqual(accepted.body.tags, ['client:a']);
  assert.deepEqual(await domains(await service.makeKey('member', true, accepted.body.id)), [
    'a.example',
  ]);
});

test('A limit takes effect at once, and a key sees at most what its member sees', async (t) => {
  const { service, a, member, get, domains } = await start(t);
  const { call, makeKey, app } = service;
  assert.deepEqual(await domains(), ['a.example']);
  const limited = async (tags: string[], key?: string) =>
    (
      await call<{ key: string }>('POST', '/v1/api_keys', {
        json: { name: 'limited', tags },
        ...(key && { key }),
      })
    ).body.key;
  const ofOwner = await limited(['client:b']);
  assert.deepEqual(await domains(ofOwner), ['b.example']);
  assert.deepEqual((await get<{ tags: string[] }>('/v1/me', ofOwner)).tags, ['client:b']);
  // A limited key creates no wider one, and sees no other key.
  const child = await call<{ tags: string[]; key: string }>('POST', '/v1/api_keys', {
    json: { name: 'child' },
    key: ofOwner,
  });
  assert.deepEqual(child.body.tags, ['client:b']);
  const wider = { json: { name: 'wider', tags: ['client:a'] }, key: ofOwner };
  assert.equal((await call('POST', '/v1/api_keys', wider)).status, 422);
  assert.deepEqual((await get('/v1/api_keys', ofOwner)).data.length, 1);
  // Both limits: nothing is in common, so nothing is visible.
  const none = await makeKey('member', true, member.id);
  await app.db
    .updateTable('api_keys')
    .set({ tags: '["client:b"]' })
    .where('member_id', '=', member.id)
    .execute();
  assert.deepEqual(await domains(none), []);
  assert.equal((await call('GET', `/v1/domains/${a}`, { key: none })).status, 404);
  await app.db
    .updateTable('api_keys')
    .set({ tags: null })
    .where('member_id', '=', member.id)
    .execute();
  // The domain, and then the member.
  await call('PATCH', `/v1/domains/${a}`, { json: { tags: ['client:c'] } });
  assert.deepEqual(await domains(), []);
  await call('PATCH', `/v1/domains/${a}`, { json: { tags: ['client:a', 'x'] } });
  assert.deepEqual(await domains(), ['a.example']);
  await limit(service, member.id, ['client:b']);
  assert.deepEqual(await domains(), ['b.example']);
  // A tag that contains another one is another tag.
  await limit(service, member.id, ['client']);
  assert.deepEqual(await domains(), []);
  await call('PATCH', `/v1/domains/${a}`, { json: { tags: ['x"client', '%', 'c_ient'] } });
  assert.deepEqual(await domains(), []);
  await limit(service, member.id, null);
  assert.deepEqual((await domains()).length, 2);
});

test('A response that was stored before the limit changed is not replayed', async (t) => {
  const { service, a, b, member } = await start(t);
  await limit(service, member.id, null);
  const headers = { 'idempotency-key': 'one' };
  const ask = (domain_id: string) =>
    service.call('POST', '/v1/tests', { json: { domain_id }, headers, key: member.key });
  assert.equal((await ask(b)).status, 201);
  await limit(service, member.id, ['client:a']);
  const again = await ask(b);
  assert.match(again.text, /idempotency_mismatch/);
  assert.ok(!again.text.includes(b));
  const own = await service.call('POST', '/v1/tests', {
    json: { domain_id: a },
    headers: { 'idempotency-key': 'two' },
    key: member.key,
  });
  assert.equal(own.status, 201);
});

test('A request that waits ends when its limit changes', async (t) => {
  const { service, member, get } = await start(t);
  const { body } = await service.call<{ id: string }>('POST', '/v1/tests', {
    json: {},
    key: member.key,
  });
  const waiting = get<{ code?: string }>(`/v1/tests/${body.id}?wait=20`);
  await new Promise((resolve) => setImmediate(resolve));
  await limit(service, member.id, ['client:b']);
  await service.call('DELETE', `/v1/tests/${body.id}`);
  assert.ok(['forbidden', 'not_found'].includes((await waiting).code!));
});

test('What limited members create carries their tag, and tags are not theirs to change', async (t) => {
  const { service, a, b, member, get } = await start(t);
  const { call } = service;
  const post = (path: string, json: object, key = member.key) =>
    call<{ id: string; tags: string[] }>('POST', path, { json, key });
  const made = await post('/v1/tests', { name: 'one' });
  assert.deepEqual(made.body.tags, ['client:a']);
  assert.equal((await post('/v1/tests', { tags: ['client:b'] })).status, 422);
  assert.equal((await post('/v1/tests', { domain_id: b })).status, 422);
  const unknown = await post('/v1/tests', { domain_id: 'dom_none' });
  assert.equal(unknown.status, 422);
  assert.deepEqual((await post('/v1/tests', { name: 'x', reusable: true })).body.tags, [
    'client:a',
  ]);
  assert.equal(
    (await post('/v1/monitors', { name: 'x', type: 'domain_health', domain_id: b })).status,
    422,
  );
  const targets = { name: 'x', type: 'blocklist', targets: ['b.example'] };
  assert.match((await post('/v1/monitors', targets)).text, /domain_id.*is required/);
  const monitor = await post('/v1/monitors', { name: 'x', type: 'domain_health', domain_id: a });
  assert.equal(monitor.status, 201, monitor.text);
  const patch = async (path: string, json: object) =>
    (await call('PATCH', path, { json, key: member.key })).status;
  assert.equal(await patch(`/v1/tests/${made.body.id}`, { tags: ['client:b'] }), 403);
  assert.equal(await patch(`/v1/tests/${made.body.id}`, { tags: [] }), 403);
  assert.equal(await patch(`/v1/tests/${made.body.id}`, { name: 'two' }), 200);
  assert.equal(await patch(`/v1/domains/${a}`, { tags: ['client:b'] }), 403);
  assert.equal(await patch(`/v1/domains/${a}`, { dkim_selectors: ['s1'] }), 200);
  // With several tags, they name the one whose clients see it.
  await limit(service, member.id, ['client:a', 'client:c']);
  assert.match(
    (await post('/v1/tests', {})).text,
    /must name one of your tags: client:a, client:c/,
  );
  assert.deepEqual((await post('/v1/tests', { tags: ['client:c'] })).body.tags, ['client:c']);
  assert.equal((await post('/v1/tests', { domain_id: a })).status, 201);
  assert.equal((await get('/v1/tests')).data.length, 3);
});

test('Links and rules for tags are visible, and can be made, within the limit only', async (t) => {
  const { service, a, member, get } = await start(t);
  const { call } = service;
  // A domain of two clients must not lead to the other domains of the second.
  await call('PATCH', `/v1/domains/${a}`, { json: { tags: ['client:a', 'client:b'] } });
  const share = (tags: string[], key?: string) =>
    call<{ id: string; url: string }>('POST', '/v1/reports/share', {
      json: { tags },
      ...(key && { key }),
    });
  const refused = await share(['client:b'], member.key);
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /must be among the tags that your access is limited to: client:a/);
  assert.equal((await share(['client:a', 'client:b'], member.key)).status, 422);
  const made = await share(['client:a'], member.key);
  assert.equal(made.status, 201, made.text);
  await share(['client:b']);
  await share(['client:a', 'client:b']);
  const listed = await get('/v1/reports/shared');
  assert.deepEqual(
    listed.data.map(({ id }) => id),
    [made.body.id],
  );
  const rule = async (name: string, tags: string[] | null) => {
    const json = { name, condition: 'score_below', channels: ['email'], tags };
    const { status, text } = await call('POST', '/v1/alerts', { json });
    assert.equal(status, 201, text);
  };
  await rule('own', ['client:a']);
  await rule('other', ['client:b']);
  await rule('both', ['client:a', 'client:b']);
  await rule('all', null);
  const names = async () => (await get('/v1/alerts')).data.map(({ name }) => name).toSorted();
  assert.deepEqual(await names(), ['own']);
  await limit(service, member.id, ['client:a', 'client:b']);
  assert.deepEqual(await names(), ['both', 'other', 'own']);
  assert.equal((await get('/v1/reports/shared')).data.length, 3);
  const revoked = await call('DELETE', `/v1/reports/shared/${made.body.id}`, { key: member.key });
  assert.equal(revoked.status, 200, revoked.text);
});

test('A message of another client to a test address stays without what the team knows about its domain', async (t) => {
  const { service, b, member, get } = await start(t);
  const earlier = await submit(service, 'b.example');
  const { body } = await service.call<{ id: string; address: string }>('POST', '/v1/tests', {
    json: {},
    key: member.key,
  });
  await sendMail({
    port: service.smtp.port,
    to: body.address,
    clientIp: '192.0.2.1',
    raw: goodMessage({ From: 'News <news@b.example>', Subject: 'Probe' }).replaceAll('\n', '\r\n'),
  });
  const done = await service.call<{ status: string; domain_id: null }>(
    'GET',
    `/v1/tests/${body.id}?wait=50`,
    { key: member.key },
  );
  assert.equal(done.body.status, 'completed');
  assert.equal(done.body.domain_id, null);
  for (const path of ['', '/history', '/report.html']) {
    const { text } = await service.call('GET', `/v1/tests/${body.id}${path}`, { key: member.key });
    for (const secret of [b, earlier, 'Subject of b.example'])
      assert.ok(!text.includes(secret), `${path} ${secret}`);
  }
  // And the other client does not see it.
  const other = await service.makeMember('viewer');
  await limit(service, other.id, ['client:b']);
  const seen = (await get('/v1/tests', other.key)).data.map(({ id }) => id);
  assert.deepEqual(seen, [earlier]);
});

test('The table of domains has their own rows, and nothing to change', async (t) => {
  const { service, a, b, member, get } = await start(t);
  const { call } = service;
  const headers = { accept: 'text/html' };
  for (const path of ['/v1/domains/table', '/v1/domains/export', '/domains']) {
    const { status, text } = await call('GET', path, { key: member.key, headers });
    assert.equal(status, 200, `${path}: ${text}`);
    assert.ok(text.includes(a) && !text.includes(b) && !text.includes('b.example'), path);
    // No link or form that they may not use.
    assert.ok(!/domains\/verify|domains\/tags|Add domains/.test(text), path);
  }
  assert.equal((await get('/v1/domains/table')).data.length, 1);
  assert.equal((await get('/v1/domains/table', service.key)).data.length, 2);
  const change = { json: { ids: [a], add: ['client:b'] }, key: member.key };
  assert.equal((await call('POST', '/v1/domains/tags', change)).status, 403);
});

test('Search, exports, counts, events and assistants show what is visible', async (t) => {
  const { service, a, b, member, get } = await start(t);
  const mine = await submit(service, 'a.example');
  const theirs = await submit(service, 'b.example');
  const own = async (path: string) => {
    const { status, text } = await service.call('GET', path, { key: member.key });
    assert.equal(status, 200, text);
    assert.ok(text.includes(mine) || text.includes(a), path);
    for (const secret of [theirs, b, 'b.example'])
      assert.ok(!text.includes(secret), `${path} shows ${secret}`);
  };
  for (const path of [
    '/v1/search?q=example',
    '/v1/tests/export',
    '/v1/tests',
    '/v1/events',
    '/v1/domains',
  ])
    await own(path);
  const total = async (key?: string) =>
    (await get<{ total_tests: number }>('/v1/reports/summary?period=week', key)).total_tests;
  assert.equal(await total(), 1);
  assert.equal(await total(service.key), 2);
  // Deleting a test changes the sums of the whole team too.
  const deleted = await service.call('DELETE', `/v1/tests/${mine}`, { key: member.key });
  assert.equal(deleted.status, 200);
  assert.equal(await total(service.key), 1);
  const client = await connectOverHttp(t, { url: service.url, key: member.key });
  const tools = await toolNames(client);
  assert.ok(tools.includes('list_tests'));
  const { text } = await callTool(client, 'list_tests', {});
  assert.ok(!text.includes('b.example'), text);
  const domains = await callTool(client, 'list_domains', {});
  assert.match(domains.text, /a\.example/);
  assert.doesNotMatch(domains.text, /b\.example/);
  await get('/v1/domains/table', service.key);
  const compared = await callTool(client, 'compare_domains', {});
  assert.match(compared.text, /^1 domain\.\n- a\.example \(dom_\w+\): /);
  assert.match(compared.text, /client:a/);
  assert.doesNotMatch(compared.text, /b\.example|%|inbox/);
  const resource = client.readResource({ uri: `deliverability://tests/${theirs}` });
  await assert.rejects(resource, /No such test/);
});

test('Emails to limited members contain nothing else', async (t) => {
  const sink = await startMailSink(t);
  const { service, a, member } = await start(t, {
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
  });
  const recipients = [member.email, 'all@example.com'];
  const rule = {
    name: 'Low',
    condition: 'score_below',
    threshold: 100,
    channels: ['email'],
    recipients,
  };
  assert.equal((await service.call('POST', '/v1/alerts', { json: rule })).status, 201);
  await submit(service, 'b.example', undefined, 'client_ip=192.0.2.1');
  await submit(service, 'a.example', undefined, 'client_ip=192.0.2.1');
  const notified = await service.app.db
    .selectFrom('alert_notifications as n')
    .innerJoin('alert_incidents as i', 'i.id', 'n.incident_id')
    .select(['n.recipient', 'i.subject'])
    .execute();
  const got = notified.map(({ recipient, subject }) => `${recipient} ${subject}`).toSorted();
  assert.deepEqual(
    got,
    [
      'all@example.com a.example',
      'all@example.com b.example',
      `${member.email} a.example`,
    ].toSorted(),
  );
  const copies = async (domains: string[] | null) => {
    const { body } = await service.call<{ id: string }>('POST', '/v1/reports/schedules', {
      json: { name: 'Weekly', frequency: 'weekly', recipients, domains },
    });
    await service.call('POST', `/v1/reports/schedules/${body.id}/send`);
    const runs = await service.call<{
      data: { recipients: { email: string; status: string; error: string | null }[] }[];
    }>('GET', `/v1/reports/schedules/${body.id}/runs`);
    return runs.text;
  };
  assert.match(await copies(null), /the recipient is limited to tags, and the report shows more/);
  assert.doesNotMatch(await copies([a]), /the recipient is limited to tags/);
});
