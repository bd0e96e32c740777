/** Sums by day: what a report adds when it counts. */

import type { App } from '../../app.ts';
import type { Tx } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { countMessages } from '../messages/counts.ts';
import type { DmarcDay, TlsDay } from '../thread/prepare.ts';
import { arrivedReports } from './copies.ts';
import { announce } from './messages.ts';

/** Call it once for each report, in the transaction that makes it count. */
export async function countReport(tx: Tx, app: App, report: FeedbackReportRow): Promise<void> {
  // The reporter before its days, as wherever reports are stored: two transactions never wait for each other.
  await tx
    .updateTable('feedback_reporters')
    .set(({ eb }) => ({ counted: eb('counted', '+', 1) }))
    .where('id', '=', report.reporter_id)
    .execute();
  await addDays(tx, report, 1);
  await touchDomain(tx, report);
  await countMessages(tx, report);
  await announce(tx, app, report);
}

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

/** The opposite of `countReport`, in the transaction by which a counted report stops to count. Its rows follow. */
export async function uncountReport(tx: Tx, report: FeedbackReportRow): Promise<void> {
  await addDays(tx, report, -1);
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

async function addDays(tx: Tx, report: FeedbackReportRow, sign: 1 | -1): Promise<void> {
  const { dmarc_days = [], tls_days = [] } = JSON.parse(report.content) as Days;
  const domain_id = report.domain_id!;
  for (const day of dmarc_days) await addDay(tx, 'dmarc_days', domain_id, signed(day, sign));
  for (const day of tls_days) await addDay(tx, 'tls_days', domain_id, signed(day, sign));
}

const signed = <Day extends DmarcDay | TlsDay>(day: Day, sign: 1 | -1): Day =>
  Object.fromEntries(
    Object.entries(day).map(([name, value]) => [
      name,
      typeof value === 'number' ? sign * value : value,
    ]),
  ) as unknown as Day;

/** Adds the counts of a day to those that are stored. */
const addDay = (
  tx: Tx,
  table: 'dmarc_days' | 'tls_days',
  domain_id: string,
  { day, ...counts }: DmarcDay | TlsDay,
) =>
  tx
    .insertInto(table)
    .values({ domain_id, day, ...counts } as never)
    .onConflict((conflict) =>
      conflict
        .columns(['domain_id', 'day'])
        .doUpdateSet(({ eb, ref }) =>
          Object.fromEntries(
            Object.entries(counts).map(([name, count]) => [
              name,
              eb(ref(`${table}.${name}` as never), '+', count as never),
            ]),
          ),
        ),
    )
    .execute();

/** For the state of the feedback: when a domain last got a report that counts from a reporter. */
export async function touchDomain(tx: Tx, report: FeedbackReportRow): Promise<void> {
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
