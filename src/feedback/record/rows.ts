/** The rows of reports: stored in short transactions, each with the mark up to which they are stored. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
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

/** Stores the rows of reports with a single batch, in the transaction that records them. */
export async function storeOnlyBatches(
  tx: Tx,
  stored: { report: FeedbackReportRow; batch: string }[],
): Promise<void> {
  await insertParts(
    tx,
    stored.map(({ report, batch }) => ({ report, batch, isCounted: report.status === 'counted' })),
  );
  const counted = stored
    .map(({ report }) => report)
    .filter(({ type, status }) => type === 'dmarc' && status === 'counted');
  if (counted.length === 0) return;
  const ids = counted.map(({ id }) => id);
  await addToSources(tx, counted, sql`r.report_id in (${sql.join(ids)})`, 1);
}

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
  await insertParts(tx, [{ report, batch, isCounted }]);
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

interface Part {
  report: Report;
  /** A JSON list of rows. */
  batch: string;
  isCounted: boolean;
}

async function insertParts(tx: Tx, parts: Part[]): Promise<void> {
  const isTls = ({ report }: Part) => report.type === 'tls';
  await insertRows(
    tx,
    'dmarc_rows',
    ROW_COLUMNS,
    parts
      .filter((part) => !isTls(part))
      .map(({ report: { id, domain_id }, batch, isCounted }) => ({
        fixed: { report_id: id, domain_id, counted: isCounted ? 1 : 0 },
        batch,
      })),
  );
  await insertRows(
    tx,
    'tls_failures',
    FAILURE_COLUMNS,
    parts.filter(isTls).map(({ report: { id, domain_id }, batch }) => ({
      fixed: { report_id: id, domain_id },
      batch,
    })),
  );
}

type Columns = Record<string, 'text' | 'bigint'>;

interface RowsOfReport {
  /** A JSON list. */
  batch: string;
  /** Columns that have the same value in all rows. */
  fixed: Record<string, string | number | null>;
}

async function insertRows(
  tx: Tx,
  table: 'dmarc_rows' | 'tls_failures',
  columns: Columns,
  reports: RowsOfReport[],
): Promise<void> {
  if (reports.length === 0) return;
  const names = Object.keys(columns);
  if (engineOf(tx) === 'sqlite') {
    const rows = reports.flatMap(({ fixed, batch }) => {
      const first = Object.values(fixed);
      return (JSON.parse(batch) as Record<string, unknown>[]).map((row) => [
        ...first,
        ...names.map((name) => row[name]),
      ]);
    });
    return insertValues(tx, table, [...Object.keys(reports[0]!.fixed), ...names], rows);
  }
  for (const { fixed, batch } of reports) await insertJson(tx, table, columns, fixed, batch);
}

async function insertJson(
  tx: Tx,
  table: 'dmarc_rows' | 'tls_failures',
  columns: Columns,
  fixed: RowsOfReport['fixed'],
  batch: string,
): Promise<void> {
  const names = Object.keys(columns);
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

type Received = Report & Pick<FeedbackReportRow, 'received_at'>;

/** Adds the rows of a range, which are stored, to the addresses and sources of the domain, or takes them out again. */
export const addSources = (
  tx: Tx,
  report: Received,
  start: number,
  end: number,
  sign: 1 | -1 = 1,
): Promise<void> =>
  addToSources(
    tx,
    [report],
    sql`r.report_id = ${report.id} and r.position >= ${start} and r.position < ${end}`,
    sign,
  );

/** `chosen`: an SQL condition on `dmarc_rows as r` for the rows of these reports. */
async function addToSources(
  tx: Tx,
  reports: Received[],
  chosen: RawBuilder<unknown>,
  sign: 1 | -1,
): Promise<void> {
  const domains = new Set(reports.map(({ domain_id }) => domain_id!));
  for (const domain of [...domains].sort()) await lockSources(tx, domain);
  const receivedAt = reports.reduce(
    (first, { received_at }) => (received_at < first ? received_at : first),
    reports[0]!.received_at,
  );
  const times = sql.lit(sign);
  const sender = senderOf('r');
  await sql`
    insert into feedback_addresses
      (id, domain_id, address, first_day, last_day, messages, passed, look_up_at)
    select r.domain_id || ' ' || ${sender}, r.domain_id, ${sender},
      min(day), max(day), ${times} * sum(count),
      ${times} * sum(case when outcome = 'pass' then count else 0 end),
      ${receivedAt}
    from dmarc_rows as r
    where ${chosen} and r.address is not null
    group by r.domain_id, ${sender}
    order by r.domain_id, ${sender}
    on conflict (id) do update set
      first_day = case when excluded.first_day < feedback_addresses.first_day
        then excluded.first_day else feedback_addresses.first_day end,
      last_day = case when excluded.last_day > feedback_addresses.last_day
        then excluded.last_day else feedback_addresses.last_day end,
      messages = feedback_addresses.messages + excluded.messages,
      passed = feedback_addresses.passed + excluded.passed`.execute(tx);
  await addSourceSums(tx, chosen, sign);
}
