/** Sums by day: what a report adds when it counts. */

import type { App } from '../../app.ts';
import { DMARC_COUNTS } from '../../figures/dmarc.ts';
import { type PreparedParameter, prepared, type Tx } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { countMessages } from '../messages/counts.ts';
import { lockSources } from '../sources/days.ts';
import type { DmarcDay, TlsDay } from '../thread/prepare.ts';
import { arrivedReports } from './copies.ts';
import { announce } from './messages.ts';

/**
 * Call this once for each report, in the transaction in which it starts to count. `touched`: reports that do not count, but show
 * that reports arrive.
 */
export async function countReports(
  tx: Tx,
  app: App,
  reports: FeedbackReportRow[],
  touched: FeedbackReportRow[] = [],
): Promise<void> {
  // Reporters before days, each sorted, as in all transactions that store reports, to avoid deadlocks.
  const counts = new Map<string, number>();
  for (const { reporter_id } of reports)
    if (reporter_id !== null) counts.set(reporter_id, (counts.get(reporter_id) ?? 0) + 1);
  for (const [id, counted] of inOrder(counts)) await addToReporter(tx, { id, counted });
  await addDays(tx, reports, 1);
  const byDomain = [...reports, ...touched].sort((a, b) =>
    (a.domain_id ?? '') < (b.domain_id ?? '') ? -1 : 1,
  );
  // All of them first: some are only locked later, with their sources.
  for (const id of new Set(byDomain.map(({ domain_id }) => domain_id)))
    if (id !== null) await lockSources(tx, id);
  for (const report of byDomain) await touchDomain(tx, report);
  for (const report of reports) {
    await countMessages(tx, report);
    await announce(tx, app, report);
  }
}

const inOrder = <Value>(map: Map<string, Value>): [string, Value][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const addToReporter = prepared(
  (db, parameter: PreparedParameter<{ id: string; counted: number }>) =>
    db
      .updateTable('feedback_reporters')
      .set(({ eb }) => ({ counted: eb('counted', '+', parameter('counted')) }))
      .where('id', '=', parameter('id')),
);

/** Takes a report away from its reporter, as part of its removal or before it gets another reporter. */
export const leaveReporter = (
  tx: Tx,
  { reporter_id, status }: Pick<FeedbackReportRow, 'reporter_id' | 'status'>,
) =>
  tx
    .updateTable('feedback_reporters')
    .set(({ eb }) => ({
      reports: eb('reports', '-', 1),
      counted: eb('counted', '-', Number(status === 'counted')),
    }))
    .where('id', '=', reporter_id)
    .execute();

/** Undoes `countReports`, in the transaction in which a report stops counting. Its rows follow. */
export async function uncountReport(tx: Tx, report: FeedbackReportRow): Promise<void> {
  await addDays(tx, [report], -1);
  await countMessages(tx, report, -1);
  await tx
    .deleteFrom('dmarc_days')
    .where('domain_id', '=', report.domain_id)
    .where('messages', '<=', 0)
    .execute();
  await tx
    .deleteFrom('tls_days')
    .where('domain_id', '=', report.domain_id)
    .where(({ eb }) => eb(eb('succeeded', '+', eb.ref('failed')), '<=', 0))
    .execute();
  await untouchDomain(tx, report);
}

interface Days {
  dmarc_days?: DmarcDay[];
  tls_days?: TlsDay[];
}

const DAY_TABLES = {
  dmarc_days: DMARC_COUNTS.map(({ name }) => name),
  tls_days: ['succeeded', 'failed'],
} as const;
type DayTable = keyof typeof DAY_TABLES;

type StoredDay = { domain_id: string; day: string } & Record<string, string | number>;

/** Adds the sums of reports by day, with one statement for each day. */
async function addDays(tx: Tx, reports: FeedbackReportRow[], sign: 1 | -1): Promise<void> {
  const contents = reports.map(({ domain_id, content }) => ({
    domain_id: domain_id!,
    days: JSON.parse(content) as Days,
  }));
  for (const table of Object.keys(DAY_TABLES) as DayTable[]) {
    const sums = new Map<string, StoredDay>();
    for (const { domain_id, days } of contents)
      for (const day of days[table] ?? []) addTo(sums, table, { ...day, domain_id }, sign);
    for (const [, day] of inOrder(sums)) await addDay[table](tx, day);
  }
}

function addTo(sums: Map<string, StoredDay>, table: DayTable, added: StoredDay, sign: 1 | -1) {
  const { domain_id, day } = added;
  const key = `${domain_id} ${day}`;
  const sum: StoredDay = sums.get(key) ?? { domain_id, day };
  sums.set(key, sum);
  for (const name of DAY_TABLES[table])
    sum[name] = Number(sum[name] ?? 0) + sign * Number(added[name] ?? 0);
}

const dayAdder = (table: DayTable) =>
  prepared((db, parameter: PreparedParameter<StoredDay>) => {
    const names = DAY_TABLES[table];
    const columns = ['domain_id', 'day', ...names];
    return db
      .insertInto(table)
      .values(Object.fromEntries(columns.map((name) => [name, parameter(name)])) as never)
      .onConflict((conflict) =>
        conflict
          .columns(['domain_id', 'day'])
          .doUpdateSet(({ eb, ref }) =>
            Object.fromEntries(
              names.map((name) => [
                name,
                eb(ref(`${table}.${name}` as never), '+', ref(`excluded.${name}` as never)),
              ]),
            ),
          ),
      );
  });

const addDay = { dmarc_days: dayAdder('dmarc_days'), tls_days: dayAdder('tls_days') };

/** For the state of the feedback: when a domain last got a report that counts from a reporter. */
async function touchDomain(tx: Tx, report: FeedbackReportRow): Promise<void> {
  const { domain_id, type, source, received_at } = report;
  if (domain_id === null || (type !== 'dmarc' && type !== 'tls')) return;
  // What people upload or import shows nothing about the address.
  if (source !== 'smtp') return;
  await tx
    .updateTable('feedback_domains')
    .set(({ eb, ref, val }) => ({
      // Reports that waited for verification count later than newer ones.
      first_at: eb
        .case()
        .when(eb.or([eb('first_at', 'is', null), eb('first_at', '>', received_at)]))
        .then(val(received_at))
        .else(ref('first_at'))
        .end(),
      last_at: eb
        .case()
        .when(eb.or([eb('last_at', 'is', null), eb('last_at', '<', received_at)]))
        .then(val(received_at))
        .else(ref('last_at'))
        .end(),
    }))
    .where('id', '=', domain_id)
    .execute();
}

/** Once the first or the newest report is gone, another one is. */
async function untouchDomain(
  tx: Tx,
  { domain_id, received_at }: Pick<FeedbackReportRow, 'domain_id' | 'received_at'>,
): Promise<void> {
  const left = (end: 'min' | 'max') =>
    arrivedReports(tx)
      .select(({ fn }) => fn[end]('received_at').as('at'))
      .where('domain_id', '=', domain_id)
      .where('type', 'in', ['dmarc', 'tls']);
  for (const [column, end] of [
    ['first_at', 'min'],
    ['last_at', 'max'],
  ] as const)
    await tx
      .updateTable('feedback_domains')
      .set({ [column]: left(end) })
      .where('id', '=', domain_id)
      .where(column, '=', received_at)
      .execute();
}
