/** Records are read and replaced through the API of Cloudflare. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { planChanges } from '../../src/dns-changes/plan.ts';
import {
  DnsServerError,
  type DnsServerProblem,
  type RecordSet,
} from '../../src/dns-changes/server.ts';
import { cloudflare } from '../../src/dns-changes/servers/cloudflare.ts';
import { loopbackContext } from '../helpers/bind.ts';
import {
  CLOUDFLARE_TOKEN,
  type CloudflareServer,
  startCloudflareServer,
} from '../helpers/cloudflare-server.ts';
import { HOSTILE_RESPONSES, HTTP_FAULTS, type HttpExchange } from '../helpers/http-script.ts';

const open = (served: CloudflareServer, api_token = CLOUDFLARE_TOKEN) =>
  cloudflare.open({ api_token }, { ...loopbackContext(), web: served.web });

const set = (name: string, type: string, values: string[], ttl = 3600): RecordSet => ({
  name,
  type,
  values,
  ttl,
});

async function assertProblem(work: Promise<unknown>, problem: DnsServerProblem, message?: RegExp) {
  await assert.rejects(work, (error: DnsServerError) => {
    assert.ok(error instanceof DnsServerError, String(error));
    assert.equal(error.problem, problem, error.message);
    if (message) assert.match(error.message, message);
    assert.ok(!error.message.includes(CLOUDFLARE_TOKEN));
    return true;
  });
}

/** Answers in this way, if the method is the given one. */
const failing =
  (fault: (exchange: HttpExchange) => void, method?: string) => (exchange: HttpExchange) => {
    if (method !== undefined && exchange.method !== method) return false;
    fault(exchange);
    return true;
  };

async function startExample(t: TestContext) {
  const served = await startCloudflareServer(t);
  served.add({ name: 'example.com', type: 'TXT', content: '"v=spf1 mx -all"', comment: 'mail' });
  // Records of earlier years have no quotes.
  served.add({ name: 'example.com', type: 'TXT', content: 'site=1' });
  served.add({ name: 'example.com', type: 'MX', content: 'MX.example.com', priority: 10 });
  served.add({ name: 'mx.example.com', type: 'A', content: '192.0.2.25', proxied: true });
  served.add({ name: 'ns.example.com', type: 'A', content: '192.0.2.53' });
  return { served, server: open(served) };
}

test('adds, replaces and removes records of each type at Cloudflare, and undo brings back the same sets', async (t) => {
  const { served, server } = await startExample(t);
  const long = `v=DKIM1; k=rsa; p=${'MIIB'.repeat(130)}`;
  const changes: [RecordSet, RecordSet][] = [
    [
      set('example.com', 'TXT', ['v=spf1 mx -all', 'site=1'], 300),
      set('example.com', 'TXT', ['v=spf1 a mx -all', 'site=1'], 300),
    ],
    [set('s._domainkey.example.com', 'TXT', []), set('s._domainkey.example.com', 'TXT', [long])],
    [set('q.example.com', 'TXT', []), set('q.example.com', 'TXT', ['say "hi" \\ é', 'b'])],
    [
      set('ns.example.com', 'A', ['192.0.2.53'], 300),
      set('ns.example.com', 'A', ['192.0.2.53', '192.0.2.54'], 300),
    ],
    [set('ns.example.com', 'AAAA', []), set('ns.example.com', 'AAAA', ['2001:db8::1'])],
    [
      set('example.com', 'MX', ['10 mx.example.com'], 300),
      set('example.com', 'MX', ['5 a.example.com', '10 mx.example.com'], 300),
    ],
    [set('example.com', 'CAA', []), set('example.com', 'CAA', ['0 issue "ca.example"'])],
    [
      set('_25._tcp.mx.example.com', 'TLSA', []),
      set('_25._tcp.mx.example.com', 'TLSA', [`3 1 1 ${'ab'.repeat(32)}`]),
    ],
  ];
  const sorted = (records: RecordSet) => ({ ...records, values: records.values.toSorted() });
  const original = served.records.map(({ name, type, content, proxied, comment }) => ({
    name,
    type,
    content,
    proxied,
    comment,
  }));
  for (const [before, after] of changes) {
    assert.equal(await server.zoneOf(before.name), 'example.com');
    assert.deepEqual(
      sorted(await server.read('example.com', before.name, before.type)),
      sorted(before),
    );
    await server.replace('example.com', before, after);
    assert.deepEqual(
      sorted(await server.read('example.com', before.name, before.type)),
      sorted(after),
    );
  }
  assert.equal(served.records[0]!.comment, 'mail');
  for (const [before, after] of changes.toReversed())
    await server.replace('example.com', after, before);
  assert.deepEqual(
    served.records.map(({ name, type, content, proxied, comment }) => ({
      name,
      type,
      content,
      proxied,
      comment,
    })),
    original,
  );
});

