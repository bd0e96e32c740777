/** The pages of monitors: the list by state, new monitors, runs with findings, and changes. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { listIn } from '../helpers/blocklists.ts';
import { ADDRESS, HOUR_MS, REVERSED, startMonitoring } from '../monitors/monitoring.ts';
import { newMember } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

const LISTING = listIn('zen.spamhaus.org', REVERSED, '127.0.0.2', 'Listed for <b>spam</b>');

async function startPages(t: TestContext, options: Parameters<typeof startMonitoring>[1] = {}) {
  const monitoring = await startMonitoring(t, options);
  return { ...monitoring, member: await newMember(monitoring.service, 'member') };
}

const TARGETS_FORM = { type: 'blocklist', name: 'Our servers', domain: '', frequency: 'hourly' };

test('A member creates a blocklist monitor and sees a listing, what changed, and its removal', async (t) => {
  const { service, dns, clock, runDue, member } = await startPages(t);
  assert.match(mainOf((await member.get('/monitors')).html), /No monitors yet/);
  const form = await member.get('/monitors/new?type=blocklist');
  assert.match(form.html, /<textarea[^>]* name="targets"/);
  const targets = `${ADDRESS}\r\nexample.com\r\n`;
  const created = await member.post('/monitors/new', { ...TARGETS_FORM, targets });
  assert.equal(created.status, 303);
  const path = /^(\/monitors\/mon_\w+)\?done=created$/.exec(created.location!)![1]!;
  const fresh = mainOf((await member.get(created.location!)).html);
  assert.match(fresh, /The first run starts within a minute\./);
  assert.match(fresh, /Next runnow/);
  await runDue();
  assert.match(mainOf((await member.get(path)).html), /The last run found no problems\./);

  Object.assign(dns.zone, LISTING);
  clock.advance(HOUR_MS);
  await runDue();
  const { html } = await member.get(path);
  const alerting = mainOf(html);
  assert.match(alerting, /The last run has one finding\. Fix it/);
  assert.match(alerting, /Spamhaus ZEN lists 203\.0\.114\.7/);
  assert.match(alerting, /Large mailbox providers reject mail because of this list\./);
  assert.match(alerting, /New: Spamhaus ZEN lists/);
  assert.match(html, /href="https:\/\/check\.spamhaus\.org[^"]*"/);
  assert.doesNotMatch(html, /<b>spam/);

  for (const key of Object.keys(LISTING)) delete dns.zone[key];
  clock.advance(HOUR_MS);
  await runDue();
  const resolved = mainOf((await member.get(path)).html);
  assert.match(resolved, /No problem found/);
  assert.match(resolved, /Resolved: Spamhaus ZEN lists 203\.0\.114\.7/);
  assert.equal((await service.call('GET', `/v1${path}`)).status, 200);
});

test('“Run now” waits for the run and shows its result', async (t) => {
  const { create, get, member } = await startPages(t, { jobs: true });
  const { id } = await create();
  const answer = await member.post(`/monitors/${id}/run`);
  assert.deepEqual([answer.status, answer.location], [303, `/monitors/${id}?done=run`]);
  assert.equal((await get(id)).status, 'ok');
  assert.match(mainOf((await member.get(answer.location!)).html), /Run completed\./);
});

test('A monitor is paused, cannot run, and is resumed', async (t) => {
  const { create, get, member } = await startPages(t);
  const { id } = await create();
  const path = `/monitors/${id}`;
  assert.equal(
    (await member.post(`${path}/enabled`, { enabled: 'no' })).location,
    `${path}?done=paused`,
  );
  const paused = await member.get(path);
  assert.match(mainOf(paused.html), /This monitor is paused\. Resume it to start a run\./);
  assert.doesNotMatch(paused.html, /Run now/);
  const refused = await member.post(`${path}/run`);
  assert.equal(refused.status, 409);
  assert.match(mainOf(refused.html), /This monitor is disabled/);
  await member.post(`${path}/enabled`, { enabled: 'yes' });
  assert.equal((await get(id)).enabled, true);
});

test('The list shows alerting monitors first, folds those without problems, and filters by state', async (t) => {
  const { dns, create, runDue, member, service } = await startPages(t);
  await create({ name: 'Fine', targets: ['203.0.114.8'] });
  Object.assign(dns.zone, LISTING);
  await create({ name: 'Listed \u00abx\u00bb <b>' });
  await runDue();
  await create({ name: 'Paused', enabled: false });
  const { body: domain } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  await create({ name: 'Fresh', type: 'domain_health', domain_id: domain.id });
  const { html } = await member.get('/monitors');
  const places = ['Listed «x» &lt;b', 'Fresh', 'Paused', 'Fine'].map((name) =>
    html.indexOf(`<bdi>${name}`),
  );
  assert.ok(
    places.every((place) => place > 0),
    String(places),
  );
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.match(/<details class="fold">.*?<\/details>/s.exec(html)![0], /Fine/);
  assert.match(mainOf(html), /Domain health: example\.com/);
  const alerting = mainOf((await member.get('/monitors?state=alerting')).html);
  assert.match(alerting, /Listed/);
  assert.doesNotMatch(alerting, /Fresh|Fine/);
  for (const name of ['a', 'b']) await create({ name, enabled: false });
  assert.match(mainOf((await member.get('/monitors?state=paused')).html), /Paused 3/);
});

test('The form for a monitor names the wrong target or domain and keeps what was typed', async (t) => {
  const { member } = await startPages(t);
  const targets = 'example.com\n10.0.0.1';
  const wrong = await member.post('/monitors/new', { ...TARGETS_FORM, targets });
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /The target “10\.0\.0\.1” is a private or reserved address/);
  assert.match(wrong.html, /<textarea[^>]*>\s*example\.com\n10\.0\.0\.1<\/textarea>/);
  assert.match(wrong.html, /<option selected value="hourly"|<option value="hourly" selected/);
  const cases: [Record<string, string>, RegExp][] = [
    [
      { ...TARGETS_FORM, targets: '' },
      /Enter at least one IP address or name, or a domain above\./,
    ],
    [
      { ...TARGETS_FORM, targets, domain: 'example.net' },
      /Your team has no domain “example\.net”\./,
    ],
    [{ ...TARGETS_FORM, type: 'domain_health' }, /Enter the name of one of your domains\./],
    [{ ...TARGETS_FORM, targets: 'example.com', name: '' }, /The name /],
  ];
  for (const [fields, message] of cases) {
    const answer = await member.post('/monitors/new', fields);
    assert.equal(answer.status, 422, String(message));
    assert.match(mainOf(answer.html), message);
    assert.equal(fieldOf(answer.html, 'name').value, fields.name);
  }
});

test('A monitor of a domain is created by the name of the domain, which links to it', async (t) => {
  const { member, service } = await startPages(t);
  const { body: domain } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'bücher.example' },
  });
  const form = await member.get('/monitors/new?domain=b%C3%BCcher.example');
  assert.equal(fieldOf(form.html, 'domain').value, 'bücher.example');
  const created = await member.post('/monitors/new', {
    ...TARGETS_FORM,
    type: 'domain_health',
    domain: 'Bücher.example',
  });
  const { html } = await member.get(created.location!);
  assert.ok(html.includes(`<a href="/domains/${domain.id}">bücher.example</a>`));
  const page = await member.get(`/domains/${domain.id}`);
  assert.match(mainOf(page.html), /Our serversWaiting/);
});

test('A monitor is edited and deleted; a wrong edit keeps what was typed', async (t) => {
  const { create, get, member } = await startPages(t);
  const { id } = await create();
  const path = `/monitors/${id}`;
  const edit = {
    name: 'New name',
    frequency: 'weekly',
    has_targets: 'yes',
    targets: '203.0.114.9',
  };
  assert.equal((await member.post(path, edit)).location, `${path}?done=saved`);
  const changed = await get(id);
  assert.deepEqual([changed.targets, changed.frequency], [['203.0.114.9'], 'weekly']);
  const wrong = await member.post(path, { ...edit, targets: '203.0.114.0/24' });
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /The target “203\.0\.114\.0\/24” is an address range/);
  assert.match(wrong.html, /<div class="opened screen-only"><form/);
  assert.equal((await member.post(`${path}/delete`)).location, '/monitors?done=deleted');
  assert.equal((await member.get(path)).status, 404);
});

test('Runs are paged, and the latest findings stay on every page', async (t) => {
  const { service, dns, clock, create, runDue } = await startPages(t);
  Object.assign(dns.zone, LISTING);
  const { id } = await create();
  for (let run = 0; run < 12; run++) {
    await runDue();
    clock.advance(HOUR_MS);
  }
  // Idle sessions end before that.
  const member = await newMember(service, 'member');
  const { html } = await member.get(`/monitors/${id}`);
  assert.equal(html.match(/class="run-head"/g)!.length, 10);
  const [, older] = /rel="next" href="([^"]+)"/.exec(html)!;
  const second = await member.get(older!.replaceAll('&amp;', '&'));
  assert.equal(second.html.match(/class="run-head"/g)!.length, 2);
  assert.match(mainOf(second.html), /New: Spamhaus ZEN/);
  assert.match(mainOf(second.html), /Current findingsSpamhaus ZEN lists/);
});

test('Viewers have no pages of monitors; test mode shows monitors without actions', async (t) => {
  const { create, member, service } = await startPages(t);
  const { id } = await create();
  const viewer = await newMember(service, 'viewer');
  for (const path of ['/monitors', '/monitors/new', `/monitors/${id}`])
    assert.equal((await viewer.get(path)).status, 403);
  const switched = await member.post('/mode', { mode: 'test', next: '/' });
  const cookie = `${member.cookie}; ${switched.cookie}`;
  for (const path of ['/monitors', '/monitors/new', `/monitors/${id}`]) {
    const { status, html } = await member.get(path, { cookie });
    assert.equal(status, 200);
    assert.doesNotMatch(mainOf(html), /Run now|Pause\b|Delete monitor|Create monitor/);
  }
});
