/** The pages of domains: the list by state, verification, health with records to publish, and settings. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hostName } from '../../src/dashboard/domains/dns-record.tsx';
import { isoTime } from '../../src/lib/clock.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { DAY, HOUR, MINUTE, startDomainService } from '../domains/domain-service.ts';
import { newMember } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

async function startPages(t: TestContext, zone = structuredClone(GOOD_ZONE)) {
  const service = await startDomainService(t, zone);
  return { service, member: await newMember(service, 'member') };
}

/** Stores a state without checks. */
async function setState(
  { app }: Awaited<ReturnType<typeof startDomainService>>,
  name: string,
  status: 'pending' | 'verified' | 'failed',
  health: 'healthy' | 'warning' | 'critical' | 'unknown' = 'unknown',
): Promise<void> {
  await app.db
    .updateTable('domains')
    .set({ status, health_status: health })
    .where('name', '=', name)
    .execute();
}

test('A member adds a domain, verifies it, and sees its health with the records to publish', async (t) => {
  const { service, member } = await startPages(t);
  const empty = await member.get('/domains');
  assert.match(mainOf(empty.html), /Add your first domain/);
  const added = await member.post('/domains', { name: ' Example.COM ' });
  assert.equal(added.status, 303);
  const path = /^(\/domains\/dom_\w+)\?done=added$/.exec(added.location!)![1]!;
  const pending = await member.get(added.location!);
  const domain = await service.get(path.split('/').at(-1)!);
  const { name, value } = domain.verification;
  for (const text of [
    name,
    value,
    'Domain added.',
    'Looking up public DNS records',
    'enter the name _deliverability.',
  ])
    assert.ok(mainOf(pending.html).includes(text), text);
  assert.match(pending.html, /id="first-lookup" data-refresh/);
  await service.lookUpFirst();
  const looked = await member.get(path);
  assert.doesNotMatch(looked.html, /data-refresh/);
  const main = mainOf(looked.html);
  // The findings are above the record.
  assert.match(
    main,
    /example\.com is healthy\..*Public DNS was checked once\..*Verify example\.com/s,
  );
  assert.match(main, /Check now/);

  const tooEarly = await member.post(`${path}/verify`);
  assert.deepEqual([tooEarly.status, tooEarly.location], [303, `${path}?done=verify`]);
  const explained = mainOf((await member.get(tooEarly.location!)).html);
  assert.match(explained, /No TXT record found at _deliverability\.example\.com\./);
  assert.match(explained, /The next automatic lookup is in less than a minute|in 1 min/);

  service.publish(domain);
  // The answer that there is no record is cached for up to 30 seconds.
  service.clock.advance(MINUTE);
  const found = await member.get((await member.post(`${path}/verify`)).location!);
  assert.match(mainOf(found.html), /Record found\. example\.com is verified\./);

  service.dns.zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=none'] };
  const checked = await member.post(`${path}/check`);
  assert.equal(checked.location, `${path}?done=checked`);
  const page = mainOf((await member.get(checked.location!)).html);
  assert.match(page, /Health check completed\./);
  assert.match(page, /Fix these first/);
  assert.match(page, /_dmarc\.example\.com/);
  assert.match(page, /It replaces the record at this name/);
  assert.match(page, /checks passed/);
  assert.match(page, /Verified/);
});

