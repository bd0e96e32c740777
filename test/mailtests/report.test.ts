/** The report endpoints of a test: page and PDF. */

// @one-database: about reports.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { sendAndWait, startWithDns } from '../e2e/sender.ts';
import type { TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfInfo, pdfWords } from '../helpers/pdf.ts';

const BOTH = ['report.html', 'report.pdf'];

/** A service with a completed test of an unsigned message received by SMTP. */
async function startWithResult(t: TestContext, changes: Record<string, string> = {}) {
  const { service } = await startWithDns(t);
  const done = await sendAndWait(service, { raw: goodMessage(changes) });
  assert.equal(done.status, 'completed');
  return { service, done };
}

const get = ({ url, key }: TestService, path: string, method = 'GET', credentials = key) =>
  fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${credentials}`, 'accept-encoding': 'identity' },
  });

async function bytesOf(service: TestService, path: string): Promise<Uint8Array> {
  const response = await get(service, path);
  assert.equal(response.status, 200);
  return new Uint8Array(await response.arrayBuffer());
}

test('GET /v1/tests/{id}/report.html shows result and escaped message with a strict CSP', async (t) => {
  const { service, done } = await startWithResult(t, { Subject: 'Tea & <b>biscuits</b>' });
  const response = await get(service, `/v1/tests/${done.id}/report.html`);
  assert.equal(response.status, 200);
  const { headers } = response;
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(
    headers.get('content-security-policy')!,
    /^default-src 'none'.*frame-ancestors 'none'/,
  );
  assert.equal(headers.get('cache-control'), 'private, no-cache');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('x-robots-tag'), 'noindex');
  assert.match(headers.get('x-request-id')!, /^req_/);
  const page = await response.text();
  assert.match(page, /^<!doctype html>/i);
  assert.ok(page.includes(`Score ${done.score} out of 100, grade ${done.grade}`));
  assert.ok(
    page.includes('Tea &amp; &lt;b>biscuits') || page.includes('Tea &amp; &lt;b&gt;biscuits'),
  );
  assert.ok(!page.includes('<b>biscuits'));
  assert.match(page, /Hello, your order is on its way\./);
  for (const { status, title } of done.checks)
    if (status === 'fail') assert.ok(page.includes(title.replace(/&/g, '&amp;')), title);
});

test('GET /v1/tests/{id}/report.pdf contains the same result and is reproducible', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const { service, done } = await startWithResult(t);
  const response = await get(service, `/v1/tests/${done.id}/report.pdf`);
  const { status, headers } = response;
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/pdf');
  assert.equal(headers.get('content-disposition'), `inline; filename="${done.id}.pdf"`);
  assert.equal(headers.get('cache-control'), 'private, no-store');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('x-robots-tag'), 'noindex');
  const pdf = new Uint8Array(await response.arrayBuffer());
  assert.equal(headers.get('content-length'), String(pdf.byteLength));
  assert.match(pdfInfo(pdf), /^Title: +Deliverability report: Your order has shipped$/m);
  assert.match(pdfInfo(pdf), /^CreationDate: +Sat Nov 21 .*2026/m);
  const words = pdfWords(pdf);
  assert.ok(words.includes(`${done.score}Grade ${done.grade}`));
  assert.match(words, /Hello, your order is on its way\./);
  for (const { status: found, label } of done.checks)
    if (found !== 'info') assert.ok(words.includes(label), label);
  const again = await bytesOf(service, `/v1/tests/${done.id}/report.pdf`);
  assert.ok(Buffer.from(pdf).equals(again), 'the same result gives the same file');
});

test('Report endpoints answer 409 with the reason when there is no result', async (t) => {
  const { service } = await startWithDns(t);
  const { id } = await service.createTest();
  const states: [Partial<Pick<Test, 'status' | 'failure_reason'>>, RegExp][] = [
    [{}, /the message has not arrived\.$/],
    [{ status: 'processing' }, /the message is being analyzed\.$/],
    [{ status: 'failed', failure_reason: 'not_received' }, /the message did not arrive in time\.$/],
    [{ status: 'failed', failure_reason: 'unreadable' }, /the message could not be analyzed\.$/],
  ];
  for (const [change, detail] of states) {
    if (change.status)
      await service.app.db.updateTable('tests').set(change).where('id', '=', id).execute();
    for (const report of BOTH) {
      const { status, body } = await service.call('GET', `/v1/tests/${id}/${report}`);
      assert.deepEqual([status, body.code], [409, 'conflict']);
      assert.match(body.detail as string, detail);
    }
  }
});

test('A test that failed with findings has a report without score', async (t) => {
  const { service, done } = await startWithResult(t);
  const failed = { status: 'failed', failure_reason: 'analysis_error', score: null, grade: null };
  await service.app.db
    .updateTable('tests')
    .set(failed as never)
    .where('id', '=', done.id)
    .execute();
  const page = await (await get(service, `/v1/tests/${done.id}/report.html`)).text();
  assert.match(page, /No score/);
});

test('Reports work without the stored message', async (t) => {
  const { service, done } = await startWithResult(t);
  await service.app.db.deleteFrom('messages').where('test_id', '=', done.id).execute();
  const page = await (await get(service, `/v1/tests/${done.id}/report.html`)).text();
  assert.match(page, /This report does not include the message\./);
  assert.doesNotMatch(page, /your order is on its way\./);
  const pdf = Buffer.from(await bytesOf(service, `/v1/tests/${done.id}/report.pdf`));
  assert.ok(pdf.subarray(0, 5).toString() === '%PDF-');
});

test('Reports are readable by viewers and only in the key’s own mode', async (t) => {
  const { service, done } = await startWithResult(t);
  const viewer = await service.makeKey('viewer');
  const sandbox = await service.makeKey('owner', false);
  for (const report of BOTH) {
    const path = `/v1/tests/${done.id}/${report}`;
    assert.equal((await get(service, path, 'GET', viewer)).status, 200);
    assert.equal((await get(service, path, 'GET', sandbox)).status, 404);
    assert.equal((await service.call('GET', path, { key: null })).status, 401);
    assert.equal((await service.call('GET', `/v1/tests/test_none/${report}`)).status, 404);
    const wrong = await service.call('POST', path);
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD');
  }
});

test('HEAD on report endpoints returns type and size without a body', async (t) => {
  const { service, done } = await startWithResult(t);
  for (const report of BOTH) {
    const path = `/v1/tests/${done.id}/${report}`;
    const { byteLength } = await bytesOf(service, path);
    const head = await get(service, path, 'HEAD');
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-length'), String(byteLength));
    assert.equal((await head.arrayBuffer()).byteLength, 0);
  }
});

test('The OpenAPI document lists both report endpoints with their content types', async (t) => {
  const { service } = await startWithDns(t);
  const { body } = await service.call<{ paths: Record<string, Record<string, never>> }>(
    'GET',
    '/openapi.json',
  );
  const types = BOTH.map((report) => {
    const operation = body.paths[`/v1/tests/{id}/${report}`]!.get as unknown as {
      responses: Record<string, { content: object }>;
    };
    assert.ok('409' in operation.responses && '503' in operation.responses);
    return Object.keys(operation.responses['200']!.content);
  });
  assert.deepEqual(types, [['text/html'], ['application/pdf']]);
});
