/** The page of a test: its progress, its report, and its actions. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { SENDER_ZONE, signed } from '../e2e/sender.ts';
import type { TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { type Member, newMember, startWithOwner } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';
import { storeTest } from './stored-tests.ts';

const versionIn = (html: string): string => /data-version="([^"]+)"/.exec(html)![1]!;
const urlIn = (html: string): string | undefined => /data-watch="([^"]+)"/.exec(html)?.[1];

/** The text of the checklist, with the word of each state. */
const checklistOf = (html: string): string[] =>
  [...(/<ol class="checklist".*?<\/ol>/s.exec(html)?.[0] ?? '').matchAll(/<li.*?<\/li>/gs)].map(
    ([item]) =>
      item
        .replace(/<\/p>/g, ' ')
        .replace(/<[^>]+>/g, '')
        .replace(/\s+/g, ' ')
        .trim(),
  );

async function newTest(owner: Member, fields = {}): Promise<string> {
  const created = await owner.post('/tests', fields);
  assert.equal(created.status, 303);
  const [, id] = /^\/tests\/(test_\w+)$/.exec(created.location!)!;
  return id!;
}

async function send(service: TestService, id: string, raw?: string | Uint8Array): Promise<void> {
  const { address } = await service.getTest(id);
  await sendMail({ port: service.smtp.port, to: address, raw: raw ?? (await signed()) });
}

async function completed(
  service: TestService,
  owner: Member,
  raw?: string | Uint8Array,
): Promise<string> {
  const id = await newTest(owner);
  await send(service, id, raw);
  assert.equal((await service.getTest(id, '?wait=50')).status, 'completed');
  return id;
}

const start = (t: TestContext, options: Parameters<typeof startWithOwner>[1] = {}) =>
  startWithOwner(t, { zone: SENDER_ZONE, ...options });

test('One click creates a test and leads to a page with its address', async (t) => {
  const { service, owner } = await start(t);
  const id = await newTest(owner);
  const { html, headers } = await owner.get(`/tests/${id}`);
  const { address } = await service.getTest(id);
  assert.ok(html.includes(`<code>${address}</code>`));
  assert.match(
    html,
    /Have your program send to <code>127\.0\.0\.1:\d+<\/code>, without a password/,
  );
  assert.doesNotMatch(html, /mailto:/);
  assert.deepEqual(checklistOf(html), [
    'In progress: Waiting for a connection',
    'Not started: Message',
    'Not started: SPF',
    'Not started: DKIM',
    'Not started: DMARC',
    'Not started: Content',
    'Not started: Report',
  ]);
  assert.equal(urlIn(html), `/tests/${id}`);
  // The page becomes the report without being loaded again, so it needs the policy of the report.
  const policy = headers.get('content-security-policy')!;
  assert.match(policy, /script-src 'self';/);
  assert.match(policy, /style-src 'self' 'unsafe-inline';/);
  assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/);
  const ended = await completed(service, owner);
  const report = await owner.get(`/tests/${ended}`);
  assert.equal(report.headers.get('content-security-policy'), policy);
});

test('The address in a domain with an MX record is for every mail server', async (t) => {
  const env = { DELIVERABILITY_INBOX_DOMAIN: 'inbox.mail-tests.net' };
  const { service, owner } = await start(t, { env });
  const id = await newTest(owner);
  const { html } = await owner.get(`/tests/${id}`);
  const { address } = await service.getTest(id);
  assert.ok(html.includes(`href="mailto:${address}"`));
  assert.doesNotMatch(html, /without a password/);
});

test('A request that has seen the current state waits for the next one', async (t) => {
  const { service, owner } = await start(t);
  const id = await newTest(owner);
  const version = versionIn((await owner.get(`/tests/${id}`)).html);
  const other = await owner.get(`/tests/${id}?wait=20&seen=other`);
  assert.equal(other.status, 200);
  assert.equal((await owner.get(`/tests/${id}?wait=0&seen=${version}`)).status, 204);
  const waiting = owner.get(`/tests/${id}?wait=20&seen=${version}`);
  await send(service, id);
  const { status, html } = await waiting;
  assert.equal(status, 200);
  assert.notEqual(versionIn(html), version);
});