test('makes no change at Cloudflare if the records have changed, or if one part of it fails', async (t) => {
  const { served, server } = await startExample(t);
  const before = await server.read('example.com', 'example.com', 'TXT');
  const after = { ...before, values: ['v=spf1 -all', 'site=1'] };
  served.add({ name: 'example.com', type: 'TXT', content: '"new"' });
  await assertProblem(server.replace('example.com', before, after), 'changed', /Make a new plan/);
  const current = await server.read('example.com', 'example.com', 'TXT');
  served.intercept = ({ method }) => {
    // Another program deletes the record between the two requests.
    if (method === 'POST')
      served.records = served.records.filter(({ content }) => !content.includes('spf1'));
    return false;
  };
  await assertProblem(
    server.replace('example.com', current, {
      ...current,
      values: ['v=spf1 -all', 'site=1', 'new'],
    }),
    'changed',
  );
  assert.equal(served.records.filter(({ type }) => type === 'TXT').length, 2);
});

test('finds the zone of a name at Cloudflare, but not behind a delegation or before it is active', async (t) => {
  const served = await startCloudflareServer(t, [
    ...Array.from({ length: 1100 }, (_, i) => `z${i}.example`),
    'example.com',
    'sub.example.com',
  ]);
  const server = open(served);
  assert.equal(await server.zoneOf('_dmarc.a.example.com'), 'example.com');
  assert.equal(await server.zoneOf('_dmarc.sub.example.com'), 'sub.example.com');
  assert.equal(await server.zoneOf('example.org'), null);
  served.add({ name: 'other.example.com', type: 'NS', content: 'ns1.elsewhere.example' });
  assert.equal(await server.zoneOf('_dmarc.other.example.com'), null);
  assert.equal((await server.check()).zones.length, 1102);
  served.zones.find(({ name }) => name === 'example.com')!.status = 'pending';
  assert.equal(await server.zoneOf('_dmarc.a.example.com'), null);
});

test('a plan for Cloudflare sees an alias, except at the zone itself', async (t) => {
  const { served, server } = await startExample(t);
  served.add({ name: 'example.com', type: 'CNAME', content: 'site.example' });
  served.add({ name: '_dmarc.example.com', type: 'CNAME', content: 'dmarc.example' });
  const proposal = {
    type: 'TXT',
    purpose: 'x',
    checks: ['spf'],
    basedOn: null,
    problem: null,
    caution: null,
  };
  const [spf, dmarc] = await planChanges(server, [
    { ...proposal, name: 'example.com', value: 'v=spf1 mx ip4:192.0.2.1 -all' },
    { ...proposal, name: '_dmarc.example.com', value: 'v=DMARC1; p=none' },
  ]);
  assert.deepEqual(
    [spf!.action, spf!.after.values],
    ['replace', ['site=1', 'v=spf1 mx ip4:192.0.2.1 -all']],
  );
  assert.match(dmarc!.problem!, /is an alias \(CNAME\) of dmarc\.example/);
});

test('a change at Cloudflare is made even if its result cannot be read', async (t) => {
  const { served, server } = await startExample(t);
  const before = set('a.example.com', 'TXT', []);
  let isMade = false;
  served.intercept = (exchange) => {
    if (isMade) HTTP_FAULTS.broken(exchange);
    isMade ||= exchange.method === 'POST';
    return isMade && exchange.method === 'GET';
  };
  await server.replace('example.com', before, { ...before, values: ['x'] });
  assert.ok(served.records.some(({ name }) => name === 'a.example.com'));
});

test('each record at Cloudflare keeps its own TTL, also through an undo', async (t) => {
  const served = await startCloudflareServer(t);
  served.add({ name: 'example.com', type: 'TXT', content: '"v=spf1 -all"', ttl: 86_400 });
  served.add({ name: 'example.com', type: 'TXT', content: '"site=1"', ttl: 60 });
  const server = open(served);
  const before = await server.read('example.com', 'example.com', 'TXT');
  assert.equal(before.ttl, 60);
  const after = { ...before, values: ['v=spf1 mx -all', 'site=1'] };
  await server.replace('example.com', before, after);
  await server.replace('example.com', after, before);
  assert.deepEqual(
    served.records.map(({ ttl }) => ttl),
    [86_400, 60],
  );
});

