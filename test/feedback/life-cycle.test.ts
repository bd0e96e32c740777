/** How feedback arrives otherwise, how long it is kept, and what a deleted domain leaves. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dmarcValue } from '../../src/domains/feedback/records.ts';
import { deleteRemoved, expire } from '../../src/feedback/expire.ts';
import type { DmarcFeedback } from '../../src/feedback/schemas/dmarc.ts';
import { spread } from '../../src/feedback/thread/spread.ts';
import type { Db } from '../../src/store/open.ts';
import { complaint } from './messages.ts';
import {
  BEGIN,
  dmarc,
  gzip,
  mail,
  record,
  text,
  tls,
  tlsFailure,
  tlsPolicy,
} from './reading/builders.ts';
import { named, startFeedback } from './start.ts';

const DAY_MS = 86_400_000;

const TABLES = [
  'feedback_mails',
  'feedback_reports',
  'dmarc_rows',
  'dmarc_days',
  'feedback_addresses',
  'feedback_sources',
  'feedback_source_days',
  'tls_days',
  'tls_failures',
  'message_chunks',
] as const;

async function counts(db: Db): Promise<Record<string, number>> {
  const entries = await Promise.all(
    TABLES.map(async (table) => {
      const { count } = await db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow();
      return [table, Number(count)] as const;
    }),
  );
  return Object.fromEntries(entries);
}

test('TLS reports arrive over HTTPS without credentials, and count only if a person uploads them', async (t) => {
  const { domain, reports, service, settled, upload } = await startFeedback(t);
  const token = domain.feedback.address.slice(3, 19);
  const post = (path: string, body: string | Uint8Array, type: string) =>
    service.call('POST', path, { key: null, body, headers: { 'content-type': type } });
  const json = tls({}, [tlsPolicy({}, {}, [tlsFailure()])]);
  const answers = [
    await post(`/feedback/tls/${token}`, gzip(json), 'application/tlsrpt+gzip'),
    await post(`/feedback/tls/${token}`, json, 'application/tlsrpt+json'),
    await post(`/feedback/tls/${token}`, json, 'application/json'),
    await post('/feedback/tls/0000000000000000', json, 'application/tlsrpt+json'),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202, 415, 404],
  );
  await settled();
  assert.deepEqual(
    (await reports()).map(({ status, source, verified }) => [status, source, verified]),
    [
      ['unverified', 'https', null],
      ['duplicate', 'https', null],
    ],
  );
  const summary = `/v1/feedback/tls?domain_id=${domain.id}`;
  const unverified = await service.call<{ failed: number; reasons: object[] }>('GET', summary);
  assert.deepEqual([unverified.body.failed, unverified.body.reasons], [0, []]);
  const [uploaded] = await upload(json);
  assert.equal(uploaded!.status, 'counted');
  const { body } = await service.call<{ reasons: { result_type: string; fix: string }[] }>(
    'GET',
    summary,
  );
  assert.deepEqual(
    body.reasons.map(({ result_type, fix }) => [result_type, fix.split(',')[0]]),
    [['certificate-expired', 'Renew the certificate of the mail server']],
  );
});

test('Viewers read feedback, and cannot upload or confirm', async (t) => {
  const { service, upload } = await startFeedback(t);
  const [report] = await upload(dmarc());
  const { key } = await service.makeMember('viewer');
  const statuses = [
    await service.call('GET', '/v1/feedback/reports', { key }),
    await service.call('POST', '/v1/feedback/reports', {
      key,
      body: dmarc({ id: 'x' }),
      headers: { 'content-type': 'application/octet-stream' },
    }),
    await service.call('PATCH', `/v1/feedback/reporters/${report!.reporter_id}`, {
      key,
      json: { confirmed: true },
    }),
  ];
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [200, 403, 403],
  );
});

test('One file can have many reports, each with its own status', async (t) => {
  const { upload } = await startFeedback(t);
  const uploaded = await upload(
    mail([
      text('Reports.'),
      { type: 'application/gzip', content: gzip(dmarc({ id: 'a' })) },
      { type: 'application/gzip', content: gzip(dmarc({ id: 'a' })) },
      { type: 'text/xml', content: dmarc({ id: 'b', close: '' }) },
    ]),
  );
  assert.deepEqual(
    uploaded.map(({ status, reason, source }) => [status, reason, source]),
    [
      ['counted', null, 'upload'],
      ['duplicate', null, 'upload'],
      ['refused', 'unreadable', 'upload'],
    ],
  );
});

test('A report of 12,000 rows keeps the largest, and all of its sums', async (t) => {
  const { domain, service, upload } = await startFeedback(t);
  const records = Array.from({ length: 12_000 }, (_, index) =>
    record({ source: `192.0.${index >> 8}.${index & 255}`, count: String(1 + (index % 7)) }),
  );
  const [report] = await upload(gzip(dmarc({ records: records.join('') })));
  const sum = Array.from({ length: 12_000 }, (_, index) => 1 + (index % 7)).reduce((a, b) => a + b);
  assert.deepEqual([report!.status, report!.messages], ['counted', sum]);
  const { body } = await service.call<DmarcFeedback>(
    'GET',
    `/v1/feedback/dmarc?domain_id=${domain.id}`,
  );
  assert.equal(body.totals.messages, sum);
  const { dmarc_rows, feedback_addresses } = await counts(service.app.db);
  // The others are summed up in the 47 networks of the first 12,000 addresses.
  assert.deepEqual([dmarc_rows, feedback_addresses], [5_047, 5_047]);
});

test('Deleting a domain deletes all of its feedback', async (t) => {
  const feedback = await startFeedback(t);
  const { domain, send, service, settled, upload } = feedback;
  await send(mail([text('x'), { type: 'application/gzip', content: gzip(dmarc()) }]));
  await upload(tls({}, [tlsPolicy({}, {}, [tlsFailure()])]));
  await settled();
  await named(feedback);
  const before = await counts(service.app.db);
  assert.ok(
    Object.values(before).every((count) => count > 0),
    JSON.stringify(before),
  );
  assert.equal((await service.call('DELETE', `/v1/domains/${domain.id}`)).status, 200);
  await deleteRemoved(service.app);
  const after = await counts(service.app.db);
  // The uploaded file was sent to no domain. It is deleted after 30 days.
  assert.deepEqual(after, {
    ...Object.fromEntries(TABLES.map((table) => [table, 0])),
    feedback_mails: 1,
    message_chunks: 1,
  });
});

test('Sources expire after 30 days and rows after the retention; the sums stay', async (t) => {
  const { clock, domain, service, upload } = await startFeedback(t);
  await upload(dmarc());
  await upload('no report at all');
  clock.advance(31 * DAY_MS);
  await expire(service.app);
  const month = await counts(service.app.db);
  assert.deepEqual(
    [month.feedback_mails, month.message_chunks, month.feedback_reports, month.dmarc_rows],
    [0, 0, 1, 1],
  );
  clock.advance(400 * DAY_MS);
  await expire(service.app);
  const later = await counts(service.app.db);
  assert.deepEqual([later.feedback_reports, later.dmarc_rows, later.dmarc_days], [1, 0, 1]);
  // Its sums stay, so that the same report counts once, whenever it is imported again.
  const [again] = await upload(dmarc());
  assert.equal(again!.status, 'duplicate');
  const emptied = await service.call<{ status: string; row_count: number; rows: object[] }>(
    'GET',
    `/v1/feedback/reports/${again!.original_id}`,
  );
  assert.partialDeepStrictEqual(emptied.body, { status: 'counted', row_count: 0, rows: [] });
  const { body } = await service.call<DmarcFeedback>(
    'GET',
    `/v1/feedback/dmarc?domain_id=${domain.id}&from=2026-11-21&to=2026-11-21`,
  );
  assert.equal(body.totals.messages, 2);
});

test('Counts of several days are spread by length, whole, with the remainder on the last day', () => {
  const begin = BEGIN * 1000;
  const cases: [count: number, from: number, to: number, expected: number[]][] = [
    [10, 0, 24 * 3600 - 1, [10]],
    [10, 0, 24 * 3600, [10]],
    [10, 0, 3 * 24 * 3600 - 1, [3, 3, 4]],
    [10, 12 * 3600, 36 * 3600, [5, 5]],
    [1, 0, 2 * 24 * 3600, [0, 1]],
    [7, 100, 100, [7]],
  ];
  for (const [count, from, to, expected] of cases) {
    const parts = spread(count, begin + from * 1000, begin + to * 1000);
    assert.deepEqual(
      parts.map(([, part]) => part),
      expected,
      `${count} from ${from} to ${to}`,
    );
    assert.equal(parts[0]![0], '2026-11-21');
  }
});

test('The records to publish keep what is there, and the state follows them', async (t) => {
  const zone = {
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:a@example.com; adkim=s'] },
  };
  const { clock, domain, service } = await startFeedback(t, { zone });
  const { LOOKUP_JOB } = await import('../../src/domains/feedback/lookup-job.ts');
  const get = async () =>
    (await service.call<typeof domain>('GET', `/v1/domains/${domain.id}`)).body.feedback;
  clock.advance(1000);
  for (let attempt = 0; attempt < 500 && (await get()).records.length === 0; attempt++)
    service.app.scheduler.wakeHere(LOOKUP_JOB);
  const { address, records, state } = await get();
  assert.equal(state, 'not_published');
  assert.deepEqual(records, [
    {
      type: 'TXT',
      name: '_dmarc.example.com',
      published: false,
      current: 'v=DMARC1; p=reject; rua=mailto:a@example.com; adkim=s',
      value: `v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:${address}; adkim=s`,
    },
    {
      type: 'TXT',
      name: '_smtp._tls.example.com',
      published: false,
      current: null,
      value: `v=TLSRPTv1; rua=mailto:${address}`,
    },
    {
      type: 'TXT',
      name: '*._report._dmarc.inbox.test',
      published: false,
      current: null,
      value: 'v=DMARC1',
    },
  ]);
});

test('With a full disk, uploads and TLS reports are refused for now, and nothing is stored', async (t) => {
  let roomy = false;
  const { domain, reports, service, settled, upload } = await startFeedback(t, {
    hasSpace: async () => roomy,
  });
  const postTls = () =>
    service.call('POST', `/feedback/tls/${domain.feedback.address.slice(3, 19)}`, {
      key: null,
      body: tls(),
      headers: { 'content-type': 'application/tlsrpt+json' },
    });
  const refused = await service.call('POST', '/v1/feedback/reports', {
    body: dmarc(),
    headers: { 'content-type': 'application/xml' },
  });
  assert.deepEqual([refused.status, (await postTls()).status], [503, 503]);
  assert.deepEqual(
    Object.values(await counts(service.app.db)),
    TABLES.map(() => 0),
  );
  roomy = true;
  await upload(dmarc());
  assert.equal((await postTls()).status, 202);
  await settled();
  assert.deepEqual(
    (await reports()).map(({ type, status }) => `${type} ${status}`),
    ['dmarc counted', 'tls unverified'],
  );
});

test('A subdomain keeps the policy that it inherits', () => {
  const uri = 'mailto:fb-x@inbox.test';
  const cases: [inherited: string | null, policy: string][] = [
    [null, 'none'],
    ['v=DMARC1; p=reject', 'reject'],
    ['v=DMARC1; p=reject; sp=quarantine', 'quarantine'],
    ['v=DMARC1; p=bad', 'none'],
  ];
  for (const [inherited, policy] of cases)
    assert.equal(dmarcValue(null, uri, inherited), `v=DMARC1; p=${policy}; rua=${uri}`);
});

test('An imported complaint counts on the day it arrived, and an old one emits no event', async (t) => {
  const { service, domain, upload } = await startFeedback(t);
  const report = (id: string, arrived: string) =>
    complaint('abuse', '192.0.2.1', { id })
      .toString('latin1')
      .replace('Reported-Domain:', `Arrival-Date: ${arrived}\nReported-Domain:`);
  await upload(report('old', 'Mon, 03 Mar 2025 10:00:00 +0000'));
  await upload(report('unknown', 'none'));
  const path = `/v1/feedback/complaints/summary?domain_id=${domain.id}`;
  const daysOf = async (query: string) =>
    (await service.call<{ days: { date: string; count: number }[] }>('GET', path + query)).body
      .days;
  assert.deepEqual(await daysOf('&from=2025-03-01&to=2025-03-31'), [
    { date: '2025-03-03', count: 1 },
  ]);
  assert.equal((await daysOf('')).length, 1);
  const events = await service.call<{ data: object[] }>(
    'GET',
    '/v1/events?type=complaint.received',
  );
  assert.equal(events.body.data.length, 1);
});

test('A report over several days is from a reporter of each of them, and of no other', async (t) => {
  const { service, domain, upload } = await startFeedback(t);
  const day = 86_400;
  await upload(dmarc({ begin: String(BEGIN - 2 * day), end: String(BEGIN + day) }));
  const dayOf = (days: number) => new Date((BEGIN + days * day) * 1000).toISOString().slice(0, 10);
  for (const [days, reporters] of [
    [-3, 0],
    [-2, 1],
    [-1, 1],
    [0, 1],
    [1, 0],
  ] as const) {
    const { body } = await service.call<{ reporter_count: number }>(
      'GET',
      `/v1/feedback/dmarc?domain_id=${domain.id}&from=${dayOf(days)}&to=${dayOf(days)}`,
    );
    assert.equal(body.reporter_count, reporters, `day ${days}`);
  }
});

test('Days beyond the years of reports are refused', async (t) => {
  const { service, domain } = await startFeedback(t);
  for (const period of ['from=9999-12-01&to=9999-12-31', 'to=0000-01-01', 'from=2026-02-31'])
    for (const path of ['dmarc', 'complaints/summary', 'bounces/summary']) {
      const url = `/v1/feedback/${path}?domain_id=${domain.id}&${period}`;
      assert.equal((await service.call('GET', url)).status, 422, url);
    }
});
