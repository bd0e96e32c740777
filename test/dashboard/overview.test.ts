/** The overview: what is broken, what to do next, and how it is going, for each role. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { refreshDue } from '../../src/domain-table/refresh.ts';
import type { Domain } from '../../src/domains/schema.ts';
import { appendEvent, type EventType } from '../../src/events/events.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { transact } from '../../src/store/open.ts';
import { firstLookupsDone, NOT_LOOKED_AT } from '../domains/first-lookups.ts';
import type { ServiceOptions, TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { memberOf, newMember, startWithOwner } from './member.ts';
import { getPage, mainOf, textOf } from './pages.ts';
import { storeTest } from './stored-tests.ts';

async function start(t: TestContext, options: ServiceOptions = {}) {
  const clock = testClock();
  return { clock, ...(await startWithOwner(t, { clock, ...options })) };
}

async function addDomain({ call, app }: TestService, name: string, columns: object = {}) {
  const { body } = await call<Domain>('POST', '/v1/domains', { json: { name } });
  await firstLookupsDone(app);
  const set = { ...NOT_LOOKED_AT, ...columns };
  await app.db.updateTable('domains').set(set).where('id', '=', body.id).execute();
  // Nothing else says that the columns have changed.
  await app.db.deleteFrom('domain_digests').where('id', '=', body.id).execute();
  return body.id;
}

const addRule = ({ call }: TestService) =>
  call('POST', '/v1/alerts', {
    json: { name: 'Low scores', condition: 'score_below', channels: ['webhook'] },
  });

async function openIncident({ app, call }: TestService, subject: string): Promise<string> {
  const { body } = await call<{ id: string }>('POST', '/v1/alerts', {
    json: { name: 'Low scores', condition: 'score_below', channels: ['webhook'] },
  });
  const id = app.newId('inc');
  const incident = {
    id,
    alert_id: body.id,
    subject,
    threshold: 70,
    value: '{"score":61,"threshold":70}',
    test_id: null,
    run_id: null,
    opened_at: isoTime(app.clock.now()),
    resolved_at: null,
    resolution: null,
    closing_id: null,
    condition: 'score_below',
    status: 'open',
  } as const;
  await app.db.insertInto('alert_incidents').values(incident).execute();
  return id;
}

/** A finding of the health check, as it is stored. */
const NO_SPF = JSON.stringify([
  {
    id: 'spf_record',
    label: 'SPF record',
    category: 'authentication',
    status: 'fail',
    severity: 'critical',
    title: 'There is no SPF record.',
    detail: '',
    evidence: {},
    points: 3,
    earned: 0,
    gain: 10,
    reference: { name: 'RFC 7208', url: 'https://rfc.example' },
    fix: { text: 'Publish an SPF record that names your servers.' },
  },
]);

