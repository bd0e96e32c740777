/** Whether a report is a copy of another one, or contradicts it. */

import { type Db, lockName, type Tx } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { type ReportStatus, VERDICTS, type Verdict } from '../status.ts';
import { trustedReporters } from './reporters.ts';

type Identified = Pick<
  FeedbackReportRow,
  'identity' | 'file_identity' | 'figures' | 'source' | 'domain_id'
>;

export type Original = Pick<FeedbackReportRow, 'id' | 'status' | 'figures'>;

/** Copies can arrive at several nodes at once. All take the names in this order. */
export async function lockCopies(tx: Tx, report: Pick<Identified, 'identity' | 'file_identity'>) {
  await lockName(tx, `feedback report ${report.identity}`);
  await lockName(tx, `feedback file ${report.file_identity}`);
}

/** The report of the same reporter that counts, else the first copy that waits; else the same report beside an upload. */
export async function findOriginal(
  tx: Db | Tx,
  { identity, file_identity, figures, source }: Identified,
  except = '',
): Promise<Original | undefined> {
  const copies = tx
    .selectFrom('feedback_reports')
    .select(['id', 'status', 'figures'])
    .where('id', '<>', except)
    .limit(1);
  const own = await copies
    .where('identity', '=', identity)
    .where('status', 'in', VERDICTS)
    // In this order, the report that counts is first.
    .orderBy('status')
    .orderBy('id')
    .executeTakeFirst();
  if (own) return own;
  // The name in a report is only believed if a person uploaded one of the two, and it changes no figure.
  const beside = copies
    .where('file_identity', '=', file_identity)
    .where('figures', 'is not distinct from', figures)
    .where('status', '=', 'counted')
    .orderBy('id');
  return (source === 'upload' ? beside : beside.where('source', '=', 'upload')).executeTakeFirst();
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
