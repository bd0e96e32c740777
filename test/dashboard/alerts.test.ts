/** The pages of alert rules and incidents. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONDITION_IDS } from '../../src/alerts/conditions/index.ts';
import type { Alert } from '../../src/alerts/schema.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { completeTest, startAlerting } from '../alerts/alerting.ts';
import { memberOf, newMember, startWithOwner } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

const LOW_SCORE = {
  name: 'Low score',
  condition: 'score_below',
  threshold_score_below: '80',
  channels: ['email', 'slack'],
  recipients: 'ops@example.com\nalex@example.com',
  enabled: 'on',
};

test('A rule is created, changed, disabled and deleted with forms', async (t) => {
  const { service, owner } = await startWithOwner(t);
  await service.call('POST', '/v1/domains', { json: { name: 'example.com' } });
  const empty = await owner.get('/alerts');
  assert.match(mainOf(empty.html), /No alert rules yet/);
  assert.doesNotMatch(mainOf(empty.html), /No open incidents/);
  const created = await owner.post('/alerts', { ...LOW_SCORE, domain: 'example.com' });
  assert.equal(created.status, 303, mainOf(created.html));
  const path = created.location!.replace(/\?.*/, '');
  const id = path.split('/').at(-1)!;
  const read = async () => (await service.call<Alert>('GET', `/v1/alerts/${id}`)).body;
  const rule = await read();
  assert.deepEqual(
    [rule.name, rule.threshold, rule.channels, rule.recipients, rule.enabled],
    ['Low score', 80, ['email', 'slack'], ['ops@example.com', 'alex@example.com'], true],
  );
  assert.match(mainOf((await owner.get(path)).html), /A test scores below 80.*example\.com/s);
  const changed = await owner.post(path, {
    ...LOW_SCORE,
    name: 'Lower',
    recipients: '',
    domain: '',
  });
  assert.equal(changed.location, `${path}?done=saved`);
  const after = await read();
  assert.deepEqual([after.name, after.recipients, after.domain_id], ['Lower', null, null]);
  const { enabled, ...disabled } = LOW_SCORE;
  assert.equal(enabled, 'on');
  await owner.post(path, disabled);
  assert.equal((await read()).enabled, false);
  assert.match(mainOf((await owner.get('/alerts')).html), /All rules are disabled/);
  const deleted = await owner.post(`${path}/delete`);
  assert.equal(deleted.location, '/alerts?done=deleted');
  assert.equal((await owner.get(path)).status, 404);
});

test('The form for a rule keeps what was typed and explains each error', async (t) => {
  const { owner } = await startWithOwner(t);
  const answer = await owner.post('/alerts', {
    ...LOW_SCORE,
    name: '',
    threshold_score_below: '101',
    domain: 'unknown.example',
    channels: [],
    slack_webhook_url: 'ftp://hooks.slack.com/x',
  });
  assert.equal(answer.status, 422);
  assert.match(mainOf(answer.html), /The domain is not one of your domains/);
  assert.equal(fieldOf(answer.html, 'domain').value, 'unknown.example');
  const { html } = await owner.post('/alerts', {
    ...LOW_SCORE,
    name: '',
    threshold_score_below: '101',
    channels: [],
    slack_webhook_url: 'ftp://hooks.slack.com/x',
  });
  const text = mainOf(html);
  assert.match(text, /The name must not be empty\./);
  assert.match(text, /The threshold must be at most 100\./);
  assert.match(text, /The list of channels must contain at least one channel\./);
  assert.match(text, /The Slack URL must start with https/);
  assert.equal(fieldOf(html, 'threshold_score_below').value, '101');
  assert.match(text, /ops@example\.com\nalex@example\.com/);
});

test('Channels that are not configured are named, with how to configure them', async (t) => {
  const { owner, service } = await startWithOwner(t);
  const form = mainOf((await owner.get('/alerts/new')).html);
  assert.match(form, /Set DELIVERABILITY_MAIL_URL and DELIVERABILITY_MAIL_FROM on the server/);
  assert.match(form, /No enabled live endpoint gets alert\.triggered/);
  assert.match(form, /set DELIVERABILITY_SLACK_WEBHOOK_URL on the server/);
  const json = { name: 'A', condition: 'auth_fail', channels: ['email'] };
  await service.call('POST', '/v1/alerts', { json });
  assert.match(mainOf((await owner.get('/alerts')).html), /Notifies nobody.*Email not configured/);
});