/** The targets of links in the main part, in order. */
const linksIn = (html: string): string[] =>
  [...html.slice(html.indexOf('<main')).matchAll(/<a [^>]*href="(\/[^"#]*)/g)].map(
    ([, path]) => path!,
  );

test('Without any test, members get one button and viewers learn what will appear', async (t) => {
  const { service, owner } = await start(t);
  const { html } = await owner.get('/');
  assert.match(
    html,
    /<form method="post" action="\/tests"><button[^>]*large[^>]*>Get a test address/,
  );
  assert.deepEqual(linksIn(html), ['/tests/new']);
  assert.doesNotMatch(mainOf(html), /What to do next|Broken|Average score/);
  const viewer = await newMember(service, 'viewer');
  const theirs = await viewer.get('/');
  assert.match(mainOf(theirs.html), /appear here as soon as someone on your team tests a message/);
  assert.doesNotMatch(theirs.html, /action="\/tests"|href="\/tests\/new"/);
});

test('With domains but no test, the overview shows which are broken, also to members limited to a client', async (t) => {
  const { service, owner } = await start(t);
  for (const name of ['acme', 'bolt']) {
    const id = await addDomain(service, `${name}.example`, {
      health_status: 'critical',
      health_checks: NO_SPF,
      health_checked_at: isoTime(service.app.clock.now()),
    });
    await service.call('PATCH', `/v1/domains/${id}`, { json: { tags: [`client:${name}`] } });
  }
  await refreshDue(service.app);
  const all = mainOf((await owner.get('/')).html);
  assert.match(all, /Fix these domains first.*acme\.example.*bolt\.example/s);
  assert.match(all, /Test your first message.*Create test/s);
  const { id, email } = await service.makeMember('member');
  await service.call('PATCH', `/v1/team/members/${id}`, { json: { tags: ['client:acme'] } });
  const client = await memberOf(service, email);
  const theirs = mainOf((await client.get('/')).html);
  assert.match(theirs, /Overview.*acme\.example/s);
  assert.doesNotMatch(theirs, /bolt/);
  const reports = await client.get('/reports');
  assert.match(reports.html, /href="\/reports\/shares"/);
  assert.doesNotMatch(reports.html, /href="\/reports\/(?:brand|schedules)"/);
});

test('Visitors and browsers with an unknown session get the start page', async (t) => {
  const { service } = await start(t);
  for (const cookie of ['', 'deliverability=unknown']) {
    const { status, html } = await getPage(service, '/', { cookie });
    assert.equal(status, 200);
    assert.match(mainOf(html), /Sign in/);
  }
});

test('Test mode has an overview of its own tests', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app);
  const { html } = await owner.get('/');
  const switched = await owner.post('/mode', { mode: 'test', next: '/' });
  const { html: sandbox } = await owner.get('/', { cookie: `${owner.cookie}; ${switched.cookie}` });
  assert.match(mainOf(html), /Overview/);
  assert.match(mainOf(sandbox), /Test your first message/);
});

test('Broken things come first, each in one line that leads to its page', async (t) => {
  const { service, owner } = await start(t);
  const { app } = service;
  await storeTest(app);
  const critical = await addDomain(service, 'critical.example', {
    status: 'verified',
    health_status: 'critical',
    health_score: 31,
    health_checks: NO_SPF,
    health_checked_at: isoTime(app.clock.now()),
  });
  const failed = await addDomain(service, 'failed.example', { status: 'failed' });
  const losing = await addDomain(service, 'losing.example', {
    status: 'verified',
    health_status: 'healthy',
    missing_since: isoTime(app.clock.now()),
  });
  const incident = await openIncident(service, 'shop.example');
  const { body: endpoint } = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
    json: { url: 'https://hooks.example/path-with-a-secret', events: ['test.completed'] },
  });
  await app.db
    .updateTable('webhook_endpoints')
    .set({ auto_disabled_at: isoTime(app.clock.now()) })
    .execute();
  const { html } = await owner.get('/');
  const main = mainOf(html);
  assert.match(main, /Mail from shop\.example scored 61, below 70/);
  assert.match(
    main,
    /critical\.example: There is no SPF record\.\s*Publish an SPF record that names your servers\./,
  );
  assert.match(main, /failed\.example: Your domain is no longer verified\./);
  assert.match(main, /losing\.example: The verification record is missing\./);
  assert.match(main, /hooks\.example gets no events/);
  assert.doesNotMatch(html, /path-with-a-secret/);
  const links = [...new Set(linksIn(html))].filter((link) => link !== '/api-keys');
  assert.deepEqual(links.slice(0, 5), [
    `/incidents/${incident}`,
    `/webhooks/${endpoint.id}`,
    `/domains/${critical}`,
    `/domains/${failed}`,
    `/domains/${losing}`,
  ]);
  assert.match(html, new RegExp(`class="first-step" href="/domains/${critical}#health"`));
  const member = await newMember(service, 'member');
  const theirs = mainOf((await member.get('/')).html);
  assert.match(theirs, /shop\.example scored 61/);
  assert.doesNotMatch(theirs, /hooks\.example/);
  const viewer = await newMember(service, 'viewer');
  assert.doesNotMatch(
    mainOf((await viewer.get('/')).html),
    /critical\.example|shop\.example|Broken/,
  );
});

