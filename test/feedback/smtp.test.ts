/** Reports that arrive over SMTP: from the zone to the sums. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { followTrust } from '../../src/feedback/record/trust.ts';
import type { DmarcFeedback } from '../../src/feedback/schemas/dmarc.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { arf, dmarc, dsn, gzip, mail, record, text, tls } from './reading/builders.ts';
import { REPORTER_ZONE, startFeedback } from './start.ts';

const attached = (report: string, type = 'application/gzip') =>
  mail([text('A report.'), { type, content: gzip(report) }]);

const many = (id: string) =>
  dmarc({
    id,
    records: [
      record({ source: '192.0.2.1', count: '40', spf: 'fail' }),
      record({
        source: '203.0.113.9',
        count: '2',
        dkim: 'fail',
        spf: 'fail',
        disposition: 'quarantine',
      }),
      record({
        source: '203.0.113.9',
        count: '3',
        dkim: 'fail',
        spf: 'fail',
        reasons: '<reason><type>mailing_list</type></reason>',
      }),
    ].join(''),
  });

test('Reports of two reporters: the verified one counts, the one with a broken signature does not', async (t) => {
  const { domain, reports, send, service } = await startFeedback(t);
  assert.match(domain.feedback.address, /^fb-[a-z0-9]{16}@inbox\.test$/);
  await send(attached(many('r-1')), { suffix: 'dmarc' });
  await send(attached(many('r-2')), { from: 'broken.example' });
  assert.deepEqual(
    (await reports()).map(({ status, verified, messages, passed, failed, suffix, source }) => ({
      status,
      verified,
      messages,
      passed,
      failed,
      suffix,
      source,
    })),
    [
      {
        status: 'counted',
        verified: true,
        messages: 45,
        passed: 40,
        failed: 5,
        suffix: 'dmarc',
        source: 'smtp',
      },
      {
        status: 'unverified',
        verified: false,
        messages: 45,
        passed: 40,
        failed: 5,
        suffix: null,
        source: 'smtp',
      },
    ],
  );
  const { body } = await service.call<DmarcFeedback>(
    'GET',
    `/v1/feedback/dmarc?domain_id=${domain.id}`,
  );
  const sums = {
    messages: 45,
    passed: 40,
    failed: 5,
    none: 43,
    quarantined: 2,
    rejected: 0,
    overridden: 3,
  };
  assert.deepEqual(body.totals, sums);
  assert.deepEqual(body.days, [{ date: '2026-11-21', ...sums }]);
  assert.equal(body.state, 'receiving');
  assert.deepEqual(
    body.reporters.map(({ name, messages, reports }) => ({ name, messages, reports })),
    [{ name: 'receiver.example', messages: 45, reports: 1 }],
  );
  assert.deepEqual(
    body.policies_seen.map(({ policy_domain, p, reports }) => ({ policy_domain, p, reports })),
    [{ policy_domain: 'example.com', p: 'none', reports: 1 }],
  );
});

test('The rows of a report are stored with the sources of its domain', async (t) => {
  const { domain, reports, send, service } = await startFeedback(t);
  await send(attached(many('r-1')));
  const id = (await reports())[0]!.id;
  const { body } = await service.call<{ rows: { address: string; count: number }[] }>(
    'GET',
    `/v1/feedback/reports/${id}`,
  );
  assert.deepEqual(
    body.rows.map(({ address, count }) => [address, count]),
    [
      ['192.0.2.1', 40],
      ['203.0.113.9', 3],
      ['203.0.113.9', 2],
    ],
  );
  const sources = await service.app.db
    .selectFrom('feedback_addresses')
    .select(['address', 'messages', 'passed', 'first_day', 'last_day'])
    .where('domain_id', '=', domain.id)
    .orderBy('address')
    .execute();
  const days = { first_day: '2026-11-21', last_day: '2026-11-21' };
  assert.deepEqual(sources, [
    { address: '192.0.2.1', messages: 40, passed: 40, ...days },
    { address: '203.0.113.9', messages: 5, passed: 0, ...days },
  ]);
  const page = await service.call<{ data: { id: string; count: number }[]; has_more: boolean }>(
    'GET',
    `/v1/feedback/reports/${id}/rows?limit=1&outcome=fail`,
  );
  assert.deepEqual([page.body.data[0]!.count, page.body.has_more], [3, true]);
  const next = await service.call<{ data: { count: number }[]; has_more: boolean }>(
    'GET',
    `/v1/feedback/reports/${id}/rows?limit=1&outcome=fail&starting_after=${page.body.data[0]!.id}`,
  );
  assert.deepEqual([next.body.data[0]!.count, next.body.has_more], [2, false]);
});

test('A copy is a duplicate, other figures are a conflict, and neither counts', async (t) => {
  const { domain, reports, send, service, upload } = await startFeedback(t);
  await send(attached(many('r-1')));
  await send(attached(many('r-1')));
  await upload(many('r-1'));
  await upload(dmarc({ id: 'r-1', records: record({ count: '999' }) }));
  const all = await reports();
  assert.deepEqual(
    all.map(({ status, original_id }) => [status, original_id === all[0]!.id]),
    [
      ['counted', false],
      ['duplicate', true],
      ['duplicate', true],
      ['conflict', true],
    ],
  );
  const { body } = await service.call<DmarcFeedback>(
    'GET',
    `/v1/feedback/dmarc?domain_id=${domain.id}`,
  );
  assert.equal(body.totals.messages, 45);
});

test('Confirming a reporter lets its reports count once, and withdrawing takes them out again', async (t) => {
  const { domain, reports, send, service } = await startFeedback(t);
  const from = 'stranger.example';
  await send(attached(many('r-1')), { from });
  await send(attached(many('r-1')), { from });
  const [first, second] = await reports();
  assert.deepEqual([first!.status, second!.status], ['unconfirmed', 'duplicate']);
  assert.deepEqual([first!.reporter, first!.label], [from, 'receiver ltd']);
  const confirm = (confirmed: boolean) =>
    service.call('PATCH', `/v1/feedback/reporters/${first!.reporter_id}`, { json: { confirmed } });
  const sums = async () => {
    await followTrust(service.app);
    await followTrust(service.app);
    const { body } = await service.call<DmarcFeedback>(
      'GET',
      `/v1/feedback/dmarc?domain_id=${domain.id}`,
    );
    const sources = await service.app.db.selectFrom('feedback_addresses').selectAll().execute();
    return [
      body.totals.messages,
      body.state === 'receiving',
      ...sources.map(({ messages }) => messages).sort(),
    ];
  };
  assert.deepEqual(await sums(), [0, false]);
  assert.equal((await confirm(true)).status, 200);
  assert.deepEqual(await sums(), [45, true, 40, 5]);
  await send(attached(many('r-2')), { from });
  assert.deepEqual(await sums(), [90, true, 10, 80]);
  assert.deepEqual(
    (await reports()).map(({ status }) => status),
    ['counted', 'duplicate', 'counted'],
  );
  assert.equal((await confirm(false)).status, 200);
  assert.deepEqual(await sums(), [0, false]);
  assert.deepEqual(
    (await reports()).map(({ status }) => status),
    ['unconfirmed', 'duplicate', 'unconfirmed'],
  );
  assert.equal((await confirm(true)).status, 200);
  assert.deepEqual(await sums(), [90, true, 10, 80]);
});

test('A genuine report counts although a forged copy came first', async (t) => {
  const { reports, send } = await startFeedback(t);
  await send(attached(dmarc({ id: 'r-1', orgName: 'Big', records: record({ count: '7' }) })), {
    from: 'broken.example',
  });
  await send(attached(dmarc({ id: 'r-1', orgName: 'Big' })));
  assert.deepEqual(
    (await reports()).map(({ status, messages }) => [status, messages]),
    [
      ['unverified', 7],
      ['counted', 2],
    ],
  );
});

test('A report counts for the nearest domain of the team, whatever address it was sent to', async (t) => {
  const { reports, send, service } = await startFeedback(t);
  const { body: sub } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'news.example.com' },
  });
  const of = (domain: string) =>
    attached(
      dmarc({
        id: domain,
        policy: `<policy_published><domain>${domain}</domain><p>none</p></policy_published>`,
      }),
    );
  for (const name of ['a.news.example.com', 'shop.example.com', 'example.net'])
    await send(of(name));
  assert.deepEqual(
    (await reports()).map(({ status, reason, policy_domain, domain_id }) => [
      status,
      reason,
      policy_domain,
      domain_id === sub.id,
    ]),
    [
      ['counted', null, 'a.news.example.com', true],
      ['counted', null, 'shop.example.com', false],
      ['refused', 'foreign_domain', null, false],
    ],
  );
});

test('TLS reports need DKIM; complaints and bounces become events', async (t) => {
  const { domain, reports, send, service } = await startFeedback(t);
  await send(attached(tls(), 'application/tlsrpt+gzip'));
  await send(attached(tls({ 'report-id': 't-2' })), { sign: false });
  await send(arf('Feedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n'));
  await send(
    dsn(
      'Reporting-MTA: dns; mx.receiver.example\n\nFinal-Recipient: rfc822; reader@mailbox.example\nAction: failed\nStatus: 5.7.26\nDiagnostic-Code: smtp; 550 5.7.26 unauthenticated\n',
    ),
    { sign: false },
  );
  assert.deepEqual(
    (await reports()).map(({ type, status }) => [type, status]),
    [
      ['tls', 'counted'],
      ['tls', 'unverified'],
      ['complaint', 'counted'],
      ['bounce', 'counted'],
    ],
  );
  const sums = await service.call('GET', `/v1/feedback/tls?domain_id=${domain.id}`);
  assert.deepEqual([sums.body.succeeded, sums.body.failed], [100, 3]);
  const events = await service.call<{ data: { type: string; data: Record<string, unknown> }[] }>(
    'GET',
    '/v1/events',
  );
  assert.deepEqual(
    events.body.data
      .map(({ type, data }) => [type, data.message_id])
      .filter(([type]) => !String(type).startsWith('domain.'))
      .sort(),
    [
      ['bounce.received', 'news-1@example.com'],
      ['complaint.received', 'news-1@example.com'],
    ],
  );
  const [complaint] = (
    await service.call<{ data: Record<string, unknown>[] }>('GET', '/v1/feedback/complaints')
  ).body.data;
  assert.equal(complaint!.recipient_domain, 'mailbox.example');
  assert.ok(!JSON.stringify(complaint).includes('reader@'));
  for (const kind of ['complaints', 'bounces']) {
    const summary = await service.call(
      'GET',
      `/v1/feedback/${kind}/summary?domain_id=${domain.id}`,
    );
    assert.equal(summary.body.total, 1, kind);
  }
});

test('The source is kept, except of reports about one message', async (t) => {
  const { reports, send, service } = await startFeedback(t);
  const raw = attached(many('r-1'));
  await send(raw, { sign: false });
  await send(arf('Feedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n'));
  const [first, second] = await reports();
  const source = await service.call('GET', `/v1/feedback/reports/${first!.id}/source`);
  assert.equal(source.status, 200);
  assert.ok(source.text.endsWith(Buffer.from(raw).toString()));
  const dropped = await service.call('GET', `/v1/feedback/reports/${second!.id}/source`);
  assert.equal(dropped.status, 404);
});

test('An answer to an automatic message is refused and changes nothing', async (t) => {
  const { reports, send, service } = await startFeedback(t);
  await send(mail([text('I am away until Monday.')]));
  const [report] = await reports();
  assert.deepEqual([report!.status, report!.reason], ['refused', 'not_a_report']);
  const sent = await service.app.db.selectFrom('outbox').select('id').execute();
  assert.deepEqual(sent, []);
});

test('A message with DNS that does not answer is verified again later', async (t) => {
  let isDown = true;
  const up = zoneResolver(REPORTER_ZONE);
  const { clock, reports, send, service, settled } = await startFeedback(t, {
    resolver: async (name, type) =>
      isDown ? { status: 'error', reason: 'timeout' } : up(name, type),
  });
  await send(attached(many('r-1')), { wait: false });
  const dueAt = async () =>
    (await service.app.db.selectFrom('feedback_mails').select('due_at').executeTakeFirst())!
      .due_at!;
  while (Date.parse(await dueAt()) <= clock.now()) {
    service.app.scheduler.wakeHere('feedback.read');
    await pause(10);
  }
  assert.deepEqual(await reports(), []);
  isDown = false;
  clock.advance(24 * 3_600_000);
  await settled();
  assert.deepEqual(
    (await reports()).map(({ status, verified }) => [status, verified]),
    [['counted', true]],
  );
});