test('A Slack URL is never shown, is kept by an empty field, and can be removed', async (t) => {
  const { owner, service } = await startWithOwner(t);
  const secret = 'https://hooks.slack.com/services/T/B/very-secret';
  const created = await owner.post('/alerts', { ...LOW_SCORE, slack_webhook_url: secret });
  const path = created.location!.replace(/\?.*/, '');
  const hostOf = async () =>
    (await service.call<Alert>('GET', `/v1${path}`)).body.slack_webhook_host;
  const { html } = await owner.get(path);
  assert.doesNotMatch(html, /very-secret/);
  assert.match(mainOf(html), /A URL at hooks\.slack\.com is stored/);
  await owner.post(path, LOW_SCORE);
  assert.equal(await hostOf(), 'hooks.slack.com');
  await owner.post(path, { ...LOW_SCORE, remove_slack_webhook_url: 'on' });
  assert.equal(await hostOf(), null);
});

test('A test of the channels shows the result for each recipient', async (t) => {
  const { service, slack, sendDue, makeAlert } = await startAlerting(t);
  const owner = await memberOf(service, 'owner@example.com');
  slack.respond = () => 404;
  const { id } = await makeAlert({ channels: ['email', 'slack'], recipients: ['ops@example.com'] });
  const sent = await owner.post(`/alerts/${id}/test`);
  assert.equal(sent.location, `/alerts/${id}?done=tested#test`);
  const first = mainOf((await owner.get(`/alerts/${id}`)).html);
  assert.match(first, /ops@example\.com.*Email queued/s);
  assert.match(first, /Slack failed.*404/s);
  await sendDue();
  assert.match(mainOf((await owner.get(`/alerts/${id}`)).html), /Email sent/);
});

test('Hostile answers of Slack and of the mail server are shown as short text', async (t) => {
  const { service, slack, sink, sendDue, makeAlert } = await startAlerting(t);
  const owner = await memberOf(service, 'owner@example.com');
  const hostile = '</bdi><script>alert(1)</script>\u202e\u2067';
  slack.respond = () => ({ status: 400, body: hostile.repeat(3000) });
  sink.refuse = { at: 'rcpt', code: 550, text: `5.1.1 ${hostile}${'x'.repeat(900)}` };
  const { id } = await makeAlert({ channels: ['email', 'slack'], recipients: ['ops@example.com'] });
  await owner.post(`/alerts/${id}/test`);
  await sendDue();
  const { status, html } = await owner.get(`/alerts/${id}`);
  assert.equal(status, 200);
  assert.match(mainOf(html), /Slack failed.*400/s);
  assert.match(mainOf(html), /Email failed.*550/s);
  assert.doesNotMatch(html, /<script>alert|[\u202a-\u202e\u2066-\u2069]/);
  assert.ok(html.length < 60_000, `${html.length}`);
});

