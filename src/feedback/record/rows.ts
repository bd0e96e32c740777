/** The rows of reports: stored in short transactions, each with the mark up to which they are stored. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { CompiledQuery, sql } from 'kysely';
import { type Db, engineOf, lockIn, type Tx, transact } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { untilAvailable } from '../../store/until-available.ts';
import { addSourceSums, lockSources } from '../sources/days.ts';
import { senderOf } from '../sources/tenants.ts';
import { BATCH_ROWS, type PreparedReport } from '../thread/prepare.ts';

type Report = Pick<FeedbackReportRow, 'id' | 'domain_id' | 'type'>;

/** Storing and counting rows of one report take turns. */
export const lockedReport = (tx: Tx, id: string): Promise<FeedbackReportRow | undefined> =>
  lockIn(tx, tx.selectFrom('feedback_reports').selectAll().where('id', '=', id)).executeTakeFirst();

/** Stores what is missing. The next attempt after a crash goes on at the batch that is not stored. */
export async function storeRows(
  db: Db,
  report: FeedbackReportRow,
  { batches, rowCount }: PreparedReport,
): Promise<void> {
  const first = Math.floor(report.stored_rows / BATCH_ROWS);
  for (let index = first; index < batches.length; index++) {
    const start = index * BATCH_ROWS;
    const end = Math.min(start + BATCH_ROWS, rowCount);
    await untilAvailable(() =>
      transact(db, (tx) => storeBatch(tx, report.id, batches[index]!, start, end)),
    );
    await nextTurn();
  }
}

/** Stores the only batch of a report in the transaction that records it. */
export const storeOnlyBatch = (
  tx: Tx,
  { id }: Pick<FeedbackReportRow, 'id'>,
  { batches, rowCount }: PreparedReport,
): Promise<void> => storeBatch(tx, id, batches[0]!, 0, rowCount);

async function storeBatch(
  tx: Tx,
  id: string,
  batch: string,
  start: number,
  end: number,
): Promise<void> {
  // Another node may have stored it, and the reporter may have been trusted meanwhile.
  const report = await lockedReport(tx, id);
  if (!report || report.stored_rows !== start) return;
  const isCounted = report.status === 'counted' && report.counted_rows === start;
  if (report.type === 'tls') await insertFailures(tx, report, batch);
  else await insertDmarcRows(tx, report, batch, isCounted);
  if (isCounted && report.type === 'dmarc') await addSources(tx, report, start, end);
  await tx
    .updateTable('feedback_reports')
    .set({ stored_rows: end, ...(isCounted ? { counted_rows: end } : {}) })
    .where('id', '=', id)
    .execute();
}

const ROW_COLUMNS = {
  position: 'bigint',
  day: 'text',
  address: 'text',
  count: 'bigint',
  outcome: 'text',
  dkim: 'text',
  spf: 'text',
  disposition: 'text',
  header_from: 'text',
  envelope_from: 'text',
  envelope_to: 'text',
  dkim_domain: 'text',
  dkim_selector: 'text',
  dkim_result: 'text',
  spf_domain: 'text',
  spf_result: 'text',
  results: 'text',
  reasons: 'text',
} as const;

const FAILURE_COLUMNS = {
  position: 'bigint',
  day: 'text',
  result_type: 'text',
  receiving_mx: 'text',
  sending_ip: 'text',
  reason_code: 'text',
  sessions: 'bigint',
} as const;

async function insertDmarcRows(tx: Tx, report: Report, batch: string, isCounted: boolean) {
  const fixed = { report_id: report.id, domain_id: report.domain_id, counted: isCounted ? 1 : 0 };
  await insertRows(tx, 'dmarc_rows', ROW_COLUMNS, fixed, batch);
}

async function insertFailures(tx: Tx, report: Report, batch: string) {
  const fixed = { report_id: report.id, domain_id: report.domain_id };
  await insertRows(tx, 'tls_failures', FAILURE_COLUMNS, fixed, batch);
}

type Columns = Record<string, 'text' | 'bigint'>;

/** `batch`: a JSON list of rows. `fixed`: columns that have the same value in all rows. */
async function insertRows(
  tx: Tx,
  table: 'dmarc_rows' | 'tls_failures',
  columns: Columns,
  fixed: Record<string, string | number | null>,
  batch: string,
): Promise<void> {
  const names = Object.keys(columns);
  if (engineOf(tx) === 'sqlite') {
    const rows = (JSON.parse(batch) as Record<string, unknown>[]).map((row) => [
      ...Object.values(fixed),
      ...names.map((name) => row[name]),
    ]);
    return insertValues(tx, table, [...Object.keys(fixed), ...names], rows);
  }
  const typed = Object.entries(columns).map(
    ([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`,
  );
  const refs = [...Object.keys(fixed), ...names].map((name) => sql.ref(name));
  const values = Object.values(fixed).map((value) =>
    typeof value === 'number' ? sql.lit(value) : sql`${value}`,
  );
  // One parameter instead of thousands.
  await sql`
    insert into ${sql.table(table)} (${sql.join(refs)})
    select ${sql.join([...values, ...names.map((name) => sql.ref(name))])}
    from json_to_recordset(cast(${batch} as json)) as r(${sql.join(typed)})`.execute(tx);
}

/** In SQLite, bound values are five times as fast as JSON. */
async function insertValues(
  tx: Tx,
  table: string,
  columns: string[],
  rows: unknown[][],
): Promise<void> {
  const start = `insert into ${table} (${columns.join(', ')}) values `;
  const row = `(${columns.map(() => '?').join(', ')})`;
  for (let at = 0; at < rows.length; ) {
    // Powers of two, so that there are few different statements.
    const size = Math.min(MAX_INSERTED, 2 ** Math.floor(Math.log2(rows.length - at)));
    const text = start + Array.from({ length: size }, () => row).join(', ');
    await tx.executeQuery(CompiledQuery.raw(text, rows.slice(at, at + size).flat()));
    at += size;
  }
}

const MAX_INSERTED = 64;

/** Adds the rows of a range, which are stored, to the addresses and sources of the domain, or takes them out again. */
export async function addSources(
  tx: Tx,
  report: Report & Pick<FeedbackReportRow, 'received_at'>,
  start: number,
  end: number,
  sign: 1 | -1 = 1,
): Promise<void> {
  await lockSources(tx, report.domain_id!);
  const times = sql.lit(sign);
  const sender = senderOf('dmarc_rows');
  await sql`
    insert into feedback_addresses
      (id, domain_id, address, first_day, last_day, messages, passed, look_up_at)
    select ${report.domain_id} || ' ' || ${sender}, ${report.domain_id}, ${sender},
      min(day), max(day), ${times} * sum(count),
      ${times} * sum(case when outcome = 'pass' then count else 0 end),
      ${report.received_at}
    from dmarc_rows
    where report_id = ${report.id} and position >= ${start} and position < ${end}
      and address is not null
    group by ${sender}
    order by ${sender}
    on conflict (id) do update set
      first_day = case when excluded.first_day < feedback_addresses.first_day
        then excluded.first_day else feedback_addresses.first_day end,
      last_day = case when excluded.last_day > feedback_addresses.last_day
        then excluded.last_day else feedback_addresses.last_day end,
      messages = feedback_addresses.messages + excluded.messages,
      passed = feedback_addresses.passed + excluded.passed`.execute(tx);
  await addSourceSums(tx, report.id, start, end, sign);
}