test('the automatic TTL of Cloudflare is shown as the 300 seconds that resolvers get, and kept', async (t) => {
  const served = await startCloudflareServer(t);
  served.add({ name: 'example.com', type: 'TXT', content: '"site=1"', ttl: 1 });
  const server = open(served);
  const before = await server.read('example.com', 'example.com', 'TXT');
  assert.equal(before.ttl, 300);
  await server.replace('example.com', before, { ...before, values: ['site=1', 'v=spf1 mx -all'] });
  assert.deepEqual(
    served.records.map(({ ttl }) => ttl),
    [1, 1],
  );
});

test('text of other bytes and names behind the proxy of Cloudflare are not changed', async (t) => {
  const { served, server } = await startExample(t);
  served.add({ name: 'raw.example.com', type: 'TXT', content: '"a\\255"' });
  const raw = await server.read('example.com', 'raw.example.com', 'TXT');
  await assertProblem(
    server.replace('example.com', raw, { ...raw, values: ['a'] }),
    'invalid_record',
    /could not be undone/,
  );
  for (const type of ['A', 'AAAA']) {
    const address = type === 'A' ? '192.0.2.26' : '2001:db8::26';
    const before = await server.read('example.com', 'mx.example.com', type);
    await assertProblem(
      server.replace('example.com', before, { ...before, values: [...before.values, address] }),
      'refused',
      /Cloudflare proxies mx\.example\.com/,
    );
  }
});

test('tells which records a name has by a wildcard at Cloudflare', async (t) => {
  const { served, server } = await startExample(t);
  served.add({ name: '*.example.com', type: 'MX', content: 'mx.example.com', priority: 10 });
  served.add({ name: '*.example.com', type: 'TXT', content: '"x"' });
  served.add({ name: 'b.a.example.com', type: 'TXT', content: '"x"' });
  const types = (name: string) => server.wildcardTypes!('example.com', name);
  assert.deepEqual(await types('_dmarc.news.example.com'), ['MX', 'TXT']);
  for (const name of ['example.com', 'mx.example.com', '_dmarc.mx.example.com', 'a.example.com'])
    assert.deepEqual(await types(name), [], name);
});

test('explains what Cloudflare refuses', async (t) => {
  const { served, server } = await startExample(t);
  const before = set('a.example.com', 'TXT', []);
  await assertProblem(
    open(served, 'x'.repeat(40)).check(),
    'bad_credentials',
    /rejects the API token.*Invalid API Token/,
  );
  served.canEdit = false;
  await assertProblem(
    server.replace('example.com', before, { ...before, values: ['x'] }),
    'refused',
    /Zone\.DNS:Edit/,
  );
  served.canEdit = true;
  await assertProblem(
    server.replace('example.com', before, { ...before, values: ['x'], ttl: 5 }),
    'invalid_record',
    /HTTP 400.*Validation/,
  );
  await assertProblem(server.read('example.org', 'example.org', 'TXT'), 'no_such_zone');
  served.zones = [];
  await assertProblem(server.check(), 'refused', /no active zone/);
});

test('a Cloudflare that fails or lies is reported, and an uncertain change is marked', async (t) => {
  const { served, server } = await startExample(t);
  served.intercept = failing(HTTP_FAULTS.throttled);
  await assert.rejects(server.check(), { problem: 'rate_limited', retryAfterMs: 120_000 });
  served.intercept = failing(HTTP_FAULTS.broken);
  await assertProblem(server.check(), 'unreachable', /request to Cloudflare failed/);
  for (const [what, respond] of HOSTILE_RESPONSES) {
    served.intercept = failing(respond);
    await assert.rejects(server.check(), DnsServerError, what);
  }
  const before = set('a.example.com', 'TXT', []);
  for (const fault of [HTTP_FAULTS.broken, HTTP_FAULTS.unavailable, HTTP_FAULTS.truncated]) {
    served.intercept = failing(fault, 'POST');
    await assert.rejects(server.replace('example.com', before, { ...before, values: ['x'] }), {
      mayHaveChanged: true,
    });
  }
});