test('The table has all states with their counts, sorts and filters by links, and explains a state', async (t) => {
  const { service, member } = await startPages(t);
  const states = [
    ['healthy.example', 'verified', 'healthy'],
    ['warning.example', 'verified', 'warning'],
    ['critical.example', 'verified', 'critical'],
    ['failed.example', 'failed', 'healthy'],
    ['pending.example', 'pending', 'unknown'],
    ['unknown.example', 'verified', 'unknown'],
  ] as const;
  for (const [name, status, health] of states) {
    await service.add(name);
    await setState(service, name, status, health);
  }
  const { html } = await member.get('/domains');
  const href = /<a class="sort" data-focus="state"[^>]*href="([^"]+)"/.exec(html)![1]!;
  assert.equal(href, '/domains?sort=state');
  const sorted = (await member.get(href)).html;
  const order = ['critical', 'failed', 'warning', 'pending', 'unknown', 'healthy'].map((state) =>
    sorted.indexOf(`>${state}.example`),
  );
  assert.ok(order.every((place) => place > 0));
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  );
  assert.match(
    sorted,
    /<th [^>]*aria-sort="ascending"[^>]*><a [^>]*href="\/domains\?sort=state&amp;order=desc"/,
  );
  assert.match(mainOf(html), /All \(6\)Critical \(1\)Verification failed \(1\)/);
  assert.match(
    mainOf((await member.get('/domains?state=pending')).html),
    /Looked up once\. Publish the TXT record of the domain to have it checked every day\./,
  );
  for (const [name, , health] of states.slice(0, 3)) {
    const filtered = await member.get(`/domains?state=${health}`);
    for (const [other] of states)
      assert.equal(filtered.html.includes(`>${other}`), other === name, `${health}: ${other}`);
  }
  const found = mainOf((await member.get('/domains?q=PEND')).html);
  assert.match(found, /pending\.example/);
  assert.doesNotMatch(found, /critical\.example/);
  const none = await member.get('/domains?state=critical&q=healthy');
  assert.match(mainOf(none.html), /No matching domains/);
  assert.match(none.html, /<option selected value="critical"|<option value="critical" selected/);
  assert.equal(fieldOf(none.html, 'q').value, 'healthy');
  const odd = await member.get('/domains?state=none&sort=secret&order=up&group=a%3Ab&tag=a%2Cb');
  assert.equal(odd.status, 200);
  assert.match(mainOf(odd.html), /6 domains/);
});

test('A page has 100 domains; the next one continues in the same order', async (t) => {
  const { service, member } = await startPages(t);
  for (let i = 100; i < 203; i++) await service.add(`d${i}.example`);
  const first = await member.get('/domains?sort=name&order=desc');
  assert.equal(first.html.match(/class="row-link"/g)!.length, 100);
  const [, next] = /rel="next" href="([^"]+)"/.exec(first.html)!;
  const second = await member.get(next!.replaceAll('&amp;', '&'));
  assert.deepEqual(
    [...second.html.matchAll(/<bdi class="one-line"[^>]*>([^<]+)/g)].map(([, name]) => name),
    ['d102.example', 'd101.example', 'd100.example'],
  );
  assert.match(second.html, /rel="prev"/);
  const cut = await member.get('/domains?sort=name&starting_after=dom_gone');
  assert.deepEqual([cut.status, cut.location], [303, '/domains?sort=name']);
});

test('A domain that is not verified says that it is broken, and what, before what to do', async (t) => {
  const { service, member } = await startPages(t, {});
  await service.add('broken.example');
  await service.app.db
    .updateTable('domains')
    .set({
      health_status: 'critical',
      health_checked_at: isoTime(service.app.clock.now()),
      health_checks: JSON.stringify([
        {
          id: 'dmarc_policy',
          label: 'DMARC policy',
          category: 'authentication',
          status: 'fail',
          severity: 'critical',
          title: 'broken.example has no DMARC record.',
          detail: '',
          evidence: {},
          points: 3,
          earned: 0,
          gain: 10,
          reference: { name: 'RFC 9989', url: 'https://rfc.example' },
          fix: { text: 'Publish this record.' },
        },
      ]),
    })
    .where('name', '=', 'broken.example')
    .execute();
  await service.app.db.deleteFrom('domain_digests').execute();
  const { html } = await member.get('/domains');
  assert.match(mainOf(html), /Not verified\s*Broken/);
  assert.match(mainOf(html), /broken\.example has no DMARC record\. Publish this record\./);
});

test('Selected domains get a tag and lose it, by which the table is filtered and grouped', async (t) => {
  const { service, member } = await startPages(t);
  const ids = [];
  for (const name of ['a.example', 'b.example', 'c.example'])
    ids.push((await service.add(name)).id);
  const back = '/domains?sort=name';
  const tag = (fields: object) => member.post('/domains/tags', { back, action: 'add', ...fields });
  const added = await tag({ id: ids.slice(0, 2), tags: 'client:acme, Test' });
  assert.equal(added.location, '/domains?sort=name&done=tagged&changed=2');
  assert.match(mainOf((await member.get(added.location!)).html), /Tags of 2 domains changed\./);
  const grouped = mainOf((await member.get('/domains?group=client')).html);
  assert.match(grouped, /acme 2.*a\.example.*b\.example.*No client 1.*c\.example/s);
  const filtered = mainOf((await member.get('/domains?tag=client:acme')).html);
  assert.match(filtered, /2 domains/);
  const removed = await tag({ id: ids[0]!, tags: 'test', action: 'remove' });
  assert.equal(removed.location, '/domains?sort=name&done=tagged&changed=1');
  assert.match((await tag({ tags: 'x' })).location!, /done=select/);
  const empty = await tag({ id: ids[0]!, tags: ' ' });
  assert.equal(empty.status, 422);
  assert.match(mainOf(empty.html), /Enter a tag first\./);
  const long = await tag({ id: ids[0]!, tags: 'x'.repeat(60) });
  assert.equal(long.status, 422);
  assert.match(mainOf(long.html), /must have at most 50 characters/);
  assert.match(
    (await tag({ id: ids[0]!, tags: 'y', back: 'https://evil.example/' })).location!,
    /^\/domains\?done=tagged/,
  );
});

