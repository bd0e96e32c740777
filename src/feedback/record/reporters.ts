/** Who reports, as stored: each reporter with whether its reports count. */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { FeedbackReporterRow } from '../../store/tables.generated.ts';
import type { ReportType } from '../reading/report.ts';
import { namedReporter, type ReporterIdentity } from '../senders/reporter.ts';

/** Adds a report to its reporter, and returns the reporter. Known ones count at once, and so does what a person uploads. */
export async function upsertReporter(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  { kind, name, title }: ReporterIdentity,
  { label, at }: { label: string; at: string },
): Promise<FeedbackReporterRow> {
  const trusted = kind === 'known' || kind === 'file' ? 1 : 0;
  return tx
    .insertInto('feedback_reporters')
    .values({
      id: newId('rep'),
      name,
      kind,
      title,
      label,
      trusted,
      first_at: at,
      last_at: at,
      reports: 1,
      counted: 0,
    })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet(({ eb, ref }) => ({
        reports: eb(ref('feedback_reporters.reports'), '+', 1),
        // Reports from before can be attributed after newer ones.
        last_at: eb
          .case()
          .when('feedback_reporters.last_at', '<', at)
          .then(at)
          .else(ref('feedback_reporters.last_at'))
          .end(),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * The reporter that an uploaded file names: a known one, or one that a person confirmed, so that the same report by mail is a
 * copy. What others call themselves says nothing.
 */
export async function uploadedReporter(
  tx: Tx,
  label: string,
  type: ReportType,
): Promise<ReporterIdentity> {
  const named = namedReporter(label, type);
  if (named.kind === 'known') return named;
  const confirmed = await tx
    .selectFrom('feedback_reporters')
    .select(['kind', 'name', 'title'])
    .where('label', '=', label)
    .where('kind', 'in', ['dkim', 'spf'])
    .where('trusted', '=', 1)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return (confirmed as ReporterIdentity | undefined) ?? named;
}

/** What pages and responses call a reporter: those from before version 21 have only a name. */
export const reporterTitle = sql<string>`coalesce(feedback_reporters.title, feedback_reporters.name)`;

/** The reporters whose reports count. */
export const trustedReporters = (db: Db | Tx) =>
  db.selectFrom('feedback_reporters').select('id').where('trusted', '=', 1);
