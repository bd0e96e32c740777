/** The sums of sources by day, which move when an address turns out to belong to another source. */

import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../store/open.ts';
import type { FeedbackAddressRow } from '../../store/tables.generated.ts';

/** Reasons for another disposition that a receiver gives for forwarded messages (RFC 9990 §3.1.1.5, RFC 7489). */
const FORWARDED = ['forwarded', 'mailing_list', 'trusted_forwarder'];

const isForwarded = sql`(${sql.join(
  [...FORWARDED.map((type) => `%"type":"${type}"%`), '%arc=pass%'].map(
    (pattern) => sql`reasons like ${sql.lit(pattern)}`,
  ),
  sql` or `,
)})`;

const sumIf = (condition: RawBuilder<unknown>, sign: 1 | -1) =>
  sql`coalesce(sum(case when ${condition} then ${sql.lit(sign)} * count else 0 end), 0)`;

/** In the order of `SUM_COLUMNS`. */
const sumsOf = (sign: 1 | -1) => [
  sumIf(sql`1 = 1`, sign),
  sumIf(sql`outcome = 'pass'`, sign),
  sumIf(sql`dkim = 'pass'`, sign),
  sumIf(sql`spf = 'pass'`, sign),
  sumIf(sql`disposition = 'quarantine'`, sign),
  sumIf(sql`disposition = 'reject'`, sign),
  sumIf(isForwarded, sign),
];
const sums = (sign: 1 | -1) => sql.join(sumsOf(sign));

/** What is counted for each source and day. */
export const SUM_COLUMNS = [
  'messages',
  'passed',
  'dkim',
  'spf',
  'quarantined',
  'rejected',
  'forwarded',
] as const;

/** The sums of rows, each under its name. */
export const rowSums = sql.join(
  sumsOf(1).map((sum, index) => sql`${sum} as ${sql.ref(SUM_COLUMNS[index]!)}`),
);

const insertInto = sql`insert into feedback_source_days (source_id, domain_id, day,
  ${sql.join(SUM_COLUMNS.map((name) => sql.ref(name)))})`;

const addOnConflict = sql`on conflict (domain_id, day, source_id) do update set ${sql.join(
  SUM_COLUMNS.map(
    (name) =>
      sql`${sql.ref(name)} = ${sql.ref(`feedback_source_days.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
  ),
)}`;

/** Adds the rows of a range of a report, or takes them out again. Rows of addresses without a source follow once they have one. */
export async function addSourceDays(
  tx: Tx,
  report: string,
  start: number,
  end: number,
  sign: 1 | -1,
): Promise<void> {
  await sql`
    ${insertInto}
    select a.source_id, r.domain_id, r.day, ${sums(sign)}
    from dmarc_rows r
    inner join feedback_addresses a on a.id = r.domain_id || ' ' || r.address
    where r.report_id = ${report} and r.position >= ${start} and r.position < ${end}
      and a.source_id is not null
    group by a.source_id, r.domain_id, r.day
    order by r.day, a.source_id
    ${addOnConflict}`.execute(tx);
}

/** Moves the rows of an address that are kept to another source. Its row in `feedback_addresses` must be locked. */
export async function moveDays(
  tx: Tx,
  address: Pick<FeedbackAddressRow, 'domain_id' | 'address' | 'source_id'>,
  to: string,
): Promise<void> {
  const moves = [
    ...(address.source_id === null ? [] : [[address.source_id, -1] as const]),
    [to, 1] as const,
  ];
  // Always in the order of IDs, as reports add them, so that no two transactions wait for each other.
  for (const [source, sign] of moves.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    await addAll(tx, address, source, sign);
  if (address.source_id !== null)
    await tx
      .deleteFrom('feedback_source_days')
      .where('source_id', '=', address.source_id)
      .where('messages', '<=', 0)
      .execute();
}

async function addAll(
  tx: Tx,
  { domain_id, address }: Pick<FeedbackAddressRow, 'domain_id' | 'address'>,
  source: string,
  sign: 1 | -1,
): Promise<void> {
  await sql`
    ${insertInto}
    select ${source}, domain_id, day, ${sums(sign)}
    from dmarc_rows
    where domain_id = ${domain_id} and address = ${address} and counted = 1
    group by domain_id, day
    order by day
    ${addOnConflict}`.execute(tx);
}
