/** Refused reports of known and confirmed reporters for days that no other report of the reporter covers. */

import { sql } from 'kysely';
import * as v from 'valibot';
import { described, idOf, named, Text, Time } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { dayInWords } from '../lib/format/times.ts';
import type { Db } from '../store/open.ts';
import { reporterTitle } from './record/reporters.ts';

export const RefusedReport = named(
  'RefusedFeedbackReport',
  v.object({
    id: idOf('fbr'),
    type: described(
      v.nullable(v.picklist(['dmarc', 'tls'])),
      'The type of the report. Null if it could not be read.',
      'dmarc',
    ),
    reporter: described(v.string(), 'Who signed the message with the report.', 'google.com'),
    date: described(
      Text,
      'The first day of the report, in UTC. Null if neither the report nor its file name shows it.',
      '2026-11-28',
    ),
    detail: described(
      v.string(),
      'Why it was refused.',
      'The report has more than 20 MiB when unpacked.',
    ),
    received_at: described(Time, 'When it arrived.'),
    text: described(
      v.string(),
      'The problem, as a sentence.',
      'A report from google.com for 28 Nov 2026 was refused: The report has more than 20 MiB when unpacked.',
    ),
  }),
  'A refused report of a known or confirmed reporter. Its messages are missing from all figures.',
);
export type RefusedReport = v.InferOutput<typeof RefusedReport>;

/** How long refused reports are listed. */
const DAYS = 30;
const MAX_LISTED = 20;

/**
 * Newest first. A refused report is listed until its reporter sends another one for the same day, or later one for a later day. A
 * later report shows that the cause is gone.
 */
export async function refusedReports(
  { db, clock }: { db: Db; clock: { now(): number } },
  domainId: string,
): Promise<RefusedReport[]> {
  const since = isoTime(clock.now() - DAYS * DAY_MS);
  const rows = await db
    .selectFrom('feedback_reports as refused')
    .innerJoin('feedback_reporters', 'feedback_reporters.id', 'refused.reporter_id')
    .select(['refused.id', 'refused.type', 'period_from', 'detail', 'received_at'])
    .select(reporterTitle.as('reporter'))
    .where('refused.domain_id', '=', domainId)
    .where('refused.status', '=', 'refused')
    .where('refused.verified', '=', 1)
    .where('feedback_reporters.trusted', '=', 1)
    .where('refused.received_at', '>=', since)
    // Anyone can send a signed message again once the first one is deleted.
    .where(({ or, eb }) => or([eb('period_to', 'is', null), eb('period_to', '>=', since)]))
    .where(
      // A report that ends at midnight says nothing about the day that begins then.
      sql<boolean>`not exists (
        select 1 from feedback_reports as later
        where later.reporter_id = refused.reporter_id and later.domain_id = refused.domain_id
          and later.status in ('counted', 'duplicate', 'conflict', 'implausible')
          and later.type in ('dmarc', 'tls') and later.type = coalesce(refused.type, later.type)
          and later.policy_domain = coalesce(refused.policy_domain, later.policy_domain)
          and (later.received_at > refused.received_at
              and later.period_to > coalesce(refused.period_from, '')
            or later.period_from < refused.period_to and later.period_to > refused.period_from))`,
    )
    .orderBy('refused.id', 'desc')
    .limit(MAX_LISTED)
    .execute();
  return rows.map(({ period_from, ...row }) => {
    const date = period_from?.slice(0, 10) ?? null;
    const detail = row.detail ?? '';
    const when =
      date === null
        ? `that arrived on ${dayInWords(row.received_at.slice(0, 10))}`
        : `for ${dayInWords(date)}`;
    return {
      ...row,
      type: row.type as RefusedReport['type'],
      date,
      detail,
      text: `A report from ${row.reporter} ${when} was refused: ${detail}`,
    };
  });
}