test('A request with a strange wait or version is answered', async (t) => {
  const { owner } = await start(t);
  const id = await newTest(owner);
  for (const query of ['wait=x&seen=y', 'wait=-1&seen=y', 'wait=1e9&seen=', 'seen=%00', 'other=1'])
    assert.equal((await owner.get(`/tests/${id}?${query}`)).status, 200, query);
  const version = versionIn((await owner.get(`/tests/${id}`)).html);
  for (const wait of ['x', '-1', '0.01'])
    assert.equal((await owner.get(`/tests/${id}?wait=${wait}&seen=${version}`)).status, 204, wait);
});

test('A session that ends while a request waits gets no page', async (t) => {
  const { service, owner } = await start(t);
  const id = await newTest(owner);
  const version = versionIn((await owner.get(`/tests/${id}`)).html);
  const waiting = owner.get(`/tests/${id}?wait=20&seen=${version}`, { accept: 'text/html' });
  await service.app.db.deleteFrom('sessions').execute();
  await send(service, id);
  const { status, location } = await waiting;
  assert.equal(status, 303);
  assert.match(location!, /^\/sign-in/);
});

/** A session that stops after its commands, and stays open. */
async function talk(t: TestContext, { smtp }: TestService, commands: string[]): Promise<string[]> {
  const socket = connect(smtp.port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write('PROXY TCP4 192.0.2.7 192.0.2.255 40000 25\r\n');
  const replies: string[] = [];
  const lines = createInterface(socket)[Symbol.asyncIterator]();
  for (const command of ['', ...commands]) {
    if (command !== '') socket.write(`${command}\r\n`);
    let line = '';
    do line = (await lines.next()).value as string;
    while (line[3] === '-');
    replies.push(line);
  }
  return replies;
}

test('The page shows a server that connected, before any message is stored', async (t) => {
  const { service, owner } = await start(t);
  const id = await newTest(owner);
  const { address } = await service.getTest(id);
  const version = versionIn((await owner.get(`/tests/${id}`)).html);
  const waiting = owner.get(`/tests/${id}?wait=20&seen=${version}`);
  const helo = `mail.${`${'x'.repeat(60)}.`.repeat(3)}example.com`;
  const commands = [`EHLO ${helo}`, 'MAIL FROM:<a@example.com>', `RCPT TO:<${address}>`];
  for (const reply of await talk(t, service, commands)) assert.match(reply, /^2\d\d /);
  const [connection, message] = checklistOf((await waiting).html);
  assert.match(connection!, /^Done: Connected from 192\.0\.2\.7 mail\.x{60}\.x+…, not encrypted$/);
  assert.equal(message, 'In progress: Receiving the message');
});

test('The page shows why a message was rejected, and continues when it is accepted', async (t) => {
  const { service, owner } = await start(t, { env: { DELIVERABILITY_SMTP_MAX_SIZE: '100KiB' } });
  const id = await newTest(owner);
  await assert.rejects(send(service, id, goodMessage({}, 'x'.repeat(200_000))));
  const { html } = await owner.get(`/tests/${id}`);
  assert.match(checklistOf(html)[1]!, /^Failed: Message rejected 552 5\.3\.4 Message is larger/);
  assert.match(mainOf(html), /Remove attachments and send it again\./);
  await send(service, id);
  const ended = await service.getTest(id, '?wait=50');
  assert.equal(ended.status, 'completed');
  assert.doesNotMatch((await owner.get(`/tests/${id}`)).html, /Message rejected/);
});

test('After two minutes without a connection, the page names the usual reasons', async (t) => {
  const clock = testClock();
  const { owner } = await start(t, { clock });
  const id = await newTest(owner);
  clock.advance(119_000);
  const before = await owner.get(`/tests/${id}`);
  assert.doesNotMatch(before.html, /No server has connected yet/);
  // The request ends when the time has come, not when its own time is over.
  const waiting = owner.get(`/tests/${id}?wait=20&seen=${versionIn(before.html)}`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  clock.advance(1000);
  const { html } = await waiting;
  for (const reason of [/outgoing port 25/, /still queued/, /address is wrong/])
    assert.match(mainOf(html), reason);
});

test('An expired test says what happened and offers a new address', async (t) => {
  const clock = testClock();
  const { service, owner } = await start(t, { clock });
  const id = await newTest(owner);
  clock.advance(3_600_001);
  assert.equal((await service.getTest(id, '?wait=10')).status, 'failed');
  const { html } = await owner.get(`/tests/${id}`);
  assert.match(mainOf(html), /No message arrived before the address expired/);
  assert.equal(urlIn(html), undefined);
  assert.match(html, /<input type="hidden" name="like"/);
});

test('A test being analyzed shows its message and the finished checks', async (t) => {
  const { service, owner } = await start(t);
  const id = await newTest(owner);
  const { app } = service;
  // No worker takes it, so that the state stays.
  app.pool.analyze = async (_input, { onStep } = {}) => {
    onStep?.('spf', 'pass');
    onStep?.('dkim', 'fail');
    return { ok: false, reason: 'closed', detail: 'stopped' };
  };
  await send(service, id, goodMessage({ Subject: '=?utf-8?q?Sch=C3=B6ne_Gr=C3=BC=C3=9Fe?=' }));
  let items: string[] = [];
  for (let tries = 0; tries < 100 && !items[3]?.startsWith('Failed'); tries += 1) {
    items = checklistOf((await owner.get(`/tests/${id}`)).html);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match(items[0]!, /^Done: Connected from 192\.0\.2\.1 mail\.example\.com, encrypted \(TLS/);
  assert.match(items[1]!, /^Done: Message received \(\d+ bytes?\) Schöne Grüße$/);
  assert.deepEqual(items.slice(2), [
    'Done: SPF passes',
    'Failed: DKIM fails',
    'In progress: Checking DMARC',
    'In progress: Checking Content',
    'Not started: Report',
  ]);
});

test('A completed test is the report with navigation and actions, for viewers without actions', async (t) => {
  const { service, owner } = await start(t);
  const id = await completed(service, owner);
  const { html } = await owner.get(`/tests/${id}`);
  assert.match(html, /<nav id="navigation"/);
  assert.match(html, /<iframe sandbox=""|<pre/);
  assert.match(mainOf(html), /How the score is calculated/);
  const actions = [`/tests/${id}/reanalyze`, `/tests/${id}/delete`, '/tests', `/tests/${id}/kind`];
  for (const action of actions) assert.ok(html.includes(`action="${action}"`), action);
  const links = [
    `/tests/compare?b=${id}`,
    `/reports/shares/new?test_ids=${id}`,
    `/v1/tests/${id}/report.pdf`,
    `/v1/tests/${id}/source`,
    `/tests/${id}/edit`,
  ];
  for (const link of links) assert.ok(html.includes(`href="${link}"`), link);
  const viewer = await newMember(service, 'viewer');
  const seen = await viewer.get(`/tests/${id}`);
  assert.equal(seen.status, 200);
  assert.doesNotMatch(seen.html, /action="\/tests/);
  for (const link of [links[0]!, links[2]!, links[3]!]) assert.ok(seen.html.includes(link), link);
  for (const link of [links[1]!, links[4]!]) assert.ok(!seen.html.includes(link), link);
});

test('A completed test shows its earlier tests, with what changed and the way to all of them', async (t) => {
  const { service, owner } = await start(t);
  const series = { name: 'Weekly', hoursAgo: 3 };
  const older = await storeTest(service.app, { ...series, score: 70, issues: ['spf'] });
  const newer = await storeTest(service.app, { ...series, score: 64, issues: [] });
  const only = await storeTest(service.app, { name: 'Only one' });
  const { html } = await owner.get(`/tests/${newer}`);
  const history = /<section[^>]* id="history".*?<\/section>/s.exec(html)![0];
  assert.match(html, /6 points less<\/span><\/span><\/a> since the previous test: score 70/);
  assert.ok(history.includes(`href="/tests/compare?a=${older}&amp;b=${newer}"`));
  assert.ok(history.includes('href="/tests?name=Weekly"'));
  assert.match(history, /<svg role="img".*70.*64/s);
  const first = await owner.get(`/tests/${only}`);
  assert.doesNotMatch(first.html, /id="history"|since the previous test/);
});

test('The history says that the rules differ, whichever of the two tests has the newer ones', async (t) => {
  const { service, owner } = await start(t);
  const series = { name: 'Weekly', issues: [] };
  await storeTest(service.app, { ...series, ruleset: '2026.11.4', hoursAgo: 3 });
  const middle = await storeTest(service.app, { ...series, ruleset: '2026.11.2', hoursAgo: 2 });
  const last = await storeTest(service.app, { ...series, ruleset: '2026.11.2' });
  assert.match(mainOf((await owner.get(`/tests/${middle}`)).html), /The rules differ\./);
  const { html } = await owner.get(`/tests/${last}`);
  assert.equal([...mainOf(html).matchAll(/The rules differ\./g)].length, 1);
});

test('A message has its subject in the list and on its page before its analysis ends', async (t) => {
  const { service, owner } = await start(t);
  const base = { status: 'processing', score: null, grade: null, checks: null } as const;
  const known = await storeTest(service.app, { ...base, subject: 'Known early' });
  const unknown = await storeTest(service.app, { ...base, subject: null });
  const { html } = await owner.get('/tests');
  assert.match(html, /Known early/);
  assert.match(html, /Subject not known yet/);
  assert.doesNotMatch(html, /No subject/);
  assert.match((await owner.get(`/tests/${known}`)).html, /<h1[^>]*>.*Known early/);
  assert.match((await owner.get(`/tests/${unknown}`)).html, /<h1[^>]*>.*Subject not known yet/);
  await storeTest(service.app, { subject: null });
  assert.match((await owner.get('/tests')).html, /No subject/);
});

test('Forms of a test are for members, and only in the mode of the browser', async (t) => {
  const { service, owner } = await start(t);
  const id = await completed(service, owner);
  const viewer = await newMember(service, 'viewer');
  for (const path of ['reanalyze', 'delete', 'edit', 'kind'])
    assert.equal((await viewer.post(`/tests/${id}/${path}`)).status, 403, path);
  assert.equal((await viewer.post('/tests')).status, 403);
  assert.equal((await viewer.get(`/tests/${id}/edit`)).status, 403);
  const switched = (await owner.post('/mode', { mode: 'test' })).cookie!;
  const { status } = await owner.get(`/tests/${id}`, { cookie: `${owner.cookie}; ${switched}` });
  assert.equal(status, 404);
  assert.equal((await service.getTest(id)).status, 'completed');
});

test('Reanalyze, the kind, and a new test like this one lead to the page of a test', async (t) => {
  const { service, owner } = await start(t);
  const id = await completed(service, owner);
  const { previous } = await service.getTest(id);
  assert.equal(previous, null);
  const again = await owner.post(`/tests/${id}/reanalyze`);
  assert.deepEqual([again.status, again.location], [303, `/tests/${id}?done=reanalyzed`]);
  assert.notEqual((await service.getTest(id)).previous, null);
  assert.match((await owner.get(again.location!)).html, /was analyzed again/);
  await owner.post(`/tests/${id}/kind`, { kind: 'marketing' });
  await owner.post(`/tests/${id}/edit`, { name: 'Spring', metadata: 'campaign = spring' });
  const like = await newTest(owner, { like: id });
  const { name, kind, metadata, status } = await service.getTest(like);
  assert.deepEqual(
    { name, kind, metadata, status },
    { name: 'Spring', kind: 'marketing', metadata: { campaign: 'spring' }, status: 'waiting' },
  );
  assert.equal((await owner.post('/tests', { like: 'test_none' })).status, 404);
});

test('A reanalysis that takes long is watched on the page of the old result', async (t) => {
  const { service, owner } = await start(t);
  const id = await completed(service, owner);
  await service.app.db
    .updateTable('tests')
    .set({ analysis_due_at: '2999-01-01T00:00:00.000Z' })
    .where('id', '=', id)
    .execute();
  const { html } = await owner.get(`/tests/${id}?done=reanalyzed`);
  assert.match(mainOf(html), /being analyzed again/);
  assert.equal(urlIn(html), `/tests/${id}`);
  assert.doesNotMatch(html, /was analyzed again/);
});

test('Delete leads to the list, and the page is gone', async (t) => {
  const { owner } = await start(t);
  const id = await newTest(owner);
  const { status, location } = await owner.post(`/tests/${id}/delete`);
  assert.deepEqual([status, location], [303, '/tests?deleted=1']);
  assert.equal((await owner.get(`/tests/${id}`)).status, 404);
});

test('The form of a test keeps what was typed and explains errors', async (t) => {
  const { service, owner } = await start(t);
  const id = await newTest(owner);
  const bad = await owner.post(`/tests/${id}/edit`, { name: 'Fine', metadata: 'a = 1\nb' });
  assert.equal(bad.status, 422);
  assert.match(bad.html, /Line 2 is not a pair\. Write it as key = value\./);
  assert.equal(fieldOf(bad.html, 'name').value, 'Fine');
  assert.match(bad.html, />\na = 1\nb<\/textarea>/);
  const long = await owner.post(`/tests/${id}/edit`, { name: 'x'.repeat(300), metadata: '' });
  assert.equal(long.status, 422);
  assert.match(mainOf(long.html), /The name must/);
  const saved = await owner.post(`/tests/${id}/edit`, {
    name: ' Spring ',
    metadata: ' a = b = c \r\n',
  });
  assert.deepEqual([saved.status, saved.location], [303, `/tests/${id}?done=saved`]);
  const { name, metadata } = await service.getTest(id);
  assert.deepEqual([name, metadata], ['Spring', { a: 'b = c' }]);
});

test('The form leaves metadata alone that it cannot show', async (t) => {
  const { service, owner } = await start(t);
  const metadata = { note: 'two\nlines' };
  const { id } = await service.createTest({ metadata });
  const { html } = await owner.get(`/tests/${id}/edit`);
  assert.match(mainOf(html), /Use the API to change it/);
  await owner.post(`/tests/${id}/edit`, { name: 'Named' });
  const changed = await service.getTest(id);
  assert.deepEqual([changed.name, changed.metadata], ['Named', metadata]);
});

test('Times in a report follow the zone and the language that the reader has chosen', async (t) => {
  const { service, owner } = await start(t, { clock: testClock() });
  const id = await completed(service, owner);
  const timesOf = async () =>
    [...(await owner.get(`/tests/${id}`)).html.matchAll(/<time dateTime="[^"]+">([^<]+)</gi)].map(
      ([, text]) => text!,
    );
  for (const text of await timesOf()) assert.match(text, /UTC$/);
  await service.app.db
    .updateTable('members')
    .set({ time_zone: 'Asia/Tokyo', date_locale: 'de' })
    .execute();
  const times = await timesOf();
  assert.ok(times.length > 0);
  for (const text of times) assert.match(text, /^21\. Nov\. 2026, (18:59|19:00) GMT\+9$/);
});

test('Hostile text in a message stays text and in its place', async (t) => {
  const { service, owner } = await start(t);
  const subject = `<script>alert(1)</script> "' \u202eesrever\u200b ${'x'.repeat(2000)}`;
  const encoded = Buffer.from(subject)
    .toString('base64')
    .match(/.{1,40}/g)!;
  const id = await completed(
    service,
    owner,
    goodMessage({ Subject: encoded.map((part) => `=?utf-8?b?${part}?=`).join('\n ') }),
  );
  const { html } = await owner.get(`/tests/${id}`);
  assert.doesNotMatch(html, /<script>/);
  assert.doesNotMatch(html, /\u202e/);
  assert.ok(/<title>([^<]*)<\/title>/.exec(html)![1]!.length < 200);
});

test('A report without its message and unknown tests have a page', async (t) => {
  const { service, owner } = await start(t);
  const id = await completed(service, owner);
  await service.app.db.deleteFrom('messages').where('test_id', '=', id).execute();
  assert.equal((await owner.get(`/tests/${id}`)).status, 200);
  const { status, html } = await owner.get('/tests/test_none', { accept: 'text/html' });
  assert.equal(status, 404);
  assert.match(html, /<h1/);
});