test('The form for a domain keeps what was typed and explains the error at the field', async (t) => {
  const { service, member } = await startPages(t);
  await service.add('example.com');
  const wrong = await member.post('/domains', { name: 'https://exa"mple/x' });
  assert.equal(wrong.status, 422);
  assert.deepEqual(
    [fieldOf(wrong.html, 'name').value, fieldOf(wrong.html, 'name')['aria-invalid']],
    ['https://exa"mple/x', 'true'],
  );
  assert.match(mainOf(wrong.html), /The domain name is not a domain name/);
  const twice = await member.post('/domains', { name: 'example.com' });
  assert.equal(twice.status, 409);
  assert.match(mainOf(twice.html), /Your team has already added the domain example\.com/);
  assert.equal(fieldOf(twice.html, 'name').value, 'example.com');
});

test('A missing record of a verified domain is explained with its deadline, then the domain fails', async (t) => {
  const { service } = await startPages(t);
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.verify(domain.id);
  await service.settle();
  service.withdraw(domain);
  await service.pass(DAY + HOUR);
  // Sessions end after a day.
  const reader = await newMember(service, 'member');
  const missing = mainOf((await reader.get(`/domains/${domain.id}`)).html);
  assert.match(missing, /The record has disappeared\. Publish it again before \d+ Nov 2026/);
  assert.match(
    mainOf((await reader.get('/domains?q=example')).html),
    /Publish the TXT record for verification\./,
  );
  await service.pass(4 * DAY);
  const later = await newMember(service, 'member');
  const failed = mainOf((await later.get(`/domains/${domain.id}`)).html);
  assert.match(failed, /is no longer checked/);
  assert.match(failed, /Verify the domain to have it checked every day\./);
  assert.match(failed, /Verification failed/);
});

test('The history shows each change of the health, and the tests of the domain with their scores', async (t) => {
  const { service } = await startPages(t);
  const domain = await service.add('example.com');
  const other = await service.add('example.org');
  service.publish(domain);
  await service.verify(domain.id);
  await service.settle();
  service.dns.zone['example.com'] = { TXT: ['v=spf1 +all'], MX: ['10 mx.example.com'] };
  await service.pass(2 * DAY);
  const member = await newMember(service, 'member');
  await service.createTest({ name: 'Spring <b>mail</b>', domain_id: domain.id });
  const { html } = await member.get(`/domains/${domain.id}`);
  const [history] = /id="history".*?<\/section>/s.exec(html)!;
  assert.match(history, /Critical.*, was healthy.*Verified/s);
  const [tests] = /id="tests".*?<\/section>/s.exec(html)!;
  assert.match(tests, /<bdi[^>]*>Spring &lt;b>mail&lt;\/b>|<bdi[^>]*>Spring &lt;b&gt;mail/);
  assert.ok(tests.includes(`href="/tests?domain_id=${domain.id}"`));
  const untouched = await member.get(`/domains/${other.id}`);
  assert.match(mainOf(untouched.html), /No changes yet\./);
});

test('Selectors are replaced by the form, and an invalid one is named', async (t) => {
  const { service, member } = await startPages(t);
  const { id } = await service.add('example.com', { dkim_selectors: ['old'] });
  const saved = await member.post(`/domains/${id}/selectors`, { dkim_selectors: 's1\r\n s2, s1' });
  assert.equal(saved.location, `/domains/${id}?done=selectors`);
  assert.deepEqual((await service.get(id)).dkim_selectors, ['s1', 's2']);
  const wrong = await member.post(`/domains/${id}/selectors`, { dkim_selectors: 's1\n-bad-' });
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /The selector “-bad-” must be a DKIM selector/);
  assert.match(wrong.html, /<textarea[^>]*>\s*s1\n-bad-<\/textarea>/);
  assert.deepEqual((await service.get(id)).dkim_selectors, ['s1', 's2']);
});

