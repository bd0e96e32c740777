/**
 * What feedback takes of the disk: messages and files as they came, and reports that do not count. Reports of known reporters
 * are left out: their figures stay.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { monotonicClock } from '../../lib/clock.ts';
import type { Db, Tx } from '../../store/open.ts';
import { LIMITS } from '../reading/limits.ts';

/** Bytes by domain; under an empty ID those of no domain, such as uploads. */
export type StoredBytes = Map<string, DomainBytes>;

export interface DomainBytes {
  known: number;
  unverified: number;
}

/** What a row takes besides its texts, with its entries in indexes. */
const ROW_OVERHEAD = 1024;
/** A row of a report, on average, with the entries in indexes. `limitReport` bounds those of reports that do not count. */
export const PART_BYTES = 500;
/** A complaint, or a bounce without its texts, with the sums that it adds to. */
export const ENTRY_BYTES = 1024;
/** The texts of a bounce, which its sender chooses. The sums of the day and the month have the last three, too. */
const BOUNCE_BYTES = sql`${sql.lit(ENTRY_BYTES)}
  + octet_length(concat(diagnostic, remote_server, from_domain, recipient_domain, message_id))
  + 3 * octet_length(concat(provider, reporting_server, status_code))`;

/** The limit for all uncounted reports of one message, beside a row for each. */
const MAX_UNCOUNTED_BYTES = 256 * 1024;
/** Reserved for them until their message is read. */
export const RESERVED_BYTES = MAX_UNCOUNTED_BYTES + (LIMITS.reports + 1) * ROW_OVERHEAD;

/** What a message or file takes once it is read. */
const bytesOfMail = (size: number): number => size + ROW_OVERHEAD;

/** What a message or file takes until it is read. */
export const bytesUntilRead = (size: number): number => bytesOfMail(size) + RESERVED_BYTES;

/** Whether a team member sent it. Anything else counts as unverified until it is read. */
export const isKnownSource = (source: string): boolean => source === 'upload' || source === 'imap';

/** Whether a row of `feedback_reports` is of a known or confirmed reporter, or came from a person. */
export const isKnownReport = (report: string): RawBuilder<boolean> => sql`(
  ${sql.ref(`${report}.status`)} = 'counted' and ${sql.ref(`${report}.source`)} <> 'https'
  and (${sql.ref(`${report}.type`)} <> 'bounce' or exists (select 1 from feedback_reporters as sender
    where sender.id = ${sql.ref(`${report}.reporter_id`)} and sender.trusted = 1)))`;

/** The same of a row of `feedback_mails`: with a report of such a reporter, or uploaded. */
export const isKnownMail = (mail: string): RawBuilder<boolean> => sql`(
  ${sql.ref(`${mail}.source`)} in ('upload', 'imap') or exists (
    select 1 from feedback_reports as of_mail
    where of_mail.mail_id = ${sql.ref(`${mail}.id`)} and ${isKnownReport('of_mail')}))`;

interface Sum {
  domain_id: string | null;
  is_known: number;
  bytes: number | string;
  handled: number | string;
  last_id: string;
}

const mailSums = (chosen: RawBuilder<unknown>) => sql<Sum>`
  select domain_id, is_known, count(*) as handled, max(id) as last_id,
    sum(size + ${sql.lit(ROW_OVERHEAD)} + case when due_at is null then 0 else ${sql.lit(RESERVED_BYTES)} end) as bytes
  from (select m.id, m.domain_id, m.size, m.due_at, case when ${isKnownMail('m')} then 1 else 0 end as is_known
    from feedback_mails as m where ${chosen}) as part
  group by domain_id, is_known`;

const reportSums = (chosen: RawBuilder<unknown>) => sql<Sum>`
  select domain_id, 0 as is_known, count(*) as handled, max(id) as last_id,
    sum(case when is_known = 1 then 0 else ${sql.lit(ROW_OVERHEAD)} + octet_length(content) + parts end) as bytes
  from (select r.id, r.domain_id, r.content,
      case when ${isKnownReport('r')} then 1 else 0 end as is_known,
      case r.type
        when 'bounce' then coalesce((select sum(${BOUNCE_BYTES}) from bounces where report_id = r.id), 0)
        when 'complaint' then ${sql.lit(ENTRY_BYTES)}
        else ${sql.lit(PART_BYTES)} * r.stored_rows end as parts
    from feedback_reports as r where ${chosen}) as part
  group by domain_id`;

function addSums(to: StoredBytes, sums: Sum[]): void {
  for (const { domain_id, is_known, bytes } of sums)
    addBytes(to, domain_id, Number(is_known) === 1, Number(bytes));
}

export function addBytes(
  to: StoredBytes,
  domainId: string | null,
  isKnown: boolean,
  bytes: number,
): void {
  const key = domainId ?? '';
  const entry = to.get(key) ?? { known: 0, unverified: 0 };
  to.set(key, entry);
  entry[isKnown ? 'known' : 'unverified'] += bytes;
}

/**
 * How many bytes an uncounted report at this position may take, beside its own row. Leaves space to refuse each later one.
 */
export async function bytesLeftForReport(
  tx: Tx,
  mailId: string,
  position: number,
): Promise<number> {
  const { rows } = await reportSums(sql`r.mail_id = ${mailId}`).execute(tx);
  const stored = rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);
  return MAX_UNCOUNTED_BYTES + position * ROW_OVERHEAD - stored;
}

/** The bytes of messages or files, with their reports. */
export async function storedOfMails(db: Db, ids: string[]): Promise<StoredBytes> {
  const found: StoredBytes = new Map();
  const list = sql.join(ids);
  for (const query of [mailSums(sql`m.id in (${list})`), reportSums(sql`r.mail_id in (${list})`)])
    addSums(found, (await query.execute(db)).rows);
  return found;
}

/** Takes milliseconds. */
const STEP_ROWS = 1_000;

/** All of it. Reads in short steps with pauses, so that nothing waits. */
export async function readStored(db: Db): Promise<StoredBytes> {
  const found: StoredBytes = new Map();
  const scans = [
    (after: string) =>
      mailSums(sql`m.id in (select id from feedback_mails where id > ${after}
        order by id limit ${sql.lit(STEP_ROWS)})`),
    (after: string) =>
      reportSums(sql`r.id in (select id from feedback_reports where id > ${after}
        order by id limit ${sql.lit(STEP_ROWS)})`),
  ];
  for (const scan of scans) {
    let after = '';
    for (;;) {
      const startedAt = monotonicClock.now();
      const { rows } = await scan(after).execute(db);
      addSums(found, rows);
      const handled = rows.reduce((sum, row) => sum + Number(row.handled), 0);
      if (handled < STEP_ROWS) break;
      after = rows.reduce((last, row) => (row.last_id > last ? row.last_id : last), after);
      await pause(monotonicClock.now() - startedAt);
    }
  }
  return found;
}
