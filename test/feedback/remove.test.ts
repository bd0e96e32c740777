/** Deleting one report: the sums are then as if it had never arrived. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expire } from '../../src/feedback/expire.ts';
import { finishRemoval, removeJob, startRemoval } from '../../src/feedback/record/remove.ts';
import { transact } from '../../src/store/open.ts';
import { complaint } from './messages.ts';
import { BEGIN, dmarc, END, record, tls } from './reading/builders.ts';
import { type FeedbackService, NOW, named, startFeedback } from './start.ts';
import { reportsOfDay, STORY_ZONE } from './story.ts';

const DAY_S = 86_400;
const DAY_MS = DAY_S * 1000;

/** All that reports leave in sums. */
async function sums({ service }: FeedbackService) {
  const { db } = service.app;
  return {
    dmarcDays: await db.selectFrom('dmarc_days').selectAll().orderBy('day').execute(),
    tlsDays: await db.selectFrom('tls_days').selectAll().orderBy('day').execute(),
    sourceDays: await db
      .selectFrom('feedback_source_days')
      .selectAll()
      .orderBy('day')
      .orderBy('source_id')
      .execute(),
    sources: await db.selectFrom('feedback_sources').select('key').orderBy('key').execute(),
    addresses: await db
      .selectFrom('feedback_addresses')
      .select(['address', 'first_day', 'last_day', 'messages', 'passed', 'source_id'])
      .orderBy('address')
      .execute(),
    counted: await db
      .selectFrom('feedback_reporters')
      .select(['name', 'reports', 'counted'])
      .where('reports', '>', 0)
      .orderBy('name')
      .execute(),
    domains: await db.selectFrom('feedback_domains').select(['first_at', 'last_at']).execute(),
    rows: await db
      .selectFrom('dmarc_rows')
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow(),
  };
}

const remove = ({ service }: FeedbackService, id: string, key?: string) =>
  service.call<{ deleted: true; detail: string }>('DELETE', `/v1/feedback/reports/${id}`, {
    ...(key === undefined ? {} : { key }),
  });

async function startStory(t: Parameters<typeof startFeedback>[0]): Promise<FeedbackService> {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  for (const day of [3, 2])
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      reporters: 2,
      sendgridSigns: false,
      newcomer: true,
    }))
      await feedback.upload(report);
  await feedback.upload(tls());
  await named(feedback);
  return feedback;
}

/** Three days; addresses that other reports have too, and one that they have not. */
const wrong = () =>
  dmarc({
    orgName: 'Wrong Ltd',
    id: 'wrong',
    begin: String(BEGIN - 2 * DAY_S),
    end: String(END),
    records: [
      record({ source: '192.0.2.10', count: '31' }),
      record({ source: '149.72.1.9', count: '7', dkim: 'fail', spf: 'fail' }),
      record({ source: '198.51.100.250', count: '5', disposition: 'reject', dkim: 'fail' }),
    ].join(''),
  });

test('DELETE /v1/feedback/reports/{id} takes a report out of every sum, and it may come again', async (t) => {
  const feedback = await startStory(t);
  const { service, clock, upload, reports } = feedback;
  const before = await sums(feedback);
  clock.advance(60_000);
  const [report] = await upload(wrong());
  const [session] = await upload(tls({ 'report-id': 'wrong', 'organization-name': 'Wrong Ltd' }));
  const [copy] = await upload(wrong());
  await named(feedback);
  const after = await sums(feedback);
  assert.notDeepEqual(after.sourceDays, before.sourceDays);
  assert.notDeepEqual(after.tlsDays, before.tlsDays);

  assert.equal((await remove(feedback, copy!.id)).status, 200);
  assert.deepEqual((await sums(feedback)).dmarcDays, after.dmarcDays, 'a duplicate is in no sum');
  for (const { id } of [report!, session!]) {
    const { status, body } = await remove(feedback, id);
    assert.deepEqual([status, body.deleted], [200, true]);
    assert.equal((await service.call('GET', `/v1/feedback/reports/${id}`)).status, 404);
    assert.equal((await remove(feedback, id)).status, 404);
  }
  assert.deepEqual(await sums(feedback), before);
  assert.ok((await reports()).every(({ reporter }) => reporter !== 'wrong ltd'));
  const { rows } = await service.app.db
    .selectFrom('feedback_mails')
    .select(({ fn }) => fn.countAll<string>().as('rows'))
    .executeTakeFirstOrThrow();
  assert.equal(Number(rows), 5, 'files that carried nothing else are deleted');
  const { body: log } = await service.call<{ data: { action: string; details: object }[] }>(
    'GET',
    '/v1/audit_log?action=feedback_report.deleted',
  );
  assert.deepEqual(log.data.at(-2)!.details, {
    type: 'dmarc',
    status: 'counted',
    reporter: 'wrong ltd',
    domain: 'example.com',
    messages: 43,
  });

  const [again] = await upload(wrong());
  assert.equal(again!.status, 'counted');
  await named(feedback);
  assert.deepEqual((await sums(feedback)).dmarcDays, after.dmarcDays);
});