test('The badge is off until a member enables it, and then shown with code to embed', async (t) => {
  const { service, member } = await startPages(t);
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.verify(domain.id);
  const path = `/domains/${domain.id}`;
  assert.doesNotMatch((await member.get(path)).html, /<img/);
  assert.equal((await member.post(`${path}/badge`, { badge: 'on' })).status, 303);
  const { html } = await member.get(path);
  assert.match(html, /<img src="\/badges\/example\.com\.svg" alt="Deliverability of example\.com"/);
  assert.match(mainOf(html), /!\[Deliverability of example\.com\]\(http/);
  assert.equal((await fetch(`${service.url}/badges/example.com.svg`)).status, 200);
  await member.post(`${path}/badge`, { badge: 'off' });
  assert.equal((await fetch(`${service.url}/badges/example.com.svg`)).status, 404);
});

test('Deleting a domain says what else is deleted; with alert rules, only an admin can do it', async (t) => {
  const { service, member } = await startPages(t);
  const admin = await newMember(service, 'admin');
  const { id } = await service.add('example.com');
  const path = `/domains/${id}`;
  const { call } = service;
  await call('POST', '/v1/monitors', {
    json: { name: 'M', type: 'domain_health', domain_id: id },
  });
  assert.match(mainOf((await member.get(path)).html), /its 1 monitor is deleted/);
  const json = { name: 'Low', condition: 'score_below', threshold: 70, channels: ['email'] };
  const made = await call('POST', '/v1/alerts', { json: { ...json, domain_id: id } });
  assert.equal(made.status, 201, made.text);
  const blocked = await member.get(path);
  assert.match(
    mainOf(blocked.html),
    /1 alert rule uses this domain, so only an admin can delete it/,
  );
  assert.doesNotMatch(blocked.html, /Delete domain…/);
  const forged = await member.post(`${path}/delete`);
  assert.equal(forged.status, 409);
  assert.match(mainOf(forged.html), /Only an admin can delete example\.com/);
  assert.match(mainOf((await admin.get(path)).html), /its 1 monitor and 1 alert rule are deleted/);
  const deleted = await admin.post(`${path}/delete`);
  assert.deepEqual([deleted.status, deleted.location], [303, '/domains?done=deleted']);
  assert.equal((await member.get(path)).status, 404);
});

test('DNS records from outside are shown as text', async (t) => {
  const { service, member } = await startPages(t);
  const domain = await service.add('example.com');
  service.publish(domain);
  service.dns.zone['_dmarc.example.com'] = {
    TXT: ['v=DMARC1; p=none; rua=mailto:<script>alert(1)</script>\u202e@x.example'],
  };
  await service.verify(domain.id);
  await member.post(`/domains/${domain.id}/check`);
  const { html } = await member.get(`/domains/${domain.id}`);
  assert.match(mainOf(html), /<script>alert\(1\)/);
  assert.doesNotMatch(html, /<script>alert|\u202e/);
});

test('Viewers have no pages of domains; test mode shows domains without actions', async (t) => {
  const { service, member } = await startPages(t);
  const { id } = await service.add('example.com');
  const viewer = await newMember(service, 'viewer');
  for (const path of ['/domains', `/domains/${id}`])
    assert.equal((await viewer.get(path)).status, 403);
  const switched = await member.post('/mode', { mode: 'test', next: '/' });
  const cookie = `${member.cookie}; ${switched.cookie}`;
  for (const path of ['/domains', `/domains/${id}`]) {
    const { status, html } = await member.get(path, { cookie });
    assert.equal(status, 200);
    assert.match(mainOf(html), /Domains have no test mode/);
    assert.doesNotMatch(mainOf(html), /Look up only|Verify now|Delete domain…|Edit selectors/);
  }
});

test('The name for the form of a DNS provider leaves out the zone', () => {
  const cases: [name: string, zone: string, host: string | null][] = [
    ['_deliverability.example.com', 'example.com', '_deliverability'],
    ['_deliverability.shop.example.com', 'example.com', '_deliverability.shop'],
    ['example.com', 'example.com', '@'],
    ['_dmarc.notexample.com', 'example.com', null],
  ];
  for (const [name, zone, host] of cases) assert.equal(hostName(name, zone), host);
});
