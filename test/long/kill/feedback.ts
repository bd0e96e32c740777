/** Reports of receivers, by mail and uploaded: each that was acknowledged is counted once, with all its rows. */

import assert from 'node:assert/strict';
import type { Domain } from '../../../src/domains/schema.ts';
import type { DmarcFeedback } from '../../../src/feedback/schemas/dmarc.ts';
import type { ListedReport } from '../../../src/feedback/schemas/report.ts';
import { isoTime, systemClock } from '../../../src/lib/clock.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import type { Db } from '../../../src/store/open.ts';
import { dmarc, gzip, mail, record, text } from '../../feedback/reading/builders.ts';
import { sendMail } from '../../helpers/send.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';
import { countRows, type Load, untilMore } from './load.ts';
import type { Site } from './site.ts';

/** More than one batch. */
const ROWS = 1_200;
const DAY_SECONDS = 86_400;

const key = makeKey();

/** A known receiver, so that its reports count at once. */
export const REPORTER_ZONE: Zone = {
  'google.com': { TXT: ['v=spf1 -all'] },
  's1._domainkey.google.com': { TXT: [key.record] },
};

export function createFeedback(): Load {
  const acknowledged: string[] = [];
  let domain: Promise<Domain> | null = null;
  let sent = 0;
  let rowsBefore = 0;
  const create = async (site: Site): Promise<Domain> => {
    const body = JSON.stringify({ name: 'example.com' });
    const idempotencyKey = 'domain';
    return (await site.call('POST', '/v1/domains', { body, idempotencyKey })) as unknown as Domain;
  };
  return {
    name: 'feedback',
    maxPauseMs: 1_500,
    async work(site) {
      domain ??= create(site);
      const { feedback } = await domain;
      const id = `r-${++sent}`;
      const raw = await signedReport(id);
      if (sent % 3 === 0) {
        const type = 'message/rfc822';
        if (await site.call('POST', '/v1/feedback/reports', { body: raw, type }))
          acknowledged.push(id);
        return;
      }
      const address = site.pick();
      if (!address) return;
      await sendMail({ port: address.smtpPort, to: feedback.address, raw }).then(
        () => acknowledged.push(id),
        // The service was killed: the reporter sends it again, or not.
        () => {},
      );
    },
    moments: [
      {
        name: 'feedback',
        async reach({ db }) {
          rowsBefore = await countRows(db, 'dmarc_rows');
          await untilMore(() => countRows(db, 'dmarc_rows'));
        },
        end: async (db) =>
          (await waiting(db)) > 0 && (await countRows(db, 'dmarc_rows')) > rowsBefore,
      },
    ],
    async verify(db, site) {
      const counted = await countedReports(site);
      assert.equal(new Set(counted).size, counted.length);
      assert.deepEqual(
        acknowledged.filter((id) => !counted.includes(id)),
        [],
      );
      const today = isoTime(systemClock.now()).slice(0, 10);
      const { id } = await domain!;
      const summary = await site.call('GET', `/v1/feedback/dmarc?domain_id=${id}&to=${today}`);
      const { totals } = summary as unknown as DmarcFeedback;
      const messages = counted.length * ROWS * 2;
      assert.deepEqual([totals.messages, totals.failed], [messages, messages / 3]);
      const rows = await db
        .selectFrom('dmarc_rows')
        .select(({ fn }) => [fn.countAll().as('rows'), fn.sum('count').as('messages')])
        .where('counted', '=', 1)
        .executeTakeFirstOrThrow();
      assert.deepEqual(
        [Number(rows.rows), Number(rows.messages)],
        [counted.length * ROWS, messages],
      );
      const sources = await db.selectFrom('feedback_addresses').select(['messages']).execute();
      assert.equal(sources.length, ROWS);
      assert.ok(sources.every((source) => source.messages === 2 * counted.length));
      return { acknowledged: acknowledged.length, counted: counted.length };
    },
  };
}

/** The IDs of the reports that count. */
async function countedReports(site: Site): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ''; ; ) {
    const path = `/v1/feedback/reports?limit=100&status=counted${after}`;
    const page = (await site.call('GET', path)) as unknown as ReportPage;
    ids.push(...page.data.map(({ report_id }) => report_id!));
    if (!page.has_more) return ids;
    after = `&starting_after=${page.data.at(-1)!.id}`;
  }
}

interface ReportPage {
  data: ListedReport[];
  has_more: boolean;
}

/** How many messages are not read to their end. */
async function waiting(db: Db): Promise<number> {
  const due = await db
    .selectFrom('feedback_mails')
    .select('id')
    .where('due_at', 'is not', null)
    .execute();
  return due.length;
}

const signedReport = (id: string): Promise<Buffer> => {
  const now = systemClock.now();
  const signing = { domain: 'google.com', selector: 's1', key, signTime: now - 60_000 };
  return signMessage(Buffer.from(report(id, now)), signing);
};

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
