/** The search: what each member finds, in which mode, and within which limits. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { ROUTES } from '../../src/features.ts';
import { TOKEN_LENGTH } from '../../src/mailtests/queries.ts';
import { searchTests } from '../../src/mailtests/search.ts';
import { matching, PAGES } from '../../src/search/pages.ts';
import type { SearchGroup } from '../../src/search/schema.ts';
import { memberOf, newMember } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { storeTest } from '../dashboard/stored-tests.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { skipOnPostgres } from '../helpers/store.ts';

type Groups = Partial<Record<SearchGroup['group'], SearchGroup>>;

async function find({ call, key }: TestService, q: string, as = key): Promise<Groups> {
  const { status, body, text } = await call<{ groups: SearchGroup[] }>(
    'GET',
    `/v1/search?${new URLSearchParams({ q })}`,
    { key: as },
  );
  assert.equal(status, 200, text);
  return Object.fromEntries(body.groups.map((group) => [group.group, group]));
}

const titlesOf = (group: SearchGroup | undefined): string[] =>
  (group?.data ?? []).map(({ title }) => title);

/** As the analysis records a result. */
const recorded = (name: string | null, from_address: string, subject: string) => ({
  name,
  from_address,
  subject,
  from_domain: from_address.split('@')[1]!,
  search: `${name ?? ''}\n${from_address}\n${subject}`.toLowerCase(),
});

test('Tests are found by name, subject, sender, address and ID', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { app } = service;
  const spring = await storeTest(app, recorded('Spring', 'news@acme.example', 'Ärger mit 50%'));
  // IDs of the same millisecond begin alike.
  clock.advance(1000);
  await storeTest(app, recorded(null, 'other@shop.example', 'Invoice'));
  const { token } = await app.db
    .selectFrom('tests')
    .select('token')
    .where('id', '=', spring)
    .executeTakeFirstOrThrow();
  const { INBOX_DOMAIN } = app.config;
  const queries = [
    'spring',
    'ÄRGER',
    '50%',
    'news@ac',
    'acme.example',
    spring,
    spring.slice(0, -3),
    token,
    `${token}@${INBOX_DOMAIN}`,
    '  Spring  ',
  ];
  for (const q of queries) {
    const { tests } = await find(service, q);
    assert.deepEqual(titlesOf(tests), ['Spring'], q);
    assert.deepEqual(tests!.data[0], {
      object: 'search_result',
      id: spring,
      title: 'Spring',
      detail: 'news@acme.example · Ärger mit 50% · 90 (A)',
      url: `${app.config.APP_URL.replace(/\/$/, '')}/tests/${spring}`,
    });
  }
  assert.deepEqual(titlesOf((await find(service, 'invoice')).tests), ['Invoice']);
  for (const q of ['50_', '%', 'test_1', 'nothing like this', "'; drop table tests"])
    assert.ok(!(await find(service, q)).tests?.data.some(({ title }) => title === 'Invoice'), q);
});

test('A test without a name and with an empty subject is found under its address', async (t) => {
  const service = await startTestService(t);
  const { app } = service;
  const token = '0123456789abcdef0123456789abcdef'.slice(0, TOKEN_LENGTH);
  await storeTest(app, { ...recorded(null, 'news@acme.example', ' '), token });
  const { tests } = await find(service, 'acme.example');
  assert.deepEqual(titlesOf(tests), [`${token}@${app.config.INBOX_DOMAIN}`]);
});

