/** Who sends with a domain in From: names, kinds, marks, and what they mean for the policy. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  FeedbackSource,
  FeedbackSourceDetails,
} from '../../../src/feedback/sources/schema.ts';
import { BEGIN, dmarc, record } from '../reading/builders.ts';
import { type FeedbackService, named, startFeedback } from '../start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from '../story.ts';

const DAY_S = 86_400;
const DAY_MS = DAY_S * 1000;

const sourcesOf = async ({ service, domain }: FeedbackService, query = '') =>
  (
    await service.call<{ data: FeedbackSource[] }>(
      'GET',
      `/v1/feedback/sources?domain_id=${domain.id}${query}`,
    )
  ).body.data;

interface Advice {
  state: string;
  summary: string;
  next: string | null;
  missing: string[];
  would_be_rejected: FeedbackSource[];
  record: { name: string; value: string } | null;
}

const adviceOf = async ({ service, domain }: FeedbackService) =>
  (await service.call<Advice>('GET', `/v1/feedback/advice?domain_id=${domain.id}`)).body;

test('Each sender becomes a source of the right kind, and the advice follows the reports', async (t) => {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  const { service, clock, domain, upload } = feedback;
  service.app.scheduler.wakeHere('domains.feedback-records');
  const states: string[] = [];
  const begin = BEGIN - 27 * DAY_S;
  clock.set(begin * 1000 + DAY_MS);
  for (let day = 0; day < 28; day++) {
    for (const report of reportsOfDay(begin + day * DAY_S, {
      reporters: 3,
      sendgridSigns: day >= 20,
      newcomer: day >= 20,
    }))
      await upload(report);
    await named(feedback);
    const { state } = await adviceOf(feedback);
    if (states.at(-1) !== state) states.push(`day ${day + 1}`, state);
    clock.advance(DAY_MS);
  }
  assert.deepEqual(states, ['day 1', 'not_enough_data', 'day 14', 'not_ready']);
  const sources = await sourcesOf(feedback, `&from=2026-10-25&to=2026-11-21`);
  const summary = sources.map(({ name, kind, messages, passed }) => [name, kind, messages, passed]);
  assert.deepEqual(summary, [
    ['Mailchimp', 'service', 3360, 3360],
    ['mail.example.com', 'own', 1680, 1680],
    ['SendGrid', 'misconfigured', 840, 240],
    ['198.51.100.0/24', 'spoof', 532, 0],
    ['203.0.114.0/24', 'spoof', 420, 0],
    ['example.net', 'forwarder', 288, 288],
    ['Forward Email', 'forwarder', 252, 252],
  ]);
  const advice = await adviceOf(feedback);
  assert.match(
    advice.summary,
    /^Not ready for p=quarantine: failing mail from SendGrid would go to spam\.$/,
  );
  assert.deepEqual(
    advice.would_be_rejected.map(({ name }) => name),
    ['SendGrid'],
  );
  assert.deepEqual(advice.missing, [
    'SendGrid: 600 of 840 messages fail DMARC. Set up aligned DKIM or SPF for it first.',
  ]);
  assert.match(advice.record!.value, /^v=DMARC1; p=quarantine; rua=mailto:a@example\.com/);

  // It is repaired for two weeks.
  for (let day = 28; day < 42; day++) {
    for (const report of reportsOfDay(begin + day * DAY_S, {
      reporters: 3,
      sendgridSigns: true,
      newcomer: true,
    }))
      await upload(report);
    clock.advance(DAY_MS);
  }
  const later = await adviceOf(feedback);
  assert.equal(later.state, 'ready', later.summary);
  assert.match(
    later.summary,
    /^You can change the policy to p=quarantine\. All your sources that sent mail in the last 14 days pass/,
  );

  // A person knows better, also about the past.
  const [newcomer] = (await sourcesOf(feedback)).filter(({ name }) => name === 'example.net');
  const { status, body } = await service.call<FeedbackSourceDetails>(
    'PATCH',
    `/v1/feedback/sources/${newcomer!.id}`,
    { json: { mark: 'own', label: 'Our CRM' } },
  );
  assert.equal(status, 200);
  assert.deepEqual([body.kind, body.mark, body.label], ['own', 'own', 'Our CRM']);
  assert.deepEqual(
    body.address_list.map(({ address, host }) => [address, host]),
    [[SENDERS.newcomer, 'out.crm-host.example.net']],
  );
  assert.equal(body.reporters.length, 3);
  assert.deepEqual(
    body.signatures.map(({ domain, selector, result }) => [domain, selector, result]),
    [['example.com', 's1', 'pass']],
  );
  assert.equal((await adviceOf(feedback)).next, 'quarantine');
  assert.equal(domain.name, 'example.com');
});

test('The messages of an address move with it to another source', async (t) => {
  const reverse = { PTR: ['out.crm-host.example.net'] };
  const moved: { A?: string[] } = {};
  const zone = {
    ...STORY_ZONE,
    '60.114.0.203.in-addr.arpa': reverse,
    'mail9.mcsv.net': moved,
  };
  const feedback = await startFeedback(t, { zone });
  const { clock, service, upload } = feedback;
  const report = (id: string) =>
    dmarc({ id, records: record({ source: SENDERS.newcomer, count: '10', spf: 'fail' }) });
  await upload(report('a'));
  await named(feedback);
  assert.deepEqual(
    (await sourcesOf(feedback)).map(({ name, messages }) => [name, messages]),
    [['example.net', 10]],
  );
  // Its owner renames it, and it becomes one of a known service.
  await service.app.db
    .updateTable('feedback_addresses')
    .set({ look_up_at: '2026-11-01T00:00:00.000Z' })
    .execute();
  reverse.PTR = ['mail9.mcsv.net'];
  moved.A = [SENDERS.newcomer];
  clock.advance(600_000);
  await upload(report('b'));
  await named(feedback);
  await upload(report('c'));
  assert.deepEqual(
    (await sourcesOf(feedback)).map(({ name, messages, passed }) => [name, messages, passed]),
    [['Mailchimp', 30, 30]],
  );
  const left = await service.app.db.selectFrom('feedback_sources').select('name').execute();
  assert.deepEqual(left, [{ name: 'Mailchimp' }]);
});
