/** Public tests: limits, links, and their separation from the team's data. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage, latin1 } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { getPage, mainOf, type PageAnswer, postForm } from './pages.ts';

const DAY_MS = 86_400_000;

const start = (t: TestContext, env: Record<string, string> = {}, options: ServiceOptions = {}) =>
  startTestService(t, {
    ...options,
    env: {
      DELIVERABILITY_PUBLIC_TESTS: 'true',
      DELIVERABILITY_TRUSTED_PROXIES: '127.0.0.1/32',
      ...env,
    },
  });

/** Creates a test from a client address. */
const create = (service: TestService, ip = '192.0.2.1'): Promise<PageAnswer> =>
  postForm(service, '/public/tests', {}, { 'x-forwarded-for': ip });

const addressIn = ({ html }: PageAnswer): string => /<code>([^<]+@[^<]+)<\/code>/.exec(html)![1]!;

const send = (service: TestService, to: string): Promise<string> =>
  sendMail({ port: service.smtp.port, to, raw: latin1(goodMessage()) });

/** Waits with the page itself, as its script does. */
async function reportOf(service: TestService, path: string): Promise<PageAnswer> {
  for (const seen of ['waiting', 'processing']) {
    const answer = await getPage(service, `${path}?wait=20&seen=${seen}`);
    if (!answer.html.includes('data-watch')) return answer;
  }
  return getPage(service, path);
}

test('Without PUBLIC_TESTS, visitors can only sign in', async (t) => {
  const service = await start(t, { DELIVERABILITY_PUBLIC_TESTS: 'false' });
  const home = await getPage(service, '/');
  assert.doesNotMatch(home.html, /<form/);
  assert.match(home.html, /href="\/sign-in"/);
  assert.equal((await create(service)).status, 404);
});

test('A visitor gets an address, then a report without the message, then deletes both', async (t) => {
  const service = await start(t);
  const home = await getPage(service, '/');
  assert.match(home.html, /<form method="post" action="\/public\/tests">/);
  const { status, location } = await create(service);
  assert.equal(status, 303);
  const waiting = await getPage(service, location!);
  assert.equal(waiting.headers.get('x-robots-tag'), 'noindex, nofollow');
  assert.match(waiting.headers.get('cache-control')!, /no-store/);
  const later = reportOf(service, location!);
  await send(service, addressIn(waiting));
  const report = await later;
  assert.equal(report.status, 200);
  assert.match(mainOf(report.html), /Fix these first|How the score is calculated/);
  assert.doesNotMatch(report.html, /your order is on its way/);
  assert.match(report.headers.get('x-robots-tag')!, /noindex/);
  const pdf = await fetch(`${service.url}${location}?format=pdf`);
  assert.equal(pdf.headers.get('content-type'), 'application/pdf');
  assert.match(report.html, /<a href="\?delete=ask">Delete this test<\/a>/);
  const link = await getPage(service, `${location}?delete=ask`);
  assert.deepEqual([link.status, link.location], [303, `${location}/delete`]);
  const asked = await getPage(service, `${location}/delete`);
  assert.match(mainOf(asked.html), /Delete this test\?/);
  const deleted = await postForm(service, `${location}/delete`, {});
  assert.deepEqual([deleted.status, deleted.location], [303, '/?done=deleted']);
  assert.equal((await getPage(service, location!)).status, 404);
  const { app } = service;
  for (const table of ['messages', 'message_chunks'] as const)
    assert.deepEqual(await app.db.selectFrom(table).selectAll().execute(), [], table);
  // What counts toward the limits tells nothing about the test.
  const [counted, ...others] = await app.db.selectFrom('tests').selectAll().execute();
  assert.deepEqual(others, []);
  assert.deepEqual([counted!.subject, counted!.envelope, counted!.checks], [null, null, null]);
  assert.notEqual(`${counted!.token}@inbox.test`, addressIn(waiting));
});