test('A message that arrives is found by its sender, and by its name after a change', async (t) => {
  const service = await startTestService(t);
  const { body } = await service.call('POST', '/v1/tests/raw?name=First', {
    headers: { 'content-type': 'message/rfc822' },
    body: 'From: Anna <anna@sender.example>\r\nSubject: Hi\r\n\r\nText\r\n',
  });
  const id = String(body.id);
  assert.equal((await service.getTest(id, '?wait=40')).status, 'completed');
  for (const q of ['anna@send', 'Sender.example'])
    assert.deepEqual(titlesOf((await find(service, q)).tests), ['First'], q);
  await service.call('PATCH', `/v1/tests/${id}`, { json: { name: 'Second' } });
  assert.deepEqual(titlesOf((await find(service, 'anna@send')).tests), ['Second']);
  assert.equal((await find(service, 'first')).tests, undefined);
});

test('Domains and pages come first, then tests and the help; an exact domain is the first of all', async (t) => {
  const service = await withDomains(t);
  await storeTest(service.app, recorded('Domains of shop.example', 'a@shop.example', 's'));
  for (const [q, groups, first] of [
    ['shop.example', ['domains', 'tests'], 'shop.example'],
    ['domains', ['pages', 'tests', 'help'], 'Domains'],
  ] as const) {
    const { body } = await service.call<{ groups: SearchGroup[] }>('GET', `/v1/search?q=${q}`);
    const found = body.groups.map(({ group }) => group);
    assert.deepEqual(found.slice(0, groups.length), groups);
    assert.equal(body.groups[0]!.data[0]!.title, first);
  }
});

test('The help is found for every role, each result with its chapter and its place', async (t) => {
  const service = await startTestService(t);
  const { help } = await find(service, 'restore drill', await service.makeKey('viewer'));
  assert.deepEqual(help!.data[0], {
    object: 'search_result',
    id: null,
    title: 'Restore drill',
    detail: 'Operations',
    url: `${service.app.config.APP_URL.replace(/\/$/, '')}/help/operations#restore-drill`,
  });
});

async function withDomains(t: TestContext): Promise<TestService> {
  const service = await startTestService(t);
  for (const name of ['shop.example', 'my-shop.example', 'shop.example.net', 'bücher.example'])
    await service.call('POST', '/v1/domains', { json: { name } });
  return service;
}

test('Domains are found by a part of the name or by ID, the exact name first', async (t) => {
  const service = await withDomains(t);
  const { domains } = await find(service, 'shop.example');
  assert.deepEqual(titlesOf(domains), ['shop.example', 'shop.example.net', 'my-shop.example']);
  const { id } = domains!.data[0]!;
  assert.deepEqual(titlesOf((await find(service, id!)).domains), ['shop.example']);
  assert.equal((await find(service, 'bücher.example')).domains!.data.length, 1);
});

test('Viewers find no domains, and only the pages that their role may open', async (t) => {
  const service = await withDomains(t);
  const keyOf = (role: 'viewer' | 'member' | 'admin') => service.makeKey(role);
  const viewer = await keyOf('viewer');
  assert.equal((await find(service, 'shop', viewer)).domains, undefined);
  assert.ok((await find(service, 'shop', await keyOf('member'))).domains);
  assert.deepEqual(titlesOf((await find(service, 'audit log', viewer)).pages), []);
  assert.deepEqual(titlesOf((await find(service, 'audit log', await keyOf('member'))).pages), []);
  const found = await find(service, 'audit log', await keyOf('admin'));
  assert.deepEqual(titlesOf(found.pages), ['Audit log']);
  assert.deepEqual(titlesOf((await find(service, 'settings', viewer)).pages), ['Account']);
});

test('A key finds the tests of its own mode only', async (t) => {
  const service = await startTestService(t);
  const { app } = service;
  const live = await storeTest(app, recorded('Campaign live', 'a@x.example', 's'));
  const fields = recorded('Campaign trial', 'a@x.example', 's');
  const trial = await storeTest(app, { ...fields, livemode: 0 });
  const testKey = await service.makeKey('owner', false);
  for (const [key, own, other] of [
    [service.key, live, trial],
    [testKey, trial, live],
  ] as const) {
    for (const q of ['campaign', 'x.example', own])
      assert.deepEqual(
        (await find(service, q, key)).tests?.data.map(({ id }) => id),
        [own],
        q,
      );
    assert.equal((await find(service, other, key)).tests, undefined);
  }
});

