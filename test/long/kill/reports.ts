/** Scheduled reports that are due, each with its own recipients: each recipient gets each report. */

import assert from 'node:assert/strict';
import { isoTime, systemClock } from '../../../src/lib/clock.ts';
import { createIdGenerator } from '../../../src/lib/ids.ts';
import { lastSend } from '../../../src/schedules/times.ts';
import type { Db } from '../../../src/store/open.ts';
import type { ReportScheduleRow } from '../../../src/store/tables.generated.ts';
import { type Load, until } from './load.ts';

const RECIPIENTS = 3;
const MAX_DUE = 3;

export function createReports(): Load {
  const recipients: string[] = [];
  let schedules = 0;
  let reached = 0;
  let cutShort = 0;
  const composing = async (db: Db) => {
    const rows = await db
      .selectFrom('report_schedules')
      .select('id')
      .where('lease', 'is not', null)
      .execute();
    return rows.length > 0;
  };
  return {
    name: 'reports',
    maxPauseMs: 5_000,
    async work(site) {
      const label = `r${schedules + 1}`;
      const row = dueSchedule(label);
      let isAdded = false;
      await site.write(async (db) => {
        // Making reports due is faster than composing them.
        if (!isAdded && (await countDue(db)) >= MAX_DUE) return;
        isAdded = true;
        await db
          .insertInto('report_schedules')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      });
      if (!isAdded) return;
      schedules += 1;
      recipients.push(...addressesOf(label));
    },
    moments: [{ name: 'report', reach: ({ db }) => until(() => composing(db)), end: composing }],
    async afterKill(db) {
      const rows = await db
        .selectFrom('report_copies as copy')
        .innerJoin('outbox', 'outbox.id', 'copy.mail_id')
        .select(['outbox.id', 'outbox.status', 'copy.status as copyStatus'])
        .execute();
      for (const { id, status, copyStatus } of rows) assert.equal(copyStatus, status, id);
      const sent = rows.filter(({ status }) => status === 'sent').length;
      if (sent > reached && sent < recipients.length) cutShort += 1;
      reached = sent;
    },
    async verify(db) {
      const runs = await db.selectFrom('report_runs').select(['schedule_id', 'error']).execute();
      assert.equal(runs.length, schedules);
      assert.equal(new Set(runs.map(({ schedule_id }) => schedule_id)).size, schedules);
      assert.deepEqual(
        runs.filter(({ error }) => error !== null),
        [],
      );
      const copies = await db
        .selectFrom('report_copies as copy')
        .innerJoin('outbox', 'outbox.id', 'copy.mail_id')
        .select(['copy.recipient', 'copy.status', 'outbox.recipient as to'])
        .execute();
      assert.deepEqual(
        copies.filter(({ recipient, status, to }) => status !== 'sent' || to !== recipient),
        [],
      );
      assert.deepEqual(copies.map(({ recipient }) => recipient).sort(), recipients.toSorted());
      return { reports: runs.length, reportCopies: copies.length, cutShort };
    },
  };
}

async function countDue(db: Db): Promise<number> {
  const due = await db
    .selectFrom('report_schedules')
    .select('id')
    .where('next_send_at', '<=', isoTime(systemClock.now()))
    .execute();
  return due.length;
}

const addressesOf = (label: string): string[] =>
  Array.from({ length: RECIPIENTS }, (_, index) => `${label}-${index}@example.com`);

/** Every fourth report is a PDF. */
function dueSchedule(label: string): ReportScheduleRow {
  const now = systemClock.now();
  // Twelve hours from now, so that no other time is due during the test.
  const send_hour = (new Date(now).getUTCHours() + 12) % 24;
  const plan = { frequency: 'daily', send_hour, timezone: 'UTC', weekday: 'monday' } as const;
  return {
    id: createIdGenerator(systemClock)('rps'),
    name: 'Ours',
    ...plan,
    day_of_month: 1,
    recipients: JSON.stringify(addressesOf(label)),
    domains: null,
    tags: null,
    recipients_by_tag: null,
    include_sections: '["summary","trends","alerts"]',
    enabled: 1,
    format: Number(label.slice(1)) % 4 === 1 ? 'pdf' : 'html',
    next_send_at: isoTime(lastSend({ ...plan, day_of_month: 1 }, now)),
    created_at: isoTime(now),
    lease: null,
    leased_until: null,
  };
}