test('The removal of a report with many rows goes on after a crash, and subtracts each row once', async (t) => {
  const feedback = await startStory(t);
  const { service, upload } = feedback;
  const { app } = service;
  const before = await sums(feedback);
  const records = Array.from({ length: 1234 }, (_, i) =>
    record({ source: `198.18.0.${i % 40}`, count: String((i % 9) + 1) }),
  );
  const [report] = await upload(
    dmarc({ id: 'large', records: [...records, record({ source: '192.0.2.10' })].join('') }),
  );
  await named(feedback);
  // The process ends after the first transaction, then another time between two batches.
  await transact(app.db, (tx) => startRemoval(tx, report!.id));
  assert.equal((await service.call('GET', `/v1/feedback/reports/${report!.id}`)).status, 404);
  assert.deepEqual((await sums(feedback)).dmarcDays, before.dmarcDays);
  let transactions = 0;
  const broken = new Proxy(app.db, {
    get(db, name) {
      if (name === 'transaction' && ++transactions > 2) throw new Error('killed');
      const value = Reflect.get(db, name);
      return typeof value === 'function' ? value.bind(db) : value;
    },
  });
  await assert.rejects(finishRemoval({ db: broken }, report!.id), /killed/);
  const { rows: left } = await sums(feedback);
  assert.equal(Number(left.count), Number(before.rows.count) + 235);
  await removeJob(app).run();
  assert.deepEqual(await sums(feedback), before);
});

test('A report is removed exactly before and after its addresses are named', async (t) => {
  const feedback = await startStory(t);
  const { service, upload } = feedback;
  const { db } = service.app;
  const [report] = await upload(wrong());
  // Not named yet: no source has the rows of the new address.
  assert.equal((await remove(feedback, report!.id)).status, 200);
  const before = await sums(feedback);
  const [later] = await upload(wrong());
  await named(feedback);
  const { address } = await db
    .selectFrom('feedback_addresses')
    .select('address')
    .where('address', '=', '198.51.100.250')
    .executeTakeFirstOrThrow();
  assert.equal(address, '198.51.100.250');
  assert.equal((await remove(feedback, later!.id)).status, 200);
  assert.deepEqual(await sums(feedback), before);
});

test('DELETE /v1/feedback/reports/{id} also deletes complaints, unverified reports and refused files', async (t) => {
  const feedback = await startFeedback(t);
  const { send, service, upload, reports } = feedback;
  await send(complaint('abuse', '192.0.2.9'));
  await send(complaint('abuse', '192.0.2.9', { id: 'other' }), { sign: false });
  await upload('{"not": "a report"}');
  const all = await reports();
  assert.deepEqual(
    all.map(({ status }) => status),
    ['counted', 'unverified', 'refused'],
  );
  for (const { id } of all) assert.equal((await remove(feedback, id)).status, 200);
  for (const table of [
    'feedback_reports',
    'complaints',
    'feedback_mails',
    'message_chunks',
  ] as const)
    assert.deepEqual(await service.app.db.selectFrom(table).selectAll().execute(), [], table);
});

test('A report whose rows have expired, or that is being read, is kept; viewers delete nothing', async (t) => {
  const feedback = await startFeedback(t);
  const { clock, domain, service, upload } = feedback;
  const [report] = await upload(dmarc());
  const { key } = await service.makeMember('viewer');
  assert.equal((await remove(feedback, report!.id, key)).status, 403);
  const mails = service.app.db.updateTable('feedback_mails');
  await mails.set({ due_at: '2026-11-22T10:00:00.000Z' }).execute();
  const reading = await remove(feedback, report!.id);
  assert.deepEqual(
    [reading.status, reading.body.detail],
    [409, 'The report is still being read. Try again in a minute.'],
  );
  await mails.set({ due_at: null }).execute();
  clock.set(NOW + 401 * DAY_MS);
  await expire(service.app);
  const expired = await remove(feedback, report!.id);
  assert.equal(expired.status, 409);
  assert.match(expired.body.detail, /^The rows of this report have expired\./);
  const { body } = await service.call<{ totals: { messages: number } }>(
    'GET',
    `/v1/feedback/dmarc?domain_id=${domain.id}&from=2026-11-01&to=2026-11-30`,
  );
  assert.equal(body.totals.messages, 2);
});
