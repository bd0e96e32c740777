/** Browsers get error pages, also for URLs with unknown query parameters. */

// @one-database: about error pages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ServiceOptions, startTestService } from '../helpers/app.ts';
import { newMember, startWithOwner } from './member.ts';
import { getPage, mainOf, type PageAnswer, postForm } from './pages.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

function assertPage(answer: PageAnswer, status: number, title: string): void {
  const { headers, html } = answer;
  assert.equal(answer.status, status, html);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(headers.get('content-security-policy')!, /frame-ancestors 'none'/);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.ok(html.includes(`<title>Error: ${title}`), html.slice(0, 300));
  assert.ok(mainOf(html).includes(headers.get('x-request-id')!));
}

function assertDocument({ status, headers }: PageAnswer, expected: number): void {
  assert.equal(status, expected);
  assert.equal(headers.get('content-type'), 'application/problem+json');
}

test('Error page for a cross-site form links to the configured app URL', async (t) => {
  const env: ServiceOptions['env'] = { DELIVERABILITY_APP_URL: 'https://app.example.com/mail' };
  const service = await startTestService(t, { env });
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://192.0.2.1' };
  const answer = await postForm(service, '/sign-in', { email: 'a@example.com' }, headers);
  assertPage(answer, 403, 'Forbidden');
  assert.match(mainOf(answer.html), /Open https:\/\/app\.example\.com\/mail and try again\./);
  assert.match(answer.html, /<a href="https:\/\/app\.example\.com\/mail">/);
});

test('Unknown paths return an HTML 404 to browsers and problem JSON to API clients', async (t) => {
  const service = await startTestService(t);
  const answer = await getPage(service, '/nowhere?<script>', BROWSER);
  assertPage(answer, 404, 'Not found');
  assert.match(mainOf(answer.html), /Page not found\. Check the URL\./);
  assert.match(answer.html, /<a href="\/">Go to the home page<\/a>/);
  assertDocument(await getPage(service, '/nowhere', { accept: 'application/json' }), 404);
  for (const path of ['/v1', '/v1/nowhere', '/v1/tests/test_x/nothing'])
    assertDocument(await getPage(service, path, BROWSER), 404);
  assertDocument(await getPage(service, '/v1/tests', BROWSER), 401);
  assertPage(await getPage(service, '/v10', BROWSER), 404, 'Not found');
});

test('Error pages for 405, 413 and 415 are HTML', async (t) => {
  const service = await startTestService(t);
  const wrong = await postForm(service, '/docs', {}, BROWSER);
  assertPage(wrong, 405, 'Method not allowed');
  assert.equal(wrong.headers.get('allow'), 'GET, HEAD');
  const headers = { 'content-type': 'application/json' };
  const type = await postForm(service, '/sign-in', {}, headers);
  assertPage(type, 415, 'Unsupported content type');
  const large = await postForm(service, '/sign-in', { email: 'x'.repeat(20_000) });
  assertPage(large, 413, 'Request body too large');
});

test('Error page for 429 includes Retry-After and RateLimit headers', async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_RATE_LIMIT: '1/min' } });
  assert.equal((await getPage(service, '/docs')).status, 200);
  const answer = await getPage(service, '/docs');
  assertPage(answer, 429, 'Too many requests');
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
  assert.match(answer.headers.get('ratelimit')!, /^"default";r=0;/);
});

test('Error page for 500 reveals no internal details', async (t) => {
  const service = await startTestService(t);
  const { app } = service;
  const { db } = app;
  t.after(() => {
    app.db = db;
  });
  app.db = {
    selectFrom: () => {
      throw new Error('s3cret');
    },
  } as never;
  const answer = await getPage(service, '/password/x');
  app.db = db;
  assertPage(answer, 500, 'Internal error');
  assert.ok(!answer.html.includes('s3cret'));
});

test('Pages ignore added query parameters such as utm_source', async (t) => {
  const service = await startTestService(t);
  for (const path of ['/', '/docs', '/sign-in', '/forgot-password'])
    for (const query of ['utm_source=x', 'a=1&a=2', 'fbclid=1&fbclid=2&=', '__proto__=1&%ff'])
      assert.equal((await getPage(service, `${path}?${query}`)).status, 200, `${path}?${query}`);
  for (const path of ['/password/x', '/invitations/x']) {
    const answer = await getPage(service, `${path}?fbclid=1&fbclid=2`);
    assert.equal(answer.status, 404);
    assert.match(mainOf(answer.html), /^This link doesn't work/);
  }
  const first = await getPage(service, '/sign-in?done=password&done=other');
  assert.equal(mainOf(first.html), mainOf((await getPage(service, '/sign-in?done=password')).html));
  const other = await getPage(service, '/sign-in');
  assert.notEqual(mainOf(first.html), mainOf(other.html));
});

test('Members keep the navigation on error pages, with a way back', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const missing = await owner.get('/team/members/nothing', BROWSER);
  assertPage(missing, 404, 'Not found');
  assert.match(missing.html, /<nav id="navigation"/);
  assert.match(missing.html, /<a class="button primary" href="\/team">Back to the list/);
  for (const [path, list] of [
    ['/incidents/inc_1', '/alerts'],
    ['/reports/shares/rpt_1', '/reports/shares'],
    ['/reports/schedules/rps_1/edit', '/reports/schedules'],
    ['/webhooks/deliveries/whd_1', '/webhooks'],
  ])
    assert.ok(
      (await owner.get(path!, BROWSER)).html.includes(`href="${list}">Back to the list`),
      path,
    );
  const unknown = await owner.get('/nowhere', BROWSER);
  assertPage(unknown, 404, 'Not found');
  assert.doesNotMatch(unknown.html, /Back to the list/);
  const viewer = await newMember(service, 'viewer');
  const forbidden = await viewer.get('/system', BROWSER);
  assertPage(forbidden, 403, 'Forbidden');
  assert.match(mainOf(forbidden.html), /requires the admin role.*An admin of the team can change/s);
  assert.doesNotMatch(forbidden.html, /href="\/system"/);
});

test('A form that is sent after the session ended offers to sign in and return', async (t) => {
  const { service, owner } = await startWithOwner(t);
  await service.app.db.deleteFrom('sessions').execute();
  const answer = await owner.post('/team/invitations', { email: 'bob@example.com' });
  assert.equal(answer.status, 401);
  assert.match(mainOf(answer.html), /Your session has ended/);
  assert.match(answer.html, /<form method="post" action="\/sign-in\?next=%2Fteam"/);
  assert.match(mainOf(answer.html), /Nothing was changed/);
  const key = await fetch(`${service.url}/account/name`, {
    method: 'POST',
    body: new URLSearchParams({ name: 'x' }),
    headers: { authorization: 'Bearer dlv_live_none' },
  });
  assert.match(await key.text(), /Invalid API key/);
});

test('After a form that was too large, the page leads back to the form', async (t) => {
  const { owner } = await startWithOwner(t);
  const answer = await owner.post('/account/name', { name: 'x'.repeat(600_000) });
  assertPage(answer, 413, 'Request body too large');
  assert.match(mainOf(answer.html), /choose a smaller file or enter less text/);
  assert.match(answer.html, /href="\/account" data-back-to-form/);
});
