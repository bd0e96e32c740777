/** Forms that no browser sends, or not like this: every form of the dashboard, with every kind of nonsense. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { submit } from '../../src/dashboard/frame/form.tsx';
import { ROUTES } from '../../src/features.ts';
import { isPage } from '../../src/http/request-context.ts';
import type { Route } from '../../src/http/route.ts';
import { DatabaseUnavailableError } from '../../src/store/errors.ts';
import type { TestService } from '../helpers/app.ts';
import { type Member, memberOf, startWithOwner } from './member.ts';
import { getPage, mainOf } from './pages.ts';

const FORMS: Route[] = ROUTES.filter((route) => route.method === 'POST' && isPage(route));
/** They end the session of the owner. */
const ENDS_SESSION = ['submitSignOut', 'submitOtherSessionsEnd', 'submitAccountPassword'];

/** One object of each kind, by the path of its page. */
async function fill({ call, createTest }: TestService): Promise<Record<string, string>> {
  const create = async (path: string, json: object) =>
    (await call<{ id: string }>('POST', path, { json })).body.id;
  const domain = await create('/v1/domains', { name: 'example.com' });
  return {
    '/tests': (await createTest({ name: 'A' })).id,
    '/domains': domain,
    '/monitors': await create('/v1/monitors', {
      name: 'A',
      type: 'domain_health',
      domain_id: domain,
      frequency: 'daily',
    }),
    '/alerts': await create('/v1/alerts', {
      name: 'A',
      condition: 'score_below',
      threshold: 50,
      channels: ['webhook'],
    }),
    '/webhooks': await create('/v1/webhooks/endpoints', {
      url: 'https://example.com/hook',
      events: ['*'],
      enabled: false,
    }),
    '/reports/schedules': await create('/v1/reports/schedules', {
      name: 'A',
      frequency: 'weekly',
      recipients: ['a@example.com'],
      enabled: false,
    }),
    '/team/invitations': await create('/v1/team/invitations', { email: 'b@example.com' }),
    '/api-keys': await create('/v1/api_keys', { name: 'A' }),
  };
}

/** The names of all fields of the forms, and of some that they don't have. */
const NAMES = [
  'name',
  'tags',
  'metadata',
  'kind',
  'domain',
  'expires_in',
  'text',
  'client_ip',
  'helo',
  'mail_from',
  'like',
  'ids',
  'id',
  'action',
  'back',
  'mode',
  'next',
  'email',
  'role',
  'password',
  'current_password',
  'repeated',
  'time_zone',
  'date_locale',
  'condition',
  'threshold_score_below',
  'channels',
  'recipients',
  'slack_webhook_url',
  'enabled',
  'url',
  'events',
  'description',
  'overlap',
  'since',
  'frequency',
  'weekday',
  'day_of_month',
  'send_hour',
  'timezone',
  'format',
  'include_sections',
  'domains',
  'title',
  'test_ids',
  'targets',
  'type',
  'selectors',
  'badge_enabled',
  'version',
  '__proto__',
  'constructor',
  'toString',
  '',
];

const MARKUP = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
const VALUES = [
  '',
  ' ',
  '\0',
  '\r\n\r\n',
  MARKUP,
  `\u202e${MARKUP}\u200b`,
  'W'.repeat(1000),
  '-1',
  '1e999',
  '99999999999999999999',
  'NaN',
  '__proto__',
  "';--",
  '%',
  '2026-13-45',
  'javascript:alert(1)',
  '//evil.example',
  'https://evil.example',
  '\ud800',
  '👩‍👩‍👧‍👦'.repeat(10),
];

const encode = (pairs: [string, string][]): string => new URLSearchParams(pairs).toString();

function* bodies(): Generator<string> {
  yield '';
  yield '&&&==%%%';
  yield `${NAMES.map((name) => `${name}=%ff%fe%00%ed%a0%80`).join('&')}`;
  // Every field three times.
  yield encode(NAMES.flatMap((name) => ['a', 'a', 'b'].map((value) => [name, value])));
  for (const value of VALUES) yield encode(NAMES.map((name) => [name, value]));
}

