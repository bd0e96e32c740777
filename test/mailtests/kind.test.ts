/** The kind of mail in the API and on the report page. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { getPage, postForm } from '../dashboard/pages.ts';
import { SENDER_ZONE, signed, startWithDns } from '../e2e/sender.ts';
import type { TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { ownerBrowser } from '../team/browser.ts';

/** Marketing or not is unclear. */
const TRIAL = goodMessage(
  { Subject: 'Your trial ends in 3 days' },
  'Hello Anna,\n\nyour trial ends on Tuesday. Upgrade to keep your projects:\nhttps://example.com/plans\n',
);

async function startWithTrial(t: TestContext, message = TRIAL) {
  const { service } = await startWithDns(t, SENDER_ZONE);
  const { id, address } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw: await signed({ message }) });
  const done = await service.getTest(id, '?wait=50');
  assert.equal(done.status, 'completed');
  return { service, done, path: `/v1/tests/${id}` };
}

async function reanalyzed(service: TestService, id: string): Promise<Test> {
  for (;;) {
    const { analysis_due_at } = await service.app.db
      .selectFrom('tests')
      .select('analysis_due_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (analysis_due_at === null) return service.getTest(id);
    await service.app.signals.wait(id, 20_000);
  }
}

test('A test with an uncertain kind returns both scores, in lists and events too', async (t) => {
  const { service, done } = await startWithTrial(t);
  assert.equal(done.kind, 'auto');
  assert.equal(done.kind_confidence, 'uncertain');
  assert.equal(done.judged_kind!.kind, 'transactional');
  assert.deepEqual(Object.keys(done.judged_kind!), ['kind', 'by', 'confidence', 'reasons']);
  const { kind, score, grade } = done.alternative!;
  assert.equal(kind, 'marketing');
  assert.ok(score! < done.score!);
  assert.notEqual(grade, done.grade);
  const list = await service.call<{ data: Test[] }>('GET', '/v1/tests');
  const events = await service.call<{ data: { data: Test }[] }>('GET', '/v1/events');
  for (const listed of [list.body.data[0]!, events.body.data[0]!.data]) {
    assert.equal(listed.kind_confidence, 'uncertain');
    assert.deepEqual(listed.alternative, done.alternative);
  }
});

test('POST /v1/tests/{id}/reanalyze with a kind settles it, and auto detects it again', async (t) => {
  const { service, done, path } = await startWithTrial(t);
  const settle = (kind?: string) =>
    service.call<Test>('POST', `${path}/reanalyze`, { json: kind ? { kind } : {} });
  const answer = await settle('marketing');
  assert.deepEqual([answer.status, answer.body.kind], [200, 'marketing']);
  const marketing = await reanalyzed(service, done.id);
  assert.deepEqual([marketing.kind, marketing.kind_confidence], ['marketing', 'certain']);
  assert.deepEqual(
    [marketing.score, marketing.grade, marketing.alternative],
    [done.alternative!.score, done.alternative!.grade, null],
  );
  assert.equal(marketing.previous!.score, done.score);
  await settle();
  assert.equal((await reanalyzed(service, done.id)).kind, 'marketing');
  await settle('auto');
  const again = await reanalyzed(service, done.id);
  assert.deepEqual([again.kind, again.alternative], ['auto', done.alternative]);
});

test('POST /v1/tests/{id}/reanalyze rejects an unknown kind and keeps the old one', async (t) => {
  const { service, done, path } = await startWithTrial(t);
  for (const json of [{ kind: 'spam' }, { kind: null }, { type: 'marketing' }]) {
    const { status } = await service.call('POST', `${path}/reanalyze`, { json });
    assert.equal(status, 422, JSON.stringify(json));
  }
  assert.equal((await service.getTest(done.id)).kind, 'auto');
});

test('Tests before their result have no confidence', async (t) => {
  const { service } = await startWithTrial(t);
  const { id } = await service.createTest();
  const waiting = await service.getTest(id);
  assert.deepEqual([waiting.kind_confidence, waiting.alternative], [null, null]);
});

// The form on the report page.

const formOf = (html: string) =>
  /<form class="choice"[^>]*action="([^"]+)"[\s\S]*?<\/form>/.exec(html);

test('The report page lets a signed-in member choose the kind without JavaScript', async (t) => {
  const { service, done, path } = await startWithTrial(t);
  const { cookie } = await ownerBrowser(service);
  const page = await getPage(service, `${path}/report.html`, { cookie });
  const [form, action] = formOf(page.html)!;
  assert.match(form, /value="marketing">This is marketing mail</);
  assert.match(form, /value="transactional">This is transactional mail</);
  assert.match(page.headers.get('content-security-policy')!, /form-action 'self'/);
  assert.match(
    page.html,
    /http-equiv="Content-Security-Policy" content="[^"]*form-action (?:'|&#39;)self/,
  );
  assert.equal(page.headers.get('referrer-policy'), 'strict-origin');
  const sent = await postForm(service, action!, { kind: 'marketing' }, { cookie });
  assert.deepEqual([sent.status, sent.location], [303, `/tests/${done.id}?done=reanalyzed`]);
  const settled = await service.getTest(done.id);
  assert.deepEqual([settled.kind, settled.score], ['marketing', done.alternative!.score]);
  const after = await getPage(service, sent.location!, { cookie });
  assert.match(formOf(after.html)![0], /This is transactional mail[\s\S]*Detect the kind again/);
  assert.match(after.html, /Evaluated as <strong>marketing mail \(certain\)/);
});

test('The form for the kind rejects other sites, viewers, and other values', async (t) => {
  const { service, done } = await startWithTrial(t);
  const { cookie } = await ownerBrowser(service);
  const action = `/tests/${done.id}/kind`;
  const send = (fields: Record<string, string>, headers: Record<string, string>) =>
    postForm(service, action, fields, headers);
  const crossSite = { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  assert.equal((await send({ kind: 'marketing' }, crossSite)).status, 403);
  assert.equal((await send({ kind: 'marketing' }, {})).status, 401);
  assert.equal((await send({ kind: 'spam' }, { cookie })).status, 422);
  const viewer = { authorization: `Bearer ${await service.makeKey('viewer')}` };
  assert.equal((await send({ kind: 'marketing' }, viewer)).status, 403);
  assert.equal(
    (await postForm(service, '/tests/test_none/kind', { kind: 'auto' }, { cookie })).status,
    404,
  );
  assert.equal((await service.getTest(done.id)).kind, 'auto');
});

test('Report pages for API keys and shared links have no form', async (t) => {
  const { service, done, path } = await startWithTrial(t);
  const authorization = `Bearer ${service.key}`;
  const page = await getPage(service, `${path}/report.html`, { authorization });
  assert.equal(formOf(page.html), null);
  assert.match(page.headers.get('content-security-policy')!, /form-action 'none'/);
  const json = { test_ids: [done.id] };
  const { body } = await service.call<{ token: string }>('POST', '/v1/reports/share', { json });
  const { cookie } = await ownerBrowser(service);
  const shared = await getPage(service, `/reports/public/${body.token}`, { cookie });
  assert.equal(shared.status, 200);
  assert.equal(formOf(shared.html), null);
  assert.match(shared.html, /Transactional mail \(uncertain\)/);
  const accept = { accept: 'application/json' };
  const answer = JSON.parse((await getPage(service, `/reports/public/${body.token}`, accept)).html);
  assert.deepEqual(answer.tests[0].alternative, done.alternative);
  assert.equal(answer.tests[0].kind_confidence, 'uncertain');
});
