/** Complaints and bounces that arrive over SMTP: their sources, what providers mean, and what a test found about it. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ListedBounce, ListedComplaint } from '../../src/feedback/schemas/message.ts';
import type { BounceSummary } from '../../src/feedback/schemas/message-sums.ts';
import { memberOf } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { bounce, complaint, GMAIL, runTest, UNKNOWN, withId } from './messages.ts';
import { TEXT_BOUNCES } from './reading/bounce-texts.ts';
import { BEGIN, dsn } from './reading/builders.ts';
import { type FeedbackService, named, startFeedback } from './start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from './story.ts';

async function startMessages(t: TestContext): Promise<FeedbackService> {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  for (const report of reportsOfDay(BEGIN, {
    reporters: 1,
    sendgridSigns: true,
    newcomer: false,
  }))
    await feedback.upload(report);
  await named(feedback);
  return feedback;
}

async function listed<T>({ service, domain }: FeedbackService, kind: string, query = '') {
  const path = `/v1/feedback/${kind}?domain_id=${domain.id}${query}`;
  const { status, body } = await service.call<T>('GET', path);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

test('Complaints name the source of the message, by its address or else by its signature', async (t) => {
  const feedback = await startMessages(t);
  const { send, service, domain } = feedback;
  await send(complaint('abuse', SENDERS.mailchimp));
  await send(complaint('abuse', '192.0.2.200', { id: 'news-2' }));
  await send(complaint('abuse', '192.0.2.201', { id: 'news-3', signer: 'mandrillapp.com' }));
  await send(complaint('not-spam', SENDERS.mailchimp, { id: 'news-4' }));
  const { data } = await listed<{ data: ListedComplaint[] }>(feedback, 'complaints');
  assert.deepEqual(
    data.map(({ kind, source, reporter }) => [kind, source?.name, source?.id != null, reporter]),
    [
      ['not-spam', 'Mailchimp', true, 'receiver.example'],
      ['abuse', 'Mailchimp Transactional', false, 'receiver.example'],
      ['abuse', undefined, false, 'receiver.example'],
      ['abuse', 'Mailchimp', true, 'receiver.example'],
    ],
  );
  const sums = await listed<Record<string, unknown>>(feedback, 'complaints/summary');
  assert.deepEqual(
    [sums.total, sums.days, sums.providers, sums.messages],
    [3, [{ date: '2026-11-22', count: 3 }], [{ provider: 'receiver.example', count: 3 }], 78],
  );
  const bySource = sums.sources as { name: string | null; count: number; messages: number }[];
  assert.deepEqual(
    bySource.map(({ name, count, messages }) => [name, count, messages]).sort(),
    [
      ['Mailchimp', 1, 40],
      ['Mailchimp Transactional', 1, null],
      [null, 1, null],
    ].sort(),
  );
  const before = await listed<{ data: [] }>(feedback, 'complaints', '&to=2026-11-21');
  assert.deepEqual(before.data, []);
  const member = await memberOf(service, 'owner@example.com');
  const { status, html } = await member.get(`/feedback/domains/${domain.id}/complaints`);
  assert.equal(status, 200);
  assert.match(
    mainOf(html),
    /Recipients marked 3 messages as spam\. DMARC reports count 78 messages/,
  );
  assert.match(mainOf(html), /They marked 1 message as not spam\./);
  assert.match(mainOf(html), /Reported by 1 provider from 24 Oct 2026 to 22 Nov 2026 \(UTC\)/);
  assert.match(mainOf(html), /Unknown source/);
});

test('Bounces are told apart by class and name the source that the servers show', async (t) => {
  const feedback = await startMessages(t);
  const { send } = feedback;
  await send(bounce(GMAIL), { sign: false });
  // The server of the recipient reports it, and the returned message has the one that sent it.
  await send(
    bounce({ server: 'mx.receiver.example', status: '5.1.1', original: withId('news-2') }),
    { sign: false },
  );
  await send(
    bounce({
      server: 'mx.other.example',
      status: '4.2.2',
      original: UNKNOWN.replace('d=example.com', 'd=sendgrid.net'),
    }),
    { sign: false },
  );
  await send(
    bounce({
      server: 'mx.other.example',
      remote: 'eu.mimecast.com',
      status: '5.0.0',
      reply: '550 SPF Sender Invalid - envelope rejected',
      original: withId('news-4', UNKNOWN),
    }),
    { sign: false },
  );
  const { data } = await listed<{ data: ListedBounce[] }>(feedback, 'bounces');
  assert.deepEqual(
    data.map((one) => [one.class, one.source?.name ?? null, one.subject, one.explanation?.text]),
    [
      ['policy', null, 'November news', 'SPF fails, and Mimecast rejects mail that fails SPF.'],
      ['soft', 'SendGrid', 'November news', 'The mailbox is full.'],
      [
        'hard',
        'mail.example.com',
        'November news',
        'The mailbox does not exist. Remove the address from your list.',
      ],
      [
        'policy',
        'mail.example.com',
        'November news',
        'Gmail rejects mail without a passing SPF or DKIM result. Sign with DKIM, or add the sender to your SPF record.',
      ],
    ],
  );
  type Sums = Record<keyof typeof BounceSummary.entries, never>;
  const sums = await listed<Sums>(feedback, 'bounces/summary');
  assert.deepEqual(sums.days, [
    { date: '2026-11-22', count: 4, policy: 2, hard: 1, soft: 1, unknown: 0 },
  ]);
  const bySource = sums.sources as { name: string | null; count: number; messages: number }[];
  assert.deepEqual(
    bySource.map(({ name, count, messages }) => [name, count, messages]),
    [
      ['mail.example.com', 2, 20],
      ['SendGrid', 1, 10],
      [null, 1, null],
    ],
  );
});

test('Sums of bounces by source cover the whole period, or say how many they leave out', async (t) => {
  const feedback = await startMessages(t);
  const { clock, service, send } = feedback;
  const returned = (server: string, recipients: number, original: string) =>
    dsn(
      `Reporting-MTA: dns; ${server}\n\n${Array.from(
        { length: recipients },
        (_, i) =>
          `Final-Recipient: rfc822; r${i}@mailbox.example\nAction: failed\nStatus: 5.1.1\n\n`,
      ).join('')}`,
      { original },
    );
  // A known sender reports the older ones itself; the newer ones come from servers of recipients.
  await send(returned('mail.example.com', 600, withId('news-5')));
  clock.advance(86_400_000);
  await send(returned('mx.first.example', 300, withId('news-6')));
  clock.advance(86_400_000);
  const signed = withId('news-7', UNKNOWN).replace('d=example.com', 'd=sendgrid.net');
  await send(returned('mx.second.example', 300, signed));
  const { total, sources, sources_unread } = await listed<{
    total: number;
    sources: { name: string | null; count: number }[];
    sources_unread: number;
  }>(feedback, 'bounces/summary');
  assert.deepEqual(
    [total, sources.map(({ name, count }) => [name, count]), sources_unread],
    [
      1200,
      [
        ['mail.example.com', 800],
        ['SendGrid', 300],
      ],
      100,
    ],
  );
  const viewer = await memberOf(service, (await service.makeMember('viewer')).email);
  const { html } = await viewer.get(`/feedback/domains/${feedback.domain.id}/bounces`);
  assert.match(mainOf(html), /Excludes 100 older bounces: .*only the newest 500 returned messages/);
});

test('A rejected message shows the finding of the last test that matches, until it is fixed', async (t) => {
  const feedback = await startMessages(t);
  const { clock, send, service, domain } = feedback;
  await send(bounce(GMAIL), { sign: false });
  await send(bounce({ status: '5.1.1', original: withId('news-2') }), { sign: false });
  const found = async () =>
    (await listed<{ data: ListedBounce[] }>(feedback, 'bounces')).data.map(
      ({ finding }) => finding,
    );
  assert.deepEqual(await found(), [null, null]);
  const member = await memberOf(service, 'owner@example.com');
  const page = async () =>
    mainOf((await member.get(`/feedback/domains/${domain.id}/bounces`)).html);
  assert.doesNotMatch(await page(), /Your test of/);

  const id = await runTest(feedback, '203.0.113.7');
  const [hard, rejected] = await found();
  assert.equal(hard, null);
  assert.deepEqual([rejected!.test_id, rejected!.check_id], [id, 'dkim']);
  assert.ok(rejected!.fix, 'with its fix');
  const text = await page();
  assert.match(text, /2 bounces: 1 policy, 1 hard\./);
  assert.match(text, /Gmail 5\.7\.26/);
  assert.match(text, /Your test of .* found a likely cause/);
  assert.ok(text.includes(rejected!.title));
  const { html } = await member.get(`/feedback/domains/${domain.id}/bounces`);
  assert.ok(html.includes(`href="/tests/${id}#check-dkim"`), 'the report is linked');

  // The same server sends again, and the check passes.
  const { checks } = await service.app.db
    .selectFrom('tests')
    .select('checks')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  clock.advance(60_000);
  const later = await runTest(feedback, '203.0.113.7');
  const passing = (JSON.parse(checks!) as { id: string }[]).map((check) => ({
    ...check,
    status: 'pass',
  }));
  await service.app.db
    .updateTable('tests')
    .set({ checks: JSON.stringify(passing) })
    .where('id', '=', later)
    .execute();
  assert.deepEqual(await found(), [null, null]);
});

test('Without complaints and bounces, the pages say how they arrive', async (t) => {
  const { service, domain } = await startFeedback(t);
  const member = await memberOf(service, 'owner@example.com');
  for (const kind of ['complaints', 'bounces']) {
    const { status, html } = await member.get(`/feedback/domains/${domain.id}/${kind}?days=7`);
    assert.equal(status, 200);
    assert.ok(mainOf(html).includes(`No ${kind} in this period`));
    assert.ok(mainOf(html).includes(domain.feedback.address));
    const unknown = await member.get(`/feedback/domains/dom_none/${kind}`);
    assert.equal(unknown.status, 404);
  }
});

test('Bounces of the classes policy and unknown have an event with `authenticated`, and open no incident', async (t) => {
  const feedback = await startMessages(t);
  const { send, service } = feedback;
  await service.call('POST', '/v1/alerts/recommended', {});
  const bounced = [
    { status: '5.7.1', reply: '550 5.7.1 Blacklisted' },
    { status: '5.0.0', reply: '550 Go away' },
    { status: '5.1.1', reply: '550 5.1.1 User unknown' },
    { status: '5.2.2', reply: '552 5.2.2 Over quota' },
  ];
  for (const [index, one] of bounced.entries())
    await send(bounce({ ...one, original: withId(`news-${index}`) }), { sign: false });
  const text = TEXT_BOUNCES.find(({ name }) => name === 'a server with an unknown reason')!;
  const returned = `--- Below this line is a copy of the message.\n\n${withId('news-5')}`;
  await send(Buffer.from(`${text.header}\n${text.body}\n${returned}`.replaceAll('\n', '\r\n')), {
    sign: false,
  });
  const { data } = await listed<{ data: ListedBounce[] }>(feedback, 'bounces', '&class=unknown');
  assert.deepEqual(
    data.map((one) => [one.message_id, one.diagnostic, one.explanation?.text]),
    [
      ['news-5@example.com', 'Remote host said: 550 Go away', 'The reply has no detailed code.'],
      ['news-1@example.com', '550 Go away', 'The reply has no detailed code.'],
    ],
  );
  const events = await service.call<{ data: { type: string; data: ListedBounce }[] }>(
    'GET',
    '/v1/events?type=bounce.received',
  );
  assert.deepEqual(
    events.body.data.map(({ data }) => [data.message_id, data.class, data.authenticated]),
    [
      ['news-5@example.com', 'unknown', false],
      ['news-1@example.com', 'unknown', false],
      ['news-0@example.com', 'policy', false],
    ],
  );
  const incidents = await service.call<{ data: unknown[] }>('GET', '/v1/alert_incidents');
  assert.deepEqual([incidents.status, incidents.body.data], [200, []]);
});