test('The five worst domains end with a link to all that have something to fix', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app);
  for (let i = 0; i < 7; i++) await addDomain(service, `d${i}.example`, { status: 'failed' });
  await addDomain(service, 'fine.example', { status: 'verified', health_status: 'healthy' });
  await refreshDue(service.app);
  const { html } = await owner.get('/');
  assert.equal(mainOf(html).match(/Your domain is no longer verified/g)?.length, 5);
  const link = '<a href="/domains?next_step=yes">All 7 domains with something to fix</a>';
  assert.ok(html.includes(link));
  assert.doesNotMatch(mainOf(html), /Nothing is broken/);
});

test('What changed since yesterday is one line for each kind of event, the worst first', async (t) => {
  const { service, owner, clock } = await start(t);
  const { app } = service;
  await storeTest(app);
  const append = (type: EventType, data: object) =>
    transact(app.db, (tx) => appendEvent(tx, { type, livemode: true, data }, app));
  await append('domain.records_changed', { id: 'dom_old', name: 'old.example', changes: [] });
  clock.advance(24 * 3_600_000 + 1);
  assert.doesNotMatch(mainOf((await owner.get('/')).html), /What changed/);
  for (let i = 0; i < 5; i++)
    await append('domain.records_changed', {
      id: `dom_${i}`,
      name: `d${i}.example`,
      changes: [{ name: `_dmarc.d${i}.example`, type: 'TXT' }],
    });
  for (const status of ['warning', 'critical'])
    await append('domain.health_changed', {
      id: 'dom_1',
      name: 'd1.example',
      previous_health: 'healthy',
      health: { status },
    });
  await append('alert.triggered', {
    id: 'inc_1',
    subject: 'd1.example',
    alert: { name: 'Scores' },
  });
  await append('test.completed', { id: 'test_1', domain_id: null });
  const { html } = await memberOf(service, 'owner@example.com').then((later) => later.get('/'));
  const card = mainOf(html).replace(/^.*What changed since yesterday/s, '');
  assert.match(
    card,
    /^Incidents openedScores d1\.example.*Health changedd1\.example healthy → critical.*DNS records changedd4\.example DMARC, d3\.example DMARC, d2\.example DMARC and 2 more/s,
  );
  assert.equal(card.match(/healthy → /g)!.length, 1, 'each domain once');
  assert.doesNotMatch(card, /old\.example/);
  assert.match(html, /href="\/domains\?sort=last_change"/);
});

test('Verified domains without a result have the same name and number as in the list', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app);
  const health = { status: 'verified', health_status: 'unknown' } as const;
  await addDomain(service, 'new.example', health);
  await addDomain(service, 'dead.example', { ...health, last_check_detail: 'No answer.' });
  const overview = mainOf((await owner.get('/')).html);
  assert.match(overview, /No result yet2/);
  const list = mainOf((await owner.get('/domains?state=unknown')).html);
  assert.match(list, /No result yet \(2\)/);
  assert.match(
    list,
    /dead\.exampleUnknown.*new\.exampleWaiting|new\.exampleWaiting.*dead\.exampleUnknown/,
  );
});

test('Nothing broken is one green line, but gray as long as nothing is monitored', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app);
  const before = await owner.get('/');
  assert.match(before.html, /<span class="state unset">.*?Nothing is monitored yet/);
  assert.doesNotMatch(mainOf(before.html), /Nothing is broken/);
  await addDomain(service, 'pending.example');
  await addDomain(service, 'unchecked.example', { status: 'verified' });
  assert.match(mainOf((await owner.get('/')).html), /Nothing is monitored yet/);
  await addRule(service);
  const after = await owner.get('/');
  assert.match(after.html, /<span class="state pass">.*?Nothing is broken/);
});

