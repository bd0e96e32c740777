/** Reports that were counted by the names in them are counted again by who signed them, once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributeReports } from '../../src/feedback/record/attribute.ts';
import { countReports } from '../../src/feedback/record/tallies.ts';
import { followTrust } from '../../src/feedback/record/trust.ts';
import type { DmarcFeedback } from '../../src/feedback/schemas/dmarc.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { type Db, transact } from '../../src/store/open.ts';
import { dmarc, gzip, mail, record, text, tls } from './reading/builders.ts';
import { REPORTER_ZONE, startFeedback } from './start.ts';
import { EVIL, GOOGLE, LINKEDIN, MICROSOFT, mailFrom, SIGNER_ZONE } from './strangers.ts';

const report = (orgName: string, id: string, count: string) =>
  mail([
    text('A report.'),
    {
      type: 'application/gzip',
      content: gzip(dmarc({ orgName, id, records: record({ count }) })),
    },
  ]);

/** As the previous program left the rows: a reporter for each name, and identities with the name. */
async function asBefore(db: Db): Promise<void> {
  const reports = await db.selectFrom('feedback_reports').selectAll().execute();
  for (const { id, label, status, received_at } of reports) {
    const reporter = `rep_${label}`;
    await db
      .insertInto('feedback_reporters')
      .values({
        id: reporter,
        name: label!,
        kind: null,
        title: null,
        label: null,
        trusted: 0,
        first_at: received_at,
        last_at: received_at,
        reports: 0,
        counted: 0,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    await db
      .updateTable('feedback_reporters')
      .set(({ eb }) => ({
        reports: eb('reports', '+', 1),
        counted: eb('counted', '+', Number(status === 'counted')),
      }))
      .where('id', '=', reporter)
      .execute();
    await db
      .updateTable('feedback_reports')
      .set(({ ref }) => ({
        reporter_id: reporter,
        label: null,
        attributed: 0,
        identity: ref('file_identity'),
      }))
      .where('id', '=', id)
      .execute();
  }
  await db.deleteFrom('feedback_reporters').where('kind', 'is not', null).execute();
}

test('Reports from before count for who signed their mail, and wait if that is no longer known', async (t) => {
  const feedback = await startFeedback(t, { zone: SIGNER_ZONE });
  const { service, domain, upload, reports } = feedback;
  const { db } = service.app;
  const post = (body: string) =>
    service.call('POST', `/feedback/tls/${domain.feedback.address.slice(3, 19)}`, {
      key: null,
      body,
      headers: { 'content-type': 'application/tlsrpt+json' },
    });

  // A genuine report that contradicted a forged one, which counted.
  const [first] = await upload(report('google.com', 'displaced', '3'));
  await mailFrom(feedback, report('google.com', 'displaced', '500'), { from: GOOGLE });
  await service.call('DELETE', `/v1/feedback/reports/${first!.id}`);
  await mailFrom(feedback, report('google.com', 'displaced', '3'), { from: EVIL });
  // A genuine report, an upload, and a report whose message is no longer stored.
  await mailFrom(feedback, report('Outlook.com', 'genuine', '20'), { from: MICROSOFT });
  await upload(report('Receiver Ltd', 'uploaded', '7'));
  await mailFrom(feedback, report('Old Receiver', 'old', '90'), { from: EVIL });
  await post(tls());
  await feedback.settled();
  await db.updateTable('feedback_reporters').set({ trusted: 1 }).execute();
  await followTrust(service.app);
  const statuses = async () =>
    (await reports()).map(({ status, reporter, messages }) => [status, reporter, messages]);
  assert.deepEqual(await statuses(), [
    ['conflict', 'google.com', 500],
    ['counted', 'evil.example', 3],
    ['counted', 'microsoft.com', 20],
    ['counted', 'receiver.example', 7],
    ['counted', 'evil.example', 90],
    ['unverified', null, 103],
  ]);
  await asBefore(db);
  const old = (await reports()).find(({ reporter }) => reporter === 'old receiver')!;
  await db
    .deleteFrom('message_chunks')
    .where('message_id', '=', (eb) =>
      eb.selectFrom('feedback_reports').select('mail_id').where('id', '=', old.id),
    )
    .execute();

  // Several nodes, and another time.
  await Promise.all([attributeReports(service.app), attributeReports(service.app)]);
  await feedback.settled();
  await attributeReports(service.app);
  assert.deepEqual((await statuses()).sort(), [
    ['counted', 'google.com', 500],
    ['counted', 'microsoft.com', 20],
    ['counted', 'receiver ltd', 7],
    ['unconfirmed', 'evil.example', 3],
    ['unconfirmed', 'old receiver', 90],
    ['unverified', null, 103],
  ]);
  const sums = async () => {
    const { body } = await service.call<DmarcFeedback>(
      'GET',
      `/v1/feedback/dmarc?domain_id=${domain.id}`,
    );
    const rows = await db.selectFrom('feedback_addresses').select('messages').execute();
    return [body.totals.messages, ...rows.map(({ messages }) => messages)];
  };
  assert.deepEqual(await sums(), [527, 527]);
  const reporters = await db
    .selectFrom('feedback_reporters')
    .select(['name', 'reports', 'counted'])
    .where('reports', '>', 0)
    .orderBy('name')
    .execute();
  assert.deepEqual(
    reporters.map(({ name, reports: all, counted }) => `${name}: ${counted} of ${all}`),
    [
      'DKIM evil.example: 0 of 1',
      'FILE receiver ltd: 1 of 1',
      'KNOWN google.com: 1 of 1',
      'KNOWN microsoft.com: 1 of 1',
      'old receiver: 0 of 1',
    ],
  );

  // A person who knows the old reporter confirms it.
  const { body } = await service.call<{ reporters: { id: string; kind: string }[] }>(
    'GET',
    `/v1/feedback/unconfirmed?domain_id=${domain.id}`,
  );
  const earlier = body.reporters.find(({ kind }) => kind === 'earlier')!;
  await service.call('PATCH', `/v1/feedback/reporters/${earlier.id}`, {
    json: { confirmed: true },
  });
  await followTrust(service.app);
  assert.deepEqual(await sums(), [617, 617]);
});

test('Reports from before do not count while DNS does not say who signed them', async (t) => {
  let isDown = false;
  const up = zoneResolver({ ...REPORTER_ZONE, ...SIGNER_ZONE });
  const feedback = await startFeedback(t, {
    resolver: async (name, type) =>
      isDown ? { status: 'error', reason: 'timeout' } : up(name, type),
  });
  const { service, domain, upload, reports } = feedback;
  const { db } = service.app;
  await mailFrom(feedback, report('google.com', 'genuine', '500'), { from: GOOGLE });
  await mailFrom(feedback, report('google.com', 'forged', '40'), { from: EVIL });
  // A message of a stranger that a known sender mailed back.
  const forged = Buffer.from(report('linkedin', 'attached', '60')).toString('latin1');
  const back = mail([
    text('Not delivered.'),
    { type: 'message/rfc822', content: forged.replaceAll('b0', 'b1'), plain: true },
  ]);
  await mailFrom(feedback, back, { from: LINKEDIN });
  await upload(report('Receiver Ltd', 'uploaded', '7'));
  await asBefore(db);
  // The program from before counted all of them.
  await db.updateTable('feedback_reports').set({ status: 'counted', verified: 1 }).execute();
  for (const { id } of await db.selectFrom('feedback_reports').select('id').execute())
    await transact(db, async (tx) => {
      const row = await tx
        .selectFrom('feedback_reports')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      if (row.source !== 'upload' && row.messages !== 500)
        await countReports(tx, service.app, [row]);
    });
  await followTrust(service.app);
  const total = async () =>
    (await service.call<DmarcFeedback>('GET', `/v1/feedback/dmarc?domain_id=${domain.id}`)).body
      .totals.messages;
  assert.equal(await total(), 607);

  isDown = true;
  for (let run = 0; run < 2; run++) {
    await attributeReports(service.app);
    assert.equal(await total(), 7);
  }
  // To confirm the name in a report does not replace the proof.
  await db
    .updateTable('feedback_reporters')
    .set({ trusted: 1 })
    .where('kind', 'is', null)
    .execute();
  await followTrust(service.app);
  assert.equal(await total(), 7);
  await db
    .updateTable('feedback_reporters')
    .set({ trusted: 0 })
    .where('kind', 'is', null)
    .execute();

  isDown = false;
  await attributeReports(service.app);
  assert.deepEqual(
    (await reports()).map(({ status, messages }) => `${messages} ${status}`).sort(),
    ['40 unconfirmed', '500 counted', '60 unconfirmed', '7 counted'],
  );
  assert.equal(await total(), 507);
  const rows = await db.selectFrom('feedback_addresses').select('messages').execute();
  assert.deepEqual(rows, [{ messages: 507 }]);
});
