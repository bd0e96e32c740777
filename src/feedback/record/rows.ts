/** The rows of reports: stored in short transactions, each with the mark up to which they are stored. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Db, engineOf, lockIn, type Tx, transact } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { untilAvailable } from '../../store/until-available.ts';
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
  const columns = Object.keys(ROW_COLUMNS).map((name) => sql.ref(name));
  await sql`
    insert into dmarc_rows (report_id, domain_id, counted, ${sql.join(columns)})
    select ${report.id}, ${report.domain_id}, ${sql.lit(isCounted ? 1 : 0)}, ${rowsOf(tx, ROW_COLUMNS, batch)}`.execute(
    tx,
  );
}

async function insertFailures(tx: Tx, report: Report, batch: string) {
  const columns = Object.keys(FAILURE_COLUMNS).map((name) => sql.ref(name));
  await sql`
    insert into tls_failures (report_id, domain_id, ${sql.join(columns)})
    select ${report.id}, ${report.domain_id}, ${rowsOf(tx, FAILURE_COLUMNS, batch)}`.execute(tx);
}

/** The columns of rows in JSON, followed by `from`: one parameter instead of thousands. */
function rowsOf(tx: Tx, columns: Record<string, 'text' | 'bigint'>, batch: string) {
  const names = Object.keys(columns);
  if (engineOf(tx) === 'sqlite') {
    const values = names.map((name) => sql`json_extract(value, ${sql.lit(`$.${name}`)})`);
    return sql`${sql.join(values)} from json_each(${batch})`;
  }
  const typed = Object.entries(columns).map(
    ([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`,
  );
  return sql`${sql.join(names.map((name) => sql.ref(name)))} from json_to_recordset(cast(${batch} as json)) as r(${sql.join(typed)})`;
}

/** Adds the rows of a range, which are stored, to the sources of the domain. */
export async function addSources(
  tx: Tx,
  report: Report,
  start: number,
  end: number,
): Promise<void> {
  await sql`
    insert into feedback_sources (domain_id, address, first_day, last_day, messages, passed)
    select ${report.domain_id}, address, min(day), max(day), sum(count),
      sum(case when outcome = 'pass' then count else 0 end)
    from dmarc_rows
    where report_id = ${report.id} and position >= ${start} and position < ${end}
      and address is not null
    group by address
    order by address
    on conflict (domain_id, address) do update set
      first_day = case when excluded.first_day < feedback_sources.first_day
        then excluded.first_day else feedback_sources.first_day end,
      last_day = case when excluded.last_day > feedback_sources.last_day
        then excluded.last_day else feedback_sources.last_day end,
      messages = feedback_sources.messages + excluded.messages,
      passed = feedback_sources.passed + excluded.passed`.execute(tx);
}