function post(
  { url }: TestService,
  { cookie }: Member,
  path: string,
  body: BodyInit,
  type: string,
) {
  return fetch(url + path, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { cookie, 'content-type': type, 'sec-fetch-site': 'same-origin', accept: 'text/html' },
  });
}

async function assertHarmless(response: Response, message: string): Promise<void> {
  const html = await response.text();
  assert.ok(response.status < 500, `${message}: ${response.status}`);
  assert.doesNotMatch(html, /<script>alert|<img src=x/, message);
  assert.ok(html.length < 1_000_000, `${message}: ${html.length}`);
  const location = response.headers.get('location');
  if (location) assert.match(location, /^\/(?![/\\])/, message);
}

const errorsIn = ({ logged }: TestService) => logged.filter(({ level }) => level === 'error');

async function start(t: TestContext) {
  const { service, owner } = await startWithOwner(t, {
    env: { DELIVERABILITY_PUBLIC_TESTS: 'true' },
  });
  const ids = await fill(service);
  /** With an object that exists, and then with one that doesn't. */
  const pathsOf = ({ path }: Route): string[] => {
    if (!path.includes('/:')) return [path];
    const own = ids[path.slice(0, path.indexOf('/:'))];
    const unknown = path.replace(/:\w+/, 'nothing_0');
    return own === undefined ? [unknown] : [path.replace(/:\w+/, own), unknown];
  };
  return { service, owner, pathsOf };
}

test('No form fails, leads elsewhere, or shows markup, whatever its fields contain', async (t) => {
  const { service, owner, pathsOf } = await start(t);
  const tried = FORMS.filter(({ operation }) => !ENDS_SESSION.includes(operation))
    // What deletes comes last.
    .toSorted(
      (a, b) =>
        Number(/delet|remov|revo/i.test(a.operation)) -
        Number(/delet|remov|revo/i.test(b.operation)),
    );
  assert.ok(tried.length > 50);
  for (const route of tried)
    for (const [i, path] of pathsOf(route).entries())
      for (const body of i === 0 ? bodies() : ['', 'name=a']) {
        const type = route.consumes!.type;
        const sent = type.startsWith('multipart') ? multipartOf(body) : body;
        const name = `${route.operation} at ${path} with ${body.slice(0, 60)}`;
        const full = type.startsWith('multipart') ? `${type}; boundary=b` : type;
        await assertHarmless(await post(service, owner, path, sent, full), name);
        // Waits and deliveries take time; a few bodies show as much.
        if (/Run|Verif|Check|Reanalysis|Send|Resend|Test$/.test(route.operation)) break;
      }
  assert.deepEqual(errorsIn(service), []);
});

const multipartOf = (body: string): string =>
  `${[...new URLSearchParams(body)]
    .slice(0, 40)
    .map(
      ([name, value]) =>
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join('')}--b--\r\n`;

test('Every form of a member rejects other sites, also without any header that names one', async (t) => {
  const { service, owner, pathsOf } = await start(t);
  const sites: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    {},
  ];
  for (const route of FORMS)
    for (const headers of sites) {
      // One-click unsubscription comes from mail clients (RFC 8058); the token in its path authorizes it.
      if (route.allowCrossOrigin) continue;
      const isUnknown = Object.keys(headers).length === 0;
      if (isUnknown && route.role === 'public') continue;
      const { status } = await fetch(service.url + pathsOf(route)[0]!, {
        method: 'POST',
        body: '',
        redirect: 'manual',
        headers: { cookie: owner.cookie, 'content-type': route.consumes!.type, ...headers },
      });
      assert.equal(status, 403, `${route.operation} ${JSON.stringify(headers)}`);
    }
  assert.match((await owner.get('/tests')).html, /Waiting|waiting/);
});

