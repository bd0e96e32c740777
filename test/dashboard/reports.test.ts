/** The pages of reports: the summary, shared links, and schedules, for each role. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { outcomeOf } from '../../src/dashboard/reports/schedule-runs.tsx';
import { isoTime } from '../../src/lib/clock.ts';
import type { ReportCopy, ReportRun, RunStatus, Schedule } from '../../src/schedules/schema.ts';
import type { Share } from '../../src/shares/schema.ts';
import type { ServiceOptions, TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { newMember, startWithOwner } from './member.ts';
import { fieldOf, getPage, mainOf, textOf } from './pages.ts';
import { storeTest } from './stored-tests.ts';

const DAY_MS = 86_400_000;
const MAIL = {
  DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:9',
  DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
};

async function start(t: TestContext, options: ServiceOptions = {}) {
  const clock = testClock();
  return { clock, ...(await startWithOwner(t, { clock, ...options })) };
}

type List<T> = { data: T[] };

const sharesOf = async ({ call }: TestService) =>
  (await call<List<Share>>('GET', '/v1/reports/shared')).body.data;

const share = async ({ call }: TestService, json: object) =>
  (await call<Share & { url: string }>('POST', '/v1/reports/share', { json })).body;

// The summary.

test('The summary shows all figures of its period, and exports the same tests', async (t) => {
  const { service, owner } = await start(t);
  const { app } = service;
  const domain = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const domain_id = domain.body.id;
  await storeTest(app, { score: 70, grade: 'C', domain_id, issues: ['dmarc_policy'] });
  await storeTest(app, { hoursAgo: 200 });
  // Analyzed again, long after it was created: the period counts it.
  const old = await storeTest(app, { hoursAgo: 2, score: 70, domain_id });
  const longAgo = isoTime(app.clock.now() - 60 * DAY_MS);
  await app.db.updateTable('tests').set({ created_at: longAgo }).where('id', '=', old).execute();
  const { html } = await owner.get(`/reports?period=week&domain_id=${domain_id}`);
  const main = mainOf(html);
  assert.match(main, /Last 7 days · example\.com/);
  assert.match(main, /14 Nov 2026, 10:00 UTC to 21 Nov 2026, 10:00 UTC/);
  assert.match(main, /Average score70 C.*Completed tests2/);
  assert.match(main, /Tests by day/);
  assert.equal(html.match(/<svg role="img"/g)?.length, 2);
  const [, path] = /href="(\/v1\/tests\/export\?[^"]*)"/.exec(html)!;
  const csv = await owner.get(path!.replaceAll('&amp;', '&'));
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.equal(csv.html.trim().split('\r\n').length, 3);
  assert.match(csv.html, new RegExp(`^${old},`, 'm'));
});

test('The summary of a period without tests says so, and viewers may read it', async (t) => {
  const { service } = await start(t);
  const viewer = await newMember(service, 'viewer');
  const { status, html } = await viewer.get('/reports');
  assert.equal(status, 200);
  assert.match(mainOf(html), /No completed tests in this period/);
  assert.doesNotMatch(mainOf(html), /Export tests/);
});

// Shared links.

test('An admin shares the tests of the URL, sees the link again, and revokes it', async (t) => {
  const { service, owner } = await start(t);
  const a = await storeTest(service.app, { name: 'Newsletter' });
  const b = await storeTest(service.app, { subject: 'Receipt <b>' });
  await storeTest(service.app, { name: 'Not chosen' });
  const page = await owner.get(`/reports/shares/new?test_ids=${a},${b}`);
  assert.match(mainOf(page.html), /Newsletter.*Receipt <b>/);
  assert.doesNotMatch(page.html, /Not chosen/);
  assert.equal(page.html.match(/name="test_ids"[^>]*checked/g)?.length, 2);
  const created = await owner.post('/reports/shares', {
    test_ids: [b, a],
    offered: `${a},${b}`,
    title: 'Spring',
    expires_in: '86400',
  });
  const [made] = await sharesOf(service);
  assert.deepEqual(
    [created.status, created.location],
    [303, `/reports/shares/${made!.id}?done=created`],
  );
  assert.deepEqual([made!.title, made!.test_ids], ['Spring', [b, a]]);
  assert.equal(Date.parse(made!.expires_at) - Date.parse(made!.created_at), DAY_MS);
  const shown = await owner.get(created.location!);
  const main = mainOf(shown.html);
  assert.match(main, /The link is ready/);
  assert.ok(main.includes(made!.url!));
  assert.ok(main.includes(`/badges/${made!.token}.svg`));
  const badge = await getPage(service, `/badges/${made!.token}.svg`);
  assert.equal(badge.status, 200);
  const revoked = await owner.post(`/reports/shares/${made!.id}/revoke`);
  assert.deepEqual([revoked.status, revoked.location], [303, '/reports/shares?done=revoked']);
  const list = await owner.get('/reports/shares?done=revoked');
  assert.match(mainOf(list.html), /Link revoked.*Spring.*Revoked/);
  const ended = await owner.get(`/reports/shares/${made!.id}`);
  assert.ok(!ended.html.includes(made!.token!), 'an ended link is not shown');
});

test('A member sees the link once; a viewer sees the list, but no link and no button', async (t) => {
  const { service } = await start(t);
  const id = await storeTest(service.app, { name: 'Newsletter' });
  const member = await newMember(service, 'member');
  const created = await member.post('/reports/shares', { test_ids: id, expires_in: '604800' });
  assert.equal(created.status, 200);
  const [{ token, id: shareId }] = (await sharesOf(service)) as [Share];
  assert.ok(created.html.includes(token!));
  const later = await member.get(`/reports/shares/${shareId}`);
  assert.ok(!later.html.includes(token!));
  assert.match(mainOf(later.html), /Only its creator saw it/);
  assert.match(later.html, /Revoke/);
  const viewer = await newMember(service, 'viewer');
  for (const path of ['/reports/shares', `/reports/shares/${shareId}`]) {
    const { status, html } = await viewer.get(path);
    assert.equal(status, 200);
    assert.match(mainOf(html), /Newsletter/);
    assert.doesNotMatch(html, /Revoke|Share reports|Create link/);
    assert.ok(!html.includes(token!));
  }
  assert.equal((await viewer.get('/reports/shares/new')).status, 403);
});

test('The form for a link keeps what was typed and explains each error', async (t) => {
  const { service, owner } = await start(t);
  const a = await storeTest(service.app, { name: 'Newsletter' });
  const waiting = await service.createTest({ name: 'Not received' });
  const none = await owner.post('/reports/shares', {
    offered: `${a}`,
    title: 'Spring',
    expires_in: '2592000',
  });
  assert.equal(none.status, 422);
  assert.match(mainOf(none.html), /The choice of tests is required\./);
  assert.equal(fieldOf(none.html, 'title').value, 'Spring');
  assert.match(
    none.html,
    /<option[^>]*(selected[^>]*value="2592000"|value="2592000"[^>]*selected)/,
  );
  assert.match(mainOf(none.html), /Newsletter/);
  const early = await owner.post('/reports/shares', {
    test_ids: [a, waiting.id],
    offered: `${a},${waiting.id}`,
    expires_in: '86400',
  });
  assert.equal(early.status, 422);
  assert.match(mainOf(early.html), /has no result yet: its message has not arrived/);
  const bidi = await owner.post('/reports/shares', {
    test_ids: a,
    title: 'a\u202eb',
    expires_in: '86400',
  });
  assert.equal(fieldOf(bidi.html, 'title')['aria-invalid'], 'true');
});

test('Without tests in the URL the newest results are offered; deleted ones are named as such', async (t) => {
  const { service, owner } = await start(t);
  const empty = await owner.get('/reports/shares/new');
  assert.match(mainOf(empty.html), /Status page for the tags/);
  assert.doesNotMatch(empty.html, /name="test_ids"/);
  await storeTest(service.app, { name: 'Newsletter' });
  const offered = await owner.get('/reports/shares/new');
  assert.match(mainOf(offered.html), /Newsletter/);
  assert.doesNotMatch(offered.html, /name="test_ids"[^>]*checked/);
  const gone = await owner.get('/reports/shares/new?test_ids=test_gone');
  assert.match(mainOf(gone.html), /These tests no longer exist/);
});

test('A status page asks for tags only, suggests those of domains, and lasts a year', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app, { name: 'Newsletter' });
  await service.call('POST', '/v1/domains', {
    json: { name: 'acme.example', tags: ['client:acme'] },
  });
  const list = await owner.get('/reports/shares');
  assert.match(list.html, /<a [^>]*href="\/reports\/shares\/new\?tags="[^>]*>Create status page/);
  const { html } = await owner.get('/reports/shares/new?tags=');
  assert.match(mainOf(html), /Create status page/);
  assert.doesNotMatch(html, /Newsletter|name="preview"/);
  assert.match(html, /name="tags"[^>]*list="known-tags"|list="known-tags"[^>]*name="tags"/);
  assert.match(html, /<datalist id="known-tags"><option value="client:acme"/);
  const fields = { status: 'yes', offered: '', title: '', expires_in: '31536000' };
  const wrong = await owner.post('/reports/shares', { ...fields, tags: '' });
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /Create status page/);
  const { status } = await owner.post('/reports/shares', { ...fields, tags: 'client:acme' });
  assert.equal(status, 303);
  const [made] = await sharesOf(service);
  assert.deepEqual(made!.tags, ['client:acme']);
});

for (const path of [
  '/team',
  '/api-keys',
  '/alerts/new',
  '/reports/schedules/new',
  '/reports/shares/new',
  '/domains',
])
  test(`The field for tags on ${path} suggests the tags of domains`, async (t) => {
    const { service, owner } = await start(t);
    const { body } = await service.call<{ id: string }>('POST', '/v1/domains', {
      json: { name: 'acme.example', tags: ['client:acme'] },
    });
    for (const page of path === '/domains' ? [path, `${path}/${body.id}`] : [path]) {
      const { html } = await owner.get(page);
      assert.match(html, /<input(?=[^>]*name="tags")(?=[^>]*list="known-tags")/, page);
      assert.equal(html.split('<datalist id="known-tags">').length, 2, page);
      assert.match(html, /<datalist id="known-tags"><option value="client:acme"/, page);
    }
  });

test('Shared links are active, expired, or revoked, with their views, page by page', async (t) => {
  const { service, owner, clock } = await start(t);
  const id = await storeTest(service.app, { subject: '<i>Subject</i>\u202e', name: null });
  await share(service, { test_ids: [id], expires_in: 3600, title: 'Short' });
  clock.advance(7_200_000);
  const { url } = await share(service, { test_ids: [id] });
  const { pathname } = new URL(url);
  await getPage(service, pathname);
  const viewed = service.app.db
    .selectFrom('shared_reports')
    .select('id')
    .where('view_count', '=', 1);
  while ((await viewed.execute()).length === 0) await pause(5);
  const { html } = await owner.get('/reports/shares');
  const rows = [...html.matchAll(/<tr>(?:(?!<\/tr>).)*<\/tr>/gs)].map(([row]) => row);
  assert.match(rows[1]!, /&lt;i>Subject|&lt;i&gt;Subject/);
  assert.match(rows[1]!, /state pass.*Active.*>1<\/td>.*just now/s);
  assert.match(rows[2]!, /Short.*state unknown.*Expired/s);
  for (let i = 0; i < 20; i++) await share(service, { test_ids: [id], title: `Link ${i}` });
  const first = await owner.get('/reports/shares');
  const [, next] = /rel="next" href="([^"]*)"/.exec(first.html)!;
  const second = await owner.get(next!);
  assert.match(mainOf(second.html), /Short/);
  assert.match(second.html, /rel="prev"/);
});

test('Test mode shares its own tests', async (t) => {
  const { service, owner } = await start(t);
  const live = await storeTest(service.app, { name: 'Live one' });
  await share(service, { test_ids: [live], title: 'Live link' });
  await storeTest(service.app, { name: 'Test-mode one', livemode: 0 });
  const { cookie } = await owner.post('/mode', { mode: 'test', next: '/reports/shares' });
  const headers = { cookie: `${owner.cookie}; ${cookie}` };
  const list = await owner.get('/reports/shares', headers);
  assert.doesNotMatch(mainOf(list.html), /Live link/);
  const form = mainOf((await owner.get('/reports/shares/new', headers)).html);
  assert.match(form, /Test-mode one/);
  assert.doesNotMatch(form, /Live one/);
});

// Schedules.

const FORM = {
  name: 'Every Monday',
  frequency: 'weekly',
  weekday: 'monday',
  day_of_month: '1',
  send_hour: '8',
  timezone: 'Europe/Berlin',
  recipients: 'ann@example.com\nbob@example.com',
  include_sections: ['summary', 'alerts'],
  format: 'pdf',
  enabled: 'on',
};

const schedulesOf = async ({ call }: TestService) =>
  (await call<List<Schedule>>('GET', '/v1/reports/schedules')).body.data;

test('An admin creates a schedule, edits it, pauses it, and deletes it', async (t) => {
  const { service, owner } = await start(t, { env: MAIL });
  const domain = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  assert.match(mainOf((await owner.get('/reports/schedules')).html), /No report schedules/);
  assert.equal((await owner.get('/reports/schedules/new')).status, 200);
  const created = await owner.post('/reports/schedules', { ...FORM, domains: domain.body.id });
  const [made] = await schedulesOf(service);
  assert.deepEqual(
    [created.status, created.location],
    [303, `/reports/schedules/${made!.id}?done=created`],
  );
  const { id, next_send_at, created_at, ...rest } = made!;
  assert.deepEqual(rest, {
    object: 'report_schedule',
    name: 'Every Monday',
    frequency: 'weekly',
    recipients: ['ann@example.com', 'bob@example.com'],
    domains: [domain.body.id],
    tags: null,
    recipients_by_tag: null,
    include_sections: ['summary', 'alerts'],
    format: 'pdf',
    send_hour: 8,
    timezone: 'Europe/Berlin',
    weekday: 'monday',
    day_of_month: 1,
    enabled: true,
    detail: null,
    last_sent_at: null,
    last_status: null,
    unsubscribed: [],
  });
  const shown = mainOf((await owner.get(created.location!)).html);
  assert.match(shown, /Schedule created\..*Every Monday at 08:00, Europe\/Berlin/);
  assert.match(shown, /example\.com.*Summary, Alerts.*Email with PDF/);
  assert.match(shown, /No report sent yet/);
  const path = `/reports/schedules/${id}`;
  const form = await owner.get(`${path}/edit`);
  assert.equal(fieldOf(form.html, 'name').value, 'Every Monday');
  assert.match(
    form.html,
    /<textarea[^>]*>\n\nann@example\.com\nbob@example\.com<\/textarea>|<textarea[^>]*>\nann@example\.com\nbob@example\.com<\/textarea>/,
  );
  const { enabled, ...paused } = FORM;
  const saved = await owner.post(path, { ...paused, frequency: 'monthly', day_of_month: '31' });
  assert.deepEqual([saved.status, saved.location], [303, `${path}?done=saved`]);
  const after = mainOf((await owner.get('/reports/schedules')).html);
  assert.match(after, /Day 31 of every month at 08:00.*Paused/);
  assert.equal((await schedulesOf(service))[0]!.domains, null);
  const deleted = await owner.post(`${path}/delete`);
  assert.deepEqual([deleted.status, deleted.location], [303, '/reports/schedules?done=deleted']);
  assert.deepEqual(await schedulesOf(service), []);
});

test('The form of a schedule keeps what was typed and explains each error', async (t) => {
  const { service, owner } = await start(t, { env: MAIL });
  const wrong = {
    ...FORM,
    name: ' ',
    recipients: 'no address',
    day_of_month: '',
    include_sections: [],
    timezone: 'Mars/Olympus',
    domain_names: 'nowhere.example',
  };
  const unknown = await owner.post('/reports/schedules', wrong);
  assert.equal(unknown.status, 422);
  const { domain_names, ...known } = wrong;
  const { status, html } = await owner.post('/reports/schedules', known);
  assert.equal(status, 422);
  assert.match(textOf(html, 'name-wrong')!, /The name must not be empty\./);
  assert.match(textOf(html, 'recipients-wrong')!, /The list of recipients must/);
  assert.match(textOf(html, 'day_of_month-wrong')!, /The day of the month must be/);
  assert.match(textOf(html, 'include_sections-wrong')!, /must contain at least one section/);
  assert.match(textOf(html, 'timezone-wrong')!, /The time zone must be an IANA time zone name/);
  assert.match(html, /no address<\/textarea>/);
  assert.match(html, /<option[^>]*value="pdf"[^>]*selected|<option[^>]*selected[^>]*value="pdf"/);
  assert.deepEqual(await schedulesOf(service), []);
});

test('With many domains, a schedule names them in text', async (t) => {
  const { service, owner } = await start(t, { env: MAIL });
  await service.call('POST', '/v1/domains', { json: { name: 'bücher.example' } });
  const { app } = service;
  const row = await app.db.selectFrom('domains').selectAll().executeTakeFirstOrThrow();
  await app.db
    .insertInto('domains')
    .values(
      Array.from({ length: 40 }, (_, i) => ({
        ...row,
        id: app.newId('dom'),
        name: `d${i}.example`,
      })),
    )
    .execute();
  const wrong = await owner.post('/reports/schedules', {
    ...FORM,
    domain_names: 'd1.example\nnowhere.example',
  });
  assert.equal(wrong.status, 422);
  assert.equal(
    textOf(wrong.html, 'domain_names-wrong'),
    'Error: Your team has no domain named nowhere.example.',
  );
  await owner.post('/reports/schedules', { ...FORM, domain_names: 'Bücher.example, d1.example' });
  const [made] = await schedulesOf(service);
  assert.equal(made!.domains?.length, 2);
  const { html } = await owner.get(`/reports/schedules/${made!.id}/edit`);
  assert.match(html, /d1\.example\nxn--bcher-kva\.example<\/textarea>/);
});

test('"Send now" shows the report with the state of each recipient', async (t) => {
  const { service, owner } = await start(t, { env: MAIL });
  await owner.post('/reports/schedules', FORM);
  const [{ id }] = (await schedulesOf(service)) as [Schedule];
  await service.app.scheduler.stop();
  const path = `/reports/schedules/${id}`;
  const sent = await owner.post(`${path}/send`);
  const [run] = (await service.call<List<ReportRun>>('GET', `/v1${path}/runs`)).body.data;
  assert.deepEqual([sent.status, sent.location], [303, `${path}?sent=${run!.id}`]);
  const queued = mainOf((await owner.get(sent.location!)).html);
  assert.match(queued, /The report is being sent to 2 recipients\./);
  assert.match(queued, /Sending21 Nov 2026, 10:00 UTC/);
  // The week up to yesterday, in the time zone of the schedule.
  assert.match(queued, /Covers Sat 14 Nov 2026 to Fri 20 Nov 2026, sent manually/);
  const { body } = await service.call<List<ReportRun>>('GET', `/v1${path}/runs`);
  const { app } = service;
  const ofRun = app.db.updateTable('report_copies').where('run_id', '=', body.data[0]!.id);
  await ofRun
    .where('recipient', '=', 'ann@example.com')
    .set({ status: 'sent', sent_at: '2026-11-21T10:00:00.000Z' })
    .execute();
  await ofRun
    .where('recipient', '=', 'bob@example.com')
    .set({ status: 'failed', error: '550 5.1.1 <No such user>' })
    .execute();
  const { html } = await owner.get(sent.location!);
  assert.match(mainOf(html), /Report sent to 1 of 2 recipients\. See below what failed\./);
  assert.doesNotMatch(html, /data-refresh/);
  assert.match(
    mainOf(html),
    /Partly sent.*ann@example\.comSent.*bob@example\.comFailed550 5\.1\.1 <No such user>/,
  );
  assert.match(html, /<details class="fold" open/);
});

test('A schedule names those who unsubscribed, and what is wrong with it', async (t) => {
  const { service, owner } = await start(t, { env: MAIL });
  await owner.post('/reports/schedules', { ...FORM, recipients: 'ann@example.com' });
  const [{ id }] = (await schedulesOf(service)) as [Schedule];
  await service.app.scheduler.stop();
  await owner.post(`/reports/schedules/${id}/send`);
  await service.app.db
    .updateTable('report_readers')
    .set({ left_at: '2026-11-20T09:00:00.000Z' })
    .where('schedule_id', '=', id)
    .execute();
  const main = mainOf((await owner.get(`/reports/schedules/${id}`)).html);
  assert.match(main, /All recipients have unsubscribed/);
  assert.match(main, /ann@example\.comunsubscribed 1 day ago/);
  assert.match(mainOf((await owner.get('/reports/schedules')).html), /Needs attention/);
});

test('Without outgoing email, schedules say so, and a report is gray instead of failed', async (t) => {
  const { service, owner } = await start(t);
  assert.match(
    mainOf((await owner.get('/reports/schedules')).html),
    /Outgoing email is not configured.*DELIVERABILITY_MAIL_URL/,
  );
  await owner.post('/reports/schedules', FORM);
  const [{ id }] = (await schedulesOf(service)) as [Schedule];
  await owner.post(`/reports/schedules/${id}/send`);
  const { html } = await owner.get(`/reports/schedules/${id}`);
  assert.match(html, /<span class="state unset">.*?Email not configured/);
  assert.doesNotMatch(html.slice(html.indexOf('id="runs"')), /state fail/);
});

test('Members and viewers read schedules and previews, but cannot change or send them', async (t) => {
  const { service, owner } = await start(t, { env: MAIL });
  const { body: domain } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'secret.example' },
  });
  await owner.post('/reports/schedules', { ...FORM, domains: domain.id });
  const [{ id }] = (await schedulesOf(service)) as [Schedule];
  const path = `/reports/schedules/${id}`;
  for (const role of ['member', 'viewer'] as const) {
    const reader = await newMember(service, role);
    const list = await reader.get('/reports/schedules');
    assert.match(mainOf(list.html), /Every Monday/);
    assert.doesNotMatch(list.html, /schedules\/new/);
    const { html } = await reader.get(path);
    assert.doesNotMatch(html, /Send now|Delete|\/edit"/);
    assert.equal(html.includes('secret.example'), role === 'member');
    const [, preview] = /href="(\/v1\/reports\/schedules\/[^"]*\/preview)"/.exec(html)!;
    assert.equal((await reader.get(preview!)).status, 200);
    for (const action of ['', '/send', '/delete'])
      assert.equal((await reader.post(path + action, FORM)).status, 403);
    for (const page of ['/reports/schedules/new', `${path}/edit`])
      assert.equal((await reader.get(page)).status, 403);
  }
});

test('Unknown links and schedules are not found', async (t) => {
  const { owner } = await start(t);
  for (const path of [
    '/reports/shares/rpt_x',
    '/reports/schedules/rps_x',
    '/reports/schedules/rps_x/edit',
  ])
    assert.equal((await owner.get(path)).status, 404, path);
});

test('What became of a report is one sentence for each outcome', () => {
  const copies = (...statuses: ReportCopy['status'][]): ReportCopy[] =>
    statuses.map((status, index) => ({
      recipient: `${index}`,
      status,
      error: null,
      sent_at: null,
    }));
  const textOf = (status: RunStatus, ...statuses: ReportCopy['status'][]) =>
    outcomeOf({ status, copies: copies(...statuses), error: null }).text;
  assert.equal(textOf('sent', 'sent'), 'Report sent to 1 recipient.');
  assert.equal(textOf('sent', 'sent', 'sent', 'unsubscribed'), 'Report sent to 2 recipients.');
  assert.match(textOf('failed', 'failed'), /was not sent\. See below why/);
  assert.match(textOf('sent', 'unsubscribed'), /all recipients have unsubscribed/);
  assert.match(textOf('not_configured', 'not_configured'), /outgoing email is not configured/);
});

test('In test mode, schedules can be read, but not changed', async (t) => {
  const { service, owner } = await start(t, { env: MAIL });
  await owner.post('/reports/schedules', FORM);
  const [{ id }] = (await schedulesOf(service)) as [Schedule];
  const { cookie } = await owner.post('/mode', { mode: 'test', next: '/' });
  const headers = { cookie: `${owner.cookie}; ${cookie}` };
  for (const path of ['', '/new', `/${id}`, `/${id}/edit`]) {
    const { html } = await owner.get(`/reports/schedules${path}`, headers);
    assert.match(mainOf(html), /Report schedules have no test mode/, path);
    const [, main = ''] = html.split('<main');
    assert.doesNotMatch(
      main,
      /<form method="post" action="\/reports|href="[^"]*(?:edit|new)"/,
      path,
    );
  }
});