test("Public tests are in none of the team's lists, figures, events, and domains", async (t) => {
  const service = await start(t);
  const { body: domain } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const sandboxKey = await service.makeKey('owner', false);
  const { location } = await create(service);
  await send(service, addressIn(await getPage(service, location!)));
  await reportOf(service, location!);
  const row = await service.app.db.selectFrom('tests').selectAll().executeTakeFirstOrThrow();
  assert.deepEqual([row.status, row.domain_id], ['completed', null]);
  for (const key of [service.key, sandboxKey]) {
    const count = async (path: string) =>
      (await service.call<{ data: unknown[] }>('GET', path, { key })).body.data.length;
    assert.equal(await count('/v1/tests'), 0);
    assert.equal(await count('/v1/events?type=test.completed'), 0);
    const { body } = await service.call<{ total_tests: number }>('GET', '/v1/reports/summary', {
      key,
    });
    assert.equal(body.total_tests, 0);
    for (const path of [`/v1/tests/${row.id}`, `/v1/tests/${row.id}/report.html`])
      assert.equal((await service.call('GET', path, { key })).status, 404);
    assert.equal((await service.call('GET', `/v1/tests/${row.id}/source`, { key })).status, 404);
    const share = { key, json: { test_ids: [row.id] } };
    assert.equal((await service.call('POST', '/v1/reports/share', share)).status, 422);
  }
  const tallies = await service.app.db.selectFrom('test_tallies').selectAll().execute();
  assert.deepEqual(tallies, []);
  assert.ok(domain.id);
});

test('Each client, an IPv4 address or an IPv6 /64, has a number of tests in 24 hours', async (t) => {
  const clock = testClock();
  const service = await start(t, { DELIVERABILITY_PUBLIC_TESTS_PER_CLIENT: '2' }, { clock });
  const statuses = async (...ips: string[]) => {
    const found: number[] = [];
    for (const ip of ips) found.push((await create(service, ip)).status);
    return found;
  };
  assert.deepEqual(
    await statuses('192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'),
    [303, 303, 429, 303],
  );
  assert.deepEqual(
    await statuses('2001:db8::1', '2001:db8::2', '2001:db8::ffff:3', '2001:db8:0:1::1'),
    [303, 303, 429, 303],
  );
  clock.advance(DAY_MS + 1);
  assert.deepEqual(await statuses('192.0.2.1'), [303]);
  const rows = await service.app.db.selectFrom('tests').select('public_client').execute();
  for (const { public_client } of rows) assert.doesNotMatch(public_client!, /192|2001/);
});

test('All clients together have a number of tests a day, whoever asks at the same time', async (t) => {
  const service = await start(t, { DELIVERABILITY_PUBLIC_TESTS_PER_DAY: '5' });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => create(service, `192.0.2.${i + 1}`)),
  );
  assert.equal(answers.filter(({ status }) => status === 303).length, 5);
  const refused = answers.find(({ status }) => status === 429)!;
  assert.match(mainOf(refused.html), /limit of public tests for today/);
});

test('Deleting tests gives no client more of them', async (t) => {
  const service = await start(t, { DELIVERABILITY_PUBLIC_TESTS_PER_CLIENT: '2' });
  for (let i = 0; i < 2; i++) {
    const { location } = await create(service);
    const deletions = [1, 2].map(() => postForm(service, `${location}/delete`, {}));
    // A double click deletes it once.
    const statuses = (await Promise.all(deletions)).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [303, 404]);
    assert.equal((await getPage(service, location!)).status, 404);
  }
  assert.equal((await create(service)).status, 429);
  assert.equal((await create(service, '192.0.2.2')).status, 303);
});

test('Without a trusted proxy, a client cannot choose the address that its tests count for', async (t) => {
  const service = await start(t, {
    DELIVERABILITY_PUBLIC_TESTS_PER_CLIENT: '1',
    DELIVERABILITY_TRUSTED_PROXIES: '192.0.2.200/32',
  });
  assert.equal((await create(service, '192.0.2.1')).status, 303);
  assert.equal((await create(service, '192.0.2.2')).status, 429);
});

test('A public test is gone after 7 days, and its address after an hour', async (t) => {
  const clock = testClock();
  const service = await start(t, {}, { clock });
  const { location } = await create(service);
  const address = addressIn(await getPage(service, location!));
  clock.advance(3_600_001);
  await assert.rejects(send(service, address), { responseCode: 550 });
  clock.advance(7 * DAY_MS);
  assert.equal((await getPage(service, location!)).status, 404);
});

test('Only a same-origin form creates or deletes a public test', async (t) => {
  const service = await start(t);
  const { location } = await create(service);
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  for (const path of ['/public/tests', `${location}/delete`])
    assert.equal((await postForm(service, path, {}, headers)).status, 403);
  assert.equal((await getPage(service, location!)).status, 200);
});