test('The page of an incident tells what happened, what to do, and who was notified', async (t) => {
  const { service, sink, sendDue, makeAlert, complete, incidents, clock } = await startAlerting(t);
  const owner = await memberOf(service, 'owner@example.com');
  const rule = await makeAlert({ threshold: 80, recipients: ['ops@example.com'] });
  sink.refuse = { at: 'rcpt', code: 550, text: '5.1.1 No such user' };
  const checks = JSON.stringify([
    {
      id: 'dmarc',
      category: 'authentication',
      status: 'fail',
      weight: 10,
      gain: 10,
      title: 'DMARC fails',
      description: '',
      evidence: {},
      fix: { text: 'Sign with DKIM as example.com.', record: null },
    },
  ]);
  const opening = await complete({ score: 61, checks });
  await sendDue();
  const list = mainOf((await owner.get('/alerts')).html);
  assert.match(list, /example\.comScore 61 of 100.*Low score.*Email failed/s);
  const [incident] = await incidents();
  const path = `/incidents/${incident!.id}`;
  const { html } = await owner.get(path);
  const text = mainOf(html);
  assert.match(text, /Mail from example\.com scored 61, below 80/);
  assert.match(text, /Email failed to ops@example\.com.*550.*No such user/s);
  assert.match(text, /Still open/);
  assert.match(text, /Sign with DKIM as example\.com/);
  assert.ok(html.includes(`href="/tests/${opening.id}"`));
  assert.ok(html.includes(`href="/alerts/${rule.id}"`));
  sink.refuse = null;
  clock.advance(3 * 3_600_000);
  await complete({ score: 95 });
  await sendDue();
  const resolved = mainOf((await owner.get(path)).html);
  assert.match(resolved, /Was open for3 h/);
  assert.match(resolved, /Resolved.*the latest result no longer meets the condition.*Email sent/s);
  assert.match(mainOf((await owner.get('/alerts')).html), /No open incidents 1 rule is active/);
  assert.match(mainOf((await owner.get('/alerts?status=resolved')).html), /Score 61 of 100/);
  assert.equal((await owner.get('/incidents/inc_none')).status, 404);
});

test('An incident whose rule and test are gone is still explained', async (t) => {
  const { service, app, makeAlert, complete, incidents } = await startAlerting(t);
  const owner = await memberOf(service, 'owner@example.com');
  const rule = await makeAlert();
  const { id } = await complete({ score: 1 });
  await owner.post(`/alerts/${rule.id}/delete`);
  await app.db.deleteFrom('tests').where('id', '=', id).execute();
  const [incident] = await incidents();
  const text = mainOf((await owner.get(`/incidents/${incident!.id}`)).html);
  assert.match(text, /scored 1, below 70.*Deleted rule/s);
  assert.match(text, /has been deleted/);
  assert.match(text, /Resolved.*the rule was deleted/s);
});

