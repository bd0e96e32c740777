/** Feedback in the program: after kill -9, no acknowledged report is lost, and none counts twice. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Domain } from '../../src/domains/schema.ts';
import type { DmarcFeedback } from '../../src/feedback/schemas/dmarc.ts';
import type { ListedReport } from '../../src/feedback/schemas/report.ts';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { dmarc, gzip, mail, record, text } from '../feedback/reading/builders.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { seededRandom } from '../helpers/random.ts';
import { sendMail } from '../helpers/send.ts';
import { startServe } from '../helpers/serve-process.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { databaseIn, SAME_NODE } from '../helpers/store.ts';

const ROUNDS = Number(process.env.FEEDBACK_KILL_ROUNDS ?? 6);
const SEED = Number(process.env.FEEDBACK_KILL_SEED ?? 20_261_127);
const PER_ROUND = 6;
/** More than one batch. */
const ROWS = 1_200;
const MAX_DELAY_MS = 900;
const DAY_SECONDS = 86_400;

const key = makeKey();

/** A report about yesterday: two messages in each row, of which every third fails. */
function report(id: string, now: number): Uint8Array {
  const begin = Math.floor(now / 1000 / DAY_SECONDS - 1) * DAY_SECONDS;
  const records = Array.from({ length: ROWS }, (_, index) =>
    record({
      source: `192.0.${index >> 8}.${index & 255}`,
      ...(index % 3 === 0 ? { dkim: 'fail', spf: 'fail' } : {}),
    }),
  );
  const xml = dmarc({
    id,
    begin: String(begin),
    end: String(begin + DAY_SECONDS - 1),
    records: records.join(''),
  });
  const header = `From: Reports <noreply-dmarc-support@google.com>
To: reports@inbox.test
Subject: Report ${id}
Date: Sun, 22 Nov 2026 01:00:00 +0000
Message-ID: <${id}@receiver.example>
MIME-Version: 1.0
`;
  return mail([text('A report.'), { type: 'application/gzip', content: gzip(xml) }], { header });
}

test(`${ROUNDS} SIGKILLs lose no acknowledged report and count each once`, {
  timeout: 300_000 + ROUNDS * 30_000,
}, async (t) => {
  const random = seededRandom(SEED);
  const folder = temporaryFolder(t);
  const dns = await startDnsServer({
    // A known receiver, so that its reports count at once.
    'google.com': { TXT: ['v=spf1 -all'] },
    's1._domainkey.google.com': { TXT: [key.record] },
  });
  t.after(() => dns.close());
  const env = {
    ...SAME_NODE,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
  };
  const start = () => startServe(t, { folder, env });
  let serve = await start();
  const domain = await serve.call<Domain>('POST', '/v1/domains', {
    body: JSON.stringify({ name: 'example.com' }),
    status: 201,
  });
  const acknowledged: string[] = [];
  let sent = 0;
  const send = async () => {
    sent += 1;
    const id = `r-${sent}`;
    const now = systemClock.now();
    const raw = await signMessage(Buffer.from(report(id, now)), {
      domain: 'google.com',
      selector: 's1',
      key,
      signTime: now - 60_000,
    });
    await sendMail({ port: serve.smtpPort, to: domain.feedback.address, raw }).then(
      () => acknowledged.push(id),
      // The service was killed: the reporter sends it again, or not.
      () => {},
    );
  };
  for (let round = 0; round < ROUNDS; round++) {
    const sending = Promise.all(Array.from({ length: PER_ROUND }, send));
    await pause(random.below(MAX_DELAY_MS));
    serve.signal('SIGKILL');
    await Promise.all([serve.ended, sending]);
    serve = await start();
  }
  const counted = await untilRead(serve, acknowledged);
  assert.deepEqual(counted.length, new Set(counted).size);
  assert.deepEqual(
    acknowledged.filter((id) => !counted.includes(id)),
    [],
  );
  const today = isoTime(systemClock.now()).slice(0, 10);
  const { totals } = await serve.call<DmarcFeedback>(
    'GET',
    `/v1/feedback/dmarc?domain_id=${domain.id}&to=${today}`,
  );
  const messages = counted.length * ROWS * 2;
  assert.deepEqual([totals.messages, totals.failed], [messages, messages / 3]);
  for (let attempt = 0; attempt < 20; attempt++) {
    serve.signal('SIGTERM');
    await serve.ended;
    if ((await waiting(folder)) === 0) break;
    // What was being stored goes on at the next start.
    serve = await start();
    await pause(3_000);
  }
  assert.equal(await waiting(folder), 0);
  const store = await openStore(await databaseIn(folder));
  try {
    const rows = await store.db
      .selectFrom('dmarc_rows')
      .select(({ fn }) => [fn.countAll().as('rows'), fn.sum('count').as('messages')])
      .where('counted', '=', 1)
      .executeTakeFirstOrThrow();
    assert.deepEqual([Number(rows.rows), Number(rows.messages)], [counted.length * ROWS, messages]);
    const sources = await store.db
      .selectFrom('feedback_addresses')
      .select(['messages', 'passed'])
      .execute();
    assert.equal(sources.length, ROWS);
    assert.ok(sources.every((source) => source.messages === 2 * counted.length));
  } finally {
    await store.close();
  }
  t.diagnostic(
    JSON.stringify({
      rounds: ROUNDS,
      sent,
      acknowledged: acknowledged.length,
      counted: counted.length,
    }),
  );
});

/** How many messages are not read to their end. */
async function waiting(folder: string): Promise<number> {
  const store = await openStore(await databaseIn(folder));
  try {
    const due = await store.db
      .selectFrom('feedback_mails')
      .select('id')
      .where('due_at', 'is not', null)
      .execute();
    return due.length;
  } finally {
    await store.close();
  }
}

/** The IDs of the reports that count, once all that were acknowledged are read. */
async function untilRead(
  serve: Awaited<ReturnType<typeof startServe>>,
  acknowledged: string[],
): Promise<string[]> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const ids: string[] = [];
    let after = '';
    for (;;) {
      const { data, has_more } = await serve.call<{ data: ListedReport[]; has_more: boolean }>(
        'GET',
        `/v1/feedback/reports?limit=100&status=counted${after}`,
      );
      ids.push(...data.map(({ report_id }) => report_id!));
      if (!has_more) break;
      after = `&starting_after=${data.at(-1)!.id}`;
    }
    if (acknowledged.every((id) => ids.includes(id))) {
      // What was stored without an answer is read too.
      await pause(3_000);
      if (attempt > 0) return ids;
    }
    await pause(500);
  }
  return assert.fail('reports are not read');
}
