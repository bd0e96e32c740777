/** The sums of sources by day and by month, which move when an address turns out to belong to another source. */

import { type RawBuilder, sql } from 'kysely';
import { STOPPED, STOPPED_NAMES } from '../../figures/dmarc.ts';
import { valuesOf } from '../../figures/figure.ts';
import { engineOf, lockIn, type Tx } from '../../store/open.ts';
import type { DomainRow, FeedbackAddressRow } from '../../store/tables.generated.ts';
import { type Days, partsOf } from '../sums.ts';
import { isSentBy, senderOf } from './tenants.ts';

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

/** What is counted for each source and day, or month. */
export const SUM_COLUMNS = [
  'messages',
  'passed',
  'dkim',
  'spf',
  ...STOPPED_NAMES,
  'forwarded',
] as const;
export type SumColumn = (typeof SUM_COLUMNS)[number];

const COUNTED: Record<SumColumn, RawBuilder<unknown>> = {
  messages: sql`1 = 1`,
  passed: sql`outcome = 'pass'`,
  dkim: sql`dkim = 'pass'`,
  spf: sql`spf = 'pass'`,
  ...valuesOf(STOPPED, 'name', ({ disposition }) => sql`disposition = ${sql.lit(disposition)}`),
  forwarded: isForwarded,
};

/** In the order of `SUM_COLUMNS`. */
const sums = (sign: 1 | -1) => sql.join(SUM_COLUMNS.map((name) => sumIf(COUNTED[name], sign)));

/** The sums of rows, each under its name. */
export const rowSums = sql.join(
  SUM_COLUMNS.map((name) => sql`${sumIf(COUNTED[name], 1)} as ${sql.ref(name)}`),
);

/** The tables of sums, with the column and the length of their periods: a day, or a month such as `2026-11`. */
const TABLES = [
  { table: 'feedback_source_days', period: 'day', length: 10 },
  { table: 'feedback_source_months', period: 'month', length: 7 },
] as const;
type SumTable = (typeof TABLES)[number];

const insertInto = ({ table, period }: SumTable) => sql`insert into ${sql.table(table)}
  (source_id, domain_id, ${sql.ref(period)}, ${sql.join(SUM_COLUMNS.map((name) => sql.ref(name)))})`;

const addOnConflict = ({ table, period }: SumTable) => sql`
  on conflict (domain_id, ${sql.ref(period)}, source_id) do update set ${sql.join(
    SUM_COLUMNS.map(
      (name) =>
        sql`${sql.ref(name)} = ${sql.ref(`${table}.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
    ),
  )}`;

const periodOf = ({ length }: SumTable, day: string) =>
  sql`substr(${sql.ref(day)}, 1, ${sql.lit(length)})`;

/**
 * The sources of a domain and their sums change in one transaction at a time: each changes many rows, and in different
 * orders two would wait for each other. Call it before the first of them is changed.
 */
export async function lockSources(tx: Tx, domain: string): Promise<void> {
  if (engineOf(tx) === 'sqlite') return;
  const query = tx.selectFrom('feedback_domains').select('id').where('id', '=', domain);
  await lockIn(tx, query).execute();
}

/** Adds the chosen rows of `dmarc_rows as r`, or subtracts them. Rows of addresses without a source follow once it is known. */
export async function addSourceSums(
  tx: Tx,
  chosen: RawBuilder<unknown>,
  sign: 1 | -1,
): Promise<void> {
  for (const one of TABLES)
    await sql`
      ${insertInto(one)}
      select a.source_id, r.domain_id, ${periodOf(one, 'r.day')}, ${sums(sign)}
      from dmarc_rows r
      inner join feedback_addresses a on a.id = r.domain_id || ' ' || ${senderOf('r')}
      where ${chosen} and a.source_id is not null
      group by 1, 2, 3
      order by 2, 3, 1
      ${addOnConflict(one)}`.execute(tx);
}

/** Moves the rows of an address that are kept to another source. The sources of the domain must be locked. */
export async function moveSums(
  tx: Tx,
  address: Pick<FeedbackAddressRow, 'domain_id' | 'address' | 'source_id'>,
  to: string,
): Promise<void> {
  const { source_id: from } = address;
  for (const one of TABLES) {
    await addAll(tx, one, address, to, 1);
    if (from === null) continue;
    await addAll(tx, one, address, from, -1);
    await tx
      .deleteFrom(one.table)
      .where('source_id', '=', from)
      .where('messages', '<=', 0)
      .execute();
  }
}

async function addAll(
  tx: Tx,
  one: SumTable,
  { domain_id, address }: Pick<FeedbackAddressRow, 'domain_id' | 'address'>,
  source: string,
  sign: 1 | -1,
): Promise<void> {
  await sql`
    ${insertInto(one)}
    select ${source}, domain_id, ${periodOf(one, 'day')}, ${sums(sign)}
    from dmarc_rows
    where domain_id = ${domain_id} and ${isSentBy('dmarc_rows', address)}
    group by 2, 3
    order by 3
    ${addOnConflict(one)}`.execute(tx);
}

/** The sums of sources in a period: of all of a domain, or of those with these IDs. A source can have several rows. */
export function sumsIn(
  { domain, from, to }: Days & { domain: Pick<DomainRow, 'id'> },
  { ids, columns = SUM_COLUMNS }: { ids?: string[]; columns?: readonly SumColumn[] } = {},
): RawBuilder<unknown> {
  const { months, days } = partsOf({ from, to });
  const parts = [
    ...(months === null ? [] : [{ ...TABLES[1], ...months }]),
    ...days.map((range) => ({ ...TABLES[0], ...range })),
  ];
  // IDs lead to the index by source; with the domain too, the database could read all sums of the domain.
  const whose = ids ? sql`source_id in (${sql.join(ids)})` : sql`domain_id = ${domain.id}`;
  const selected = sql.join(['source_id', ...columns].map((name) => sql.ref(name)));
  return sql.join(
    parts.map(
      ({ table, period, ...range }) => sql`select ${selected} from ${sql.table(table)}
        where ${whose} and ${sql.ref(period)} >= ${range.from} and ${sql.ref(period)} <= ${range.to}`,
    ),
    sql` union all `,
  );
}
