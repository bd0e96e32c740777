/** Whether a report is a copy of another one, or contradicts it. */

import { sql } from 'kysely';
import { type Db, lockNames, type PreparedParameter, prepared, type Tx } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { type ReportStatus, VERDICTS, type Verdict } from '../status.ts';
import { trustedReporters } from './reporters.ts';

type Identified = Pick<
  FeedbackReportRow,
  'identity' | 'file_identity' | 'figures' | 'source' | 'domain_id'
>;

export type Original = Pick<FeedbackReportRow, 'id' | 'status' | 'figures'>;

/** Copies can arrive at several nodes at once. Call this once in a transaction, to avoid deadlocks. */
export const lockCopies = (
  tx: Tx,
  ...reports: Pick<Identified, 'identity' | 'file_identity'>[]
): Promise<void> =>
  lockNames(
    tx,
    reports.flatMap(({ identity, file_identity }) => [
      `feedback report ${identity}`,
      `feedback file ${file_identity}`,
    ]),
  );

type Values = Identified & { except: string };

const copies = (db: Db, parameter: PreparedParameter<Values>) =>
  db
    .selectFrom('feedback_reports')
    .select(['id', 'status', 'figures'])
    .where('id', '<>', parameter('except'))
    .limit(1);

const findOwn = prepared((db, parameter: PreparedParameter<Values>) =>
  copies(db, parameter)
    .where('identity', '=', parameter('identity'))
    .where('status', 'in', VERDICTS)
    // In this order, the report that counts is first.
    .orderBy('status')
    .orderBy('id'),
);

const sameFile = (db: Db, parameter: PreparedParameter<Values>) =>
  copies(db, parameter)
    .where('file_identity', '=', parameter('file_identity'))
    .where('figures', 'is not distinct from', parameter('figures'))
    // Written so that SQLite does not use the index of `status` to sort, which would read all counted reports.
    .where(sql<boolean>`(status = 'counted') is true`)
    .orderBy('id');

const findBesideUpload = prepared((db, parameter: PreparedParameter<Values>) =>
  sameFile(db, parameter),
);
const findUploaded = prepared((db, parameter: PreparedParameter<Values>) =>
  sameFile(db, parameter).where('source', '=', 'upload'),
);

/** The report of the same reporter that counts, else the first copy that waits; else the same report beside an upload. */
export async function findOriginal(
  tx: Db | Tx,
  report: Identified,
  except = '',
): Promise<Original | undefined> {
  const values = { ...report, except };
  const [own] = await findOwn(tx, values);
  if (own) return own as Original;
  // The name in a report is only believed if a person uploaded one of the two, and it changes no figure.
  const find = report.source === 'upload' ? findBesideUpload : findUploaded;
  return (await find(tx, values))[0] as Original | undefined;
}

/** `verdict`: what the report is without another one. A copy that waits does not keep one from counting. */
export function statusBeside(
  original: Original | undefined,
  verdict: Verdict,
  figures: string | null,
): ReportStatus {
  if (!original || (original.status !== 'counted' && verdict === 'counted')) return verdict;
  if (original.figures === figures) return 'duplicate';
  return original.status === 'counted' ? 'conflict' : verdict;
}

/** The reports that arrived from reporters by themselves. What people upload or import shows nothing about the address. */
export const arrivedReports = (tx: Tx) =>
  tx
    .selectFrom('feedback_reports')
    .where('source', '=', 'smtp')
    .where('verified', '=', 1)
    // A copy of what someone uploaded shows that reports arrive, too.
    .where('status', 'in', ['counted', 'duplicate'])
    .where('reporter_id', 'in', trustedReporters(tx));

/** Whether a copy arrived from a reporter whose reports count, rather than from a person. */
export async function hasArrived(tx: Tx, { file_identity, domain_id }: Identified) {
  const copy = await arrivedReports(tx)
    .select('id')
    .where('file_identity', '=', file_identity)
    .where('domain_id', '=', domain_id)
    .limit(1)
    .executeTakeFirst();
  return copy !== undefined;
}
