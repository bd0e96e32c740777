/** A full share of the disk: who is still accepted, what makes room, and who is told. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { followTrust } from '../../../src/feedback/record/trust.ts';
import { forgetStored, storageUsage } from '../../../src/feedback/storage/usage.ts';
import { watchStorage } from '../../../src/feedback/storage/watch-job.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { sendMail } from '../../helpers/send.ts';
import { dmarc, gzip, mail, record, text, tls } from '../reading/builders.ts';
import { type FeedbackService, REPORTER_ZONE, startFeedback } from '../start.ts';
import { fillWithStrangers, padded, SMALL, STRANGER, sizes } from './full.ts';

const withAttachment = (id: string, bytes: number): Uint8Array =>
  mail([
    text('A report.'),
    { type: 'application/gzip', content: gzip(dmarc({ id })) },
    { type: 'application/octet-stream', content: randomBytes(bytes) },
  ]);

const storageState = async ({ service }: FeedbackService) => {
  const { body } = await service.call<{
    dependencies: { name: string; status: string; detail: string }[];
  }>('GET', '/readyz', { key: null });
  return body.dependencies.find(({ name }) => name === 'feedback_storage')!;
};

test('While the share of strangers is full, they get 452; verified reporters, tests and members go on', async (t) => {
  const feedback = await startFeedback(t, { env: SMALL });
  const { service, send, reports, upload, domain } = feedback;
  assert.equal((await storageState(feedback)).status, 'up');
  const accepted = await fillWithStrangers(feedback);
  assert.ok(accepted >= 3 && accepted <= 12, String(accepted));
  await assert.rejects(send(padded('unsigned', 120 * 1024), { sign: false }), {
    responseCode: 452,
    message: /unconfirmed senders is full/,
  });
  await send(padded('known', 200 * 1024));
  await upload(dmarc({ id: 'uploaded' }));
  const { address, id } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw: goodMessage() });
  assert.equal((await service.getTest(id, '?wait=20')).status, 'completed');
  const posted = await service.call(
    'POST',
    `/feedback/tls/${domain.feedback.address.slice(3, 19)}`,
    {
      key: null,
      body: tls({ 'contact-info': 'x'.repeat(200_000) }),
      headers: { 'content-type': 'application/tlsrpt+json' },
    },
  );
  assert.equal(posted.status, 503);
  const statuses = (await reports()).map(({ status }) => status);
  assert.deepEqual(statuses, [
    ...Array(accepted).fill('unverified'),
    'counted',
    // The same figures under another ID.
    'counted',
  ]);
});

test('Older originals of verified reporters make room for new ones, and their figures stay', async (t) => {
  const feedback = await startFeedback(t, { env: SMALL });
  const { service, send, reports } = feedback;
  for (let count = 0; count < 12; count++) await send(padded(`k-${count}`, 400 * 1024));
  const kept = await sizes(feedback);
  assert.equal(kept.length, 12);
  assert.ok(kept[0] === 0 && kept.at(-1)! > 400 * 1024, String(kept));
  assert.deepEqual(
    (await reports()).map(({ status, messages }) => [status, messages]),
    Array(12).fill(['counted', 2]),
  );
  const usage = async () => (await storageUsage(service.app)).all.used;
  const counted = await usage();
  forgetStored(service.app);
  assert.deepEqual(await usage(), counted);
});

test('A message that DNS cannot verify gets 451 while the share is full', async (t) => {
  let isDown = false;
  const up = zoneResolver(REPORTER_ZONE);
  const feedback = await startFeedback(t, {
    env: SMALL,
    resolver: async (name, type) =>
      isDown ? { status: 'error', reason: 'timeout' } : up(name, type),
  });
  await fillWithStrangers(feedback);
  isDown = true;
  await assert.rejects(feedback.send(padded('late', 200 * 1024)), { responseCode: 451 });
});

test('Of a message that is not verified, only the report is kept', async (t) => {
  const feedback = await startFeedback(t);
  const { service, send, reports } = feedback;
  await send(withAttachment('r-1', 3_000_000), STRANGER);
  await send(padded('r-2', 1_000_000), STRANGER);
  await send(withAttachment('r-3', 3_000_000));
  const [reduced, dropped, complete] = await sizes(feedback);
  assert.ok(reduced! < 10_000, String(reduced));
  assert.equal(dropped, 0);
  assert.ok(complete! > 3_000_000, String(complete));
  const [first, second] = await reports();
  const source = await service.call('GET', `/v1/feedback/reports/${first!.id}/source`);
  assert.equal(source.status, 200);
  assert.match(source.text, /DKIM-Signature:[\s\S]+application\/gzip/i);
  assert.doesNotMatch(source.text, /octet-stream/);
  const [copy] = await feedback.upload(source.text);
  assert.deepEqual([copy!.status, copy!.messages], ['counted', 2]);
  const gone = await service.call('GET', `/v1/feedback/reports/${second!.id}/source`);
  assert.equal(gone.status, 404);
});

test('A report that does not count has few rows and exact sums, also once its reporter is confirmed', async (t) => {
  const { service, send, reports } = await startFeedback(t);
  const results = `<auth_results>${'<dkim><domain>example.com</domain><result>fail</result><human_result>Long</human_result></dkim>'.repeat(20)}</auth_results>`;
  const records = Array.from({ length: 2_000 }, (_, index) =>
    record({ source: `192.0.${index >> 8}.${index & 255}`, count: '3', results }),
  ).join('');
  await send(mail([{ type: 'application/gzip', content: gzip(dmarc({ records })) }]), {
    from: 'stranger.example',
  });
  const [report] = await reports();
  assert.deepEqual([report!.status, report!.messages], ['unconfirmed', 6000]);
  const { db } = service.app;
  const rows = () => db.selectFrom('dmarc_rows').select(['count', 'address', 'results']).execute();
  const stored = await rows();
  assert.ok(stored.length <= 500 && stored.every(({ results }) => results === null));
  assert.equal(
    stored.reduce((sum, { count }) => sum + count, 0),
    6000,
  );
  await service.call('PATCH', `/v1/feedback/reporters/${report!.reporter_id}`, {
    json: { confirmed: true },
  });
  await followTrust(service.app);
  const [counted] = await reports();
  assert.deepEqual([counted!.status, counted!.messages], ['counted', 6000]);
});

test('A network and a client of HTTPS can send so many bytes in an hour', async (t) => {
  const { service, send, domain } = await startFeedback(t);
  const large = mail([{ type: 'application/octet-stream', content: randomBytes(9_500_000) }]);
  for (let count = 0; count < 5; count++) await send(large, { sign: false });
  await assert.rejects(send(large, { sign: false }), {
    responseCode: 451,
    message: /Too many bytes/,
  });
  const post = () =>
    service.call('POST', `/feedback/tls/${domain.feedback.address.slice(3, 19)}`, {
      key: null,
      body: new Uint8Array(4 * 1024 * 1024 + 1),
      headers: { 'content-type': 'application/tlsrpt+gzip' },
    });
  const statuses: number[] = [];
  for (let count = 0; count < 4; count++) statuses.push((await post()).status);
  assert.deepEqual(statuses, [202, 202, 202, 429]);
});

test('GET /readyz, metrics and an alert tell before a share is full', async (t) => {
  const feedback = await startFeedback(t, {
    env: { DELIVERABILITY_FEEDBACK_STORAGE_PER_DOMAIN: '20MiB' },
  });
  const { service, send } = feedback;
  const alert = await service.call('POST', '/v1/alerts', {
    json: { name: 'Storage', condition: 'feedback_storage', channels: ['email'] },
  });
  assert.equal(alert.status, 201, alert.text);
  const incidents = async () => {
    await watchStorage(service.app);
    const { body } = await service.call<{ data: { subject: string; status: string }[] }>(
      'GET',
      '/v1/alert_incidents',
    );
    return body.data.map(({ subject, status }) => `${subject} ${status}`);
  };
  await send(padded('s-0', 120 * 1024), STRANGER);
  assert.deepEqual(await incidents(), []);
  const before = await storageState(feedback);
  assert.equal(before.status, 'up');
  assert.match(before.detail, /^\d+ KB of 1\.1 GB for all domains \(0%\)/);
  await fillWithStrangers(feedback);
  const { status, detail } = await storageState(feedback);
  assert.equal(status, 'degraded');
  assert.match(
    detail,
    /^Nearly full: .+ of 4\.2 MB for one domain from reporters that nobody has confirmed \(\d\d%\)\.$/,
  );
  assert.ok((await incidents()).includes('example.com open'));
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(
    metrics,
    /deliverability_feedback_storage_limit_bytes\{share="fullest_domain_unverified"\} 4194304/,
  );
});

test('Below the reserve of the disk, only messages to tests are accepted', async (t) => {
  const GIB = 1024 ** 3;
  const { service, send } = await startFeedback(t, {
    disk: async () => ({ free: 0.6 * GIB, total: 10 * GIB }),
  });
  const rejected = { responseCode: 452, message: /Insufficient disk space/ };
  await assert.rejects(send(padded('r-1', 10)), rejected);
  await assert.rejects(
    sendMail({ port: service.smtp.port, to: 'postmaster@inbox.test', raw: goodMessage() }),
    rejected,
  );
  const { address } = await service.createTest();
  assert.match(
    await sendMail({ port: service.smtp.port, to: address, raw: goodMessage() }),
    /^250/,
  );
  const { body } = await service.call<{ dependencies: { name: string; detail: string }[] }>(
    'GET',
    '/readyz',
    { key: null },
  );
  assert.match(body.dependencies[0]!.detail, /accepts messages to tests only/);
});
