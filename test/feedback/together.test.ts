/** Files of one form count as if each had been uploaded alone. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { MAX_BATCH_WEIGHT, weightOf } from '../../src/feedback/record/record.ts';
import type { UploadedReport } from '../../src/feedback/schemas/report.ts';
import { engineOf } from '../../src/store/open.ts';
import type { Tables } from '../../src/store/tables.generated.ts';
import { BOMBS } from './reading/bombs.ts';
import { arf, dmarc, gzip, mail, record, text, tls, zip } from './reading/builders.ts';
import { type FeedbackService, startFeedback } from './start.ts';

const rows = (count: number, first: number) =>
  Array.from({ length: count }, (_, index) =>
    record({
      source: `192.0.2.${first + index}`,
      count: String(index + 1),
      ...(index % 3 === 0 ? { dkim: 'fail', spf: 'fail', disposition: 'reject' } : {}),
    }),
  ).join('');

const DAY = 86_400;
const BEGIN = Date.UTC(2026, 10, 20) / 1000;
const period = (day: number) => ({
  begin: String(BEGIN - day * DAY),
  end: String(BEGIN - day * DAY + DAY - 1),
});

/** Each with the statuses of its reports, in this order. */
const FILES: [name: string, file: Uint8Array | string, statuses: string[]][] = [
  ['a report', gzip(dmarc({ id: 'a', ...period(0), records: rows(9, 1) })), ['counted']],
  ['another day', dmarc({ id: 'b', ...period(1), records: rows(5, 4) }), ['counted']],
  ['another reporter', dmarc({ orgName: 'other', id: 'c', records: rows(3, 7) }), ['counted']],
  ['a copy', dmarc({ id: 'a', ...period(0), records: rows(9, 1) }), ['duplicate']],
  ['other figures', dmarc({ id: 'a', ...period(0), records: rows(8, 1) }), ['conflict']],
  ['no report', 'Hello\n', ['refused']],
  ['a foreign domain', dmarc({ id: 'd' }).replaceAll('example.com', 'example.net'), ['refused']],
  ['a TLS report', tls(), ['counted']],
  [
    'several reports',
    zip([
      { name: 'e.xml', data: dmarc({ id: 'e', ...period(2) }) },
      { name: 'f.xml', data: dmarc({ id: 'f', ...period(2) }) },
    ]),
    ['counted', 'counted'],
  ],
  ['a complaint', arf('Feedback-Type: abuse\nSource-IP: 192.0.2.9\n'), ['counted']],
  [
    'more than 500 rows',
    dmarc({ id: 'g', ...period(3), records: rows(200, 1).repeat(3) }),
    ['counted'],
  ],
  [
    'a message',
    mail([text('A report.'), { type: 'application/gzip', content: gzip(dmarc({ id: 'h' })) }]),
    ['counted'],
  ],
];