test('Each group has at most `limit` results and says whether there are more', async (t) => {
  const service = await startTestService(t);
  for (let i = 0; i < 7; i++)
    await storeTest(service.app, recorded(`Many ${i}`, 'a@x.example', 's'));
  const { tests } = await find(service, 'many');
  assert.deepEqual([tests!.data.length, tests!.has_more], [5, true]);
  const most = await service.call<{ groups: SearchGroup[] }>('GET', '/v1/search?q=many&limit=7');
  const [found] = most.body.groups.filter(({ group }) => group === 'tests');
  assert.equal(found!.has_more, false);
  for (const query of [
    '',
    '?q=',
    '?q=%20',
    '?q=a&limit=21',
    '?q=a&page=2',
    `?q=${'x'.repeat(201)}`,
  ])
    assert.equal((await service.call('GET', `/v1/search${query}`)).status, 422, query);
});

// The plan of PostgreSQL depends on the number of rows.
test('The text of tests is read from an index, also without a match', {
  skip: skipOnPostgres,
}, async (t) => {
  const { db } = (await startTestService(t)).app;
  const { rows } = await sql<{ detail: string }>`explain query plan
    select id from (select id, search from tests where livemode = 1 order by id desc limit 100000) as latest
    where search like '%x%' escape '\\' order by id desc limit 6`.execute(db);
  const plan = rows.map(({ detail }) => detail).join('\n');
  assert.match(plan, /USING COVERING INDEX tests_listed/);
  assert.deepEqual(await searchTests(db, true, 'x', 6), []);
});

test('Every page that is found exists, for exactly the roles that may open it', () => {
  for (const { path, role } of PAGES) {
    const found = ROUTES.find((route) => route.method === 'GET' && route.path === path);
    // The start page has another content for visitors.
    assert.equal(path === '/' ? 'viewer' : found?.role, role, path);
  }
});

test('matching finds all words in any order, titles that begin with them first', () => {
  const entries = ['Reports', 'New report', 'Feedback reports', 'Team'].map((title) => ({
    title,
    words: 'pages',
  }));
  const titles = (q: string) => matching(entries, q).map(({ title }) => title);
  assert.deepEqual(titles('report'), ['Reports', 'New report', 'Feedback reports']);
  assert.deepEqual(titles('reports FEED'), ['Feedback reports']);
  assert.deepEqual(titles('pages team'), ['Team']);
  assert.deepEqual(titles('other'), []);
});

test('The page shows the results in groups, keeps the text, and links to all of them', async (t) => {
  const service = await startTestService(t);
  const hostile = '<b>"Many"</b> \u202eevil';
  for (let i = 0; i < 21; i++)
    await storeTest(service.app, recorded(`${hostile} ${i}`, 'a@x.example', 's'));
  const owner = await memberOf(service, 'owner@example.com');
  const { status, html } = await owner.get('/search?q=%22many%22');
  assert.equal(status, 200);
  assert.match(html, /<input[^>]* value="&quot;many&quot;"/);
  assert.equal([...html.matchAll(/<a href="\/tests\/test_/g)].length, 20);
  assert.doesNotMatch(html, /<b>|\u202e/);
  assert.match(html, /href="\/tests\?q=%22many%22"/);
  assert.match(
    mainOf((await owner.get('/search')).html),
    /Finds domains, pages and help, and tests by name/,
  );
  assert.match(mainOf((await owner.get('/search?q=zzzzz')).html), /No results for “zzzzz”/);
  assert.equal((await owner.get(`/search?q=${'é'.repeat(300)}`)).status, 200);
  const viewer = await newMember(service, 'viewer');
  assert.doesNotMatch(mainOf((await viewer.get('/search?q=system')).html), /\/system/);
});