test('Admins see that outgoing email fails; members do not', async (t) => {
  const { service, owner } = await start(t, {
    env: {
      DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:9',
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  await storeTest(service.app);
  assert.match(mainOf((await owner.get('/')).html), /Outgoing email: Can't send email/);
  const member = await newMember(service, 'member');
  assert.doesNotMatch(mainOf((await member.get('/')).html), /Outgoing email/);
});

test('The next steps are those that the role can do, and vanish when they are done', async (t) => {
  const { service, owner } = await start(t, {
    env: {
      DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:9',
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  const waiting = await service.createTest();
  const stepsOf = async (reader: typeof owner) => {
    const { html } = await reader.get('/');
    const [, list = ''] = /<ol class="next-steps">(.*?)<\/ol>/s.exec(html) ?? [];
    return [...list.matchAll(/href="([^"]*)"/g)].map(([, path]) => path);
  };
  const adminSteps = ['/alerts/new', '/team', '/reports/schedules/new'];
  assert.deepEqual(await stepsOf(owner), [`/tests/${waiting.id}`, '/domains', ...adminSteps]);
  await storeTest(service.app);
  assert.deepEqual(await stepsOf(owner), ['/domains', ...adminSteps]);
  const id = await addDomain(service, 'example.com');
  assert.deepEqual(await stepsOf(owner), [`/domains/${id}`, ...adminSteps]);
  await service.app.db.updateTable('domains').set({ status: 'verified' }).execute();
  await addRule(service);
  const member = await newMember(service, 'member');
  assert.deepEqual(await stepsOf(member), []);
  assert.deepEqual(await stepsOf(owner), ['/reports/schedules/new']);
  await service.call('POST', '/v1/reports/schedules', {
    json: { name: 'Daily', frequency: 'daily', recipients: ['ann@example.com'] },
  });
  assert.deepEqual(await stepsOf(owner), []);
  assert.doesNotMatch(mainOf((await owner.get('/')).html), /What to do next/);
});

test('Without outgoing email, admins are told how to configure it', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app);
  const main = mainOf((await owner.get('/')).html);
  assert.match(main, /Configure outgoing email.*DELIVERABILITY_MAIL_URL/);
  assert.doesNotMatch(main, /Schedule a report/);
});

test('The figures are those of the period and the domain in the URL', async (t) => {
  const { service, owner } = await start(t);
  const { app } = service;
  const domain_id = await addDomain(service, 'example.com', {
    status: 'verified',
    health_status: 'healthy',
  });
  await storeTest(app, { score: 80, grade: 'B', dkim: 'fail', issues: ['dkim'] });
  const newest = await storeTest(app, { score: 60, grade: 'D', issues: ['dkim', 'dmarc_policy'] });
  await storeTest(app, { hoursAgo: 30, score: 100, domain_id });
  await storeTest(app, { hoursAgo: 8 * 24, score: 90 });
  const { html } = await owner.get('/');
  const main = mainOf(html);
  assert.match(main, /Last 7 days/);
  assert.match(main, /Average score80 B▼ 10 points lower than in the previous 7 days/);
  assert.match(main, /Completed tests31 in the previous 7 days/);
  assert.match(main, /SPF100%of 3 tests passed/);
  assert.match(main, /DKIM66%of 3 tests passed/);
  assert.match(html, new RegExp(`href="/tests/${newest}#check-dkim"`));
  assert.match(html, new RegExp(`href="/tests/${newest}#check-dmarc_policy"`));
  const day = mainOf((await owner.get('/?period=day')).html);
  assert.match(day, /Last 24 hours.*Average score70 C/s);
  const month = mainOf((await owner.get('/?period=month')).html);
  assert.match(month, /Last 30 days.*Completed tests4/s);
  const ofDomain = await owner.get(`/?domain_id=${domain_id}`);
  assert.match(mainOf(ofDomain.html), /Average score100 A/);
  assert.match(ofDomain.html, new RegExp(`<option[^>]*value="${domain_id}"[^>]*>example.com`));
  // The other periods keep the domain.
  assert.match(ofDomain.html, new RegExp(`href="/\\?period=month&amp;domain_id=${domain_id}"`));
});

test('The chart has the same figures as a table, named by the days on which slices end', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app, { score: 64, grade: 'D' });
  const { html } = await owner.get('/');
  const [, table] = /<div class="figures-table">(.*?)<\/div>/s.exec(html)!;
  const rows = [
    ...table!.matchAll(/<tr><th scope="row">(.*?)<\/th><td.*?>(.*?)<\/td><td.*?>(.*?)<\/td>/g),
  ];
  assert.deepEqual(
    rows.map(([, ...cells]) => cells.join()),
    [
      ...['Sun 15 Nov', 'Mon 16 Nov', 'Tue 17 Nov', 'Wed 18 Nov', 'Thu 19 Nov', 'Fri 20 Nov'].map(
        (name) => `${name},0,no tests`,
      ),
      'Sat 21 Nov,1,64',
    ],
  );
  assert.match(html, /<svg role="img" aria-label="Average score by day\. Sun 15 Nov: no tests;/);
  assert.doesNotMatch(html, / style="/);
});

test('A period without data is gray everywhere, neither fine nor broken', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app, { hoursAgo: 100 });
  const { html } = await owner.get('/?period=day');
  const going = html.slice(html.indexOf('class="going"'), html.indexOf('id="latest-tests"'));
  assert.match(mainOf(html), /No completed tests in this period\./);
  assert.doesNotMatch(going, /class="[^"]*\b(pass|warn|fail)\b/);
});

test('An unknown period or domain in an old link falls back to the default', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app);
  const odd = await owner.get('/?period=decade&utm_source=mail');
  assert.equal(odd.status, 200);
  assert.match(mainOf(odd.html), /Last 7 days/);
  const gone = await owner.get('/?domain_id=dom_gone');
  assert.equal(gone.status, 200);
  assert.match(mainOf(gone.html), /No such domain\. The figures include all domains\./);
});

