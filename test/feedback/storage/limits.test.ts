/** What reports that do not count may take: of one message, of the domain that they are about, and of the last bytes of the disk. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeFeedback } from '../../../src/feedback/intake.ts';
import { readMail } from '../../../src/feedback/read-mail.ts';
import { bytesUntilRead, storedOfMails } from '../../../src/feedback/storage/stored.ts';
import { forgetStored, storageUsage } from '../../../src/feedback/storage/usage.ts';
import { dmarc, dsn, gzip, mail, record, tls, tlsFailure, tlsPolicy } from '../reading/builders.ts';
import { type FeedbackService, startFeedback } from '../start.ts';

const REPORTS = 100;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const long = (index: number): string => `${index}`.padEnd(250, 'x');

const archives = (reports: string[]): Uint8Array =>
  mail(reports.map((report) => ({ type: 'application/gzip', content: gzip(report) })));

const RECORDS = times(150, (index) =>
  record({ source: `192.0.2.${index}`, count: '3', dkim: index % 2 ? 'pass' : 'fail' }),
).join('');

/** A policy with much text of its own. */
const policy = (index: number, lines: number) =>
  tlsPolicy(
    { 'policy-string': times(lines, long) },
    { 'total-successful-session-count': 0, 'total-failure-session-count': 3 },
    [tlsFailure({ 'failure-reason-code': long(index) })],
  );

const bounces = (recipients: number): Uint8Array =>
  dsn(
    `Reporting-MTA: dns; mx.example\nOriginal-Envelope-Id: 1\n\n${times(
      recipients,
      (index) =>
        `Final-Recipient: rfc822; r${index}@mailbox.example\nAction: failed\nStatus: 5.1.${index}\nRemote-MTA: dns; ${long(index)}\nDiagnostic-Code: smtp; 550 ${long(index)}\n\n`,
    ).join('')}`,
  );

/** Each would take megabytes. */
const MANY: [what: string, raw: () => Uint8Array][] = [
  [
    'DMARC reports',
    () => archives(times(REPORTS, (id) => dmarc({ id: `r-${id}`, records: RECORDS }))),
  ],
  [
    'TLS reports with long policies',
    () =>
      archives(
        times(REPORTS, (id) =>
          tls(
            { 'report-id': id },
            times(10, (n) => policy(n, 40)),
          ),
        ),
      ),
  ],
  [
    'TLS reports with many failures',
    () =>
      archives(
        times(REPORTS, (id) =>
          tls(
            { 'report-id': id },
            times(90, (n) => policy(n, 1)),
          ),
        ),
      ),
  ],
  [
    'bounces',
    // A bounce that is attached is passed on, so a message has one.
    () => bounces(1000),
  ],
];

const mails = async ({ service }: FeedbackService) =>
  service.app.db.selectFrom('feedback_mails').selectAll().orderBy('id').execute();

for (const [what, raw] of MANY)
  test(`The reports of one message of a stranger take what was reserved for it, and no more: ${what}`, async (t) => {
    const feedback = await startFeedback(t);
    const { service, send, reports, domain } = feedback;
    await send(raw(), { from: 'stranger.example' });
    const [stored] = await mails(feedback);
    const taken = (await storedOfMails(service.app.db, [stored!.id])).get(domain.id)!;
    assert.equal(taken.known, 0);
    assert.ok(taken.unverified <= bytesUntilRead(stored!.size), String(taken.unverified));
    // Enough is kept to judge the reporter by.
    assert.ok(taken.unverified >= 150_000, String(taken.unverified));
    const { db } = service.app;
    let texts = 0;
    let rows = 0;
    for (const table of ['dmarc_rows', 'tls_failures', 'bounces', 'feedback_message_sums'] as const)
      for (const row of await db.selectFrom(table).selectAll().execute()) {
        texts += Object.values(row).join('').length;
        rows += Number(table !== 'feedback_message_sums');
      }
    assert.ok(rows > 0 && rows <= 525, String(rows));
    assert.ok(texts <= taken.unverified, `${texts} of ${taken.unverified}`);
    // Each report has its exact figures, or says why it has none.
    const all = [...(await reports()), ...(await reports('&status=refused'))];
    for (const { status, messages, reason } of all)
      assert.ok(status === 'refused' ? reason === 'storage_full' : messages > 0, status);
    const usage = async () => (await storageUsage(service.app)).all.used;
    const counted = await usage();
    forgetStored(service.app);
    assert.deepEqual(await usage(), counted);
  });

test('All reports of a message of a confirmed reporter keep their rows', async (t) => {
  const { service, send } = await startFeedback(t);
  const some = times(10, (id) => dmarc({ id: `r-${id}`, records: RECORDS }));
  await send(archives(some));
  const rows = await service.app.db.selectFrom('dmarc_rows').select('count').execute();
  assert.equal(rows.length, 1500);
});

test('While the share of a domain is full, messages to the address of another one add nothing to it', async (t) => {
  const feedback = await startFeedback(t, {
    env: { DELIVERABILITY_FEEDBACK_STORAGE_PER_DOMAIN: '5MiB' },
  });
  const { service, send, reports } = feedback;
  const { body: other } = await service.call<{ id: string; name: string }>('POST', '/v1/domains', {
    json: { name: 'example.net' },
  });
  const about = (name: string, id: number) =>
    archives([
      tls(
        { 'report-id': id },
        times(12, () =>
          tlsPolicy({ 'policy-domain': name, 'policy-string': times(40, long) }, {}, [
            tlsFailure(),
          ]),
        ),
      ),
    ]);
  for (let id = 0; id < 12; id++) await send(about(other.name, id), { from: 'stranger.example' });
  const { used, limit } = (await storageUsage(service.app)).ofDomain(other.id);
  assert.ok(used.unverified <= limit.unverified + 20_000, String(used.unverified));
  const refused = await reports('&status=refused');
  assert.ok(refused.length > 0 && refused.length < 12, String(refused.length));
  assert.match(refused[0]!.detail!, /No space is left for reports that do not count/);
  // Its own share has space, and what counts needs none.
  await send(about('example.com', 20), { from: 'stranger.example' });
  await send(about(other.name, 21));
  assert.deepEqual(
    (await reports()).slice(-2).map(({ status }) => status),
    ['unconfirmed', 'counted'],
  );
});

test('Reports wait while the last bytes of the disk are reserved for messages to tests', async (t) => {
  const GIB = 1024 ** 3;
  let free = 0.6 * GIB;
  const feedback = await startFeedback(t, { disk: async () => ({ free, total: 10 * GIB }) });
  const { service, domain, reports, settled } = feedback;
  const stored = await storeFeedback(service.app, {
    raw: archives([dmarc()]),
    source: 'https',
    domainId: domain.id,
    suffix: null,
    envelope: null,
    ownMs: 60_000,
  });
  await assert.rejects(readMail(service.app, stored), { code: 'unavailable' });
  assert.deepEqual(await reports(), []);
  assert.notEqual((await mails(feedback))[0]!.due_at, null);
  free = 5 * GIB;
  feedback.clock.advance(60_000);
  await settled();
  assert.equal((await reports()).length, 1);
});
