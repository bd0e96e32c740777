/** Whether reports about a domain arrive: its state, what the page says, and the event when they stop. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { feedbackOf } from '../../src/domains/feedback/state.ts';
import { announceStopped } from '../../src/feedback/stopped-job.ts';
import { watchFeedback } from '../../src/feedback/watch/watch-job.ts';
import { newMember } from '../dashboard/member.ts';
import { dmarc, gzip, mail, record, text, tls } from './reading/builders.ts';
import { startFeedback } from './start.ts';

const DAY_MS = 86_400_000;

const mailed = (id: string) =>
  mail([text('A report.'), { type: 'application/gzip', content: gzip(dmarc({ id })) }]);

test('When reports stop after a week, one event says so, and another when they stop again', async (t) => {
  const { clock, domain, send, service } = await startFeedback(t);
  const stops = async (): Promise<number> => {
    await Promise.all([announceStopped(service.app), announceStopped(service.app)]);
    const { body } = await service.call<{ data: { data: object }[] }>(
      'GET',
      '/v1/events?type=feedback.stopped',
    );
    const [newest] = body.data;
    if (newest)
      assert.partialDeepStrictEqual(newest.data, { domain_id: domain.id, state: 'stopped' });
    return body.data.length;
  };
  let number = 0;
  const report = () => send(mailed(`stop-${number++}`));
  await report();
  clock.advance(4 * DAY_MS);
  // Too few days to know how often they come.
  assert.equal(await stops(), 0);
  await report();
  clock.advance(3 * DAY_MS);
  await report();
  clock.advance(3 * DAY_MS);
  assert.equal(await stops(), 0);
  clock.advance(1);
  assert.equal(await stops(), 1);
  clock.advance(DAY_MS);
  assert.equal(await stops(), 1);
  await report();
  assert.equal(await stops(), 1);
  clock.advance(3 * DAY_MS + 1);
  assert.equal(await stops(), 2);
});

async function startWatched(t: TestContext) {
  const feedback = await startFeedback(t);
  const { domain, service } = feedback;
  const rule = { name: 'Silence', condition: 'feedback_stopped', channels: ['webhook'] };
  await service.call('POST', '/v1/alerts', { json: rule });
  const list = async (path: string) =>
    (await service.call<{ data: { type: string }[] }>('GET', path)).body.data.length;
  return {
    ...feedback,
    state: () => feedbackOf(service.app, service.app.db, domain),
    /** The events and incidents that say that reports stopped. */
    async stops() {
      await announceStopped(service.app);
      await watchFeedback(service.app);
      return [
        await list('/v1/events?type=feedback.stopped'),
        await list('/v1/alert_incidents?status=open'),
      ];
    },
  };
}

test('Reports that people upload neither start nor keep the state of an address', async (t) => {
  const { clock, domain, send, service, state, stops, upload } = await startWatched(t);
  const history = async (id: string) => {
    const [report] = await upload(dmarc({ id, records: record({ count: '7' }) }));
    assert.equal(report!.status, 'counted');
  };
  await history('upload-1');
  clock.advance(8 * DAY_MS);
  await history('upload-2');
  // Depending on whether the records were looked up.
  assert.match((await state()).state, /^(unknown|not_published)$/);
  assert.equal((await state()).last_report_at, null);
  clock.advance(4 * DAY_MS);
  assert.deepEqual(await stops(), [0, 0]);
  const { html } = await (await newMember(service, 'viewer')).get(`/feedback/domains/${domain.id}`);
  assert.match(html, /No report that counts has arrived by email yet\. This page shows/);
  assert.match(html, /Messages by day/);

  // Reports arrive for 8 days, and then only people upload some.
  await send(mailed('mail-1'));
  clock.advance(8 * DAY_MS);
  await send(mailed('mail-2'));
  const last = (await state()).last_report_at;
  clock.advance(2 * DAY_MS);
  await history('upload-3');
  assert.deepEqual([(await state()).state, (await state()).last_report_at], ['receiving', last]);
  clock.advance(DAY_MS + 1);
  assert.deepEqual(await stops(), [1, 1]);
  await history('upload-4');
  assert.deepEqual([(await state()).state, ...(await stops())], ['stopped', 1, 1]);
  await send(mailed('mail-3'));
  assert.deepEqual([(await state()).state, ...(await stops())], ['receiving', 1, 0]);
});

test('A report that a person uploaded before it arrived by email shows that the address works', async (t) => {
  const { clock, domain, reports, send, service, settled, state, upload } = await startWatched(t);
  await upload(dmarc({ id: 'both' }));
  clock.advance(3_600_000);
  await send(mailed('both'));
  assert.deepEqual(
    (await reports()).map(({ status }) => status),
    ['counted', 'duplicate'],
  );
  const arrived = (await state()).last_report_at;
  assert.equal(arrived, '2026-11-22T11:00:00.000Z');
  clock.advance(3_600_000);
  // Anyone may repeat what arrived.
  await send(mailed('both'));
  assert.equal((await state()).last_report_at, arrived);
  const posted = await service.call(
    'POST',
    `/feedback/tls/${domain.feedback.address.slice(3, 19)}`,
    { key: null, body: tls(), headers: { 'content-type': 'application/tlsrpt+json' } },
  );
  assert.equal(posted.status, 202);
  await settled();
  // Nothing shows who sends over HTTPS.
  assert.equal((await state()).last_report_at, arrived);
});