test('Incidents can be filtered by rule and state, and paged', async (t) => {
  const { service, makeAlert, complete } = await startAlerting(t);
  const owner = await memberOf(service, 'owner@example.com');
  const [first, second] = [await makeAlert({ name: 'First' }), await makeAlert({ name: 'Second' })];
  for (let i = 0; i < 23; i++) await complete({ score: 1, from_domain: `d${i}.example` });
  const { html } = await owner.get(`/alerts?alert_id=${first.id}`);
  assert.equal(html.match(/class="row-link" href="\/incidents\//g)?.length, 20);
  const older = /rel="next" href="([^"]+)"/.exec(html)![1]!.replaceAll('&amp;', '&');
  assert.ok(older.includes(`alert_id=${first.id}`));
  const { html: rest } = await owner.get(older);
  assert.equal(rest.match(/class="row-link" href="\/incidents\//g)?.length, 3);
  assert.match(rest, /rel="prev"/);
  const resolved = mainOf((await owner.get(`/alerts?alert_id=${second.id}&status=resolved`)).html);
  assert.match(resolved, /No resolved incidents match/);
});

test('Members read alerts but see no actions, and viewers see nothing', async (t) => {
  const { service, makeAlert } = await startAlerting(t);
  const { id } = await makeAlert({ name: '<b>\u{1f40d}</b> & co' });
  const [member, viewer] = [await newMember(service, 'member'), await newMember(service, 'viewer')];
  for (const path of ['/alerts', `/alerts/${id}`]) {
    const { status, html } = await member.get(path);
    assert.equal(status, 200);
    assert.match(mainOf(html), /<b>🐍<\/b> & co/);
    assert.doesNotMatch(html, /<b>/);
    assert.doesNotMatch(mainOf(html), /Create rule|Edit rule|Delete rule|Send a test/);
    assert.equal((await viewer.get(path)).status, 403);
  }
  assert.equal((await member.get('/alerts/new')).status, 403);
  assert.equal((await member.post(`/alerts/${id}/delete`)).status, 403);
});

test('In test mode, rules can be read but not changed', async (t) => {
  const { service, makeAlert } = await startAlerting(t);
  const owner = await memberOf(service, 'owner@example.com');
  const { id } = await makeAlert();
  const { cookie: mode } = await owner.post('/mode', { mode: 'test', next: '/alerts' });
  const cookie = `${owner.cookie}; ${mode}`;
  const { status, html } = await owner.get(`/alerts/${id}`, { cookie });
  assert.equal(status, 200);
  assert.match(mainOf(html), /Switch to live mode to change this rule/);
  assert.doesNotMatch(mainOf(html), /Edit rule|Delete rule|Send a test/);
});

test('The page says what each recommended rule would have said, and makes those that are missing', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const { app } = service;
  for (const [spf, hours] of [
    ['pass', 5],
    ['fail', 4],
    ['pass', 3],
    ['fail', 2],
  ] as const) {
    const completed_at = isoTime(app.clock.now() - hours * 3_600_000);
    await completeTest(app, { spf, completed_at });
  }
  const before = await owner.get('/alerts');
  assert.match(mainOf(before.html), /Test authentication.*?2 times in the last 30 days/s);
  assert.match(mainOf(before.html), /Gmail spam rate.*?not known: no spam rate from Google/s);
  const member = await newMember(service, 'member');
  const theirs = await member.get('/alerts');
  assert.match(mainOf(theirs.html), /2 times in the last 30 days/);
  assert.doesNotMatch(theirs.html, /action="\/alerts\/recommended"/);
  assert.equal((await member.post('/alerts/recommended')).status, 403);
  assert.match(before.html, /action="\/alerts\/recommended"/);
  const created = await owner.post('/alerts/recommended');
  assert.equal(created.location, '/alerts?done=recommended');
  const after = await owner.get(created.location!);
  assert.match(mainOf(after.html), /Recommended rules created\./);
  assert.doesNotMatch(after.html, /action="\/alerts\/recommended"/);
  assert.match(after.html, /href="\/alerts\/recommended"/);
  const listed = await owner.get('/alerts/recommended');
  assert.match(mainOf(listed.html), /2 times in the last 30 days/);
  // Deleted ones are offered again, and come back only with the button.
  const { body } = await service.call<{ data: Alert[] }>('GET', '/v1/alerts');
  await service.call('DELETE', `/v1/alerts/${body.data[0]!.id}`);
  assert.match((await owner.get('/alerts')).html, /Create the missing rule/);
});

test('The form has recommended rules first, and at each condition its threshold', async (t) => {
  const { owner } = await startWithOwner(t);
  const { html } = await owner.get('/alerts/new');
  const conditions = [...html.matchAll(/name="condition" value="(\w+)"/g)].map(([, id]) => id);
  // Of the buttons that create a recommended rule, and of the form: the most urgent first in both.
  assert.deepEqual(conditions.slice(0, 2), ['domain_unreachable', 'domain_health']);
  const choices = conditions.slice(-CONDITION_IDS.length);
  assert.deepEqual(choices.slice(0, 2), ['domain_unreachable', 'domain_health']);
  assert.deepEqual(choices.toSorted(), CONDITION_IDS.toSorted());
  const text = mainOf(html);
  assert.match(text, /Threshold, in points/);
  assert.match(text, /Critical problems and warnings/);
  assert.equal(fieldOf(html, 'threshold_spam_rate').value, '1');
});

test('One click creates a recommended rule as listed', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const { html } = await owner.get('/alerts/new');
  const [, form] =
    /<form method="post" action="\/alerts" class="inline">((?:(?!<\/form>).)*value="domain_health".*?)<\/form>/s.exec(
      html,
    )!;
  const fields = Object.fromEntries(
    [...form!.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
  );
  const created = await owner.post('/alerts', fields);
  assert.equal(created.status, 303, mainOf(created.html));
  const { body } = await service.call<{ data: Alert[] }>('GET', '/v1/alerts');
  assert.deepEqual(
    body.data.map(({ name, condition, threshold, channels, enabled }) => [
      name,
      condition,
      threshold,
      channels,
      enabled,
    ]),
    [['Domain health', 'domain_health', 1, ['email'], true]],
  );
  const [, rest] = /id="recommended"(.*?)<\/section>/s.exec((await owner.get('/alerts/new')).html)!;
  assert.doesNotMatch(rest!, /value="domain_health"/);
  assert.match(rest!, /value="blocklist_hit"/);
});