async function uploadForm(
  { service }: FeedbackService,
  files: [name: string, file: Uint8Array | string][],
): Promise<{ status: number; data: UploadedReport[] }> {
  const form = new FormData();
  for (const [name, file] of files)
    form.append('file', new Blob([Buffer.from(file as string)]), name);
  const response = await fetch(`${service.url}/v1/feedback/reports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: form,
  });
  const { data } = (await response.json()) as { data: UploadedReport[] };
  return { status: response.status, data };
}

/** What differs between two services with the same reports, and what another job fills in. */
const OWN = new Set(
  'id report_id mail_id reporter_id domain_id original_id look_up_at source_id host lease leased_until'.split(
    ' ',
  ),
);

const TABLES = [
  'feedback_reports',
  'feedback_reporters',
  'feedback_addresses',
  'dmarc_rows',
  'dmarc_days',
  'tls_days',
  'tls_failures',
  'complaints',
  'feedback_message_sums',
] as const satisfies (keyof Tables)[];

async function stored({ service: { app } }: FeedbackService): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of TABLES)
    found[table] = (await app.db.selectFrom(table).selectAll().execute())
      .map((row) => JSON.stringify(Object.entries(row).filter(([name]) => !OWN.has(name))))
      .sort();
  return found;
}

test('Files of one form are stored, counted and kept as if each had been uploaded alone', async (t) => {
  const [alone, together] = [await startFeedback(t), await startFeedback(t)];
  for (const [name, file, statuses] of FILES)
    assert.deepEqual(
      (await alone.upload(file)).map(({ status }) => status),
      statuses,
      name,
    );
  const { status, data } = await uploadForm(
    together,
    FILES.map(([name, file]) => [name, file]),
  );
  assert.equal(status, 201);
  assert.deepEqual(
    data.map((report) => [report.file, report.status]),
    FILES.flatMap(([name, , statuses]) => statuses.map((one) => [name, one])),
  );
  const [inOne, one] = [await stored(together), await stored(alone)];
  for (const table of TABLES) assert.deepEqual(inOne[table], one[table], table);
  for (const { id, file } of data) {
    const [name, bytes] = FILES.find(([one]) => one === file)!;
    // Nothing personal is kept.
    if (name === 'a complaint' || name === 'no report') continue;
    const { service } = together;
    const kept = await fetch(`${service.url}/v1/feedback/reports/${id}/source`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    assert.deepEqual(Buffer.from(await kept.arrayBuffer()), Buffer.from(bytes as string), name);
  }
});

test('A bomb in a form is refused, and the other files count', async (t) => {
  const feedback = await startFeedback(t);
  const bombs = BOMBS.filter(([name]) => /^gzip|declares a small/.test(name));
  assert.ok(bombs.length >= 3);
  const files = bombs.flatMap(([name, make]): [string, Uint8Array][] => [
    [name, make()],
    [
      `beside ${name}`,
      gzip(dmarc({ id: name, ...period(bombs.findIndex(([one]) => one === name)) })),
    ],
  ]);
  const { status, data } = await uploadForm(feedback, files);
  assert.equal(status, 201);
  assert.deepEqual(
    data.map((report) => [report.file, report.status, report.reason]),
    bombs.flatMap(([name, , reason]) => [
      [name, 'refused', reason],
      [`beside ${name}`, 'counted', null],
    ]),
  );
});

test('A form without files, with an empty file or with too many bytes stores nothing', async (t) => {
  const feedback = await startFeedback(t);
  const large = Buffer.alloc(1.5 * 1024 * 1024);
  const cases: [[string, Uint8Array | string][], number][] = [
    [[], 400],
    [
      [
        ['a', dmarc({ id: 'a' })],
        ['b', ''],
      ],
      400,
    ],
    [
      [
        ['a', large],
        ['b', large],
      ],
      413,
    ],
  ];
  for (const [files, expected] of cases)
    assert.equal((await uploadForm(feedback, files)).status, expected);
  assert.deepEqual(await feedback.reports(), []);
});

/** Rows with this address cannot be stored. */
const BROKEN = '192.0.2.66';

async function breakRows({ service: { app } }: FeedbackService) {
  const { db } = app;
  const isSqlite = engineOf(db) === 'sqlite';
  const broken = sql.raw('broken_row');
  if (isSqlite)
    await sql`create trigger ${broken} before insert on dmarc_rows when new.address = ${sql.lit(BROKEN)}
      begin select raise(abort, 'broken'); end`.execute(db);
  else
    await sql`alter table dmarc_rows add constraint ${broken} check (address <> ${sql.lit(BROKEN)})`.execute(
      db,
    );
  const repair = async () => {
    if (isSqlite) await sql`drop trigger if exists ${broken}`.execute(db);
    else await sql`alter table dmarc_rows drop constraint if exists ${broken}`.execute(db);
  };
  return repair;
}

test('A report that cannot be stored neither loses nor delays the others, and is read again', async (t) => {
  const feedback = await startFeedback(t);
  const repair = await breakRows(feedback);
  const files = ['a', 'broken', 'b'].map((id): [string, string] => [
    id,
    dmarc({ id, records: record({ source: id === 'broken' ? BROKEN : '192.0.2.1' }) }),
  ]);
  assert.equal((await uploadForm(feedback, files)).status, 500);
  const counted = async () => (await feedback.reports()).map(({ report_id }) => report_id);
  assert.deepEqual(await counted(), ['a', 'b']);
  await repair();
  feedback.clock.advance(3 * 60_000);
  await feedback.settled();
  assert.deepEqual((await counted()).toSorted(), ['a', 'b', 'broken']);
});

test('A refusal that someone signed is recorded alone, so that its locks keep the order of others', () => {
  const refusal = { ok: false, reason: 'invalid', detail: 'Cut.', type: 'dmarc' } as const;
  const signer = { from: 'a@google.com', domain: 'google.com', method: 'dkim' } as const;
  assert.ok(weightOf(refusal) < MAX_BATCH_WEIGHT / 10);
  assert.equal(weightOf(refusal, signer), MAX_BATCH_WEIGHT);
});
