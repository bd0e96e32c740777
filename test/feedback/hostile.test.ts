/** Reports that someone forged, or made to confuse the counts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { feedbackOf } from '../../src/domains/feedback/state.ts';
import { readFeedback } from '../../src/feedback/reading/read.ts';
import { assignSource } from '../../src/feedback/sources/assign.ts';
import { arf, dmarc, mail, record, text, tls, tlsFailure, tlsPolicy } from './reading/builders.ts';
import { NOW, named, startFeedback } from './start.ts';

const DAY_MS = 86_400_000;

test('Over HTTPS, only TLS reports are taken', async (t) => {
  const { domain, reports, service, settled } = await startFeedback(t);
  const token = domain.feedback.address.slice(3, 19);
  for (const body of [dmarc(), arf('Feedback-Type: abuse\nSource-IP: 192.0.2.9\n'), tls()])
    await service.call('POST', `/feedback/tls/${token}`, {
      key: null,
      body,
      headers: { 'content-type': 'application/tlsrpt+json' },
    });
  await settled();
  assert.deepEqual(
    (await reports()).map(({ status, reason }) => [status, reason]),
    [
      ['refused', 'unsupported'],
      ['refused', 'unsupported'],
      ['unverified', null],
    ],
  );
});

test('A hundred forged copies do not keep the copy of a genuine report from being a duplicate', async (t) => {
  const { reports, send, service, upload } = await startFeedback(t);
  const forged = (count: number) =>
    mail([
      text('x'),
      { type: 'text/xml', content: dmarc({ records: record({ count: String(count) }) }) },
    ]);
  await send(forged(1), { from: 'broken.example' });
  const [first] = await reports();
  const row = await service.app.db
    .selectFrom('feedback_reports')
    .selectAll()
    .where('id', '=', first!.id)
    .executeTakeFirstOrThrow();
  for (let position = 1; position <= 100; position++)
    await service.app.db
      .insertInto('feedback_reports')
      .values({ ...row, id: service.app.newId('fbr'), position, figures: `f${position}` })
      .execute();
  const genuine = dmarc({ records: record({ count: '7' }) });
  assert.equal((await upload(genuine))[0]!.status, 'counted');
  assert.equal((await upload(genuine))[0]!.status, 'duplicate');
});

test('Texts with NUL and with a lone surrogate are stored', async (t) => {
  const { service, upload } = await startFeedback(t);
  const odd = tlsFailure({
    'receiving-mx-hostname': 'mx\u0000.example.com',
    'additional-information': `${'x'.repeat(499)}😀`,
  });
  const [report] = await upload(tls({}, [tlsPolicy({}, {}, [odd])]));
  assert.equal(report!.status, 'counted');
  const { body } = await service.call<{ failures: { sessions: number }[] }>(
    'GET',
    `/v1/feedback/reports/${report!.id}`,
  );
  assert.equal(body.failures[0]!.sessions, 3);
});

test('A report that counts late does not make newer ones forgotten', async (t) => {
  const { clock, domain, send, service } = await startFeedback(t);
  const report = (id: string) =>
    send(mail([text('A report.'), { type: 'application/xml', content: dmarc({ id }) }]));
  await report('old');
  clock.advance(10 * DAY_MS);
  await report('new');
  clock.advance(-10 * DAY_MS);
  await report('late');
  clock.advance(10 * DAY_MS);
  const { state, last_report_at } = await feedbackOf(service.app, service.app.db, domain);
  assert.deepEqual([state, last_report_at], ['receiving', '2026-12-02T10:00:00.000Z']);
});

test('Two complaints attached to one message count both, for the sender of that message', async (t) => {
  const { reports, send } = await startFeedback(t);
  const attached = (id: string) =>
    Buffer.from(arf('Feedback-Type: abuse\nSource-IP: 192.0.2.9\n'))
      .toString('latin1')
      .replace('report-1@', `${id}@`)
      .replaceAll('b0', 'b1')
      .replace('noreply@receiver.example', 'noreply@yahoo.example');
  await send(
    mail([
      text('Two complaints.'),
      { type: 'message/rfc822', content: attached('a'), plain: true },
      { type: 'message/rfc822', content: attached('b'), plain: true },
    ]),
  );
  assert.deepEqual(
    (await reports()).map(({ status, reporter }) => [status, reporter]),
    [
      ['counted', 'receiver.example'],
      ['counted', 'receiver.example'],
    ],
  );
});

test('A report that is cut off is refused, wherever it is cut', async () => {
  const whole = dmarc({ records: record() + record({ source: '192.0.2.2' }) });
  for (let length = 60; length < whole.length - 1; length++) {
    const [item] = await readFeedback(Buffer.from(whole.slice(0, length)), { now: NOW });
    assert.equal(
      item!.ok,
      false,
      `after ${length} characters: ${whole.slice(length - 20, length)}`,
    );
  }
  const [item] = await readFeedback(Buffer.from(whole), { now: NOW });
  assert.equal(item!.ok, true);
});

test('One file of thousands of policy domains is refused', async () => {
  const policies = Array.from({ length: 101 }, (_, index) =>
    tlsPolicy({ 'policy-domain': `d${index}.example.com` }),
  );
  const items = await readFeedback(Buffer.from(tls({}, policies)), { now: NOW });
  assert.deepEqual(
    items.map((item) => (item.ok ? 'read' : item.reason)),
    ['too_many'],
  );
});

test('What a person said about a source goes with its addresses', async (t) => {
  const feedback = await startFeedback(t);
  const { domain, service, upload } = feedback;
  await upload(dmarc({ records: record({ source: '203.0.114.9', dkim: 'fail', spf: 'fail' }) }));
  await named(feedback);
  const list = async () =>
    (
      await service.call<{ data: { id: string; name: string; kind: string; label: string }[] }>(
        'GET',
        `/v1/feedback/sources?domain_id=${domain.id}`,
      )
    ).body.data.map(({ id, name, kind, label }) => ({ id, name, kind, label }));
  const [before] = await list();
  await service.call('PATCH', `/v1/feedback/sources/${before!.id}`, {
    json: { mark: 'own', label: 'Invoices' },
  });
  const name = { key: 'host host.example', name: 'host.example', evidence: 'x' };
  const address = { id: `${domain.id} 203.0.114.9`, domain_id: domain.id };
  await assignSource(service.app, address, { host: 'a.host.example', name });
  assert.deepEqual(
    (await list()).map(({ name, kind, label }) => [name, kind, label]),
    [['host.example', 'misconfigured', 'Invoices']],
  );
});
