import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../src/http/problem.ts';
import { forClients } from '../../src/report/status.ts';
import { pngLogo } from '../brand/logos.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfText } from '../helpers/pdf.ts';
import { startSharing, WEEK_MS } from './sharing.ts';
import { addDomain } from './tagged-domains.ts';

interface Read {
  domains: { name: string; state: string; policy: string; problems: { step: string }[] }[];
  tests: object[];
}

const BROWSER = 'text/html';
const JSON_TYPE = 'application/json';

test('A status link shows the domains with its tags, and no others', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const { service, share, read } = await startSharing(t);
  const { app, call } = service;
  const acme = await addDomain(app, 'acme.example', ['client:acme']);
  await addDomain(app, 'fine-acme.example', ['client:acme', 'eu'], true);
  const canary = await addDomain(app, 'canary-beta.example', ['client:acme2', 'client:beta']);
  const made = await share({ tags: ['Client:ACME'], title: 'Acme’s domains' });
  assert.deepEqual([made.tags, made.test_ids], [['client:acme'], []]);
  const path = `/reports/public/${made.token}`;
  const all = async () => ({
    page: (await read(path, BROWSER)).text,
    json: (await read<Read>(path, JSON_TYPE)).body,
    pdf: pdfText(new Uint8Array(await (await fetch(`${service.url}${path}.pdf`)).arrayBuffer())),
  });
  const shown = await all();
  for (const text of [shown.page, JSON.stringify(shown.json), shown.pdf]) {
    assert.ok(text.includes('fine-acme.example') && text.includes('has no DMARC record'));
    // Nothing of other clients, and no addresses and IDs of the team.
    assert.ok(!/canary|beta/.test(text));
    assert.ok(!text.includes('192.0.2.77') && !text.includes(acme));
  }
  assert.deepEqual(
    shown.json.domains.map(({ name, state, policy }) => [name, state, policy]),
    [
      ['acme.example', 'fail', 'quarantine'],
      ['fine-acme.example', 'unknown', 'quarantine'],
    ],
  );
  assert.deepEqual(shown.json.tests, []);
  assert.match(shown.json.domains[0]!.problems[0]!.step, /A sending address may send/);
  const { headers } = await read(path, BROWSER);
  assert.match(headers.get('x-robots-tag')!, /noindex/);
  // Tags decide again for each reader: no rendering of another state is used.
  const tag = (id: string, tags: string[]) =>
    call('PATCH', `/v1/domains/${id}`, { json: { tags } });
  await tag(canary, ['client:acme']);
  assert.equal((await tag(acme, [])).status, 200);
  for (const text of Object.values(await all()).map((part) => JSON.stringify(part)))
    assert.ok(text.includes('canary-beta.example') && !/[^-]acme\.example/.test(text));
});

test('A status link expires, is revoked, and counts its views', async (t) => {
  const { service, share, read, get, clock } = await startSharing(t);
  await addDomain(service.app, 'acme.example', ['client:acme']);
  const [one, two] = [await share({ tags: ['client:acme'] }), await share({ tags: ['none'] })];
  const path = `/reports/public/${one.token}`;
  await read(path, BROWSER);
  await read(path, JSON_TYPE);
  await assert.doesNotReject(async () => {
    for (let i = 0; (await get(one.id)).view_count < 2; i++) assert.ok(i < 100);
  });
  const empty = await read(`/reports/public/${two.token}`, BROWSER);
  assert.ok(empty.text.includes('No domains to show at the moment.'));
  await service.call('DELETE', `/v1/reports/shared/${two.id}`);
  assert.equal((await read(`/reports/public/${two.token}`, BROWSER)).status, 410);
  clock.advance(WEEK_MS);
  assert.equal((await read(path, BROWSER)).status, 410);
});

test('A link is for tests or for tags, and tags have no test mode', async (t) => {
  const { service, analysed } = await startSharing(t);
  const { id } = await analysed();
  const wrong = async (json: object, key?: string) => {
    const { status, body } = await service.call<Problem>('POST', '/v1/reports/share', {
      json,
      key,
    });
    return [status, ...(body.errors ?? []).map(({ param }) => param)];
  };
  assert.deepEqual(await wrong({}), [422, 'test_ids']);
  assert.deepEqual(await wrong({ tags: null }), [422, 'test_ids']);
  assert.deepEqual(await wrong({ tags: [] }), [422, 'tags']);
  assert.deepEqual(await wrong({ tags: ['a,b'] }), [422, 'tags.0']);
  assert.deepEqual(await wrong({ tags: ['a'], test_ids: [id] }), [422, 'tags']);
  const [status] = await wrong({ tags: ['a'] }, await service.makeKey('owner', false));
  assert.equal(status, 403);
});

test('Shared pages show the brand of the team, and nothing of it once it is removed', async (t) => {
  const { service, analysed, share, read } = await startSharing(t);
  const logo = pngLogo().toString('base64');
  const brand = (json: object) => service.call('PATCH', '/v1/brand', { json });
  await brand({ name: 'Harbor <Mail>', color: '#ffe600', logo });
  const { token } = await share({ test_ids: [(await analysed()).id] });
  const page = async () => (await read(`/reports/public/${token}`, BROWSER)).text;
  const branded = await page();
  assert.ok(branded.includes('Harbor &lt;Mail'));
  assert.ok(branded.includes(`src="data:image/png;base64,${logo}"`));
  assert.ok(branded.includes('Checked with Deliverability'));
  assert.match(branded, /--accent: light-dark\(#[0-9a-f]{6}, #ffe600\)/);
  // The pages of the team stay as they are.
  const own = await service.call('GET', '/v1/brand');
  assert.equal(own.status, 200);
  await brand({ name: null });
  const plain = await page();
  assert.ok(!plain.includes('Harbor') && !plain.includes(logo) && !plain.includes('Checked with'));
});

test('Texts for clients name no addresses, and keep domains and figures', () => {
  for (const [text, expected] of [
    ['192.0.2.1 is listed.', 'A sending address is listed.'],
    ['2001:db8::1 and 2001:db8::/32 fail.', 'A sending address and a sending address fail.'],
    ['Mail to jo.seed@gmail.com went to spam.', 'Mail to …@gmail.com went to spam.'],
    ['See https://team.example/domains/dom_1?x=1.', 'See https://team.example/….'],
    ['99.5% of 1,024 messages from acme.example pass at 10:30.', null],
    ['Use TLS 1.2 or TLS 1.3, as RFC 8461 says.', null],
  ] as const)
    assert.equal(forClients(text), expected ?? text);
});
