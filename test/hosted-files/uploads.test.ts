/** What is refused as a policy, a logo or a certificate, in the API and in the form; and who may change them. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { hostedRecords } from '../../src/hosted-files/files.ts';
import type { HostedFiles } from '../../src/hosted-files/schema.ts';
import { makeMark } from '../analysis/bimi/mark-certificates.ts';
import { memberOf, newMember } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { startDomainService } from '../domains/domain-service.ts';
import { tls, tlsPolicy } from '../feedback/reading/builders.ts';
import { LOGO, markFor } from './hosted-service.ts';

const DAY = 86_400_000;

async function start(t: TestContext) {
  const zone = {
    'example.com': { MX: ['10 mx.example.com'] },
    'mx.example.com': { A: ['192.0.2.1'] },
  };
  const service = await startDomainService(t, zone);
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.verify(domain.id);
  const path = `/v1/domains/${domain.id}/hosted_files`;
  const set = (json: unknown, options: object = {}) =>
    service.call<HostedFiles>('PATCH', path, { json, ...options });
  const get = () => service.call<HostedFiles>('GET', path);
  return { service, domain, path, set, get };
}

const withPart = (part: string): string => LOGO.replace('<circle', `${part}<circle`);
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
}) as string;

const REFUSED: [name: string, body: object, message: RegExp][] = [
  ['a script', { bimi: { logo: withPart('<script>alert(1)</script>') } }, /contains scripts/],
  [
    'an event handler',
    { bimi: { logo: LOGO.replace('<svg', '<svg onload="x()"') } },
    /contains scripts/,
  ],
  [
    'a script with a prefix',
    { bimi: { logo: withPart('<s:script xmlns:s="http://www.w3.org/2000/svg">x()</s:script>') } },
    /contains scripts/,
  ],
  [
    'an external image',
    { bimi: { logo: withPart('<image href="https://a.example/"/>') } },
    /embedded image/,
  ],
  [
    'entities',
    { bimi: { logo: LOGO.replace('<svg', '<!DOCTYPE svg [<!ENTITY a "b">]><svg') } },
    /XML entities/,
  ],
  ['a page', { bimi: { logo: '<html><body>x</body></html>' } }, /not an SVG image/],
  [
    '40 KB',
    { bimi: { logo: withPart(`<desc>${'x'.repeat(40_000)}</desc>`) } },
    /the limit is 32768/,
  ],
  [
    '1 MB',
    { bimi: { logo: withPart(`<desc>${'x'.repeat(1_000_000)}</desc>`) } },
    /at most 131072 characters/,
  ],
  ['a NUL', { bimi: { logo: LOGO.replace('Example', 'Ex\0ample') } }, /not valid UTF-8/],
  ['no logo', { bimi: {} }, /not an SVG image/],
  ['a private key', { bimi: { certificate: key } }, /contains a private key/],
  [
    'a key behind a valid chain',
    { bimi: { certificate: markFor(['example.com']) + key } },
    /contains a private key/,
  ],
  [
    'another domain',
    { bimi: { certificate: markFor(['example.org']) } },
    /is not for example\.com/,
  ],
  [
    'a self-signed certificate',
    { bimi: { certificate: makeMark(null, { logo: LOGO }) } },
    /self-signed/,
  ],
  [
    'another logo',
    { bimi: { certificate: markFor(['example.com']), logo: LOGO.replace('30', '29') } },
    /differs from the logo/,
  ],
  ['no PEM', { bimi: { certificate: 'x' } }, /not in PEM format/],
  [
    'a line break',
    { mta_sts: { mode: 'testing', mx: ['mx.example.com\nmode: none'] } },
    /must be a host name/,
  ],
  [
    'no host name',
    { mta_sts: { mode: 'testing', mx: ['*.*.example.com'] } },
    /not a valid host name/,
  ],
  ['no mail server', { mta_sts: { mode: 'enforce', mx: [] } }, /lists no mail servers/],
  ['a minute', { mta_sts: { mode: 'testing', max_age: 60 } }, /must be at least 86400/],
  ['two years', { mta_sts: { mode: 'testing', max_age: 63_072_000 } }, /must be at most 31557600/],
  ['another mode', { mta_sts: { mode: 'report' } }, /must be one of enforce, testing, none/],
  ['an unknown field', { mta_sts: { mode: 'none', id: '1' } }, /[Uu]nknown/],
];

test('files that receivers or senders would not accept are rejected', async (t) => {
  const { service, set, get } = await start(t);
  for (const [name, body, message] of REFUSED) {
    const { status, text } = await set(body);
    assert.equal(status, 422, `${name}: ${text}`);
    assert.match(text, message, name);
    assert.doesNotMatch(text, /BEGIN/, name);
  }
  assert.deepEqual((await get()).body.records, []);
  assert.ok(!JSON.stringify(service.logged).includes('PRIVATE KEY'));
});

test('only the certificates of a file are stored, and the logo of a certificate is its own', async (t) => {
  const { service, domain, set } = await start(t);
  const pem = markFor(['example.com']);
  const { status, text } = await set({
    bimi: { certificate: `Bag Attributes\nsecret: 1\n${pem}more` },
  });
  assert.equal(status, 200, text);
  const row = await service.app.db
    .selectFrom('hosted_files')
    .selectAll()
    .where('domain_id', '=', domain.id)
    .executeTakeFirstOrThrow();
  assert.equal(row.certificate, pem);
  assert.equal(row.logo, LOGO);
  assert.equal((await set({ bimi: { certificate: null } })).status, 200);
  const removed = await set({ bimi: null });
  assert.deepEqual(removed.body.records, []);
});

test("only admins change files, and no one overwrites another's change", async (t) => {
  const { service, set, get, path } = await start(t);
  const { key: memberKey } = await service.makeMember('member');
  const policy = { mta_sts: { mode: 'testing' } };
  assert.equal((await set(policy, { key: memberKey })).status, 403);
  assert.equal((await set(policy, { key: await service.makeKey('admin', false) })).status, 403);
  const etag = (await get()).headers.get('etag')!;
  assert.equal((await set(policy, { headers: { 'if-match': etag } })).status, 200);
  assert.equal((await set({ mta_sts: null }, { headers: { 'if-match': etag } })).status, 412);
  assert.equal((await service.call('GET', path, { key: memberKey })).status, 200);
});

test('TLS reports of a week without failures allow enforce, and a failure takes that back', async (t) => {
  const { service, set, get } = await start(t);
  const { call, clock } = service;
  const report = async (day: string, failed: number) => {
    const body = tls(
      {
        'report-id': day,
        'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
      },
      [tlsPolicy({}, { 'total-failure-session-count': failed })],
    );
    const headers = { 'content-type': 'application/octet-stream' };
    const { status, text } = await call('POST', '/v1/feedback/reports', { body, headers });
    assert.equal(status, 201, text);
  };
  const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  await set({ mta_sts: { mode: 'testing' } });
  // The day of the change does not count, and neither does what was reported before.
  await report(dayAt(clock.now()), 0);
  const advice = async () => (await get()).body.advice;
  clock.advance(DAY);
  assert.match(await advice(), /^Stay in testing .* None has arrived for this policy\.$/);
  for (let day = 1; day <= 7; day++) {
    await report(dayAt(clock.now()), 0);
    clock.advance(DAY);
    if (day === 6)
      assert.match(await advice(), /^Stay in testing .* TLS reports of 6 days show 600 sessions/);
  }
  assert.equal(
    await advice(),
    'Switch to enforce: TLS reports of 7 days show 700 sessions under this policy, and none failed.',
  );
  await report(dayAt(clock.now()), 3);
  assert.match(await advice(), /^Stay in testing until the cause is fixed: .* and 3 failed\.$/);
  // An edited policy starts again.
  await set({ mta_sts: { mode: 'testing', mx: ['mx.example.com', 'mx2.example.com'] } });
  assert.match(await advice(), /None has arrived for this policy/);
});

test('while the MX records are unknown, nothing new is enforced, and an enforced policy stays as it is', async (t) => {
  const { service, set, get } = await start(t);
  const { app, clock } = service;
  const { resolver } = app;
  await set({ mta_sts: { mode: 'testing' } });
  app.resolver = async () => ({ status: 'error', reason: 'timeout' });
  const testing = (await get()).body;
  assert.equal(testing.mail_servers, null);
  assert.match(testing.advice, /^Stay in testing: the MX records could not be looked up\.$/);
  assert.equal((await set({ mta_sts: { mode: 'enforce', mx: ['mx.example.com'] } })).status, 503);
  assert.equal((await set({ mta_sts: { mode: 'none' } })).status, 503);
  app.resolver = resolver;
  const enforce = { mta_sts: { mode: 'enforce', mx: ['mx.example.com'] } };
  const { mta_sts } = (await set(enforce)).body;
  app.resolver = async () => ({ status: 'error', reason: 'timeout' });
  clock.advance(DAY);
  // As the form does, which sends all fields.
  const saved = await set({ ...enforce, bimi: { logo: LOGO } });
  assert.equal(saved.status, 200, saved.text);
  assert.deepEqual(saved.body.mta_sts, mta_sts);
});

test('an admin edits the files in a form, which members only read', async (t) => {
  const { service, domain, get } = await start(t);
  const owner = await memberOf(service, 'owner@example.com');
  const path = `/domains/${domain.id}/files`;
  assert.match((await owner.get(`/domains/${domain.id}`)).html, /Hosted files/);
  const opened = await owner.get(path);
  assert.match(opened.html, /<textarea[^>]*name="mx"[^>]*>\s*mx\.example\.com<\/textarea>/);
  const version = /name="version" value="([^"]+)"/.exec(opened.html)![1]!.replaceAll('&quot;', '"');
  const post = async (fields: Record<string, string | Blob>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries({
      days: '7',
      mx: 'mx.example.com',
      mode: '',
      ...fields,
    }))
      body.append(name, value);
    const headers = { cookie: owner.cookie, 'sec-fetch-site': 'same-origin' };
    const init = { method: 'POST', body, headers, redirect: 'manual' } as const;
    const response = await fetch(`${service.url}${path}`, init);
    return { status: response.status, main: mainOf(await response.text()) };
  };
  const file = (content: BlobPart) => new File([content], 'logo.svg');
  const bomb = await post({ logo: file(gzipSync('0'.repeat(10_000_000))) });
  assert.equal(bomb.status, 422);
  assert.match(bomb.main, /The logo is not usable/);
  assert.equal((await post({ logo: file(Buffer.from([0xff, 0xfe, 0, 1])) })).status, 422);
  const typed = await post({ mode: 'enforce', mx: 'mx2.example.com' });
  assert.equal(typed.status, 422);
  assert.match(
    typed.main,
    /The policy is not usable: In enforce mode, senders would not deliver to mx\.example\.com/,
  );
  assert.match(typed.main, /mx2\.example\.com/);
  const saved = await post({ version, mode: 'testing', days: '30', logo: file(gzipSync(LOGO)) });
  assert.equal(saved.status, 303);
  assert.equal((await post({ version, mode: 'none' })).status, 412);
  const { mta_sts, records } = (await get()).body;
  assert.equal(mta_sts?.max_age, 30 * 86_400);
  assert.equal(records.length, 4);
  const member = await newMember(service, 'member');
  const read = await member.get(path);
  assert.match(read.html, /src="data:image\/svg\+xml;base64,/);
  assert.doesNotMatch(read.html, /<form[^>]*files"/);
});

test('records point to the IP address of a service without a host name', () => {
  const row = { domain_id: 'dom_1', policy: null, logo: LOGO, certificate: null };
  const first = (BASE_URL: string) => {
    const [{ type, value } = { type: '', value: '' }] = hostedRecords(
      { config: { BASE_URL } } as never,
      'example.com',
      row,
    );
    return `${type} ${value}`;
  };
  assert.equal(first('https://mail.example.net:8443/x'), 'CNAME mail.example.net');
  assert.equal(first('http://192.0.2.7:8080'), 'A 192.0.2.7');
  assert.equal(first('http://[2001:db8::7]:8080'), 'AAAA 2001:db8::7');
});