test('The longest metadata and the longest lists fit into their forms', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const pairs = Array.from({ length: 20 }, (_, i) => [`key ${i}`, '👩'.repeat(500)]);
  const { id } = await service.createTest({ metadata: Object.fromEntries(pairs) });
  const metadata = pairs.map(([key, value]) => `${key} = ${value}`).join('\n');
  const saved = await owner.post(`/tests/${id}/edit`, { name: 'Named', tags: '', metadata });
  assert.equal(saved.status, 303);
  assert.deepEqual((await service.getTest(id)).metadata, Object.fromEntries(pairs));
});

test('A new test like one whose domain was deleted joins its domain by the message', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const { body } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const like = await service.createTest({ name: 'Newsletter', domain_id: body.id });
  await service.call('DELETE', `/v1/domains/${body.id}`);
  const { status, location } = await owner.post('/tests', { like: like.id });
  assert.equal(status, 303);
  const created = await service.getTest(location!.slice('/tests/'.length));
  assert.deepEqual([created.name, created.domain_id], ['Newsletter', null]);
});

test('A field of 20 MB beside a message is not sent back', async (t) => {
  const { service, owner } = await startWithOwner(t);
  for (const name of ['message_name', 'helo', 'message_tags', 'client_ip']) {
    const body = multipartOf(encode([['text', 'Subject: x\r\n\r\nHello']])).replace(
      '--b--',
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${'n,'.repeat(10_000_000)}\r\n--b--`,
    );
    const response = await post(
      service,
      owner,
      '/tests/new',
      body,
      'multipart/form-data; boundary=b',
    );
    assert.equal(response.status, 413, name);
    assert.ok((await response.text()).length < 50_000, name);
  }
});

test('A member who became a viewer while a form was open changes nothing and is told why', async (t) => {
  const { service } = await startWithOwner(t);
  const { email } = await service.makeMember('member');
  const member = await memberOf(service, email);
  const { id } = await service.createTest({ name: 'Before' });
  assert.equal((await member.get(`/tests/${id}/edit`)).status, 200);
  await service.app.db
    .updateTable('members')
    .set({ role: 'viewer' })
    .where('email', '=', email)
    .execute();
  const { status, html } = await member.post(`/tests/${id}/edit`, { name: 'After', tags: '' });
  assert.equal(status, 403);
  assert.match(mainOf(html), /requires the member role/);
  assert.equal((await service.getTest(id)).name, 'Before');
});

test('What was deleted in another tab has a page that says so', async (t) => {
  const { service, owner, pathsOf } = await start(t);
  const deletions = FORMS.filter(({ path }) => /:id\/(delete|revoke)$/.test(path));
  assert.ok(deletions.length >= 5);
  for (const route of deletions) {
    const path = pathsOf(route)[0]!;
    const answers = await Promise.all([owner.post(path), owner.post(path)]);
    for (const { status } of answers)
      assert.ok([303, 404, 409].includes(status), `${path}: ${status}`);
  }
  const { html } = await getPage(service, '/tests/nothing_0', {
    cookie: owner.cookie,
    accept: 'text/html',
  });
  assert.match(mainOf(html), /may have been deleted/);
});

test('A form keeps what was typed while the database cannot be used', async () => {
  const failures: [Error, RegExp][] = [
    [new DatabaseUnavailableError('gone'), /cannot use its database at the moment/],
    [Object.assign(new Error(), { code: 'SQLITE_BUSY' }), /Another program is using the database/],
    [Object.assign(new Error(), { code: 'SQLITE_READONLY' }), /cannot write to its database/],
    [Object.assign(new Error(), { code: 'SQLITE_FULL' }), /out of disk space/],
  ];
  for (const [failure, notice] of failures) {
    const { problem } = await submit({}, () => Promise.reject(failure));
    assert.equal(problem?.status, 503);
    assert.match(problem.notice!, notice);
  }
});
