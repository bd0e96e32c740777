/** Slack posts: their text after a rule change, their order, and isolation of unresponsive URLs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notifyJob } from '../../src/alerts/channels/posts.ts';
import { onPostgres } from '../helpers/store.ts';
import { startAlerting } from './alerting.ts';

const MIN_MS = 60_000;
const SLACK = { channels: ['slack'] };

const titlesOf = (requests: { body: string }[]): string[] =>
  requests.map(({ body }) => JSON.parse(body).text.split(':')[0]);

test('A Slack post describes the original condition after the rule changed', async (t) => {
  const { app, service, slack, makeAlert, complete, incidents, sendDue } = await startAlerting(t);
  const { id } = await makeAlert(SLACK);
  await complete({ score: 40 });
  // The state after a rule change between the incident and its post.
  const other = { condition: 'blocklist_hit' as const, threshold: null };
  await app.db.updateTable('alerts').set(other).where('id', '=', id).execute();
  await sendDue();
  assert.match(slack.requests[0]!.body, /scored 40, below 70/);
  assert.equal((await incidents())[0]!.notifications[0]!.status, 'sent');
  const { status } = await service.call('PATCH', `/v1/alerts/${id}`, { json: { name: 'x' } });
  assert.equal(status, 200);
});

test('A notification that cannot be composed is retried, then fails', async (t) => {
  const { app, clock, slack, makeAlert, complete, incidents, sendDue } = await startAlerting(t);
  await makeAlert(SLACK);
  await complete({ score: 40 });
  await app.db.updateTable('alert_incidents').set({ value: '{' }).execute();
  const state = () =>
    app.db
      .selectFrom('alert_notifications')
      .select(['status', 'attempts', 'error'])
      .executeTakeFirstOrThrow();
  for (const minutes of [1, 5, 30, 120, 480]) {
    await sendDue();
    assert.equal((await state()).status, 'queued');
    clock.advance(minutes * MIN_MS);
  }
  await sendDue();
  const { error, ...last } = await state();
  assert.deepEqual(last, { status: 'failed', attempts: 6 });
  assert.match(error!, /could not be composed/);
  assert.deepEqual(slack.requests, []);
  await app.db.updateTable('alert_incidents').set({ value: '{}' }).execute();
  assert.equal((await incidents())[0]!.notifications[0]!.status, 'failed');
});

test('An incident resolved before posting is announced only by its resolution', async (t) => {
  const { clock, slack, makeAlert, complete, incidents, sendDue } = await startAlerting(t);
  slack.respond = () => 500;
  await makeAlert(SLACK);
  await complete({ score: 1 });
  await sendDue();
  clock.advance(30_000);
  await complete({ score: 90 });
  slack.respond = () => 200;
  clock.advance(1000 * MIN_MS);
  await sendDue();
  await sendDue();
  assert.deepEqual(titlesOf(slack.requests), ['Alert', 'Resolved']);
  const said = slack.requests[1]!.body;
  const { blocks } = JSON.parse(said) as { blocks: { fields?: { text: string }[] }[] };
  const fields = blocks.flatMap((block) => block.fields ?? []).map(({ text }) => text);
  for (const label of ['*Since*', '*Until*'])
    assert.equal(fields[fields.indexOf(label) + 1], '21 Nov 2026, 10:00 UTC');
  const [incident] = await incidents();
  assert.deepEqual(
    incident!.notifications.map(({ status, error }) => [status, error?.slice(0, 53) ?? null]),
    [
      ['suppressed', 'the incident was resolved before this could be posted'],
      ['sent', null],
    ],
  );
});

test('The resolution waits for a triggered post in progress, which is not retried', async (t) => {
  const { app, clock, slack, makeAlert, complete, incidents } = await startAlerting(t);
  const job = notifyJob(app);
  const { promise, resolve } = Promise.withResolvers<number>();
  slack.respond = () => promise;
  await makeAlert(SLACK);
  await complete({ score: 1 });
  await job.run();
  await slack.waitForRequests(1);
  await complete({ score: 90 });
  await job.run();
  assert.equal(slack.requests.length, 1);
  resolve(500);
  await job.idle!();
  slack.respond = () => 200;
  await job.run();
  await job.idle!();
  clock.advance(1000 * MIN_MS);
  await job.run();
  await job.idle!();
  assert.deepEqual(titlesOf(slack.requests), ['Alert', 'Resolved']);
  const [{ notifications }] = (await incidents()) as [Awaited<ReturnType<typeof incidents>>[0]];
  assert.deepEqual(
    notifications.map(({ status }) => status),
    ['suppressed', 'sent'],
  );
});

test('An unresponsive Slack URL has at most two posts in progress and blocks no others', async (t) => {
  const { app, slack, makeAlert, complete } = await startAlerting(t);
  const job = notifyJob(app);
  const dead = slack.url.replace('/hooks', '/dead');
  const { promise, resolve } = Promise.withResolvers<number>();
  slack.respond = ({ path }) => (path === '/dead' ? promise : 200);
  // One URL, although each rule encrypts it differently.
  for (let i = 0; i < 30; i++) await makeAlert({ ...SLACK, slack_webhook_url: dead });
  await makeAlert(SLACK);
  await complete({ score: 1 });
  await job.run();
  await slack.waitForRequests(3);
  assert.deepEqual(slack.requests.map(({ path }) => path).sort(), ['/dead', '/dead', '/hooks']);
  await job.run();
  assert.equal(slack.requests.length, 3);
  resolve(200);
  await job.idle!();
});

test('Notifications scheduled far ahead by a clock jump are sent now', async (t) => {
  const { app, clock, slack, sink, makeAlert, complete, sendDue } = await startAlerting(t);
  slack.respond = () => 500;
  await makeAlert({ channels: ['slack', 'email'] });
  await complete({ score: 1 });
  await sendDue();
  assert.equal(sink.taken.length, 1);
  slack.respond = () => 200;
  const far = '2027-11-21T10:00:00.000Z';
  // On PostgreSQL, it could be the lease of another node.
  const taken = onPostgres ? {} : { lease: 'req_1', leased_until: far };
  // Leased and scheduled while the clock was a year ahead.
  await app.db.updateTable('alert_notifications').set({ due_at: far }).execute();
  await complete({ score: 1, from_domain: 'example.org' });
  await app.db
    .updateTable('outbox')
    .set({ due_at: far, ...taken })
    .where('status', '=', 'queued')
    .execute();
  clock.advance(1000);
  await sendDue();
  assert.deepEqual([slack.requests.length, sink.taken.length], [3, 2]);
});