test('With more than 100 domains, the domain is found by its name', async (t) => {
  const { service, owner } = await start(t);
  const { app } = service;
  const id = await addDomain(service, 'bücher.example');
  const row = await app.db.selectFrom('domains').selectAll().executeTakeFirstOrThrow();
  await app.db
    .insertInto('domains')
    .values(
      Array.from({ length: 100 }, (_, i) => ({
        ...row,
        id: app.newId('dom'),
        name: `d${i}.example`,
      })),
    )
    .execute();
  await storeTest(app, { domain_id: id, score: 42, grade: 'F' });
  await storeTest(app);
  const { html } = await owner.get(`/?domain=${encodeURIComponent('Bücher.example')}`);
  assert.match(mainOf(html), /Average score42 F/);
  assert.match(html, /<input id="domain" name="domain"[^>]*value="xn--bcher-kva.example"/);
  const missing = await owner.get('/?domain=nowhere.example');
  assert.match(mainOf(missing.html), /No such domain/);
});

test('Hostile subjects and names stay text and cannot turn the text around them', async (t) => {
  const { service, owner } = await start(t);
  await storeTest(service.app, {
    subject: '</bdi><script>alert(1)</script>\u202egnp.exe',
    from_address: '"<img src=x onerror=alert(1)>" <a@example.com>',
  });
  await storeTest(service.app, { subject: 'x'.repeat(100_000) });
  const { html } = await owner.get('/');
  assert.doesNotMatch(html, /<script>alert|<img src=x/);
  assert.match(html, /<bdi class="test-title">&lt;\/bdi(?:>|&gt;)&lt;script/);
  assert.ok(html.length < 100_000, `${html.length} characters`);
  assert.ok(textOf(html, 'latest-tests'));
});

test('Viewers see the figures, but no domains and no filter by domain', async (t) => {
  const { service } = await start(t);
  await addDomain(service, 'secret.example');
  await storeTest(service.app);
  const viewer = await newMember(service, 'viewer');
  const { html } = await viewer.get('/');
  assert.match(mainOf(html), /Average score90 A/);
  assert.doesNotMatch(html, /secret\.example|name="domain/);
});
